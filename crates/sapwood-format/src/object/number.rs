//! Numbers by their type codes.

use super::value::{Data, Value};
use crate::cursor::Cursor;
use crate::packed_float::PackedFloat;
use crate::streamer::code;
use sapwood_span::{Error, Result};

/// Type codes of numbers by C++ name.
pub(super) const NAMES: &[(&str, i32)] = &[
    ("bool", code::BOOL),
    ("Bool_t", code::BOOL),
    ("char", code::CHAR),
    ("Char_t", code::CHAR),
    ("signed char", code::CHAR),
    ("int8_t", code::CHAR),
    ("unsigned char", code::UCHAR),
    ("UChar_t", code::UCHAR),
    ("uint8_t", code::UCHAR),
    ("Byte_t", code::UCHAR),
    ("short", code::SHORT),
    ("Short_t", code::SHORT),
    ("int16_t", code::SHORT),
    ("unsigned short", code::USHORT),
    ("UShort_t", code::USHORT),
    ("uint16_t", code::USHORT),
    ("int", code::INT),
    ("Int_t", code::INT),
    ("int32_t", code::INT),
    ("unsigned int", code::UINT),
    ("unsigned", code::UINT),
    ("UInt_t", code::UINT),
    ("uint32_t", code::UINT),
    ("long", code::LONG),
    ("Long_t", code::LONG),
    ("unsigned long", code::ULONG),
    ("ULong_t", code::ULONG),
    ("size_t", code::ULONG),
    ("long long", code::LONG64),
    ("Long64_t", code::LONG64),
    ("int64_t", code::LONG64),
    ("unsigned long long", code::ULONG64),
    ("ULong64_t", code::ULONG64),
    ("uint64_t", code::ULONG64),
    ("float", code::FLOAT),
    ("Float_t", code::FLOAT),
    ("double", code::DOUBLE),
    ("Double_t", code::DOUBLE),
    ("Double32_t", code::DOUBLE32),
    ("Float16_t", code::FLOAT16),
];

/// The type code of a number's C++ name.
pub(super) fn code_of(name: &str) -> Option<i32> {
    let of_name = |name: &str| NAMES.iter().find(|(n, _)| *n == name).map(|&(_, k)| k);
    of_name(name).or_else(|| integer(name).and_then(of_name))
}

/// The usual name of an integer type that may be written in several words, in any order: `long unsigned int` is `unsigned long`.
pub(super) fn integer(name: &str) -> Option<&'static str> {
    let [mut unsigned, mut signed, mut char, mut short, mut long, mut int] = [0; 6];
    for word in name.split_whitespace() {
        match word {
            "unsigned" => unsigned += 1,
            "signed" => signed += 1,
            "char" => char += 1,
            "short" => short += 1,
            "long" => long += 1,
            "int" => int += 1,
            _ => return None,
        }
    }
    if unsigned + signed > 1 || char + short > 1 || int > 1 || (char > 0 && int > 0) {
        return None;
    }
    Some(match (char + short > 0, long) {
        (true, 0) if char > 0 => ["char", "signed char", "unsigned char"][signed + 2 * unsigned],
        (true, 0) => ["short", "unsigned short"][unsigned],
        (false, 0) if unsigned + signed + int > 0 => ["int", "unsigned int"][unsigned],
        (false, 1) => ["long", "unsigned long"][unsigned],
        (false, 2) => ["long long", "unsigned long long"][unsigned],
        _ => return None,
    })
}

/// How a number of this code is stored in the file; none if it is not a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    /// As in memory, but big-endian.
    Plain(i32),
    /// Double32_t with a range or shortened.
    Double(PackedFloat),
    /// Float16_t.
    Float(PackedFloat),
}

impl Number {
    /// From a type code and the comment of the member.
    pub(super) fn new(k: i32, comment: &str) -> Option<Self> {
        Some(match k {
            code::DOUBLE32 => Number::Double(PackedFloat::from_comment(comment, false)),
            code::FLOAT16 => Number::Float(PackedFloat::from_comment(comment, true)),
            code::CHAR_STAR => return None,
            1..=18 => Number::Plain(k),
            _ => return None,
        })
    }

    /// Bytes in the file.
    pub(super) fn size(self) -> usize {
        match self {
            Number::Double(p) | Number::Float(p) => p.size(),
            Number::Plain(k) => match k {
                code::CHAR | code::LEGACY_CHAR | code::UCHAR | code::BOOL => 1,
                code::SHORT | code::USHORT => 2,
                code::INT | code::COUNTER | code::FLOAT | code::UINT | code::BITS => 4,
                _ => 8,
            },
        }
    }

