//! The files of the page, which the build has put into the library.

use crate::answer::{Answer, refused, whole};
use hyper::StatusCode;
use hyper::header::{CONTENT_ENCODING, HeaderValue};

/// Name and gzipped content.
const FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// Shown where the library was built without the page.
const MISSING: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Sapwood</title>\
    <p>This program was built without its page. Build it with <code>make build</code>, which needs npm.";

/// A file of the page; the empty name is the page itself.
pub(crate) fn file(name: &str) -> Answer {
    let wanted = if name.is_empty() { "index.html" } else { name };
    match FILES.iter().find(|(name, _)| *name == wanted) {
        Some((_, packed)) => {
            let mut answer = whole(StatusCode::OK, kind(wanted), *packed);
            answer.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            answer
        }
        None if name.is_empty() => whole(StatusCode::OK, kind(wanted), MISSING),
        None => refused(StatusCode::NOT_FOUND, "there is nothing at this address"),
    }
}

fn kind(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("json" | "map") => "application/json",
        Some("woff2") => "font/woff2",
        _ => "application/octet-stream",
    }
}
