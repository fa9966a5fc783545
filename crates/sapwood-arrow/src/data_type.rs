use sapwood_column::{Array, ColumnType, DType, Form};
use sapwood_span::{Error, Result};

/// The Arrow type of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DataType {
    /// A number or a boolean.
    Number(DType),
    /// `large_string`.
    Text,
    /// `large_binary`.
    Binary,
    /// `fixed_size_list` of this many items.
    FixedSizeList(usize, Box<DataType>),
    /// `large_list`.
    List(Box<DataType>),
    /// `struct`.
    Struct(Vec<(String, DataType)>),
    /// Values of which some may be missing: the column has a list of one item or none for each.
    Optional(Box<DataType>),
}

impl DataType {
    /// The type for columns of this type and form, given the first of them: strings are `large_string` if all of it is
    /// UTF-8. The form says which lists are optional values.
    pub fn of(ty: &ColumnType, form: Option<&Form>, first: Option<&Array>) -> Self {
        match (ty, first) {
            (ColumnType::Number(d), _) => Self::Number(*d),
            (ColumnType::Text, Some(Array::Text { offsets, bytes })) if !is_utf8(offsets, bytes) => Self::Binary,
            (ColumnType::Text, _) => Self::Text,
            (ColumnType::Regular { size, item }, first) => {
                let content = match first {
                    Some(Array::Regular { content, .. }) => Some(&**content),
                    _ => None,
                };
                Self::FixedSizeList(*size, Box::new(Self::of(item, of_items(form), content)))
            }
            (ColumnType::List { item }, first) => {
                let content = match first {
                    Some(Array::List { content, .. }) => Some(&**content),
                    _ => None,
                };
                let item = Box::new(Self::of(item, of_items(form), content));
                if matches!(form, Some(Form::Optional(_))) { Self::Optional(item) } else { Self::List(item) }
            }
            (ColumnType::Record { fields }, first) => {
                let content = |i: usize| match first {
                    Some(Array::Record { fields, .. }) => fields.get(i).map(|(_, a)| a),
                    _ => None,
                };
                let field = |(i, (name, ty)): (usize, &(String, ColumnType))| {
                    let alternative;
                    let form = match form {
                        Some(Form::Record { fields, .. } | Form::Tuple(fields)) => fields.get(i),
                        Some(Form::Pair(pair)) => Some(if i == 0 { &pair.0 } else { &pair.1 }),
                        Some(Form::Variant(forms)) => {
                            alternative = Form::Optional(Box::new(forms.get(i).cloned().unwrap_or(Form::Plain)));
                            Some(&alternative)
                        }
                        _ => None,
                    };
                    (name.clone(), Self::of(ty, form, content(i)))
                };
                Self::Struct(fields.iter().enumerate().map(field).collect())
            }
        }
    }

    /// Whether a column is of this type.
    ///
    /// # Errors
    /// `Unsupported` for strings that are not UTF-8 in a column of strings; a column of another type.
    pub(crate) fn check(&self, array: &Array) -> Result<()> {
        let fits = match (self, array) {
            (Self::Number(d), Array::Flat(v)) => v.dtype() == *d,
            (Self::Text, Array::Text { offsets, bytes }) => {
                if !is_utf8(offsets, bytes) {
                    let what =
                        "strings that are not UTF-8 follow strings that are, in a stream of Arrow's large_string";
                    return Err(Error::unsupported(what).with_remedy("read the branch without Arrow"));
                }
                true
            }
            (Self::Binary, Array::Text { .. }) => true,
            (Self::FixedSizeList(n, item), Array::Regular { size, content, .. }) => {
                item.check(content)?;
                n == size
            }
            (Self::List(item), Array::List { content, .. }) => {
                item.check(content)?;
                true
            }
            (Self::Optional(item), Array::List { offsets, content }) => {
                crate::optional::check(offsets, content)?;
                item.check(content)?;
                true
            }
            (Self::Struct(types), Array::Record { fields, .. }) => {
                for ((_, ty), (_, array)) in types.iter().zip(fields) {
                    ty.check(array)?;
                }
                types.len() == fields.len()
            }
            _ => false,
        };
        if fits { Ok(()) } else { Err(misfit()) }
    }
}

/// A column is not of its stream's type.
pub(crate) fn misfit() -> Error {
    Error::invalid("a batch has a column of another type than the first")
}

/// The form of the items of lists.
fn of_items(form: Option<&Form>) -> Option<&Form> {
    match form {
        Some(Form::List(inner) | Form::Optional(inner)) => Some(&**inner),
        _ => None,
    }
}

/// Whether each of the strings is UTF-8.
fn is_utf8(offsets: &[i64], bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    offsets.iter().all(|&o| usize::try_from(o).is_ok_and(|o| text.is_char_boundary(o)))
}
