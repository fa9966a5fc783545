//! How S3 stores are reached, as Python says it.

use sapwood::{S3Keys, S3Options};

/// Address, region, profile, whether requests are unsigned, whether buckets are in host names, and the keys: access key,
/// secret key, session token.
pub(crate) type GivenS3 = (
    Option<String>,
    Option<String>,
    Option<String>,
    Option<bool>,
    Option<bool>,
    Option<(String, String, Option<String>)>,
);

/// The same for the core; what is not given comes from the environment.
pub(crate) fn s3_options(given: Option<GivenS3>) -> S3Options {
    let Some((endpoint, region, profile, anonymous, virtual_hosts, keys)) = given else { return S3Options::default() };
    let keys = keys.map(|(access_key, secret_key, session_token)| S3Keys { access_key, secret_key, session_token });
    S3Options { endpoint, region, profile, anonymous, virtual_hosts, keys }
}
