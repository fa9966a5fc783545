//! Names of files that are URLs: distinguished from paths, and shown without secrets.

use crate::redact_path;

/// Whether this name is read over the network (by its `scheme://`).
pub fn is_remote(name: &str) -> bool {
    scheme(name).is_some_and(|(s, _)| !s.eq_ignore_ascii_case("file"))
}

/// The scheme of a URL and what follows its `://`; none for a path.
pub fn scheme(name: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = name.split_once("://")?;
    let mut letters = scheme.bytes();
    let first = letters.next()?;
    let fits = first.is_ascii_alphabetic() && letters.all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    fits.then_some((scheme, rest))
}

/// A path or unparsed URL for messages: a URL without user, password and query.
pub fn redact(name: &str) -> String {
    let Some((scheme, rest)) = scheme(name.trim_start()) else { return name.to_owned() };
    let (before, query) = rest.split_once('?').unwrap_or((rest, ""));
    if query.contains('@') && is_authority(before.split('/').next().unwrap_or_default()) {
        // the end of a password with a question mark, or a part of a token: undecidable
        return format!("{scheme}://***");
    }
    // a password may hold unencoded slashes and question marks: it ends at the last `@`
    let behind = rest.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{}", redact_path(behind.split('?').next().unwrap_or_default()))
}

/// Whether this can be a URL's whole authority: a port follows the last colon.
fn is_authority(text: &str) -> bool {
    let host_and_port = text.rsplit('@').next().unwrap_or_default();
    host_and_port.ends_with(']')
        || host_and_port.rsplit_once(':').is_none_or(|(_, port)| port.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_told_from_paths() {
        assert!(!is_remote("data/a.root") && !is_remote("/a:b") && !is_remote("file:///a") && !is_remote("a b://c"));
        assert!(is_remote("https://h/a") && is_remote("root://h//a"));
    }

    #[test]
    fn secrets_are_not_shown() {
        for (name, shown) in [
            ("https://u:p@h/a.root?token=T&x=1", "https://h/a.root"),
            ("https://h:8443/a.root?token=T@S", "https://***"),
            ("root://u:p@[::1]:1094//a.root?authz=T", "root://[::1]:1094//a.root"),
            ("root://[::1]//a", "root://[::1]//a"),
            ("s3://u:p@h/a?authz=T", "s3://h/a"),
            ("http://u:p/w@h/a", "http://h/a"),
            ("http://u:p?w@h/a", "http://h/a"),
            (" http://u:p@h/a?authz=T", "http://h/a"),
            ("/data/u:p@h/a.root?authz", "/data/u:p@h/a.root?authz"),
        ] {
            assert_eq!(redact(name), shown);
        }
    }
}
