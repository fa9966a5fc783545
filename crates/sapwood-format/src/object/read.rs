//! Reads objects according to the file's own class descriptions.

use super::class_kinds::begins_bare;
use super::cpp::{canonical, template};
use super::pair::pair_element;
use super::value::{Object, Objects, Refused, Value};
use super::{Pointed, read_pointer};
use crate::cursor::{Cursor, VersionHeader};
use crate::opener::ObjectAt;
use crate::streamer::{ClassInfo, Element, Streamers};
use sapwood_span::{Error, ErrorKind, Result, Span};
use std::collections::HashMap;
use std::sync::Arc;

/// Maximum nesting of objects: far deeper than in any file, and not too deep for the stack.
const DEEPEST: usize = 200;

/// Memory that any object may use, however few bytes it has in the file.
const ANY: usize = 8 << 20;

/// Bytes of memory per byte of an object: a TObject, the worst of all real ones, takes 20.
const PER_BYTE: usize = 30;

/// The same for numbers: Float16_t in three bytes becomes Double32_t's eight at worst.
pub(super) const NUMBERS_PER_BYTE: usize = 3;

/// Members searched for the counters of arrays: in any object, and per byte of one.
const ANY_STEPS: usize = 64 << 20;
const STEPS_PER_BYTE: usize = 256;

/// Bytes of a class's name that are free of charge for each object.
const USUAL_NAME: usize = 256;

/// Bytes of checksum after an ntuple's anchor.
const ANCHOR_CHECKSUM: usize = 8;

/// The reference of the object that a key holds, to itself (ROOT's TKey maps it so).
const KEY_OBJECT: u64 = 1;

/// Reads the object of a key, and all that it points to.
///
/// A part that cannot be read (its class is not described, or it does not follow its description) is refused by name
/// where a byte count says where it ends; see [`Objects::refused`].
///
/// # Errors
/// `Unsupported` when the object's own class is not described, `Corrupt` when its bytes do not follow the description.
pub fn read_object(at: &ObjectAt) -> Result<Objects> {
    let memory = memory(at.data.len(), (at.key.span.len as usize).saturating_sub(at.key.key_len as usize));
    read_within(&at.data, at.key.key_len as usize, &at.key.class, &at.streamers, memory)
        .map_err(|e| Error::new(e.kind(), format!("{} {}: {}", at.key.class, at.key.name, e.what())).at(at.key.span))
}

/// Reads an object of a class from the decompressed payload of its key; `key_len` is the length of the key's label.
///
/// # Errors
/// As [`read_object`].
pub fn read_class(data: &[u8], key_len: usize, class: &str, streamers: &Streamers) -> Result<Objects> {
    read_within(data, key_len, class, streamers, memory(data.len(), data.len()))
}

/// The memory that an object of this size may use if it was compressed to `stored` bytes: in proportion to what was
/// stored of the many small parts that it may have. Numbers have a separate allowance.
fn memory(bytes: usize, stored: usize) -> usize {
    let told = bytes.min(stored.saturating_mul(20).saturating_add(2 << 20));
    ANY.saturating_add(told.saturating_mul(PER_BYTE))
}

fn read_within(data: &[u8], key_len: usize, class: &str, streamers: &Streamers, memory: usize) -> Result<Objects> {
    let mut c = Cursor::new(data, key_len);
    let mut r = Reader {
        streamers,
        all: vec![Object::empty(class)],
        seen: HashMap::from([(KEY_OBJECT, 0)]),
        order: Vec::new(),
        refused: Vec::new(),
        memory,
        numbers: data.len().saturating_mul(NUMBERS_PER_BYTE),
        steps: ANY_STEPS.saturating_add(data.len().saturating_mul(STEPS_PER_BYTE)),
        depth: 0,
        origin: key_len,
        spellings: None,
        pairs: HashMap::new(),
    };
    let root = r.class(&mut c, class)?;
    r.all[0] = root;
    // the checksum of an ntuple's anchor follows the bytes that its byte count covers
    let behind = if class.ends_with("RNTuple") { ANCHOR_CHECKSUM } else { 0 };
    if c.left() > behind {
        return Err(Error::corrupt(format!("its members end {} bytes before it does", c.left())));
    }
    Ok(Objects { all: r.all, refused: r.refused })
}

