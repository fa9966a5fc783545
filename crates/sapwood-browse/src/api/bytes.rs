//! The bytes of a file, for JSROOT: it reads objects that it draws by itself.

use crate::answer::{Answer, Fault, refused, whole};
use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{ACCEPT_RANGES, CONTENT_RANGE, HeaderValue};
use sapwood::{File, Span};

/// Bytes of one answer, at most.
const MOST: u64 = 64 << 20;
const KIND: &str = "application/octet-stream";

pub(super) fn answer(file: &File, range: Option<&str>) -> Result<Answer, Fault> {
    let size = file.size();
    let (status, span) = match range {
        None => (StatusCode::OK, Span::new(0, size)),
        Some(text) => match parse(text, size) {
            Some(span) => (StatusCode::PARTIAL_CONTENT, span),
            None => {
                let mut answer =
                    refused(StatusCode::RANGE_NOT_SATISFIABLE, "one range within the file can be asked for");
                if let Ok(value) = HeaderValue::from_str(&format!("bytes */{size}")) {
                    answer.headers_mut().insert(CONTENT_RANGE, value);
                }
                return Ok(answer);
            }
        },
    };
    if span.len > MOST {
        return Err(Fault::new(format!(
            "{} bytes are asked for at once; at most {MOST} are sent: ask for a range",
            span.len
        )));
    }
    let bytes = if span.len == 0 { Bytes::new() } else { file.read(&[span])?.into_iter().next().unwrap_or_default() };
    let mut answer = whole(status, KIND, bytes);
    let headers = answer.headers_mut();
    headers.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    if status == StatusCode::PARTIAL_CONTENT
        && let Ok(value) = HeaderValue::from_str(&format!("bytes {}-{}/{size}", span.start, span.end() - 1))
    {
        headers.insert(CONTENT_RANGE, value);
    }
    Ok(answer)
}

/// `bytes=0-99`, `bytes=100-` or `bytes=-100`, within a file of this size.
fn parse(text: &str, size: u64) -> Option<Span> {
    let (from, to) = text.trim().strip_prefix("bytes=")?.split_once('-')?;
    let number = |text: &str| text.trim().parse::<u64>().ok();
    let (start, end) = match (from.trim(), to.trim()) {
        ("", length) => (size.saturating_sub(number(length)?), size),
        (start, "") => (number(start)?, size),
        (start, last) => (number(start)?, number(last)?.checked_add(1)?.min(size)),
    };
    (start < end).then(|| Span::new(start, end - start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        let of = |text: &str| parse(text, 100).map(|span| (span.start, span.len));
        assert_eq!(of("bytes=0-9"), Some((0, 10)));
        assert_eq!(of("bytes=90-200"), Some((90, 10)));
        assert_eq!(of("bytes=90-"), Some((90, 10)));
        assert_eq!(of("bytes=-5"), Some((95, 5)));
        for text in [
            "bytes=100-",
            "bytes=5-2",
            "bytes=0-1,4-5",
            "lines=0-1",
            "bytes=",
            "bytes=-0",
            "bytes=0-18446744073709551615x",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
