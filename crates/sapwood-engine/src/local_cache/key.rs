//! The name under which the local cache knows a file.

/// A URL without what may be a credential.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CacheKey {
    pub url: String,
    /// Whether something of the URL was left out that is not the user.
    pub has_more: bool,
}

/// What a redacted URL has in the place of a credential.
const HIDDEN: &str = "***";

/// The name of a file: nothing in it is a credential, not even in its redacted form, so that a new token finds what
/// another one fetched.
pub(super) fn cache_key(url: &str) -> CacheKey {
    let shown = sapwood_source::redacted(url);
    let has_more = shown.contains(HIDDEN);
    let (path, query) = shown.split_once('?').unwrap_or((&shown, ""));
    let kept = |text: &str, separator: char| {
        let parts: Vec<&str> = text.split(separator).filter(|part| !part.contains(HIDDEN)).collect();
        parts.join(separator.encode_utf8(&mut [0; 4]))
    };
    let path: Vec<String> = path.split('/').map(|part| kept(part, ';')).collect();
    let query = kept(query, '&');
    let question = if query.is_empty() { "" } else { "?" };
    CacheKey { url: format!("{}{question}{query}", path.join("/")), has_more }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_credential_is_left() {
        for (url, key, has_more) in [
            ("https://host/a.root?x=1&y=2", "https://host/a.root?x=1&y=2", false),
            ("https://u:p@host/a.root", "https://host/a.root", false),
            ("https://host/a.root?token=T&x=1", "https://host/a.root?x=1", true),
            ("https://host/a;token=T;v=1/b.root?sig=S", "https://host/a;v=1/b.root", true),
            ("root://u@host//a.root?authz=T", "root://host:1094//a.root", true),
        ] {
            let found = cache_key(url);
            assert_eq!(found.has_more, has_more, "{url}");
            assert_eq!(found.url.replace(":1094", ""), key.replace(":1094", ""), "{url}");
        }
    }
}
