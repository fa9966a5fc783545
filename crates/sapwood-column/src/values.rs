use std::ops::Range;

/// The type of one number in memory after decoding (native byte order).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum DType {
    Bool,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

impl DType {
    /// All of them.
    pub const ALL: [DType; 11] = [
        DType::Bool,
        DType::I8,
        DType::U8,
        DType::I16,
        DType::U16,
        DType::I32,
        DType::U32,
        DType::I64,
        DType::U64,
        DType::F32,
        DType::F64,
    ];

    /// Bytes per value.
    pub const fn size(self) -> usize {
        match self {
            DType::Bool | DType::I8 | DType::U8 => 1,
            DType::I16 | DType::U16 => 2,
            DType::I32 | DType::U32 | DType::F32 => 4,
            DType::I64 | DType::U64 | DType::F64 => 8,
        }
    }

    /// numpy's name: `bool`, `int8`, … `float64`.
    pub const fn name(self) -> &'static str {
        match self {
            DType::Bool => "bool",
            DType::I8 => "int8",
            DType::U8 => "uint8",
            DType::I16 => "int16",
            DType::U16 => "uint16",
            DType::I32 => "int32",
            DType::U32 => "uint32",
            DType::I64 => "int64",
            DType::U64 => "uint64",
            DType::F32 => "float32",
            DType::F64 => "float64",
        }
    }
}

/// A flat run of numbers of one type. Booleans are bytes, each 0 or 1.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Values {
    Bool(Vec<u8>),
    I8(Vec<i8>),
    U8(Vec<u8>),
    I16(Vec<i16>),
    U16(Vec<u16>),
    I32(Vec<i32>),
    U32(Vec<u32>),
    I64(Vec<i64>),
    U64(Vec<u64>),
    F32(Vec<f32>),
    F64(Vec<f64>),
}

/// Runs an expression on the typed vector inside a [`Values`], whatever its type.
#[macro_export]
macro_rules! with_values {
    ($values:expr, $v:ident => $body:expr) => {
        match $values {
            $crate::Values::Bool($v) => $body,
            $crate::Values::I8($v) => $body,
            $crate::Values::U8($v) => $body,
            $crate::Values::I16($v) => $body,
            $crate::Values::U16($v) => $body,
            $crate::Values::I32($v) => $body,
            $crate::Values::U32($v) => $body,
            $crate::Values::I64($v) => $body,
            $crate::Values::U64($v) => $body,
            $crate::Values::F32($v) => $body,
            $crate::Values::F64($v) => $body,
        }
    };
}

impl Values {
    /// An empty run of this type with room for `capacity` values.
    pub fn with_capacity(dtype: DType, capacity: usize) -> Self {
        match dtype {
            DType::Bool => Values::Bool(Vec::with_capacity(capacity)),
            DType::I8 => Values::I8(Vec::with_capacity(capacity)),
            DType::U8 => Values::U8(Vec::with_capacity(capacity)),
            DType::I16 => Values::I16(Vec::with_capacity(capacity)),
            DType::U16 => Values::U16(Vec::with_capacity(capacity)),
            DType::I32 => Values::I32(Vec::with_capacity(capacity)),
            DType::U32 => Values::U32(Vec::with_capacity(capacity)),
            DType::I64 => Values::I64(Vec::with_capacity(capacity)),
            DType::U64 => Values::U64(Vec::with_capacity(capacity)),
            DType::F32 => Values::F32(Vec::with_capacity(capacity)),
            DType::F64 => Values::F64(Vec::with_capacity(capacity)),
        }
    }

    /// The type of the values.
    pub fn dtype(&self) -> DType {
        match self {
            Values::Bool(_) => DType::Bool,
            Values::I8(_) => DType::I8,
            Values::U8(_) => DType::U8,
            Values::I16(_) => DType::I16,
            Values::U16(_) => DType::U16,
            Values::I32(_) => DType::I32,
            Values::U32(_) => DType::U32,
            Values::I64(_) => DType::I64,
            Values::U64(_) => DType::U64,
            Values::F32(_) => DType::F32,
            Values::F64(_) => DType::F64,
        }
    }

    /// How many values.
    pub fn len(&self) -> usize {
        with_values!(self, v => v.len())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value at `i` as a double (64-bit integers beyond 2^53 are rounded), or `None` beyond the end.
    #[allow(clippy::unnecessary_cast)] // one of the types is f64 already
    pub fn get_f64(&self, i: usize) -> Option<f64> {
        with_values!(self, v => v.get(i).map(|&x| x as f64))
    }

    /// The values from `start` to `stop` (clipped to the existing ones), copied.
    pub fn slice(&self, start: usize, stop: usize) -> Self {
        macro_rules! cut {
            ($($t:ident),*) => { match self { $(Values::$t(v) => {
                let stop = stop.min(v.len());
                Values::$t(v[start.min(stop)..stop].to_vec())
            })* } };
        }
        cut!(Bool, I8, U8, I16, U16, I32, U32, I64, U64, F32, F64)
    }

    /// Appends a range of `other` (which it must not leave); false, and nothing appended, when the types differ.
    #[must_use]
    pub fn append_range(&mut self, other: &Values, range: Range<usize>) -> bool {
        macro_rules! join {
            ($($t:ident),*) => { match (self, other) {
                $((Values::$t(a), Values::$t(b)) => { a.extend_from_slice(&b[range]); true })*
                _ => false,
            } };
        }
        join!(Bool, I8, U8, I16, U16, I32, U32, I64, U64, F32, F64)
    }

    /// Drops all values; the memory is kept for new ones.
    pub fn clear(&mut self) {
        with_values!(self, v => v.clear());
    }

    /// Makes room for `more` values.
    pub fn reserve(&mut self, more: usize) {
        with_values!(self, v => {
            // a number from a damaged header must not cause a failure: the vector then grows as it is filled
            if v.try_reserve_exact(more).is_err() {
                return;
            }
            crate::memory::advise(v.spare_capacity_mut());
        });
    }

    /// Bytes of memory the values take.
    pub fn nbytes(&self) -> usize {
        self.len() * self.dtype().size()
    }
}
