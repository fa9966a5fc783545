//! Classes of ROOT that write themselves, not as their description says.

use super::cpp::{Cpp, template};
use super::element::IS_REFERENCED;
use super::number::Number;
use super::read::Reader;
use super::value::{Data, Numbers, Object, Value};
use crate::cursor::{Cursor, Version};
use crate::streamer::{ClassInfo, Element, code};
use sapwood_span::{Error, Result, Span};
use std::sync::Arc;

/// Set in `fBits` of a TRef whose object is told by a UUID.
const HAS_UUID: i64 = 1 << 5;

/// Set in `fBits` of a TClonesArray that is written member by member.
const BYPASS_STREAMER: i64 = 1 << 12;

/// Builds an object of a class that has no description, or another one than it is written by.
pub(super) struct Made(pub(super) Object);

impl Made {
    pub(super) fn new(class: &str, version: i16) -> Self {
        let info = ClassInfo { name: class.to_owned(), version: version.into(), checksum: 0, elements: Vec::new() };
        Self(Object { class: Arc::new(info), values: Vec::new(), content: Value::Null })
    }

    pub(super) fn add(&mut self, name: &str, kind: &str, code: i32, type_name: &str, value: Value) {
        let e = Element {
            name: name.to_owned(),
            kind: kind.to_owned(),
            code,
            type_name: type_name.to_owned(),
            ..Element::default()
        };
        // not shared yet: a description is made for each object
        if let Some(info) = Arc::get_mut(&mut self.0.class) {
            info.elements.push(e);
            self.0.values.push(value);
        }
    }

    pub(super) fn base(&mut self, class: &str, value: Value) {
        self.add(class, "TStreamerBase", code::BASE, "BASE", value);
    }

    pub(super) fn int(&mut self, name: &str, type_name: &str, value: i64) {
        self.add(name, "TStreamerBasicType", code::INT, type_name, Value::Int(value));
    }

    pub(super) fn text(&mut self, name: &str, value: Value) {
        self.add(name, "TStreamerString", code::TSTRING, "TString", value);
    }

    pub(super) fn done(mut self, content: Value) -> Result<Option<Object>> {
        self.0.content = content;
        Ok(Some(self.0))
    }
}

