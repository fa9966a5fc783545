//! Identifies a file and its version; as bytes on disk.

use bytes::Bytes;
use sapwood_span::{is_credential, is_secret};
use twox_hash::{XxHash3_64, XxHash3_128};

/// A file, and a version of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FileId {
    /// The URL, without credentials.
    pub url: String,
    /// What the origin and the file itself say about its content.
    pub version: FileVersion,
}

/// Identifies a version of a file. Two versions are the same only if all fields are equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct FileVersion {
    /// Size of the file in bytes.
    pub size: u64,
    /// The strong ETag, as the server writes it.
    pub etag: Option<String>,
    /// The modification time, as the server writes it.
    pub modified: Option<String>,
    /// A checksum of the whole file from the server, with its type (`adler32:0a1b2c3d`).
    pub checksum: Option<String>,
    /// The first bytes of the file: 512, or all of a smaller file. A ROOT file has its UUID, end and dates there.
    pub beginning: Bytes,
}

const MAGIC: &[u8; 8] = b"SWFILE\0\x01";
/// Bytes of an identity on disk at most.
pub(crate) const LONGEST: usize = 64 << 10;

impl FileId {
    /// A hash of URL and version: different versions share one only with a chance of 1 in 2^128.
    pub fn hash(&self) -> u128 {
        version_hash(&self.encoded())
    }

    /// The identity as stored on disk; none if it is too long, or the URL holds a credential.
    pub(crate) fn encode(&self) -> Option<Vec<u8>> {
        let out = if has_credential(&self.url) { return None } else { self.encoded() };
        (out.len() <= LONGEST).then_some(out)
    }

    fn encoded(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.extend(self.version.size.to_le_bytes());
        put(&mut out, Some(self.url.as_bytes()));
        for text in [&self.version.etag, &self.version.modified, &self.version.checksum] {
            put(&mut out, text.as_ref().map(String::as_bytes));
        }
        put(&mut out, Some(&self.version.beginning));
        let sum = XxHash3_64::oneshot(&out);
        out.extend(sum.to_le_bytes());
        out
    }

    /// Decodes what [`encode`](Self::encode) wrote; none if a single bit differs.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let (content, sum) = bytes.split_last_chunk::<8>()?;
        if XxHash3_64::oneshot(content) != u64::from_le_bytes(*sum) {
            return None;
        }
        let mut rest = content.strip_prefix(MAGIC)?;
        let (size, after) = rest.split_first_chunk::<8>()?;
        rest = after;
        let url = text(&mut rest)??;
        let (etag, modified, checksum) = (text(&mut rest)?, text(&mut rest)?, text(&mut rest)?);
        let beginning = Bytes::copy_from_slice(take(&mut rest)??);
        let version = FileVersion { size: u64::from_le_bytes(*size), etag, modified, checksum, beginning };
        rest.is_empty().then_some(Self { url, version })
    }
}

/// Appends a field: its length and one more (zero: there is none), then its bytes.
fn put(out: &mut Vec<u8>, field: Option<&[u8]>) {
    out.extend(field.map_or(0, |f| f.len() as u64 + 1).to_le_bytes());
    out.extend(field.unwrap_or_default());
}

/// The next field; the outer none means damage.
fn take<'a>(rest: &mut &'a [u8]) -> Option<Option<&'a [u8]>> {
    let (len, after) = rest.split_first_chunk::<8>()?;
    let Some(len) = u64::from_le_bytes(*len).checked_sub(1) else {
        *rest = after;
        return Some(None);
    };
    let (field, after) = after.split_at_checked(usize::try_from(len).ok()?)?;
    *rest = after;
    Some(Some(field))
}

fn text(rest: &mut &[u8]) -> Option<Option<String>> {
    take(rest)?.map_or(Some(None), |bytes| String::from_utf8(bytes.to_vec()).ok().map(Some))
}

/// The hash of a URL: the name of its directory.
pub(crate) fn url_name(url: &str) -> String {
    format!("{:032x}", XxHash3_128::oneshot(url.as_bytes()))
}

/// The hash of an encoded identity: the name of its directory, and the prefix of its checksums.
pub(crate) fn version_hash(encoded: &[u8]) -> u128 {
    XxHash3_128::oneshot(encoded)
}

/// Whether a URL has a password or a token that should never be written to disk.
fn has_credential(url: &str) -> bool {
    let Some((_, rest)) = sapwood_span::scheme(url) else { return false };
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let user = path.split('/').next().and_then(|authority| authority.rsplit_once('@')).map_or("", |(user, _)| user);
    let parameters = path.split(['/', ';']).chain(query.split(['&', '?', ';']));
    user.contains(':') || parameters.filter_map(|p| p.split_once('=')).any(|(name, value)| is_shown(name, value))
}

/// Whether this parameter is a credential, and not the hash of one (which begins with a character that no URL has
/// there).
fn is_shown(name: &str, value: &str) -> bool {
    !value.is_empty() && !value.starts_with('#') && (is_secret(name) || is_credential(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id() -> FileId {
        let version = FileVersion {
            size: 1 << 40,
            etag: Some("\"x\"".into()),
            modified: None,
            checksum: Some(String::new()),
            beginning: Bytes::from_static(b"root\0\0"),
        };
        FileId { url: "https://host/a b.root".into(), version }
    }

    #[test]
    fn an_identity_survives_and_a_changed_bit_does_not() {
        let bytes = id().encode().unwrap();
        assert_eq!(FileId::decode(&bytes), Some(id()));
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(FileId::decode(&damaged), None, "bit {bit}");
        }
        for len in 0..bytes.len() {
            assert_eq!(FileId::decode(&bytes[..len]), None);
        }
    }

    #[test]
    fn each_field_tells_versions_apart() {
        let mut others = vec![id(); 6];
        others[0].url.push('x');
        others[1].version.size += 1;
        others[2].version.etag = None;
        others[3].version.modified = Some(String::new());
        others[4].version.checksum = None;
        others[5].version.beginning = Bytes::new();
        let hashes: std::collections::HashSet<u128> =
            others.iter().chain([&id()]).map(|i| version_hash(&i.encode().unwrap())).collect();
        assert_eq!(hashes.len(), 7);
    }

    #[test]
    fn credentials_are_not_written() {
        for (url, refused) in [
            ("https://u:p@h/a", true),
            ("https://h/a?x=1&access_token=T", true),
            ("root://h//a?authz=T", true),
            ("root://u@h//a?svcClass=x", false),
            ("https://h/a@b:c?version=3", false),
            ("https://h/a;token=T/b", true),
            ("https://h/a?who=Bearer%20T", true),
            ("https://h/a?token=#0123456789abcdef", false),
        ] {
            let id = FileId { url: url.into(), ..id() };
            assert_eq!(id.encode().is_none(), refused, "{url}");
        }
    }

    #[test]
    fn what_is_too_long_is_not_kept() {
        assert!(FileId { url: "x".repeat(LONGEST), ..id() }.encode().is_none());
    }
}
