//! The `Authorization` header.

use crate::url::Url;
use crate::user::discovered;
use hyper::header::HeaderValue;
use sapwood_span::{Error, Result};

/// The header for this URL: the user in the URL first, then the token given, then, for `https`
/// only, the one that is found.
///
/// # Errors
/// A token that does not fit a header.
pub(crate) fn authorization(url: &Url, token: Option<&str>) -> Result<Option<HeaderValue>> {
    let text = if let Some((user, password)) = &url.user {
        format!("Basic {}", base64(format!("{user}:{password}").as_bytes()))
    } else if let Some(token) = token {
        format!("Bearer {}", token.trim())
    } else if url.https {
        match discovered() {
            Some(token) => format!("Bearer {token}"),
            None => return Ok(None),
        }
    } else {
        return Ok(None);
    };
    let mut value = HeaderValue::try_from(text)
        .map_err(|_| Error::invalid("the token holds characters that do not fit an HTTP header"))?;
    value.set_sensitive(true);
    Ok(Some(value))
}

/// RFC 4648, section 4.
pub(crate) fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let at = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for i in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * i) & 63) as usize] as char;
            out.push(if i <= chunk.len() { letter } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::base64;

    #[test]
    fn base64_of_the_standard() {
        for (plain, coded) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")] {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }
}