impl Reader<'_> {
    /// Whether a class is written in a way of its own.
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

    /// An object of such a class; none when it is written as it is described.
    pub(super) fn special(&mut self, c: &mut Cursor, class: &str) -> Result<Option<Object>> {
        if let Some(k) = array_code(class) {
            return self.array(c, class, k);
        }
        match class {
            "TObject" => self.tobject(c).map(Some),
            "TString" | "string" => {
                let text = self.text(c)?;
                Made::new(class, 0).done(text)
            }
            "TDatime" => {
                let mut made = Made::new(class, 1);
                let packed = c.u32()?;
                made.add("fDatime", "TStreamerBasicType", code::UINT, "UInt_t", Value::UInt(packed.into()));
                made.done(Value::Null)
            }
            "TList" | "THashList" | "TSortedList" => self.linked_list(c, class),
            "TObjArray" => self.object_array(c, class),
            "TCollection" | "TSeqCollection" | "THashTable" | "TOrdCollection" => self.collection(c, class),
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
                        Made::new(class, 0).done(content)
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

    fn tobject_value(&mut self, c: &mut Cursor) -> Result<Value> {
        self.tobject(c).map(|o| Value::Object(Box::new(o)))
    }

    /// Version, and, since version 3 and 2, TObject and name: as most collections begin.
    fn head(&mut self, c: &mut Cursor, class: &str) -> Result<(Made, Version)> {
        let v = c.version()?;
        let mut made = Made::new(class, v.number);
        self.take(600)?;
        if v.number > 2 {
            let object = self.tobject_value(c)?;
            made.base("TObject", object);
        }
        if v.number > 1 {
            let name = self.text(c)?;
            made.text("fName", name);
        }
        Ok((made, v))
    }

    fn linked_list(&mut self, c: &mut Cursor, class: &str) -> Result<Option<Object>> {
        let v = c.version()?;
        let mut made = Made::new(class, v.number);
        self.take(600)?;
        let modern = v.number > 3;
        if modern {
            let object = self.tobject_value(c)?;
            made.base("TObject", object);
            let name = self.text(c)?;
            made.text("fName", name);
        }
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

    fn object_array(&mut self, c: &mut Cursor, class: &str) -> Result<Option<Object>> {
        let (mut made, v) = self.head(c, class)?;
        let n = c.count(4)?;
        made.int("fSize", "Int_t", n as i64);
        made.int("fLowerBound", "Int_t", c.i32()?.into());
        let items = self.list(c, n, Self::pointer)?;
        self.ends(c, &v, class)?;
        made.done(items)
    }

    fn collection(&mut self, c: &mut Cursor, class: &str) -> Result<Option<Object>> {
        let (mut made, v) = self.head(c, class)?;
        let n = c.count(4)?;
        made.int("fSize", "Int_t", n as i64);
        let items = self.list(c, n, Self::pointer)?;
        self.ends(c, &v, class)?;
        made.done(items)
    }

    fn map(&mut self, c: &mut Cursor) -> Result<Option<Object>> {
        let (mut made, v) = self.head(c, "TMap")?;
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

    /// TClonesArray: its class and version as text, then each object behind a byte, or all member by member.
    fn clones(&mut self, c: &mut Cursor) -> Result<Option<Object>> {
        let (mut made, v) = self.head(c, "TClonesArray")?;
        let bits = made.0.member("fBits").and_then(Value::as_i64).unwrap_or(0);
        let said = c.string()?;
        let (class, version) = said.split_once(';').unwrap_or((&said, "0"));
        let version: i32 = version.parse().unwrap_or(0);
        // a negative number is an old way to say that there are holes
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
        made.text("fClass", Value::Text(class.as_bytes().into()));
        made.done(items)
    }

    fn reference(&mut self, c: &mut Cursor) -> Result<Option<Object>> {
        let object = self.tobject(c)?;
        let bits = object.member("fBits").and_then(Value::as_i64).unwrap_or(0);
        let mut made = Made::new("TRef", 1);
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
        let mut made = Made::new("TRefArray", v.number);
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

    /// TArray: a length and the numbers, no header.
    fn array(&mut self, c: &mut Cursor, class: &str, k: i32) -> Result<Option<Object>> {
        let number = Number::Plain(k);
        let n = c.count(number.size())?;
        let mut made = Made::new(class, 1);
        made.int("fN", "Int_t", n as i64);
        self.take(300)?;
        let data = self.numbers(c, number, n)?;
        made.done(Value::Numbers(Box::new(Numbers::flat(data))))
    }

    /// TMatrixTSym: the members of its base as if they were its own, then the rows of the upper triangle behind the end
    /// that the byte count says.
    fn symmetric_matrix(&mut self, c: &mut Cursor, class: &str, k: i32) -> Result<Option<Object>> {
        let v = c.version()?;
        let base = class.replacen("TMatrixTSym", "TMatrixTBase", 1);
        let info = self.info(c, &base, &v)?;
        let base = self.members(c, &info)?;
        self.ends(c, &v, class)?;
        let mut made = Made::new(class, v.number);
        made.base(&info.name, Value::Object(Box::new(base)));
        let rows = made.0.member("fNrows").and_then(Value::as_i64).and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
        let columns = made.0.member("fNcols").and_then(Value::as_i64);
        let n = rows.checked_add(1).and_then(|m| rows.checked_mul(m)).map(|n| n / 2);
        let n = n.filter(|_| columns == i64::try_from(rows).ok());
        let n = n.ok_or_else(|| Error::corrupt(format!("a symmetric matrix of {rows} rows")))?;
        let upper = self.numbers(c, Number::Plain(k), n)?;
        self.take(upper.nbytes() * 2)?;
        let data = match upper {
            Data::F32(v) => Data::F32(mirrored(&v, rows)),
            Data::F64(v) => Data::F64(mirrored(&v, rows)),
            other => other,
        };
        // as it is in memory: the whole matrix, row by row
        let elements = Value::Numbers(Box::new(Numbers::flat(data)));
        made.add("fElements", "TStreamerBasicPointer", k + code::OFFSET_P, "Element*", elements);
        made.done(Value::Null)
    }

    fn tree_index(&mut self, c: &mut Cursor) -> Result<Option<Object>> {
        let v = c.version()?;
        let mut made = Made::new("TTreeIndex", v.number);
        self.take(1000)?;
        let base = self.embedded(c, "TVirtualIndex")?;
        made.base("TVirtualIndex", base);
        let (major, minor) = (self.text(c)?, self.text(c)?);
        made.text("fMajorName", major);
        made.text("fMinorName", minor);
        let n = usize::try_from(c.i64()?).unwrap_or(0);
        made.int("fN", "Long64_t", n as i64);
        let arrays: &[&str] =
            if v.number > 1 { &["fIndexValues", "fIndexValuesMinor", "fIndex"] } else { &["fIndexValues", "fIndex"] };
        for name in arrays {
            let data = self.numbers(c, Number::Plain(code::LONG64), n)?;
            let k = code::LONG64 + code::OFFSET_P;
            made.add(name, "TStreamerBasicPointer", k, "Long64_t*", Value::Numbers(Box::new(Numbers::flat(data))));
        }
        self.ends(c, &v, "TTreeIndex")?;
        made.done(Value::Null)
    }

    /// Refuses what begins here; an error when its end is not known.
    pub(super) fn refuse_rest(&mut self, c: &mut Cursor, class: &str, why: String) -> Result<Value> {
        let start = c.clone();
        let v = c.version()?;
        let Some(end) = v.end else { return Err(Error::unsupported(why)) };
        c.seek(end)?;
        self.refuse(class, Span::new(start.reference(), (end - start.pos()) as u64), why)
    }
}

/// Whether objects of a class have no byte count in front, or one that does not tell where they end.
pub(super) fn begins_bare(class: &str) -> bool {
    matches!(class, "TString" | "string" | "TDatime" | "TRef" | "TQObject")
        || array_code(class).is_some()
        || (class.contains('<') && (symmetric(class).is_some() || Cpp::parse(class).is_collection()))
}

/// The upper triangle of a symmetric matrix as the whole of it.
fn mirrored<T: Copy + Default>(upper: &[T], rows: usize) -> Vec<T> {
    let mut out = vec![T::default(); rows * rows];
    let mut values = upper.iter();
    for i in 0..rows {
        for j in i..rows {
            let x = values.next().copied().unwrap_or_default();
            out[i * rows + j] = x;
            out[j * rows + i] = x;
        }
    }
    out
}

/// The type code of a TArray's numbers.
fn array_code(class: &str) -> Option<i32> {
    Some(match class {
        "TArrayC" => code::CHAR,
        "TArrayS" => code::SHORT,
        "TArrayI" => code::INT,
        "TArrayL" => code::LONG,
        "TArrayL64" => code::LONG64,
        "TArrayF" => code::FLOAT,
        "TArrayD" => code::DOUBLE,
        _ => return None,
    })
}

/// The type code of a symmetric matrix's numbers.
fn symmetric(class: &str) -> Option<i32> {
    match template(class)? {
        ("TMatrixTSym", args) => match args.as_slice() {
            ["float" | "Float_t"] => Some(code::FLOAT),
            ["double" | "Double_t"] => Some(code::DOUBLE),
            _ => None,
        },
        _ => None,
    }
}

fn tobject_info() -> Arc<ClassInfo> {
    static INFO: std::sync::LazyLock<Arc<ClassInfo>> = std::sync::LazyLock::new(|| {
        let mut made = Made::new("TObject", 1);
        made.add("fUniqueID", "TStreamerBasicType", code::UINT, "UInt_t", Value::Null);
        made.add("fBits", "TStreamerBasicType", code::BITS, "UInt_t", Value::Null);
        made.0.class
    });
    INFO.clone()
}