/// The state of reading one key's object.
pub(super) struct Reader<'s> {
    pub(super) streamers: &'s Streamers,
    all: Vec<Object>,
    /// Numbers of the objects by their references.
    seen: HashMap<u64, usize>,
    /// The references in the order they were found: those of a refused part are removed again.
    order: Vec<u64>,
    refused: Vec<Refused>,
    /// Bytes of memory that may still be used.
    memory: usize,
    /// The same for numbers alone.
    numbers: usize,
    /// Members that may still be searched for the counters of arrays.
    steps: usize,
    depth: usize,
    origin: usize,
    /// Names of the described classes by their [`canonical`] spelling, built when a spelling is first not found.
    spellings: Option<HashMap<String, String>>,
    /// The members of pairs without a description: the same for all of a name.
    pairs: HashMap<String, Arc<ClassInfo>>,
}

impl Object {
    /// An object without members.
    pub(super) fn empty(class: &str) -> Self {
        let class = ClassInfo { name: class.to_owned(), version: 0, checksum: 0, elements: Vec::new() };
        Self { class: Arc::new(class), values: Vec::new(), content: Value::Null }
    }
}

impl Reader<'_> {
    /// Takes memory from the object's allowance.
    pub(super) fn take(&mut self, bytes: usize) -> Result<()> {
        match self.memory.checked_sub(bytes) {
            Some(left) => {
                self.memory = left;
                Ok(())
            }
            None => {
                self.memory = 0;
                Err(Error::corrupt("the object would take far more memory than its bytes can justify"))
            }
        }
    }

    /// Takes memory for numbers from their allowance, or else from the object's.
    pub(super) fn take_numbers(&mut self, bytes: usize) -> Result<()> {
        match self.numbers.checked_sub(bytes) {
            Some(left) => self.numbers = left,
            None => self.take(bytes)?,
        }
        Ok(())
    }

    /// Takes the cost of a class's name that is read or copied once more: names in descriptions may be as long as
    /// these.
    pub(super) fn name(&mut self, name: &str) -> Result<()> {
        self.take(name.len().saturating_sub(USUAL_NAME).saturating_mul(8))
    }

    /// Counts members that are searched.
    pub(super) fn look(&mut self, members: usize) -> Result<()> {
        self.steps = self.steps.checked_sub(members).ok_or_else(|| {
            Error::corrupt("the object's arrays would be counted by far more members than its bytes can justify")
        })?;
        Ok(())
    }

    /// An object of a class where it begins: its header and what follows.
    pub(super) fn class(&mut self, c: &mut Cursor, class: &str) -> Result<Object> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Error::unsupported(format!("objects nested more than {DEEPEST} deep")));
        }
        self.name(class)?;
        self.take(std::mem::size_of::<Object>() + 32)?;
        let read = match self.special(c, class) {
            Ok(None) => self.versioned(c, class),
            Ok(Some(object)) => Ok(object),
            Err(e) => Err(e),
        };
        self.depth -= 1;
        read
    }

    fn versioned(&mut self, c: &mut Cursor, class: &str) -> Result<Object> {
        let v = c.version()?;
        let info = match self.info(c, class, &v) {
            Ok(info) => info,
            // a class without data needs no description
            Err(_) if v.end == Some(c.pos()) => return Ok(Object::empty(class)),
            Err(e) => return Err(e),
        };
        let object = self.members(c, &info)?;
        self.ends(c, &v, class)?;
        Ok(object)
    }

    /// Checks that an object ends where its byte count says.
    pub(super) fn ends(&self, c: &Cursor, v: &VersionHeader, class: &str) -> Result<()> {
        match v.end {
            Some(end) if end != c.pos() => Err(Error::corrupt(format!(
                "{class} version {}: its members take {} bytes, its byte count says {}",
                v.number,
                c.pos().saturating_sub(v.start),
                end.saturating_sub(v.start)
            ))),
            _ => Ok(()),
        }
    }

    /// The description of a class in the version that was just read; a checksum in place of the version is read, too.
    pub(super) fn info(&mut self, c: &mut Cursor, class: &str, v: &VersionHeader) -> Result<Arc<ClassInfo>> {
        let room = v.end.is_none_or(|end| end.saturating_sub(c.pos()) >= 4);
        self.info_of(c, class, v.number, room)
    }

    /// As [`Self::info`]; `room` tells whether a checksum may follow.
    pub(super) fn info_of(&mut self, c: &mut Cursor, class: &str, version: i16, room: bool) -> Result<Arc<ClassInfo>> {
        let spelled = self.spelled(class);
        let class = spelled.as_deref().unwrap_or(class);
        if version <= 0 && room {
            // a class without versions is identified by its checksum
            let at = c.pos();
            let checksum = c.u32()?;
            if let Some(info) = self.streamers.find_checksum(class, checksum) {
                return Ok(info.clone());
            }
            if let Some(only) = self.only(class) {
                return Ok(only);
            }
            if let Some(pair) = self.pair(class) {
                return Ok(pair);
            }
            c.seek(at)?;
        }
        let found = self.streamers.find(class, version.into()).cloned();
        // emulated classes of old files wrote version 1 whatever the description has
        let found = found.or_else(|| if version <= 1 { self.only(class) } else { None });
        found.or_else(|| self.pair(class)).ok_or_else(|| {
            Error::unsupported(match self.streamers.versions(class).count() {
                0 => format!("the file does not describe its class {class}"),
                _ => format!("the file does not describe version {version} of its class {class}"),
            })
        })
    }

    /// The name under which a class template is described, when it is spelled otherwise here.
    pub(super) fn spelled(&mut self, class: &str) -> Option<String> {
        if !class.contains('<') || self.streamers.latest(class).is_some() {
            return None;
        }
        let all = self.spellings.get_or_insert_with(|| {
            let templates = self.streamers.classes().iter().filter(|c| c.name.contains('<'));
            templates.map(|c| (canonical(&c.name), c.name.clone())).collect()
        });
        all.get(&canonical(class)).cloned()
    }

    /// The description of a pair that the file does not describe.
    fn pair(&mut self, class: &str) -> Option<Arc<ClassInfo>> {
        if let Some(known) = self.pairs.get(class) {
            return Some(known.clone());
        }
        let made = pair_info(class)?;
        self.pairs.insert(class.to_owned(), made.clone());
        Some(made)
    }

    fn only(&self, class: &str) -> Option<Arc<ClassInfo>> {
        let mut all = self.streamers.versions(class);
        let first = all.next()?;
        all.next().is_none().then(|| first.clone())
    }

    /// Bases and members in sequence.
    pub(super) fn members(&mut self, c: &mut Cursor, info: &Arc<ClassInfo>) -> Result<Object> {
        self.take(info.elements.len() * std::mem::size_of::<Value>())?;
        let values = Vec::with_capacity(info.elements.len());
        let mut object = Object { class: info.clone(), values, content: Value::Null };
        for e in &info.elements {
            let value = self.element(c, e, &object).map_err(|x| in_member(x, info, e))?;
            object.values.push(value);
        }
        Ok(object)
    }

    /// An object of a class within another: refused by name when it cannot be read and its end is known.
    pub(super) fn embedded(&mut self, c: &mut Cursor, class: &str) -> Result<Value> {
        if matches!(class, "TString" | "string") {
            return self.text(c);
        }
        self.name(class)?;
        let end = if begins_bare(class) { None } else { byte_count_end(c) };
        self.guarded(c, class, end, |r, c| r.class(c, class).map(|o| Value::Object(Box::new(o))))
    }

    /// Reads a part; when that fails and its end is known the part is refused and reading continues after it.
    pub(super) fn guarded(
        &mut self,
        c: &mut Cursor,
        class: &str,
        end: Option<usize>,
        read: impl FnOnce(&mut Self, &mut Cursor) -> Result<Value>,
    ) -> Result<Value> {
        let (start, depth, met) = (c.pos(), self.depth, self.order.len());
        let error = match (read(self, c), end) {
            (Ok(value), None) => return Ok(value),
            (Ok(value), Some(end)) if c.pos() == end => return Ok(value),
            (Ok(_), Some(end)) => Error::corrupt(format!("it ends at byte {}, its byte count says {end}", c.pos())),
            (Err(e), Some(_)) if self.memory > 0 => e,
            (Err(e), _) => return Err(e),
        };
        // a damaged byte count may end before what it counts begins
        let Some(end) = end.filter(|&end| end >= start) else { return Err(error) };
        self.depth = depth;
        for reference in self.order.drain(met..) {
            self.seen.remove(&reference);
        }
        c.seek(end)?;
        let span = Span::new((start + self.origin) as u64, (end - start) as u64);
        self.refuse(class, span, error.kind(), error.what().to_owned())
    }

    /// Records what is not read, and why.
    pub(super) fn refuse(&mut self, class: &str, span: Span, kind: ErrorKind, why: String) -> Result<Value> {
        self.take(128 + class.len() + why.len())?;
        self.refused.push(Refused { class: class.to_owned(), span, kind, why });
        Ok(Value::Refused(self.refused.len() - 1))
    }

    /// The target of a pointer.
    pub(super) fn pointer(&mut self, c: &mut Cursor) -> Result<Value> {
        match read_pointer(c)? {
            Pointed::Null => Ok(Value::Null),
            Pointed::Reference(at) => match self.seen.get(&at) {
                Some(&i) => Ok(Value::Pointer(i)),
                None => {
                    let why = format!("it points to an object at byte {at} that was not read");
                    // it may be in a refused part, or after a class with a custom streamer
                    self.refuse("", Span::new(at, 0), ErrorKind::Unsupported, why)
                }
            },
            Pointed::Object { class, at, end } => {
                let index = self.all.len();
                self.take(std::mem::size_of::<Object>() + 64 + class.len())?;
                self.all.push(Object::empty(&class));
                self.seen.insert(at, index);
                let value = self.guarded(c, &class, end, |r, c| {
                    // after the guard, so that a refused object is removed again
                    r.order.push(at);
                    let object = r.class(c, &class)?;
                    if let Some(place) = r.all.get_mut(index) {
                        *place = object;
                    }
                    Ok(Value::Pointer(index))
                })?;
                Ok(value)
            }
        }
    }
}

/// The members of a pair, from its name.
fn pair_info(class: &str) -> Option<Arc<ClassInfo>> {
    let ("pair", sides) = template(class)? else { return None };
    let [first, second] = sides.as_slice() else { return None };
    let elements = vec![pair_element("first", first), pair_element("second", second)];
    Some(Arc::new(ClassInfo { name: class.to_owned(), version: 0, checksum: 0, elements }))
}

/// Where the object that follows ends, when it begins with a byte count.
pub(super) fn byte_count_end(c: &Cursor) -> Option<usize> {
    let mut ahead = c.clone();
    let first = ahead.u32().ok()?;
    let count = (first & 0x3fff_ffff) as usize;
    (first & 0xc000_0000 == 0x4000_0000 && count >= 2 && count <= ahead.left()).then(|| ahead.pos() + count)
}

fn in_member(error: Error, info: &ClassInfo, e: &Element) -> Error {
    if error.kind() == ErrorKind::Corrupt || error.kind() == ErrorKind::Unsupported {
        return Error::new(error.kind(), format!("{}::{}: {}", info.name, e.name, error.what()));
    }
    error
}
