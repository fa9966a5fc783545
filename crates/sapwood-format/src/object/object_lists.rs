//! ROOT's collections of objects.

use super::object_builder::ObjectBuilder;
use super::read::Reader;
use super::value::{Object, Value};
use crate::cursor::{Cursor, VersionHeader};
use crate::streamer::code;
use sapwood_span::raw_text::bytes_of;
use sapwood_span::{Error, Result};

/// Set in `fBits` of a TClonesArray that is written member by member.
const BYPASS_STREAMER: i64 = 1 << 12;

impl Reader<'_> {
    /// The beginning of a collection: version, and TObject and name since these versions.
    fn head(&mut self, c: &mut Cursor, class: &str, object: i16, name: i16) -> Result<(ObjectBuilder, VersionHeader)> {
        let v = c.version()?;
        let mut made = ObjectBuilder::new(class, v.number);
        self.take(600)?;
        if v.number > object {
            let object = self.tobject_value(c)?;
            made.base("TObject", object);
        }
        if v.number > name {
            let name = self.text(c)?;
            made.text("fName", name);
        }
        Ok((made, v))
    }

    /// TList and similar classes: each pointer is followed by an option.
    pub(super) fn linked_list(&mut self, c: &mut Cursor, class: &str) -> Result<Option<Object>> {
        let (mut made, v) = self.head(c, class, 3, 3)?;
        let modern = v.number > 3;
        let n = c.count(4)?;
        made.int("fSize", "Int_t", n as i64);
        self.take(n * 2 * std::mem::size_of::<Value>())?;
        let (mut items, mut options) = (Vec::with_capacity(n), Vec::with_capacity(n));
        for _ in 0..n {
            items.push(self.pointer(c)?);
            if !modern {
                continue;
            }
            let mut len = usize::from(c.u8()?);
            if v.number > 4 && len == 255 {
                len = c.count(1)?;
            }
            self.take(len)?;
            options.push(Value::Text(c.take(len)?.into()));
        }
        self.ends(c, &v, class)?;
        if options.iter().any(|o| *o != Value::Text(Box::default())) {
            made.add("options", "", code::STL, "vector<string>", Value::List(options));
        }
        made.done(Value::List(items))
    }

    /// Collections of pointers; an array's lower bound of its index is included.
    pub(super) fn objects(&mut self, c: &mut Cursor, class: &str) -> Result<Option<Object>> {
        let (mut made, v) = self.head(c, class, 2, 1)?;
        let n = c.count(4)?;
        made.int("fSize", "Int_t", n as i64);
        if class == "TObjArray" {
            made.int("fLowerBound", "Int_t", c.i32()?.into());
        }
        let items = self.list(c, n, Self::pointer)?;
        self.ends(c, &v, class)?;
        made.done(items)
    }

    /// TMap: pairs of pointers.
    pub(super) fn map(&mut self, c: &mut Cursor) -> Result<Option<Object>> {
        let (mut made, v) = self.head(c, "TMap", 2, 1)?;
        let n = c.count(8)?;
        made.int("fSize", "Int_t", n as i64);
        self.take(n * 2 * std::mem::size_of::<Value>())?;
        let mut pairs = Vec::with_capacity(n);
        for _ in 0..n {
            pairs.push((self.pointer(c)?, self.pointer(c)?));
        }
        self.ends(c, &v, "TMap")?;
        made.done(Value::Map(pairs.into()))
    }

    /// TClonesArray: its class and version as text, then each object after a byte, or all member by member.
    pub(super) fn clones(&mut self, c: &mut Cursor) -> Result<Option<Object>> {
        let (mut made, v) = self.head(c, "TClonesArray", 2, 1)?;
        let bits = made.0.member("fBits").and_then(Value::as_i64).unwrap_or(0);
        let said = c.string()?;
        let (class, version) = said.split_once(';').unwrap_or((&said, "0"));
        let version: i32 = version.parse().unwrap_or(0);
        // a negative number is an old mark of empty slots
        let n = c.i32()?.unsigned_abs() as usize;
        let lower = c.i32()?;
        made.int("fLowerBound", "Int_t", lower.into());
        if n > c.left() {
            return Err(Error::corrupt(format!("a TClonesArray of {n} objects in {} bytes", c.left())));
        }
        let info = self.streamers.find(class, version).or_else(|| self.streamers.latest(class)).cloned();
        let items = if n == 0 {
            Value::List(Vec::new())
        } else {
            let info = info.ok_or_else(|| {
                Error::unsupported(format!("the file does not describe version {version} of its class {class}"))
            })?;
            if bits & BYPASS_STREAMER != 0 {
                let objects = self.columns(c, &info, n)?;
                Value::List(objects.into_iter().map(|o| Value::Object(Box::new(o))).collect())
            } else {
                self.list(c, n, |r, c| match c.u8()? {
                    0 => Ok(Value::Null),
                    _ => r.embedded(c, class),
                })?
            }
        };
        self.ends(c, &v, "TClonesArray")?;
        made.text("fClass", Value::Text(bytes_of(class).as_ref().into()));
        made.done(items)
    }
}
