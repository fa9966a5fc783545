//! What a request says: the query of an address, and the JSON of a body.

use crate::answer::Fault;
use percent_encoding::percent_decode_str;
use sapwood::raw_text::text_of;
use serde_json::Value;

/// The members of a query or of a body.
pub(crate) struct Parameters(Value);

impl Parameters {
    /// Of a query: `target=0&file=a.root`.
    pub(crate) fn of_query(query: &str) -> Self {
        let decoded = |text: &str| {
            let bytes: Vec<u8> = percent_decode_str(&text.replace('+', " ")).collect();
            // what the page sends is text that it was given; bytes that are not UTF-8 are of no page
            String::from_utf8(bytes).unwrap_or_else(|e| text_of(e.as_bytes()))
        };
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let members = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        Self(Value::Object(members.map(|(name, value)| (decoded(name), decoded(value).into())).collect()))
    }

    /// Of a body.
    ///
    /// # Errors
    /// When it is no JSON object.
    pub(crate) fn of_body(body: &[u8]) -> Result<Self, Fault> {
        match serde_json::from_slice(body) {
            Ok(value @ Value::Object(_)) => Ok(Self(value)),
            _ => Err(Fault::new("the body is not a JSON object")),
        }
    }

    /// A text; empty where there is none.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.0.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// A whole number.
    pub(crate) fn whole(&self, name: &str) -> Option<u64> {
        let value = self.0.get(name)?;
        value.as_u64().or_else(|| value.as_str()?.parse().ok())
    }

    /// A number.
    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        self.0.get(name)?.as_f64().filter(|x| x.is_finite())
    }

    /// A list of texts.
    pub(crate) fn texts(&self, name: &str) -> Option<Vec<String>> {
        let list = self.0.get(name)?.as_array()?;
        Some(list.iter().filter_map(Value::as_str).map(str::to_owned).collect())
    }

    /// A pair of whole numbers.
    pub(crate) fn pair(&self, name: &str) -> Option<(u64, u64)> {
        match self.0.get(name)?.as_array()?.as_slice() {
            [a, b] => Some((a.as_u64()?, b.as_u64()?)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_and_bodies() {
        let parameters = Parameters::of_query("target=2&file=a+b%2fc%FF.root&object=");
        assert_eq!((parameters.whole("target"), parameters.text("object"), parameters.text("nix")), (Some(2), "", ""));
        assert!(parameters.text("file").starts_with("a b/c"));
        let parameters = Parameters::of_body(br#"{"entries": [3, 5], "branches": ["x"], "rtt_ms": 1.5}"#).unwrap();
        assert_eq!((parameters.pair("entries"), parameters.number("rtt_ms")), (Some((3, 5)), Some(1.5)));
        assert_eq!(parameters.texts("branches").unwrap(), ["x"]);
        assert!(Parameters::of_body(b"[]").is_err());
        assert!(Parameters::of_body(b"{").is_err());
    }
}
