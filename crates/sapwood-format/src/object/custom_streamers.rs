//! ROOT classes with custom streamers: their bytes do not follow their class descriptions.

use super::class_kinds::{array_code, symmetric};
use super::cpp::Cpp;
use super::element::IS_REFERENCED;
use super::number::Number;
use super::object_builder::ObjectBuilder;
use super::read::Reader;
use super::value::{Numbers, Object, Value};
use crate::cursor::Cursor;
use crate::streamer::{ClassInfo, code};
use sapwood_span::{Error, ErrorKind, Result, Span};
use std::sync::Arc;

/// Set in `fBits` of a TRef whose object is identified by a UUID.
const HAS_UUID: i64 = 1 << 5;

impl Reader<'_> {
    /// Whether a class has its own form in the file.
    pub(super) fn writes_itself(&self, class: &str) -> bool {
        const NAMES: &[&str] = &[
            "TObject",
            "TNamed",
            "TString",
            "TObjArray",
            "TList",
            "THashList",
            "TSortedList",
            "TCollection",
            "TSeqCollection",
            "THashTable",
            "TOrdCollection",
            "TMap",
            "TClonesArray",
            "TRef",
            "TRefArray",
            "TDatime",
            "TTreeIndex",
            "TCanvas",
            "RooLinkedList",
            "RooRealVar",
            "RooRefArray",
            "RooWorkspace::CodeRepo",
            "TQObject",
        ];
        NAMES.contains(&class) || array_code(class).is_some() || symmetric(class).is_some()
    }

    /// An object of such a class; none when it is written as described.
    pub(super) fn special(&mut self, c: &mut Cursor, class: &str) -> Result<Option<Object>> {
        if let Some(k) = array_code(class) {
            return self.array(c, class, k);
        }
        match class {
            "TObject" => self.tobject(c).map(Some),
            "TString" | "string" => {
                let text = self.text(c)?;
                ObjectBuilder::new(class, 0).done(text)
            }
            "TDatime" => {
                let mut made = ObjectBuilder::new(class, 1);
                let packed = c.u32()?;
                made.add("fDatime", "TStreamerBasicType", code::UINT, "UInt_t", Value::UInt(packed.into()));
                made.done(Value::Null)
            }
            "TList" | "THashList" | "TSortedList" => self.linked_list(c, class),
            "TObjArray" | "TCollection" | "TSeqCollection" | "THashTable" | "TOrdCollection" => self.objects(c, class),
            "TMap" => self.map(c),
            "TClonesArray" => self.clones(c),
            "TRef" => self.reference(c),
            "TRefArray" => self.references(c),
            "TTreeIndex" => self.tree_index(c),
            _ if class.contains('<') => match symmetric(class) {
                Some(k) => self.symmetric_matrix(c, class, k),
                None => match Cpp::parse(class) {
                    cpp if cpp.is_collection() => {
                        let content = self.item(c, &cpp)?;
                        ObjectBuilder::new(class, 0).done(content)
                    }
                    _ => Ok(None),
                },
            },
            _ => self.other(c, class),
        }
    }

    /// TObject: version, unique id, bits, and the number of a process id when a TRef points to it.
    fn tobject(&mut self, c: &mut Cursor) -> Result<Object> {
        let v = c.version()?;
        let id = c.u32()?;
        let bits = u64::from(c.u32()?);
        if bits & IS_REFERENCED != 0 {
            c.u16()?;
        }
        self.ends(c, &v, "TObject")?;
        self.take(2 * std::mem::size_of::<Value>())?;
        let values = vec![Value::UInt(id.into()), Value::UInt(bits)];
        Ok(Object { class: tobject_info(), values, content: Value::Null })
    }

    pub(super) fn tobject_value(&mut self, c: &mut Cursor) -> Result<Value> {
        self.tobject(c).map(|o| Value::Object(Box::new(o)))
    }

    fn reference(&mut self, c: &mut Cursor) -> Result<Option<Object>> {
        let object = self.tobject(c)?;
        let bits = object.member("fBits").and_then(Value::as_i64).unwrap_or(0);
        let mut made = ObjectBuilder::new("TRef", 1);
        self.take(400)?;
        made.base("TObject", Value::Object(Box::new(object)));
        if bits & HAS_UUID != 0 {
            let uuid = self.text(c)?;
            made.text("uuid", uuid);
        } else {
            made.int("pidf", "UShort_t", c.u16()?.into());
        }
        made.done(Value::Null)
    }

    fn references(&mut self, c: &mut Cursor) -> Result<Option<Object>> {
        let v = c.version()?;
        let mut made = ObjectBuilder::new("TRefArray", v.number);
        self.take(600)?;
        let object = self.tobject_value(c)?;
        made.base("TObject", object);
        let name = self.text(c)?;
        made.text("fName", name);
        let n = c.count(4)?;
        made.int("fSize", "Int_t", n as i64);
        made.int("fLowerBound", "Int_t", c.i32()?.into());
        made.int("pidf", "UShort_t", c.u16()?.into());
        let ids = self.numbers(c, Number::Plain(code::UINT), n)?;
        self.ends(c, &v, "TRefArray")?;
        made.done(Value::Numbers(Box::new(Numbers::flat(ids))))
    }

    /// Refuses what begins here; an error when its end is not known.
    pub(super) fn refuse_rest(&mut self, c: &mut Cursor, class: &str, why: String) -> Result<Value> {
        let start = c.clone();
        let v = c.version()?;
        let Some(end) = v.end else { return Err(Error::unsupported(why)) };
        c.seek(end)?;
        self.refuse(class, Span::new(start.reference(), (end - start.pos()) as u64), ErrorKind::Unsupported, why)
    }
}

fn tobject_info() -> Arc<ClassInfo> {
    static INFO: std::sync::LazyLock<Arc<ClassInfo>> = std::sync::LazyLock::new(|| {
        let mut made = ObjectBuilder::new("TObject", 1);
        made.add("fUniqueID", "TStreamerBasicType", code::UINT, "UInt_t", Value::Null);
        made.add("fBits", "TStreamerBasicType", code::BITS, "UInt_t", Value::Null);
        made.0.class
    });
    INFO.clone()
}
