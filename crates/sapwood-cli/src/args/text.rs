//! Arguments that are names: of files, and of objects in them.

use clap::builder::{OsStringValueParser, TypedValueParser};
use sapwood::raw_text::{bytes_of, text_of, text_of_os};
use std::ffi::OsStr;

/// Takes an argument of any bytes, as names of files and names in them may be. See [`sapwood::raw_text`]; what JSON output
/// holds for such bytes means them here, too.
pub(crate) fn name() -> impl TypedValueParser<Value = String> {
    OsStringValueParser::new().map(|given| of(&given))
}

fn of(given: &OsStr) -> String {
    given.to_str().map_or_else(|| text_of_os(given), |text| text_of(&bytes_of(text)))
}

#[cfg(test)]
mod tests {
    use super::of;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn bytes_and_what_json_shows_for_them_are_one_name() {
        assert_eq!(of(OsStr::from_bytes(b"b\xe9")), "b\u{10ffe9}");
        assert_eq!(of(OsStr::new("b\u{10ffe9}")), "b\u{10ffe9}");
        assert_eq!(of(OsStr::new("b\u{10ffc3}\u{10ffa9} é")), "bé é");
    }
}
