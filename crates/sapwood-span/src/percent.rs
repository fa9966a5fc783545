//! Percent-encoding of names, which are bytes: the characters of [`crate::raw_text`] are encoded as the bytes they
//! represent.

use crate::raw_text::bytes_of;
use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, percent_encode};

/// Characters not allowed in a request line. The percent sign is not among them: what is already encoded stays.
const TARGET: &AsciiSet =
    &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>').add(b'\\').add(b'^').add(b'`').add(b'{').add(b'|').add(b'}');

/// All but the unreserved characters of RFC 3986, section 2.3.
const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Encodes what is not allowed in a request line (path and query of a URL); what is already encoded stays.
pub fn encode_target(text: &str) -> String {
    percent_encode(&bytes_of(text), TARGET).to_string()
}

/// Encodes all but letters, digits and `-._~`: for one part of a path, or a user's name.
pub fn encode_component(bytes: &[u8]) -> String {
    percent_encode(bytes, COMPONENT).to_string()
}

/// Decodes `%41`; a percent sign without two hexadecimal digits after it stays.
pub fn decode(text: &str) -> Vec<u8> {
    percent_encoding::percent_decode(&bytes_of(text)).collect()
}

/// As [`decode`]; none where a percent sign is not followed by two hexadecimal digits.
pub fn decode_strict(bytes: &[u8]) -> Option<Vec<u8>> {
    let is_escape = |at: usize| bytes.get(at + 1..at + 3).is_some_and(|d| d.iter().all(u8::is_ascii_hexdigit));
    let mut signs = bytes.iter().enumerate().filter(|(_, b)| **b == b'%');
    signs.all(|(at, _)| is_escape(at)).then(|| percent_encoding::percent_decode(bytes).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw_text::text_of;

    #[test]
    fn targets_keep_what_is_encoded_and_all_that_has_a_meaning() {
        let kept = "//a/./..;x=1/%2F%2f%zz!$&'()*+,:@[]~?q=1&r#";
        assert_eq!(encode_target(kept), kept);
        assert_eq!(encode_target("a b\"<>\\^`{|}\x7f\r\nü"), "a%20b%22%3C%3E%5C%5E%60%7B%7C%7D%7F%0D%0A%C3%BC");
    }

    #[test]
    fn bytes_that_are_not_utf8_are_encoded_as_they_are() {
        let name = text_of(b"a\xff\xfe b");
        assert_eq!(encode_target(&name), "a%FF%FE%20b");
        assert_eq!(encode_component(b"a\xff/b~c.d-e_f%"), "a%FF%2Fb~c.d-e_f%25");
        assert_eq!(decode(&name), b"a\xff\xfe b");
        assert_eq!(decode("a%fF%fe%20b"), b"a\xff\xfe b");
    }

    #[test]
    fn decoding_keeps_lone_percents() {
        assert_eq!(decode("%41%4%zz%"), b"A%4%zz%");
    }

    #[test]
    fn strict_decoding_refuses_them() {
        for bad in ["%", "%4", "a%zz", "%%41", "%2%41", "%4g"] {
            assert_eq!(decode_strict(bad.as_bytes()), None, "{bad}");
        }
        assert_eq!(decode_strict(b"%41%fFb\xff").as_deref(), Some(&b"A\xffb\xff"[..]));
    }
}
