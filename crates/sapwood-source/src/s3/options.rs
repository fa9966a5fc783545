//! What a caller or a URL says about an S3 store.

use std::fmt;

/// How an S3 store is reached. What is not set is taken from the environment (`AWS_*`) and the AWS configuration files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct S3Options {
    /// Address of the store, such as `https://minio.example.org:9000`; AWS unless set.
    pub endpoint: Option<String>,
    /// Region for signatures, and for AWS's own address.
    pub region: Option<String>,
    /// Section of the AWS configuration files.
    pub profile: Option<String>,
    /// Whether requests are not signed: for public buckets.
    pub anonymous: Option<bool>,
    /// Whether the bucket's name is a part of the host name instead of the path.
    pub virtual_hosts: Option<bool>,
    /// Keys to sign with, instead of those that are found.
    pub keys: Option<S3Keys>,
}

/// An access key with its secret. Formatting it shows neither.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct S3Keys {
    /// The access key's ID.
    pub access_key: String,
    /// The secret access key.
    pub secret_key: String,
    /// The session token of temporary credentials.
    pub session_token: Option<String>,
}

impl fmt::Debug for S3Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("S3Keys(***)")
    }
}

impl S3Options {
    /// These options, and where they say nothing, the other ones.
    pub(super) fn or(&self, other: &Self) -> Self {
        Self {
            endpoint: self.endpoint.clone().or_else(|| other.endpoint.clone()),
            region: self.region.clone().or_else(|| other.region.clone()),
            profile: self.profile.clone().or_else(|| other.profile.clone()),
            anonymous: self.anonymous.or(other.anonymous),
            virtual_hosts: self.virtual_hosts.or(other.virtual_hosts),
            keys: self.keys.clone().or_else(|| other.keys.clone()),
        }
    }
}

/// A truth value as environment variables and URLs write it.
pub(super) fn flag(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "" | "1" | "true" | "yes" | "on" => Some(true),
        "0" | "false" | "no" | "off" => Some(false),
        _ => None,
    }
}

/// Whether hosts are virtual; none for `auto`.
pub(super) fn addressing_style(text: &str) -> Result<Option<bool>, &'static str> {
    match text.to_ascii_lowercase().as_str() {
        "auto" => Ok(None),
        "virtual" => Ok(Some(true)),
        "path" => Ok(Some(false)),
        _ => Err("addressing_style is auto, path or virtual"),
    }
}
