//! Objects in S3 stores: `s3://bucket/key`.
//!
//! An object is read by the HTTP client like any other file: `address` parses the URL, `settings` finds the endpoint,
//! the region and where credentials come from, `credentials` obtains and renews them, `sign` signs each request
//! (AWS Signature Version 4), `bucket` holds what was learnt about a bucket, `refusal` interprets error responses, and
//! `listing` lists a prefix.

mod address;
mod bucket;
mod bucket_name;
mod credentials;
mod date;
mod listing;
mod options;
mod profile;
mod refusal;
mod remote_credentials;
mod settings;
mod sign;
mod xml;

pub(crate) use address::S3Url;
pub(crate) use bucket::{Bucket, Buckets};
pub(crate) use listing::list;
pub use options::{S3Keys, S3Options};
pub(crate) use refusal::{Response, RetryDecision, Tried, actual_size};
