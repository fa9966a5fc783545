//! ROOT's classes around arrays of numbers.

use super::number::Number;
use super::object_builder::ObjectBuilder;
use super::read::Reader;
use super::value::{Data, Numbers, Object, Value};
use crate::cursor::Cursor;
use crate::streamer::code;
use sapwood_span::{Error, Result};

impl Reader<'_> {
    /// TArray: a length and the numbers, no header.
    pub(super) fn array(&mut self, c: &mut Cursor, class: &str, k: i32) -> Result<Option<Object>> {
        let number = Number::Plain(k);
        let n = c.count(number.size())?;
        let mut made = ObjectBuilder::new(class, 1);
        made.int("fN", "Int_t", n as i64);
        self.take(300)?;
        let data = self.numbers(c, number, n)?;
        made.done(Value::Numbers(Box::new(Numbers::flat(data))))
    }

    /// TMatrixTSym: the members of its base as if they were its own, then the rows of the upper triangle beyond the end
    /// given by the byte count.
    pub(super) fn symmetric_matrix(&mut self, c: &mut Cursor, class: &str, k: i32) -> Result<Option<Object>> {
        let v = c.version()?;
        let base = class.replacen("TMatrixTSym", "TMatrixTBase", 1);
        let info = self.info(c, &base, &v)?;
        let base = self.members(c, &info)?;
        self.ends(c, &v, class)?;
        let mut made = ObjectBuilder::new(class, v.number);
        made.base(&info.name, Value::Object(Box::new(base)));
        let rows = made.0.member("fNrows").and_then(Value::as_i64).and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
        let columns = made.0.member("fNcols").and_then(Value::as_i64);
        let n = rows.checked_add(1).and_then(|m| rows.checked_mul(m)).map(|n| n / 2);
        let n = n.filter(|_| columns == i64::try_from(rows).ok());
        let n = n.ok_or_else(|| Error::corrupt(format!("a symmetric matrix of {rows} rows")))?;
        let upper = self.numbers(c, Number::Plain(k), n)?;
        self.take_numbers(upper.nbytes() * 2)?;
        let data = match upper {
            Data::F32(v) => Data::F32(mirrored(&v, rows)),
            Data::F64(v) => Data::F64(mirrored(&v, rows)),
            other => other,
        };
        // as in memory: the whole matrix, row by row
        let elements = Value::Numbers(Box::new(Numbers::flat(data)));
        made.add("fElements", "TStreamerBasicPointer", k + code::OFFSET_P, "Element*", elements);
        made.done(Value::Null)
    }

    /// TTreeIndex: its base, two expressions, and arrays with the length it states.
    pub(super) fn tree_index(&mut self, c: &mut Cursor) -> Result<Option<Object>> {
        let v = c.version()?;
        let mut made = ObjectBuilder::new("TTreeIndex", v.number);
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
