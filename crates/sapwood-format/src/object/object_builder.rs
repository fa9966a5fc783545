//! Builds objects whose members no class description lists.

use super::value::{Object, Value};
use crate::streamer::{ClassInfo, Element, code};
use sapwood_span::Result;
use std::sync::Arc;

/// Builds an object of a class that has no description, or is written differently from it.
pub(super) struct ObjectBuilder(pub(super) Object);

impl ObjectBuilder {
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
