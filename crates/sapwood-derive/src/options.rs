//! The content of `#[record(...)]` for a struct or a field.

use syn::meta::ParseNestedMeta;
use syn::{Attribute, LitInt, LitStr, Result};

/// The C++ name of a struct.
pub(crate) fn class(attributes: &[Attribute]) -> Result<Option<LitStr>> {
    let mut class = None;
    for attribute in ours(attributes) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("class") {
                return Err(unknown(&meta, "class"));
            }
            class = Some(meta.value()?.parse()?);
            Ok(())
        })?;
    }
    Ok(class)
}

/// The options of a field.
#[derive(Default)]
pub(crate) struct FieldOptions {
    pub(crate) name: Option<LitStr>,
    pub(crate) title: Option<LitStr>,
    pub(crate) compression: Option<LitStr>,
    pub(crate) basket_bytes: Option<LitInt>,
    pub(crate) split: Option<LitInt>,
    pub(crate) counter: Option<LitStr>,
    pub(crate) skip: bool,
    pub(crate) vector: bool,
    pub(crate) member_wise: bool,
}

impl FieldOptions {
    pub(crate) fn read(attributes: &[Attribute]) -> Result<Self> {
        let mut options = Self::default();
        for attribute in ours(attributes) {
            attribute.parse_nested_meta(|meta| options.set(&meta))?;
        }
        Ok(options)
    }

    fn set(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let Some(word) = meta.path.get_ident().map(ToString::to_string) else { return Err(unknown(meta, FIELD)) };
        match &*word {
            "name" => self.name = Some(meta.value()?.parse()?),
            "title" => self.title = Some(meta.value()?.parse()?),
            "compression" => self.compression = Some(meta.value()?.parse()?),
            "counter" => self.counter = Some(meta.value()?.parse()?),
            "basket_bytes" => self.basket_bytes = Some(meta.value()?.parse()?),
            "split" => self.split = Some(meta.value()?.parse()?),
            "skip" => self.skip = true,
            "vector" => self.vector = true,
            "member_wise" => self.member_wise = true,
            _ => return Err(unknown(meta, FIELD)),
        }
        Ok(())
    }
}

const FIELD: &str = "name, title, compression, basket_bytes, split, counter, skip, vector, member_wise";

fn ours(attributes: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    attributes.iter().filter(|a| a.path().is_ident("record"))
}

fn unknown(meta: &ParseNestedMeta<'_>, known: &str) -> syn::Error {
    meta.error(format!("unknown option; known options are {known}"))
}