    /// Reads one.
    pub(super) fn read(self, c: &mut Cursor) -> Result<Value> {
        Ok(match self {
            Number::Double(p) => Value::Double(p.read(c)?),
            Number::Float(p) => Value::Float(p.read(c)? as f32),
            Number::Plain(k) => match k {
                code::CHAR | code::LEGACY_CHAR => Value::Int(c.i8()?.into()),
                code::UCHAR => Value::UInt(c.u8()?.into()),
                code::BOOL => Value::Bool(c.u8()? != 0),
                code::SHORT => Value::Int(c.i16()?.into()),
                code::USHORT => Value::UInt(c.u16()?.into()),
                code::INT | code::COUNTER => Value::Int(c.i32()?.into()),
                code::UINT | code::BITS => Value::UInt(c.u32()?.into()),
                code::LONG | code::LONG64 => Value::Int(c.i64()?),
                code::ULONG | code::ULONG64 => Value::UInt(c.u64()?),
                code::FLOAT => Value::Float(c.f32()?),
                _ => Value::Double(c.f64()?),
            },
        })
    }

    /// Reads `n` of them.
    ///
    /// # Errors
    /// `Corrupt` when fewer bytes are left; nothing is allocated before that is known.
    pub(super) fn read_many(self, c: &mut Cursor, n: usize) -> Result<Data> {
        let width = self.size();
        let bytes = n.checked_mul(width).filter(|&b| b <= c.left());
        let bytes = bytes.ok_or_else(|| {
            Error::corrupt(format!("{n} numbers announced at {}, but {} bytes are left", c.pos(), c.left()))
        })?;
        let raw = c.take(bytes)?;
        macro_rules! swap {
            ($kind:ident, $t:ty) => {
                Data::$kind(raw.as_chunks().0.iter().map(|b| <$t>::from_be_bytes(*b)).collect())
            };
        }
        let packed = |p: PackedFloat| {
            let mut c = Cursor::new(raw, 0);
            (0..n).map(|_| p.read(&mut c)).collect::<Result<Vec<f64>>>()
        };
        Ok(match self {
            Number::Double(p) => Data::F64(packed(p)?),
            Number::Float(p) => Data::F32(packed(p)?.into_iter().map(|x| x as f32).collect()),
            Number::Plain(k) => match k {
                code::CHAR | code::LEGACY_CHAR => swap!(I8, i8),
                code::UCHAR => Data::U8(raw.to_vec()),
                code::BOOL => Data::Bool(raw.iter().map(|&b| u8::from(b != 0)).collect()),
                code::SHORT => swap!(I16, i16),
                code::USHORT => swap!(U16, u16),
                code::INT | code::COUNTER => swap!(I32, i32),
                code::UINT | code::BITS => swap!(U32, u32),
                code::LONG | code::LONG64 => swap!(I64, i64),
                code::ULONG | code::ULONG64 => swap!(U64, u64),
                code::FLOAT => swap!(F32, f32),
                _ => swap!(F64, f64),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_and_many_are_the_same() {
        let bytes: Vec<u8> = (0..64).map(|i| (i * 37 + 5) as u8).collect();
        for k in (1..=19).filter(|&k| k != code::CHAR_STAR) {
            let number = Number::new(k, "").unwrap();
            let many = number.read_many(&mut Cursor::new(&bytes, 0), 3).unwrap();
            let mut c = Cursor::new(&bytes, 0);
            for i in 0..3 {
                let (one, all) = (number.read(&mut c).unwrap(), many.get(i).unwrap());
                assert!(one == all || one.as_f64().is_some_and(f64::is_nan), "code {k}: {one:?} {all:?}");
            }
            assert_eq!(c.pos(), 3 * number.size());
            assert!(number.read_many(&mut Cursor::new(&bytes, 0), usize::MAX).is_err());
        }
        assert_eq!(Number::new(code::CHAR_STAR, ""), None);
        assert_eq!(code_of("ULong64_t"), Some(code::ULONG64));
        assert_eq!(code_of("unsigned long long int"), Some(code::ULONG64));
    }

    #[test]
    fn integers_of_several_words() {
        let pairs = [
            ("unsigned", "unsigned int"),
            ("signed", "int"),
            ("short int", "short"),
            ("unsigned short int", "unsigned short"),
            ("long int", "long"),
            ("long unsigned int", "unsigned long"),
            ("long long int", "long long"),
            ("long int long unsigned", "unsigned long long"),
            ("signed char", "signed char"),
            ("char unsigned", "unsigned char"),
        ];
        pairs.iter().for_each(|(name, usual)| assert_eq!(integer(name), Some(*usual), "{name}"));
        let others =
            ["", "long long long", "long double", "short long", "int int", "signed unsigned", "char int", "Hit"];
        others.iter().for_each(|name| assert_eq!(integer(name), None, "{name}"));
    }
}
