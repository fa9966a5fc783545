//! Checksums of whole files, as reported by servers.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::digest;
use sapwood_xrd::answer::{ChecksumKind, RunningChecksum};
use std::fmt;

/// What HTTP servers are asked for (RFC 9530).
pub(crate) const WANT_REPR_DIGEST: &str = "sha-256=9, sha-512=8, crc32c=5, adler=3";
/// What older servers are asked for (RFC 3230): grid storage mostly has Adler-32.
pub(crate) const WANT_DIGEST: &str = "adler32, crc32c, sha-256, sha-512";

/// How a checksum is computed, the weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Algorithm {
    Adler32,
    Crc32c,
    Sha256,
    Sha512,
}

/// A checksum of a whole file, as reported by its server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checksum {
    algorithm: Algorithm,
    value: Vec<u8>,
}

/// A checksum being computed over a file's bytes in order.
#[derive(Clone)]
pub struct Summing(Sum);

#[derive(Clone)]
enum Sum {
    Short(RunningChecksum),
    Long(Box<digest::Context>),
}

impl Algorithm {
    fn named(name: &str) -> Option<Self> {
        match name.trim().to_ascii_lowercase().as_str() {
            "adler32" | "adler" => Some(Self::Adler32),
            "crc32c" => Some(Self::Crc32c),
            "sha-256" | "sha256" => Some(Self::Sha256),
            "sha-512" | "sha512" => Some(Self::Sha512),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Adler32 => "adler32",
            Self::Crc32c => "crc32c",
            Self::Sha256 => "sha-256",
            Self::Sha512 => "sha-512",
        }
    }

    fn len(self) -> usize {
        match self {
            Self::Adler32 | Self::Crc32c => 4,
            Self::Sha256 => 32,
            Self::Sha512 => 64,
        }
    }
}

impl Checksum {
    /// Parses an XRootD server's answer: a name and hexadecimal digits. None for an unknown algorithm.
    pub(crate) fn of_xrootd(answer: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(answer).ok()?.trim_end_matches('\0');
        let mut words = text.split_ascii_whitespace();
        let algorithm = Algorithm::named(words.next()?)?;
        let value = hexadecimal(words.next()?, algorithm.len())?;
        Some(Self { algorithm, value })
    }

    /// Parses the headers `Repr-Digest` and `Digest` of an HTTP response; the strongest checksum wins.
    pub(crate) fn of_http<'a>(fields: impl Iterator<Item = &'a str>) -> Option<Self> {
        let all = fields.flat_map(|field| field.split(','));
        let found = all.filter_map(|one| {
            let (name, value) = one.trim().split_once('=')?;
            let algorithm = Algorithm::named(name)?;
            let value = match value.strip_prefix(':').and_then(|v| v.strip_suffix(':')) {
                Some(inner) => STANDARD.decode(inner).ok().filter(|bytes| bytes.len() == algorithm.len()),
                None => encoded(value, algorithm.len()),
            };
            Some(Self { algorithm, value: value? })
        });
        found.max_by_key(|one| one.algorithm)
    }

    /// Starts to compute a checksum of this kind.
    pub fn begin(&self) -> Summing {
        Summing(match self.algorithm {
            Algorithm::Adler32 => Sum::Short(ChecksumKind::Adler32.begin()),
            Algorithm::Crc32c => Sum::Short(ChecksumKind::Crc32c.begin()),
            Algorithm::Sha256 => Sum::Long(Box::new(digest::Context::new(&digest::SHA256))),
            Algorithm::Sha512 => Sum::Long(Box::new(digest::Context::new(&digest::SHA512))),
        })
    }

    /// The checksum of the bytes taken, of the same kind as this one.
    pub fn of(&self, summing: Summing) -> Self {
        let value = match summing.0 {
            Sum::Short(sum) => sum.value().to_be_bytes().to_vec(),
            Sum::Long(sum) => sum.finish().as_ref().to_vec(),
        };
        Self { algorithm: self.algorithm, value }
    }
}

impl Summing {
    /// Takes more bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        match &mut self.0 {
            Sum::Short(sum) => sum.update(bytes),
            Sum::Long(sum) => sum.update(bytes),
        }
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.algorithm.name())?;
        self.value.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Exactly `len` bytes in hexadecimal digits; leading zeros may be missing.
fn hexadecimal(text: &str, len: usize) -> Option<Vec<u8>> {
    if text.is_empty() || text.len() > 2 * len || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let padded = format!("{text:0>width$}", width = 2 * len);
    (0..len).map(|i| u8::from_str_radix(padded.get(2 * i..2 * i + 2)?, 16).ok()).collect()
}

/// Older servers use hexadecimal for some and base64 for others.
fn encoded(text: &str, len: usize) -> Option<Vec<u8>> {
    let from_base64 = STANDARD.decode(text).ok().filter(|bytes| bytes.len() == len && text.ends_with('='));
    from_base64.or_else(|| hexadecimal(text, len))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum_of(like: &Checksum, bytes: &[u8]) -> String {
        let mut sum = like.begin();
        bytes.chunks(3).for_each(|piece| sum.update(piece));
        like.of(sum).to_string()
    }

    #[test]
    fn what_servers_tell_is_what_their_files_give() {
        let text = b"Wikipedia";
        let sha = "sha-256=:JzdtjWhUyKCHDphAcEkAEMIBQcyUnF9LpMUTrAEnTIM=:";
        for (told, shown) in [
            (Checksum::of_xrootd(b"adler32 11e60398\0"), "adler32:11e60398"),
            (Checksum::of_http(["adler32=11e60398"].into_iter()), "adler32:11e60398"),
            (Checksum::of_http(["adler=:EeYDmA==:"].into_iter()), "adler32:11e60398"),
            (Checksum::of_http(["md5=abc,adler32=EeYDmA=="].into_iter()), "adler32:11e60398"),
        ] {
            assert_eq!(told.as_ref().map(ToString::to_string).as_deref(), Some(shown));
            assert_eq!(sum_of(&told.unwrap(), text), shown);
        }
        let numbers = Checksum::of_xrootd(b"crc32c e3069283").unwrap();
        assert_eq!(sum_of(&numbers, b"123456789"), numbers.to_string());
        let best = Checksum::of_http(["adler32=11e60398", sha].into_iter()).unwrap();
        assert!(best.to_string().starts_with("sha-256:"), "{best}");
        let of_abc = "sha-512=3a81oZNherrMQXNJriBBMRLm+k6JqX6iCp7u5ktV05ohkpkqJ0/BqDa6PCOj/uu9RU1EI2Q86A4qmslPpUyknw==";
        let told = Checksum::of_http([of_abc].into_iter()).unwrap();
        assert_eq!(sum_of(&told, b"abc"), told.to_string());
    }

    #[test]
    fn what_is_no_checksum_is_none() {
        for answer in ["", "adler32", "adler32 ", "adler32 xyz", "adler32 123456789", "md5 00", "\u{fffd}\0", "a b c"] {
            assert_eq!(Checksum::of_xrootd(answer.as_bytes()), None, "{answer:?}");
        }
        for field in ["", "=", "adler32", "adler32=", "sha-256=:AAAA:", "sha-256=::", "adler=:EeYDmA:", "unixsum=1"] {
            assert_eq!(Checksum::of_http([field].into_iter()), None, "{field:?}");
        }
        assert_eq!(Checksum::of_xrootd(b"adler32 1").unwrap().to_string(), "adler32:00000001");
        assert_eq!(Checksum::of_xrootd(b"\xff\xfe 1"), None);
    }
}
