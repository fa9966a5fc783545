//! JSON whose objects keep the order of their keys and have each key once.

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use std::collections::HashSet;
use std::fmt;

/// A JSON value. Of numbers only whole ones count.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json {
    Null,
    Number(Option<u64>),
    Bool,
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// The values in a text: one, or several, which are a list.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        let mut all = serde_json::Deserializer::from_slice(bytes).into_iter::<Json>().collect::<Result<Vec<_>, _>>()?;
        Ok(if all.len() == 1 { all.remove(0) } else { Json::List(all) })
    }

    /// A member of an object.
    pub(crate) fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Json::Object(members) => members.iter().find(|(k, _)| k == key).map(|(_, value)| value),
            _ => None,
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        if let Json::Text(text) = self { Some(text) } else { None }
    }

    pub(crate) fn whole(&self) -> Option<u64> {
        if let Json::Number(number) = self { *number } else { None }
    }

    /// The items of a list; none for other values.
    pub(crate) fn items(&self) -> &[Json] {
        if let Json::List(items) = self { items } else { &[] }
    }

    /// The members of an object; none for other values.
    pub(crate) fn members(&self) -> &[(String, Json)] {
        if let Json::Object(members) = self { members } else { &[] }
    }

    pub(crate) fn is_group(&self) -> bool {
        matches!(self, Json::List(_) | Json::Object(_))
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Values)
    }
}

struct Values;

impl<'de> Visitor<'de> for Values {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Json, E> {
        Ok(Json::Bool)
    }

    fn visit_u64<E>(self, number: u64) -> Result<Json, E> {
        Ok(Json::Number(Some(number)))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Json, E> {
        Ok(Json::Number(u64::try_from(number).ok()))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Json, E> {
        Ok(Json::Number(None))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut out = Vec::new();
        while let Some(item) = items.next_element()? {
            out.push(item);
        }
        Ok(Json::List(out))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Json, A::Error> {
        let (mut out, mut keys) = (Vec::new(), HashSet::new());
        while let Some((key, value)) = members.next_entry::<String, Json>()? {
            // a reader that keeps the last one would lose files
            if !keys.insert(key.clone()) {
                return Err(A::Error::custom(format!("the key {key:?} occurs twice")));
            }
            out.push((key, value));
        }
        Ok(Json::Object(out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_kept_and_keys_are_unique() {
        let json = Json::parse(br#"{"b": 1, "a": [null, -1, 1.5, true, "x"]}"#).unwrap();
        assert_eq!(json.members().iter().map(|(k, _)| k.as_str()).collect::<Vec<_>>(), ["b", "a"]);
        assert_eq!(json.get("b").unwrap().whole(), Some(1));
        assert_eq!(json.get("a").unwrap().items().len(), 5);
        assert!(Json::parse(br#"{"a": 1, "a": 2}"#).unwrap_err().to_string().contains("\"a\" occurs twice"));
        assert_eq!(Json::parse(b"{}\n{}\n").unwrap().items().len(), 2);
        assert!(Json::parse("[".repeat(1_000_000).as_bytes()).is_err());
        assert!(Json::parse(b"{\"a\": 1} x").is_err());
        assert!(Json::parse(b"1e999999").is_err());
    }
}
