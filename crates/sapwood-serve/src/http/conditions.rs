//! Conditions of a request (RFC 9110, section 13): the version it requires, or already has.

use crate::files::FileVersion;
use hyper::StatusCode;
use hyper::header::{self, HeaderMap, HeaderName};

/// The status for a request whose conditions this version does not meet, in the order of section 13.2.2.
pub(crate) fn unmet(version: &FileVersion, headers: &HeaderMap) -> Option<StatusCode> {
    let date = |name| text(headers, name).and_then(|t| httpdate::parse_http_date(t).ok());
    let modified = httpdate::parse_http_date(&version.modified).ok();
    if let Some(tags) = list(headers, &header::IF_MATCH) {
        if !tags.iter().any(|t| t == "*" || is_strongly(version, t)) {
            return Some(StatusCode::PRECONDITION_FAILED);
        }
    } else if let (Some(limit), Some(modified)) = (date(header::IF_UNMODIFIED_SINCE), modified)
        && modified > limit
    {
        return Some(StatusCode::PRECONDITION_FAILED);
    }
    let known = match list(headers, &header::IF_NONE_MATCH) {
        // here a weak tag is as good as a strong one
        Some(tags) => tags.iter().any(|t| t == "*" || opaque(t) == opaque(&version.etag)),
        None => date(header::IF_MODIFIED_SINCE).is_some_and(|since| modified.is_some_and(|m| m <= since)),
    };
    known.then_some(StatusCode::NOT_MODIFIED)
}

/// Whether ranges may be sent: the request does not require a certain version, or this is certainly that version.
pub(crate) fn same_for_range(version: &FileVersion, headers: &HeaderMap) -> bool {
    if !headers.contains_key(header::IF_RANGE) {
        return true;
    }
    let named = text(headers, header::IF_RANGE);
    named.is_some_and(|v| is_strongly(version, v) || (version.is_strong && v == version.modified))
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name).and_then(|v| v.to_str().ok()).map(str::trim)
}

/// The strong comparison (section 8.8.3.2): weak tags match nothing, not even themselves.
fn is_strongly(version: &FileVersion, tag: &str) -> bool {
    version.is_strong && tag == version.etag
}

fn opaque(tag: &str) -> &str {
    tag.strip_prefix("W/").unwrap_or(tag)
}

/// The tags of all headers of a name; none where there is no such header. Ours hold no comma.
fn list(headers: &HeaderMap, name: &HeaderName) -> Option<Vec<String>> {
    headers.contains_key(name).then(|| {
        let lines = headers.get_all(name).iter().filter_map(|v| v.to_str().ok());
        lines.flat_map(|line| line.split(',')).map(|tag| tag.trim().to_owned()).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(text: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for line in text.lines() {
            let (name, value) = line.split_once(": ").unwrap();
            headers.append(HeaderName::from_bytes(name.as_bytes()).unwrap(), value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn conditions_of_the_standard() {
        const THEN: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
        let version = FileVersion { etag: "\"a-1\"".into(), modified: THEN.into(), is_strong: true };
        let unmet = |text: &str| unmet(&version, &headers(text)).map(|s| s.as_u16());
        for (request, expected) in [
            ("range: bytes=0-1", None),
            ("if-none-match: \"a-1\"", Some(304)),
            ("if-none-match: W/\"a-1\"", Some(304)),
            ("if-none-match: \"x\", \"a-1\"", Some(304)),
            ("if-none-match: \"x\"\nif-none-match: \"a-1\"", Some(304)),
            ("if-none-match: *", Some(304)),
            ("if-none-match: \"x\"", None),
            ("if-match: \"a-1\"", None),
            ("if-match: *", None),
            ("if-match: \"x\"", Some(412)),
            ("if-match: W/\"a-1\"", Some(412)),
            ("if-modified-since: Sun, 06 Nov 1994 08:49:37 GMT", Some(304)),
            ("if-modified-since: Sun, 06 Nov 1994 08:49:36 GMT", None),
            ("if-modified-since: yesterday", None),
            ("if-none-match: \"x\"\nif-modified-since: Sun, 06 Nov 1994 08:49:37 GMT", None),
            ("if-unmodified-since: Sun, 06 Nov 1994 08:49:37 GMT", None),
            ("if-unmodified-since: Thu, 01 Jan 1970 00:00:00 GMT", Some(412)),
            ("if-match: \"a-1\"\nif-none-match: \"a-1\"", Some(304)),
        ] {
            assert_eq!(unmet(request), expected, "{request}");
        }
    }
}
