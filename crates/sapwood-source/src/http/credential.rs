//! The `Authorization` header.

use crate::url::Url;
use crate::user::discovered;
use base64::prelude::{BASE64_STANDARD, Engine};
use hyper::header::HeaderValue;
use sapwood_span::{Error, Result};

/// The header for this URL: the user in the URL first, then the given token, then, for `https` only, the discovered
/// one.
///
/// # Errors
/// A token that is not a valid header value.
pub(crate) fn authorization(url: &Url, token: Option<&str>) -> Result<Option<HeaderValue>> {
    let text = if let Some((user, password)) = &url.user {
        basic(user, password)
    } else if let Some(token) = token {
        match token.trim() {
            "" => return Ok(None),
            token => format!("Bearer {token}"),
        }
    } else if url.https {
        match discovered() {
            Some(token) => format!("Bearer {token}"),
            None => return Ok(None),
        }
    } else {
        return Ok(None);
    };
    let mut value = HeaderValue::try_from(text)
        .map_err(|_| Error::invalid("the token contains characters that are not allowed in an HTTP header"))?;
    value.set_sensitive(true);
    Ok(Some(value))
}

/// User and password for HTTP's basic scheme (RFC 7617).
pub(crate) fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}")))
}

#[cfg(test)]
mod tests {
    use super::basic;

    #[test]
    fn the_basic_scheme() {
        // the example of RFC 7617
        assert_eq!(basic("Aladdin", "open sesame"), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
        assert_eq!(basic("test", "123£"), "Basic dGVzdDoxMjPCow==");
    }
}
