//! The name under which the local cache knows a file.

use sapwood_codec::Digest;
use sapwood_source::S3Options;
use sapwood_span::{is_credential, is_random, is_secret, percent};

/// Longer values may be secrets under a name that is not known: they are kept as a hash.
const LONGEST: usize = 15;

/// What signatures come with, beside themselves.
const OF_SIGNATURES: [&str; 2] = ["expires", "policy"];

/// The parameters of a shared access signature (Azure), beside `sig`.
const OF_SHARED_ACCESS: [&str; 17] = [
    "sv", "se", "sp", "sr", "st", "ss", "srt", "spr", "sip", "skoid", "sktid", "skt", "ske", "sks", "skv", "saoid",
    "scid",
];

/// A URL without what may be a credential.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CacheKey {
    pub url: String,
    /// Whether something was left out that may tell one file from another.
    pub has_more: bool,
}

/// What becomes of a parameter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Redaction {
    Keep,
    /// It may tell files apart, and may be a secret.
    Hash,
    /// It says who asks, and not for what: a new one finds what another one fetched.
    Drop,
    /// As `Not`, as far as can be known.
    Uncertain,
}

/// The name of a file: nothing in it is a credential.
pub(super) fn cache_key(url: &str, s3: &S3Options) -> CacheKey {
    let named = sapwood_source::named(url, s3);
    if sapwood_source::is_s3(&named) {
        // it names the store, the bucket, the object and its version: credentials are no part of it
        return CacheKey { url: named, has_more: false };
    }
    let (path, query) = named.split_once('?').unwrap_or((&named, ""));
    let mut has_more = false;
    let path: Vec<String> = path.split('/').map(|part| kept(part, ';', false, &mut has_more)).collect();
    let query = kept(query, '&', true, &mut has_more);
    let question = if query.is_empty() { "" } else { "?" };
    CacheKey { url: format!("{}{question}{query}", path.join("/")), has_more }
}

/// The parameters of a part of a path, or of a query, that stay.
fn kept(text: &str, separator: char, is_query: bool, has_more: &mut bool) -> String {
    let names: Vec<String> = text.split(separator).map(|one| name_of(one).0).collect();
    let mut out = Vec::new();
    for one in text.split(separator).filter(|one| !is_query || !one.is_empty()) {
        let (name, value) = name_of(one);
        let what = match value {
            Some(value) => of_parameter(&name, value, &names),
            None if is_credential(one) => Redaction::Drop,
            None if is_random(one) || (is_query && is_long(one)) => Redaction::Hash,
            None => Redaction::Keep,
        };
        match (what, value) {
            (Redaction::Keep, _) => out.push(one.to_owned()),
            (Redaction::Hash, Some(value)) => {
                let name = one.split('=').next().unwrap_or_default();
                out.push(format!("{name}={}", hash(value)));
            }
            (Redaction::Hash, None) => out.push(hash(one)),
            (Redaction::Drop, _) => {}
            (Redaction::Uncertain, _) => *has_more = true,
        }
    }
    out.join(separator.encode_utf8(&mut [0; 4]))
}

/// The name of a parameter in lower case, and its value.
fn name_of(parameter: &str) -> (String, Option<&str>) {
    let (name, value) = parameter.split_once('=').map_or((parameter, None), |(name, value)| (name, Some(value)));
    (String::from_utf8_lossy(&percent::decode(name)).to_ascii_lowercase(), value)
}

/// `names`: those of all parameters.
fn of_parameter(name: &str, value: &str, names: &[String]) -> Redaction {
    let is_signed = |by: &[&str]| names.iter().any(|name| by.contains(&name.as_str()));
    let known = ["authz", "authorization", "access_token", "sig", "signature", "hmac", "macaroon", "jwt", "bearer"];
    let ids = ["awsaccesskeyid", "googleaccessid", "key-pair-id"];
    if known.contains(&name)
        || ids.contains(&name)
        || name.starts_with("x-amz-")
        || name.starts_with("x-goog-")
        || is_credential(value)
        || (OF_SIGNATURES.contains(&name) && is_signed(&["signature"]))
        || (OF_SHARED_ACCESS.contains(&name) && is_signed(&["sig"]))
    {
        return Redaction::Drop;
    }
    // people choose them: a hash would not hide them
    if ["pass", "pwd", "secret", "cred"].iter().any(|word| name.contains(word)) {
        return Redaction::Uncertain;
    }
    if value.is_empty() {
        return Redaction::Keep;
    }
    if is_secret(name) || is_random(value) || is_long(value) { Redaction::Hash } else { Redaction::Keep }
}

