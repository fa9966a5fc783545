//! Exported types.

use crate::data_type::DataType;
use crate::ffi::ArrowSchema;
use sapwood_column::DType;
use sapwood_span::{Error, Result, is_steering, raw_text};
use std::ffi::CString;
use std::ptr::null_mut;

/// Arrow's flag for fields that may hold missing values.
const NULLABLE: i64 = 2;

/// The memory owned by a schema: its texts, and its children, each boxed separately.
struct Held {
    format: CString,
    name: CString,
    children: Vec<*mut ArrowSchema>,
}

impl Drop for Held {
    fn drop(&mut self) {
        for &child in &self.children {
            // SAFETY: each came from Box::into_raw and is freed only here; a moved one has no `release` left.
            drop(unsafe { Box::from_raw(child) });
        }
    }
}

impl ArrowSchema {
    /// A field of this name and type.
    ///
    /// # Errors
    /// `Unsupported` for a name that is not UTF-8 or contains a zero byte, which Arrow does not allow.
    pub fn of_type(name: &str, mut ty: &DataType) -> Result<Self> {
        // every field may hold missing values, see `NULLABLE`
        while let DataType::Optional(inner) = ty {
            ty = inner;
        }
        let children = match ty {
            DataType::Number(_) | DataType::Text | DataType::Binary | DataType::Optional(_) => Vec::new(),
            DataType::FixedSizeList(_, item) | DataType::List(item) => vec![Self::of_type("item", item)?],
            DataType::Struct(fields) => {
                fields.iter().map(|(name, ty)| Self::of_type(name, ty)).collect::<Result<Vec<_>>>()?
            }
        };
        Self::new(name, format(ty), children)
    }

    fn new(name: &str, format: String, children: Vec<Self>) -> Result<Self> {
        let refused = || {
            let shown: String = name.chars().map(|c| if is_steering(c) { '?' } else { c }).collect();
            Error::unsupported(format!("{shown} cannot be a name in Arrow: it is not UTF-8, or contains a zero byte"))
        };
        if raw_text::is_raw(name) {
            return Err(refused());
        }
        let name = CString::new(name).map_err(|_| refused())?;
        let format = CString::new(format).map_err(|_| Error::invalid("a format holds a zero"))?;
        let n_children = children.len() as i64;
        let children = children.into_iter().map(|c| Box::into_raw(Box::new(c))).collect();
        let mut held = Box::new(Held { format, name, children });
        Ok(Self {
            // only now: moving a text invalidates what points to it
            format: held.format.as_ptr(),
            name: held.name.as_ptr(),
            metadata: std::ptr::null(),
            // values are missing only where they are optional, but consumers' own tables say "nullable": so that both are compatible
            flags: NULLABLE,
            n_children,
            children: held.children.as_mut_ptr(),
            dictionary: null_mut(),
            release: Some(release),
            private_data: Box::into_raw(held).cast(),
        })
    }
}

/// # Safety
/// `schema` was made by [`ArrowSchema::new`] and not released yet.
unsafe extern "C" fn release(schema: *mut ArrowSchema) {
    // SAFETY: guaranteed by the caller under the specification; `private_data` came from Box::into_raw in `new`.
    unsafe {
        drop(Box::from_raw((*schema).private_data.cast::<Held>()));
        (*schema).release = None;
        (*schema).private_data = null_mut();
    }
}

/// Arrow's format strings.
fn format(ty: &DataType) -> String {
    match ty {
        DataType::Number(d) => match d {
            DType::Bool => "b",
            DType::I8 => "c",
            DType::U8 => "C",
            DType::I16 => "s",
            DType::U16 => "S",
            DType::I32 => "i",
            DType::U32 => "I",
            DType::I64 => "l",
            DType::U64 => "L",
            DType::F32 => "f",
            DType::F64 => "g",
        }
        .to_owned(),
        DataType::Text => "U".to_owned(),
        DataType::Binary => "Z".to_owned(),
        DataType::FixedSizeList(n, _) => format!("+w:{n}"),
        DataType::List(_) => "+L".to_owned(),
        DataType::Struct(_) => "+s".to_owned(),
        DataType::Optional(inner) => format(inner),
    }
}
