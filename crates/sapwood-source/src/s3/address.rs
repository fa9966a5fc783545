//! `s3://bucket/key?region=...`.

use super::bucket_name::is_bucket_name;
use super::options::{S3Options, addressing_style, flag};
use super::settings::Settings;
use sapwood_span::raw_text::text_of;
use sapwood_span::{Error, Result, percent, redact};
use std::fmt::Write;

/// Parameters that a URL may have; the other names are those of other programs for the same thing.
const PARAMETERS: &str = "endpoint, region, profile, anonymous, addressing_style and versionId";

/// An object, or a prefix, in a bucket.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct S3Url {
    pub(super) bucket: String,
    /// The key, decoded.
    pub(super) key: Vec<u8>,
    /// What the query says.
    pub(super) options: S3Options,
    /// The version of the object.
    pub(super) version: Option<String>,
}

impl S3Url {
    /// The address after `s3://`.
    ///
    /// # Errors
    /// `Invalid` for names that no bucket has, credentials in the URL, and unknown parameters.
    pub(crate) fn parse(rest: &str) -> Result<Self> {
        let refuse = |what: &str| Error::invalid(format!("bad URL: {what}")).in_file(redact(&format!("s3://{rest}")));
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (bucket, key) = path.split_once('/').unwrap_or((path, ""));
        if bucket.contains('@') || path.split('/').next().is_some_and(|b| b.contains(':')) {
            let remedy = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name a profile with ?profile=NAME; for a \
                          server of your own add ?endpoint=http://host:port";
            return Err(refuse("an s3:// URL begins with the name of a bucket, without credentials or a port")
                .with_remedy(remedy));
        }
        if !is_bucket_name(bucket) {
            return Err(refuse("missing or invalid bucket name (3 to 63 letters, digits, dots and dashes)"));
        }
        let mut url =
            Self { bucket: bucket.to_owned(), key: percent::decode(key), options: S3Options::default(), version: None };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let text = text_of(&percent::decode(value));
            match name {
                "endpoint" | "endpoint_url" | "endpoint_override" => url.options.endpoint = Some(text),
                "region" => url.options.region = Some(text),
                "profile" => url.options.profile = Some(text),
                "anonymous" | "anon" => {
                    url.options.anonymous = Some(flag(&text).ok_or_else(|| refuse("anonymous is true or false"))?)
                }
                "addressing_style" => url.options.virtual_hosts = addressing_style(&text).map_err(refuse)?,
                "versionId" => url.version = Some(text),
                _ => {
                    return Err(refuse("unknown parameter")
                        .with_remedy(format!("parameters are {PARAMETERS}; write a question mark in a key as %3F")));
                }
            }
        }
        Ok(url)
    }

    /// The key as the beginning of others.
    pub(super) fn prefix(&self) -> Vec<u8> {
        self.key.clone()
    }

    /// The URL for messages.
    pub(crate) fn redacted(&self) -> String {
        let mut out = format!("s3://{}/{}", self.bucket, self.shown_key());
        if let Some(version) = &self.version {
            let _ = write!(out, "?versionId={version}");
        }
        out
    }

    fn shown_key(&self) -> String {
        String::from_utf8_lossy(&self.key).chars().map(|c| if c.is_control() { '?' } else { c }).collect()
    }

    /// The URL that names this object wherever it is used: with the store's address and without credentials.
    pub(crate) fn named(&self, options: &S3Options) -> String {
        let encoded: Vec<String> = self.key.split(|b| *b == b'/').map(percent::encode_component).collect();
        let mut out = format!("s3://{}/{}", self.bucket, encoded.join("/"));
        let endpoint = Settings::endpoint_of(&self.options.or(options));
        let version = self.version.as_ref().map(|v| ("versionId", percent::encode_component(v.as_bytes())));
        let endpoint = endpoint.map(|e| ("endpoint", percent::encode_component(e.as_bytes())));
        for (i, (name, value)) in endpoint.into_iter().chain(version).enumerate() {
            let _ = write!(out, "{}{name}={value}", if i == 0 { '?' } else { '&' });
        }
        out
    }
}

impl std::fmt::Debug for S3Url {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.redacted())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_an_address() {
        let url =
            S3Url::parse("data.v1/run 7/%41%3f.root?region=eu-west-1&endpoint=http://h:9000&versionId=x%2By&anonymous")
                .unwrap();
        assert_eq!((url.bucket.as_str(), url.key.as_slice()), ("data.v1", &b"run 7/A?.root"[..]));
        assert_eq!(url.options.region.as_deref(), Some("eu-west-1"));
        assert_eq!((url.options.anonymous, url.version.as_deref()), (Some(true), Some("x+y")));
        assert_eq!(url.redacted(), "s3://data.v1/run 7/A?.root?versionId=x+y");
        assert_eq!(
            url.named(&S3Options::default()),
            "s3://data.v1/run%207/A%3F.root?endpoint=http%3A%2F%2Fh%3A9000&versionId=x%2By"
        );
        assert_eq!(S3Url::parse("bucket").unwrap().key, b"");
    }

    #[test]
    fn what_is_no_bucket_is_refused_without_its_secret() {
        for bad in [
            "",
            "/key",
            "b/k",
            "host:9000/bucket/k",
            "AKIA:HIDDEN@bucket/k",
            "bucket/k?x=1",
            "bu..cket/k",
            "-bucket/k",
            "bucket/k?anonymous=maybe",
        ] {
            let error = S3Url::parse(bad).unwrap_err().to_string();
            assert!(!error.contains("HIDDEN"), "{bad}: {error}");
        }
    }
}
