//! Collections of the C++ library.

use super::cpp::Cpp;
use super::number::Number;
use super::read::Reader;
use super::value::{Data, Numbers, Value};
use crate::cursor::Cursor;
use crate::streamer::{ClassInfo, Element, code};
use sapwood_span::{Error, Result};
use std::sync::Arc;

/// Since this version of TStreamerInfo, collections written member by member include the class version of their items.
const SAYS_VERSION: i16 = 8;

impl Reader<'_> {
    /// A member that is a collection, or an array of collections, in each of `objects` objects: one header for all.
    pub(super) fn collections(&mut self, c: &mut Cursor, e: &Element, objects: usize) -> Result<Vec<Value>> {
        let type_name = e.type_name.trim_end_matches('*');
        let cpp = match Cpp::parse(type_name) {
            // enumerations are not described; the type they are written as gives the collection's element
            Cpp::Sequence(of) => match *of {
                Cpp::Class(ref name) if self.is_number(name, e) => Cpp::Sequence(Box::new(Cpp::Number(e.content))),
                _ => Cpp::Sequence(of),
            },
            other => other,
        };
        let v = c.version()?;
        let layout = if v.member_wise { Some(self.item_info(c, &cpp, v.number)?) } else { None };
        let extent = usize::try_from(e.array_len).ok().filter(|&n| n > 0);
        self.take(objects.saturating_mul(std::mem::size_of::<Value>()))?;
        let mut out = Vec::with_capacity(objects);
        for _ in 0..objects {
            let one = |r: &mut Self, c: &mut Cursor| match &layout {
                Some(layout) => r.member_wise(c, &cpp, layout),
                None => r.item(c, &cpp),
            };
            out.push(match extent {
                None => one(self, c)?,
                Some(n) => self.list(c, n, one)?,
            });
        }
        self.ends(c, &v, type_name)?;
        Ok(out)
    }

    fn is_number(&self, class: &str, e: &Element) -> bool {
        self.streamers.latest(class).is_none() && e.content != code::CHAR_STAR && Number::new(e.content, "").is_some()
    }

    /// A value inside a collection: numbers, strings and collections without a header.
    pub(super) fn item(&mut self, c: &mut Cursor, cpp: &Cpp) -> Result<Value> {
        match cpp {
            Cpp::Number(k) => match Number::new(*k, "") {
                Some(number) => number.read(c),
                None => Err(Error::unsupported(format!("items of type code {k}"))),
            },
            Cpp::Text => self.text(c),
            Cpp::Pointer(class) if matches!(Cpp::parse(class), Cpp::Text) => self.text(c),
            Cpp::Pointer(_) => self.pointer(c),
            Cpp::Class(class) => self.embedded(c, class),
            Cpp::Bits => {
                let n = c.count(1)?;
                self.take(n)?;
                let bits = c.take(n)?.iter().map(|&b| u8::from(b != 0)).collect();
                Ok(Value::Numbers(Box::new(Numbers::flat(Data::Bool(bits)))))
            }
            Cpp::Sequence(of) => {
                let n = c.count(1)?;
                if let Cpp::Number(k) = **of
                    && let Some(number) = Number::new(k, "")
                {
                    self.take(64)?;
                    let data = self.numbers(c, number, n)?;
                    return Ok(Value::Numbers(Box::new(Numbers::flat(data))));
                }
                self.list(c, n, |r, c| r.item(c, of))
            }
            Cpp::Map(key, value) => {
                let n = c.count(1)?;
                self.take(n.saturating_mul(2 * std::mem::size_of::<Value>()))?;
                let mut pairs = Vec::with_capacity(n);
                for _ in 0..n {
                    pairs.push((self.item(c, key)?, self.item(c, value)?));
                }
                Ok(Value::Map(pairs.into()))
            }
        }
    }

    /// The members of the items of a collection written member by member.
    fn item_info(&mut self, c: &mut Cursor, cpp: &Cpp, version: i16) -> Result<Option<Arc<ClassInfo>>> {
        let class = match cpp {
            Cpp::Sequence(of) => match &**of {
                Cpp::Class(class) | Cpp::Pointer(class) => Some(class.as_str()),
                _ => None,
            },
            Cpp::Map(..) => None,
            _ => return Err(Error::corrupt("a collection without members written member by member")),
        };
        if version < SAYS_VERSION {
            return match class {
                Some(class) => self.latest(class).map(Some),
                None => Ok(None),
            };
        }
        let version = c.u16()? as i16;
        match class {
            Some(class) => self.info_of(c, class, version, true).map(Some),
            None => {
                if version <= 0 {
                    c.u32()?; // checksum of the pair
                }
                Ok(None)
            }
        }
    }

    fn latest(&mut self, class: &str) -> Result<Arc<ClassInfo>> {
        let spelled = self.spelled(class);
        let found = self.streamers.latest(spelled.as_deref().unwrap_or(class)).cloned();
        found.ok_or_else(|| Error::unsupported(format!("the file does not describe its class {class}")))
    }

    fn member_wise(&mut self, c: &mut Cursor, cpp: &Cpp, info: &Option<Arc<ClassInfo>>) -> Result<Value> {
        let n = usize::try_from(c.i32()?).map_err(|_| Error::corrupt("a negative number of items"))?;
        match (cpp, info) {
            (_, Some(info)) => {
                let items = self.columns(c, info, n)?;
                self.take(n * std::mem::size_of::<Value>())?;
                Ok(Value::List(items.into_iter().map(|o| Value::Object(Box::new(o))).collect()))
            }
            (Cpp::Map(key, value), None) => {
                let keys = self.side(c, key, n)?;
                let values = self.side(c, value, n)?;
                Ok(Value::Map(keys.into_iter().zip(values).collect()))
            }
            _ => Err(Error::unsupported("a collection of this type written member by member")),
        }
    }

    /// The keys or the values of a map, one after another: strings and collections have one header for all.
    fn side(&mut self, c: &mut Cursor, cpp: &Cpp, n: usize) -> Result<Vec<Value>> {
        if n == 0 {
            return Ok(Vec::new());
        }
        let headed = *cpp == Cpp::Text || cpp.is_collection();
        let v = if headed { Some(c.version()?) } else { None };
        let layout = match &v {
            Some(v) if v.member_wise => Some(self.item_info(c, cpp, v.number)?),
            _ => None,
        };
        let items = self.list(c, n, |r, c| match &layout {
            Some(layout) => r.member_wise(c, cpp, layout),
            None => r.item(c, cpp),
        })?;
        if let Some(v) = &v {
            self.ends(c, v, "a map's column")?;
        }
        match items {
            Value::List(items) => Ok(items),
            _ => Ok(Vec::new()),
        }
    }
}
