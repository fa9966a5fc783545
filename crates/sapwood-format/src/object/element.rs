//! One base or member of an object.

use super::cpp::{Cpp, bare};
use super::number::Number;
use super::read::{NUMBERS_PER_BYTE, Reader, byte_count_end};
use super::value::{Data, Numbers, Object, Value};
use crate::cursor::Cursor;
use crate::streamer::{ClassInfo, Element, code};
use sapwood_span::{Error, Result};
use std::sync::Arc;

/// Set in `fBits` of a TObject that a TRef points to: the number of a process id follows.
pub(super) const IS_REFERENCED: u64 = 1 << 4;

/// A value in memory.
const VALUE: usize = std::mem::size_of::<Value>();

impl Element {
    /// Whether it is a base class rather than a member.
    pub fn is_base(&self) -> bool {
        self.kind == "TStreamerBase" || (self.kind == "TStreamerSTL" && self.name == self.type_name)
    }

    /// Items of a fixed array, all dimensions together; none when it is no array.
    fn extent(&self) -> Option<usize> {
        usize::try_from(self.array_len).ok().filter(|&n| n > 0)
    }

    fn shape(&self, n: usize) -> Vec<usize> {
        let dims: Vec<usize> = self.dims.iter().map(|&d| usize::try_from(d).unwrap_or(0)).collect();
        let product = dims.iter().try_fold(1usize, |p, &d| p.checked_mul(d));
        if product == Some(n) && !dims.is_empty() { dims } else { vec![n] }
    }
}

