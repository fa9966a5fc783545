//! AWS Signature Version 4, in headers.
//!
//! The rules are those of the Amazon S3 API reference, "Authenticating Requests: Using the Authorization Header"; the
//! tests are its examples.

use super::date::compact;
use super::options::S3Keys;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use ring::digest::{SHA256, digest};
use ring::hmac;
use sapwood_span::{Error, Result};
use std::fmt::Write;
use std::time::SystemTime;

/// SHA-256 of an empty body.
const NO_BODY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// Signs a request without a body: adds the headers that say when, by whom, and that it is so.
///
/// `target`: path and query, encoded as the canonical form has them, the query sorted by name. `headers`: `Host` is
/// among them already; it is signed, and `Range`.
///
/// # Errors
/// `Invalid` for keys that are no header values.
pub(super) fn sign(
    keys: &S3Keys,
    region: &str,
    method: &str,
    target: &str,
    time: SystemTime,
    headers: &mut HeaderMap,
) -> Result<()> {
    let time = compact(time);
    let day = &time[..8];
    set(headers, "x-amz-content-sha256", NO_BODY)?;
    set(headers, "x-amz-date", &time)?;
    if let Some(token) = &keys.session_token {
        set(headers, "x-amz-security-token", token)?;
    }
    let is_signed = |name: &str| name == "host" || name == "range" || name.starts_with("x-amz-");
    let mut signed: Vec<(&str, &str)> = headers
        .iter()
        .filter(|(name, _)| is_signed(name.as_str()))
        .filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?.trim())))
        .collect();
    signed.sort_unstable();
    let names: Vec<&str> = signed.iter().map(|(name, _)| *name).collect();
    let names = names.join(";");
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut canonical = format!("{method}\n{path}\n{query}\n");
    for (name, value) in &signed {
        let _ = writeln!(canonical, "{name}:{value}");
    }
    let _ = write!(canonical, "\n{names}\n{NO_BODY}");
    let scope = format!("{day}/{region}/s3/aws4_request");
    let to_sign = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{}", hex(digest(&SHA256, canonical.as_bytes()).as_ref()));
    let mut key = hmac::Key::new(hmac::HMAC_SHA256, format!("AWS4{}", keys.secret_key).as_bytes());
    for part in [day, region, "s3", "aws4_request"] {
        key = hmac::Key::new(hmac::HMAC_SHA256, hmac::sign(&key, part.as_bytes()).as_ref());
    }
    let signature = hex(hmac::sign(&key, to_sign.as_bytes()).as_ref());
    let id = &keys.access_key;
    let authorization = format!("AWS4-HMAC-SHA256 Credential={id}/{scope},SignedHeaders={names},Signature={signature}");
    set(headers, "authorization", &authorization)
}

fn set(headers: &mut HeaderMap, name: &'static str, value: &str) -> Result<()> {
    let mut value = HeaderValue::from_str(value)
        .map_err(|_| Error::invalid("the S3 credentials contain characters that are not allowed in an HTTP header"))?;
    value.set_sensitive(name != "x-amz-date" && name != "x-amz-content-sha256");
    headers.insert(HeaderName::from_static(name), value);
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, b| {
        let _ = write!(out, "{b:02x}");
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::s3::date::parse;

    #[test]
    fn the_examples_of_the_reference() {
        let keys = S3Keys {
            access_key: "AKIAIOSFODNN7EXAMPLE".into(),
            secret_key: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".into(),
            session_token: None,
        };
        for (target, range, signature) in [
            ("/test.txt", Some("bytes=0-9"), "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"),
            ("/?max-keys=2&prefix=J", None, "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert("host", HeaderValue::from_static("examplebucket.s3.amazonaws.com"));
            headers.insert("accept", HeaderValue::from_static("*/*"));
            if let Some(range) = range {
                headers.insert("range", HeaderValue::from_static(range));
            }
            let time = parse("2013-05-24T00:00:00Z").unwrap();
            sign(&keys, "us-east-1", "GET", target, time, &mut headers).unwrap();
            let told = headers["authorization"].to_str().unwrap();
            assert!(told.ends_with(&format!("Signature={signature}")), "{target}: {told}");
            assert!(headers["authorization"].is_sensitive());
        }
    }
}
