//! Which version of a file a response belongs to.

use super::reply::Reply;
use crate::file_identity::{FirstBytes, changed};
use crate::lock;
use crate::origin_version::OriginVersion;
use crate::url::Url;
use hyper::header::HeaderMap;
use sapwood_span::Result;
use std::sync::Mutex;

/// Validators that distinguish two versions of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Validator {
    etag: Option<String>,
    modified: Option<String>,
}

impl Validator {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let get = |name| headers.get(name).and_then(|v| v.to_str().ok()).map(str::to_owned);
        Self { etag: get("etag"), modified: get("last-modified") }
    }

    /// Whether there is one.
    fn is_some(&self) -> bool {
        self.etag.is_some() || self.modified.is_some()
    }

    /// Refuses a response from another version of the file.
    ///
    /// `If-Range` is not sent: some servers ignore it, and for the others checking the response says the same without
    /// an unwanted body.
    pub(super) fn check(&self, now: &Self) -> Result<()> {
        // Servers give a file that was just written a weak tag, and a strong one when it has been left alone for a
        // while.
        let became_strong = |old: &str, new: &str| old.strip_prefix("W/") == Some(new);
        let differ = |name: &str, old: &Option<String>, new: &Option<String>| match (old, new) {
            (Some(old), Some(new)) if old != new && !became_strong(old, new) => {
                Some(changed(&format!("{name} was {old} and is now {new}")))
            }
            _ => None,
        };
        let verdict =
            differ("ETag", &self.etag, &now.etag).or_else(|| differ("Last-Modified", &self.modified, &now.modified));
        if let Some(error) = verdict {
            return Err(error);
        }
        let common = (self.etag.is_some() && now.etag.is_some()) || (self.modified.is_some() && now.modified.is_some());
        if self.is_some() && !common {
            return Err(changed("the server no longer identifies the version of the file (ETag, Last-Modified)"));
        }
        Ok(())
    }
}

/// The version of a file that was opened. Replicas on other servers have validators of their own: they are first
/// recognised by the file's size and first bytes, and from then on by their validators.
#[derive(Debug, Default)]
pub(crate) struct FileVersion {
    pub beginning: FirstBytes,
    /// By server and path.
    known: Mutex<Vec<(String, Validator)>>,
    /// One task requests the first bytes of a replica, the others wait.
    pub asking: tokio::sync::Mutex<()>,
}

/// The result of checking a response's headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VersionCheck {
    /// The version that was opened.
    Same,
    /// A server about which nothing is known.
    NewServer,
}

impl FileVersion {
    /// Responses of this server, with the path of this one's URL, are of the version that was opened.
    pub(super) fn learn(&self, reply: &Reply, validator: Validator) {
        let server = reply.url.without_query();
        let mut known = lock(&self.known);
        if !known.iter().any(|(p, _)| *p == server) {
            known.push((server, validator));
        }
    }

    /// Whether this server's responses can be compared with earlier ones.
    pub(super) fn knows(&self, url: &Url) -> bool {
        let server = url.without_query();
        lock(&self.known).iter().any(|(p, _)| *p == server)
    }

    /// Compares a response with earlier ones of the same server.
    ///
    /// # Errors
    /// `Corrupt` for another version.
    pub(super) fn check(&self, reply: &Reply) -> Result<VersionCheck> {
        let server = reply.url.without_query();
        let now = Validator::of(&reply.headers);
        let mut known = lock(&self.known);
        let Some((_, then)) = known.iter_mut().find(|(p, _)| *p == server) else { return Ok(VersionCheck::NewServer) };
        then.check(&now)?;
        if !then.is_some() && now.is_some() {
            *then = now;
        }
        Ok(VersionCheck::Same)
    }

    /// Identifies this version in later sessions, by the server that the file was opened on.
    pub(super) fn identity(&self, size: u64) -> Option<OriginVersion> {
        let Validator { etag, modified } = lock(&self.known).first()?.1.clone();
        let is_weak = etag.as_ref().is_some_and(|tag| tag.starts_with("W/"));
        let has_validator = modified.is_some() || (etag.is_some() && !is_weak);
        let beginning = self.beginning.bytes()?;
        // it becomes strong when the file has been left alone for a while
        let etag = etag.map(|tag| tag.strip_prefix("W/").unwrap_or(&tag).to_owned());
        Some(OriginVersion { size, etag, modified, checksum: None, has_validator, beginning })
    }

    /// Whether only the file's own bytes distinguish versions.
    pub(super) fn lacks_validator(&self) -> bool {
        lock(&self.known).iter().any(|(_, v)| !v.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tagged(etag: &str) -> Validator {
        Validator { etag: Some(etag.to_owned()), ..Validator::default() }
    }

    #[test]
    fn a_version_is_told_across_sessions_by_a_strong_tag_or_a_time() {
        let told = |etag: Option<&str>, modified: Option<&str>| {
            let validator = Validator { etag: etag.map(str::to_owned), modified: modified.map(str::to_owned) };
            let version =
                FileVersion { known: Mutex::new(vec![("h/a".to_owned(), validator)]), ..FileVersion::default() };
            version.beginning.keep(&bytes::Bytes::from_static(b"root"));
            version.identity(7)
        };
        assert!([None, Some("W/\"a\"")].into_iter().all(|etag| !told(etag, None).unwrap().has_validator));
        let weak = told(Some("W/\"a\""), Some("now")).unwrap();
        assert_eq!(Some(&weak), told(Some("\"a\""), Some("now")).as_ref(), "it becomes strong");
        assert_eq!((weak.size, weak.beginning.as_ref()), (7, &b"root"[..]));
        assert_ne!(Some(&weak), told(Some("\"b\""), Some("now")).as_ref());
        assert_ne!(Some(&weak), told(Some("\"a\""), Some("then")).as_ref());
        let alone = [told(Some("\"a\""), None), told(None, Some("now")), Some(weak)];
        assert!(alone.into_iter().all(|version| version.unwrap().has_validator));
    }

    #[test]
    fn a_tag_may_become_strong_and_not_weak() {
        let becomes = |old: &str, new: &str| tagged(old).check(&tagged(new)).is_ok();
        assert!(becomes("W/\"a\"", "\"a\"") && becomes("W/\"a\"", "W/\"a\"") && becomes("\"a\"", "\"a\""));
        assert!(!becomes("\"a\"", "W/\"a\"") && !becomes("W/\"a\"", "\"b\"") && !becomes("W/\"a\"", "W/W/\"a\""));
    }
}