impl Reader<'_> {
    /// Reads a base or member; `object` holds those before it, including the counters of arrays.
    pub(super) fn element(&mut self, c: &mut Cursor, e: &Element, object: &Object) -> Result<Value> {
        if e.kind == "TStreamerBase" {
            return self.embedded(c, &e.name);
        }
        if let Some(number) = Number::new(e.code, &e.title) {
            let value = number.read(c)?;
            if e.code == code::BITS && value.as_i64().is_some_and(|bits| bits as u64 & IS_REFERENCED != 0) {
                c.u16()?;
            }
            return Ok(value);
        }
        if let Some(number) = Number::new(e.code - code::OFFSET_L, &e.title) {
            let n = e.extent().unwrap_or(0);
            let data = self.numbers(c, number, n)?;
            return Ok(Value::Numbers(Box::new(Numbers { shape: e.shape(n), data })));
        }
        if let Some(number) = Number::new(e.code - code::OFFSET_P, &e.title) {
            return self.counted(c, e, number, object);
        }
        let class = bare(&e.type_name).trim_end_matches('*').trim_end();
        let array = e.code > code::OFFSET_L + code::OBJECT - 1 && e.code < code::OFFSET_P + code::OBJECT;
        match if array { e.code - code::OFFSET_L } else { e.code } {
            code::CHAR_STAR => {
                let n = c.count(1)?;
                self.take(n)?;
                Ok(Value::Text(c.take(n)?.into()))
            }
            code::TSTRING => self.each(c, e, |r, c| r.text(c)),
            code::OBJECT | code::ANY | code::TOBJECT | code::TNAMED | code::OBJECT_P_NONNULL | code::ANY_P_NONNULL => {
                self.each(c, e, |r, c| r.embedded(c, class))
            }
            code::OBJECT_P | code::ANY_P | code::ANY_P_NO_VT => self.each(c, e, Self::pointer),
            code::STL | code::STL_P | code::STL_STRING => self.collection_member(c, e),
            code::STREAMER => self.own_streamer(c, e),
            code::STREAM_LOOP => self.loop_of_objects(c, e, object),
            other => Err(Error::unsupported(format!("members of type code {other} ({})", e.type_name))),
        }
    }

    /// A string of ROOT.
    pub(super) fn text(&mut self, c: &mut Cursor) -> Result<Value> {
        let bytes = c.string_bytes()?;
        self.take(bytes.len())?;
        Ok(Value::Text(bytes.into()))
    }

    /// Numbers of one type.
    pub(super) fn numbers(&mut self, c: &mut Cursor, number: Number, n: usize) -> Result<Data> {
        self.take_numbers(n.saturating_mul(number.size()).min(c.left()).saturating_mul(NUMBERS_PER_BYTE))?;
        number.read_many(c, n)
    }

    /// The value of a member, or of each item when it is a fixed array.
    fn each(
        &mut self,
        c: &mut Cursor,
        e: &Element,
        mut read: impl FnMut(&mut Self, &mut Cursor) -> Result<Value>,
    ) -> Result<Value> {
        match e.extent() {
            None => read(self, c),
            Some(n) => self.list(c, n, read),
        }
    }

    /// This many values.
    pub(super) fn list(
        &mut self,
        c: &mut Cursor,
        n: usize,
        mut read: impl FnMut(&mut Self, &mut Cursor) -> Result<Value>,
    ) -> Result<Value> {
        self.take(n.saturating_mul(VALUE))?;
        let mut out = Vec::with_capacity(n);
        for _ in 0..n {
            out.push(read(self, c)?);
        }
        Ok(Value::List(out))
    }

    /// An array whose length is in another member: a byte that says whether it is present, and the items.
    fn counted(&mut self, c: &mut Cursor, e: &Element, number: Number, object: &Object) -> Result<Value> {
        let n = self.counter(e, object)?;
        let there = c.u8()? != 0;
        let one = |r: &mut Self, c: &mut Cursor| {
            let n = if there { n } else { 0 };
            r.numbers(c, number, n).map(|data| Value::Numbers(Box::new(Numbers::flat(data))))
        };
        match e.extent() {
            None => one(self, c),
            // an array of pointers to counted arrays
            Some(pointers) => self.list(c, pointers, one),
        }
    }

    /// A collection, refused by name when it cannot be read.
    fn collection_member(&mut self, c: &mut Cursor, e: &Element) -> Result<Value> {
        self.name(&e.type_name)?;
        let end = byte_count_end(c);
        self.guarded(c, &e.type_name, end, |r, c| r.collections(c, e, 1).map(only))
    }

    /// A member with a custom streamer: supported only where it is that of a known class.
    fn own_streamer(&mut self, c: &mut Cursor, e: &Element) -> Result<Value> {
        let cpp = Cpp::parse(e.type_name.trim_end_matches('*'));
        if cpp == Cpp::Text || cpp.is_collection() {
            return self.collection_member(c, e);
        }
        let class = bare(&e.type_name).trim_end_matches('*').trim_end().to_owned();
        self.each(c, e, |r, c| r.refuse_rest(c, &class, format!("the member {} has a custom streamer", e.name)))
    }

    /// `Class* f; //[n]`: objects, or pointers to objects, as many as a counter gives.
    ///
    /// Source: TStreamerLoop in ROOT's streamer info documentation: a header, then the objects.
    fn loop_of_objects(&mut self, c: &mut Cursor, e: &Element, object: &Object) -> Result<Value> {
        let n = self.counter(e, object)?;
        let v = c.version()?;
        let class = bare(&e.type_name).trim_end_matches('*').trim_end();
        let pointers = e.type_name.contains("**");
        let each = e.extent().unwrap_or(1);
        let one = |r: &mut Self, c: &mut Cursor| {
            r.list(c, n, |r, c| if pointers { r.pointer(c) } else { r.embedded(c, class) })
        };
        let value = if each > 1 { self.list(c, each, one)? } else { one(self, c)? };
        self.ends(c, &v, class)?;
        Ok(value)
    }

    /// Members of `n` objects, member by member: the first of all objects, then the second of all, and so on.
    /// Base classes have no headers then.
    pub(super) fn columns(&mut self, c: &mut Cursor, info: &Arc<ClassInfo>, n: usize) -> Result<Vec<Object>> {
        let each = std::mem::size_of::<Object>() + info.elements.len() * VALUE;
        self.take(n.saturating_mul(each))?;
        let empty =
            || Object { class: info.clone(), values: Vec::with_capacity(info.elements.len()), content: Value::Null };
        let mut out: Vec<Object> = (0..n).map(|_| empty()).collect();
        for e in &info.elements {
            let is_collection = matches!(e.code, code::STL | code::STL_P | code::STL_STRING)
                || (e.code == code::STREAMER && Cpp::parse(&e.type_name).is_collection());
            if is_collection && n > 0 {
                for (o, v) in out.iter_mut().zip(self.collections(c, e, n)?) {
                    o.values.push(v);
                }
            } else if e.kind == "TStreamerBase" && !self.writes_itself(&e.name) {
                let base = self.base(e)?;
                for (o, b) in out.iter_mut().zip(self.columns(c, &base, n)?) {
                    o.values.push(Value::Object(Box::new(b)));
                }
            } else {
                for o in &mut out {
                    let value = self.element(c, e, o)?;
                    o.values.push(value);
                }
            }
        }
        Ok(out)
    }

    /// The length given by the counter of an array, in the object or in one of its bases.
    fn counter(&mut self, e: &Element, object: &Object) -> Result<usize> {
        self.look(object.values.len())?;
        let n = object.member(&e.count_name).and_then(Value::as_i64);
        let n = n.ok_or_else(|| Error::corrupt(format!("its length {} is not a member before it", e.count_name)))?;
        Ok(usize::try_from(n).unwrap_or(0))
    }

    fn base(&self, e: &Element) -> Result<Arc<ClassInfo>> {
        let found = self.streamers.find(&e.name, e.base_version).or_else(|| self.streamers.latest(&e.name));
        found.cloned().ok_or_else(|| Error::unsupported(format!("the file does not describe its class {}", e.name)))
    }
}

fn only(mut values: Vec<Value>) -> Value {
    values.pop().unwrap_or(Value::Null)
}