/// Whether a part of a value may be a secret.
fn is_long(value: &str) -> bool {
    let value = String::from_utf8_lossy(&percent::decode(value)).into_owned();
    value.split(['/', '.', ':', ',']).any(|part| part.len() > LONGEST)
}

/// A hash in the place of a value. No value begins with this sign, which ends a URL.
fn hash(value: &str) -> String {
    let mut digest = Digest::default();
    digest.update(value.as_bytes());
    format!("#{:016x}", digest.value())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_told_apart_by_store_and_version() {
        let at = |endpoint: &str| S3Options { endpoint: Some(endpoint.to_owned()), ..S3Options::default() };
        let of = |url: &str, endpoint: &str| cache_key(url, &at(endpoint)).url;
        assert_eq!(of("s3://bucket/a b?region=r&anonymous", "http://h/"), "s3://bucket/a%20b?endpoint=http%3A%2F%2Fh");
        assert_ne!(of("s3://bucket/a", "http://h"), of("s3://bucket/a", "http://other"));
        assert_ne!(of("s3://bucket/a?versionId=1", "http://h"), of("s3://bucket/a", "http://h"));
    }

    fn key(url: &str) -> String {
        cache_key(url, &S3Options::default()).url.replace(":1094", "")
    }

    #[test]
    fn nothing_of_a_credential_is_left() {
        let signed = "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIA%2F2026&X-Amz-Date=20260101T000000Z\
                      &X-Amz-Expires=3600&X-Amz-SignedHeaders=host&X-Amz-Signature=fe5f80f77d5fa3beca038a248ff027";
        for (url, named, has_more) in [
            ("https://host/a.root?x=1&y=2", "https://host/a.root?x=1&y=2", false),
            ("https://u:p@host/a.root", "https://host/a.root", false),
            ("https://host/a.root?authz=Bearer%20abc&x=1", "https://host/a.root?x=1", false),
            ("https://host/a.root?x=1&who=Bearer%20abc", "https://host/a.root?x=1", false),
            ("https://host/a;access_token=T;v=1/b.root?sig=S", "https://host/a;v=1/b.root", false),
            ("root://u@host//a.root?authz=T", "root://host//a.root", false),
            (&format!("https://host/a.root?{signed}"), "https://host/a.root", false),
            ("https://host/a.root?sv=2024&se=2026&sp=r&sig=abc&x=1", "https://host/a.root?x=1", false),
            ("https://host/a.root?Expires=1&Signature=S&Key-Pair-Id=K", "https://host/a.root", false),
            ("https://host/a.root?sv=2024&expires=5", "https://host/a.root?sv=2024&expires=5", false),
            ("https://host/a.root?password=p", "https://host/a.root", true),
        ] {
            let found = cache_key(url, &S3Options::default());
            assert_eq!(found.has_more, has_more, "{url}");
            assert_eq!(key(url), named, "{url}");
        }
    }

    #[test]
    fn urls_that_differ_in_what_is_hidden_have_names_of_their_own() {
        let random = ["kTq2xW9vZb4LmR7cPf1sYh6d", "mB8nV3xQ1wZ5rT7yUp2Lk9Gh"];
        for (a, b) in [
            ("https://h/d?key=A", "https://h/d?key=B"),
            ("https://h/d?token=ABC", "https://h/d?token=ABD"),
            ("https://h/s;key=A/d", "https://h/s;key=B/d"),
            (&format!("https://h/d?p={}", random[0]), &format!("https://h/d?p={}", random[1])),
            (&format!("https://h/{}/d", random[0]), &format!("https://h/{}/d", random[1])),
            ("root://h//d?which=averyverylongvalue1", "root://h//d?which=averyverylongvalue2"),
        ] {
            assert_ne!(key(a), key(b));
            assert_eq!(key(a), key(a));
            assert!(!cache_key(a, &S3Options::default()).has_more);
            for (url, name) in [(a, key(a)), (b, key(b))] {
                assert!(name.contains('#') && name != url, "{name}");
                assert!(!random.iter().any(|r| name.contains(r)) && !name.contains("verylong"), "{name}");
            }
        }
    }

    #[test]
    fn an_empty_query_is_none() {
        for same in ["https://h/a.root?", "https://h/a.root?&", "https://h:443/a.root", "HTTPS://H/a.root#x"] {
            assert_eq!(key(same), "https://h/a.root", "{same}");
        }
        assert_eq!(key("root://h//a.root?"), key("root://h//a.root"));
    }
}
