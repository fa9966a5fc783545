//! Names and texts that need not be UTF-8, as Rust strings without loss.
//!
//! ROOT's names are bytes, and so are the names of files. Here they are strings: UTF-8 text is unchanged, and a byte
//! that is not part of such text becomes one character, U+10FF80 for 0x80 to U+10FFFF for 0xFF (private use). Python
//! does the same with lone surrogates ("surrogateescape"), which Rust's strings cannot hold. Nothing else becomes such
//! a character, as these characters themselves are converted byte by byte: so two names are the same string only if
//! they have the same bytes, and [`bytes_of`] gives the bytes back.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Added to a byte to get the character that represents it.
const RAW: u32 = 0x10_ff00;

/// The byte that a character represents, if it does.
pub fn raw_byte(c: char) -> Option<u8> {
    (RAW + 0x80..=RAW + 0xff).contains(&u32::from(c)).then(|| (u32::from(c) - RAW) as u8)
}

/// Whether text has characters that represent bytes: whether the bytes are not UTF-8.
pub fn is_raw(text: &str) -> bool {
    // the first three bytes of all these characters are f4 8f be or f4 8f bf, and f4 is rare
    text.as_bytes().contains(&0xf4) && text.chars().any(|c| raw_byte(c).is_some())
}

/// Bytes as text.
pub fn text_of(bytes: &[u8]) -> String {
    if let Ok(text) = std::str::from_utf8(bytes)
        && !is_raw(text)
    {
        return text.to_owned();
    }
    let mut out = String::with_capacity(bytes.len() * 2);
    let raw = |out: &mut String, bytes: &[u8]| {
        out.extend(
            bytes.iter().filter_map(|&b| char::from_u32(if b < 0x80 { u32::from(b) } else { RAW + u32::from(b) })),
        );
    };
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match raw_byte(c) {
                None => out.push(c),
                Some(_) => raw(&mut out, c.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        raw(&mut out, chunk.invalid());
    }
    out
}

/// The bytes of text.
pub fn bytes_of(text: &str) -> Cow<'_, [u8]> {
    if !is_raw(text) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut out = Vec::with_capacity(text.len());
    for c in text.chars() {
        match raw_byte(c) {
            Some(byte) => out.push(byte),
            None => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Cow::Owned(out)
}

/// The name of a file as text.
pub fn text_of_os(name: &OsStr) -> String {
    text_of(name.as_bytes())
}

/// A path as text.
pub fn text_of_path(path: &Path) -> String {
    text_of_os(path.as_os_str())
}

/// The path that text names.
pub fn path_of(text: &str) -> Cow<'_, Path> {
    match bytes_of(text) {
        Cow::Borrowed(_) => Cow::Borrowed(Path::new(text)),
        Cow::Owned(bytes) => Cow::Owned(PathBuf::from(OsString::from_vec(bytes))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Deterministic noise with many bytes that begin or continue characters, including those that represent bytes.
    fn noise(seed: u64) -> Vec<u8> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as usize
        };
        let pool = *b"ab\xc3\xa9\xe9\xff\x80\xf4\x8f\xbe\xbf\xed\xb3\x00\xe2\x82\xac";
        (0..next() % 12).map(|_| pool[next() % pool.len()]).collect()
    }

    #[test]
    fn bytes_come_back_and_differ_as_text() {
        let mut seen = std::collections::HashMap::new();
        for seed in 0..20_000 {
            let bytes = noise(seed);
            let text = text_of(&bytes);
            assert_eq!(bytes_of(&text), bytes, "{text:?}");
            assert_eq!(seen.entry(text).or_insert(bytes.clone()), &bytes);
        }
    }

    #[test]
    fn text_stays_itself() {
        for text in ["", "plain", "é π €", "\u{10ff7f}", "\u{e080}"] {
            assert_eq!((text_of(text.as_bytes()).as_str(), bytes_of(text)), (text, Cow::Borrowed(text.as_bytes())));
        }
        assert_eq!(text_of(b"b\xe9"), "b\u{10ffe9}");
        assert_eq!((raw_byte('\u{10ffe9}'), raw_byte('é')), (Some(0xe9), None));
    }

    #[test]
    fn paths_come_back() {
        let name = OsStr::from_bytes(b"/tmp/\xff\xfe.root");
        assert_eq!(path_of(&text_of_os(name)).as_os_str(), name);
        assert!(matches!(path_of("/tmp/a"), Cow::Borrowed(_)));
    }
}
