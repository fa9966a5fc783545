//! Names of buckets.

/// Whether this can be the name of a bucket. Stores other than AWS allow capital letters and underscores.
pub(super) fn is_bucket_name(name: &str) -> bool {
    let ends = |b: Option<&u8>| b.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = name.as_bytes();
    (3..=255).contains(&name.len())
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(b))
        && ends(bytes.first())
        && ends(bytes.last())
        && !name.contains("..")
}

/// Whether the bucket's name can be a part of a host name that a certificate for all buckets covers.
pub(super) fn is_label(bucket: &str) -> bool {
    bucket.len() <= 63 && bucket.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}
