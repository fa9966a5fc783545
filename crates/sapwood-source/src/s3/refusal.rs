//! What error responses of a store mean, and what to do about them.

use super::bucket::Bucket;
use super::options::S3Keys;
use super::xml::Document;
use crate::open::SourceOptions;
use hyper::header::HeaderMap;
use sapwood_span::{Error, ErrorKind, Result};
use tokio::runtime::Handle;

/// How to go on after an error response.
pub(crate) enum RetryDecision {
    /// Something was learnt: ask again, at the bucket's address as it is now.
    Retry,
    /// A retry will not help.
    Refuse(Error),
    /// As for any HTTP server.
    Default,
}

/// What was tried already for one request: each remedy is tried once.
#[derive(Default)]
pub(crate) struct Tried {
    region: bool,
    clock: bool,
    renewed: bool,
}

/// An error response.
pub(crate) struct Response<'a> {
    pub status: u16,
    pub headers: &'a HeaderMap,
    pub body: &'a [u8],
}

impl Bucket {
    /// Interprets an error response to a request that was signed with these keys.
    ///
    /// # Errors
    /// Where credentials had expired, and others cannot be obtained.
    pub(crate) async fn react(
        &self,
        response: &Response<'_>,
        keys: Option<&S3Keys>,
        tried: &mut Tried,
        options: &SourceOptions,
        handle: &Handle,
    ) -> Result<RetryDecision> {
        let text = String::from_utf8_lossy(response.body);
        let document = Document::new(&text);
        let of = |name: &str| document.as_ref().and_then(|d| d.text(name)).unwrap_or_default();
        let header = |name: &str| response.headers.get(name).and_then(|v| v.to_str().ok()).unwrap_or_default();
        let (code, status) = (of("Code"), response.status);
        let region = if header("x-amz-bucket-region").is_empty() {
            of("Region")
        } else {
            header("x-amz-bucket-region").to_owned()
        };
        // another request may have learnt it meanwhile: this one was signed before
        if !tried.region && matches!(status, 301 | 307 | 400 | 403) && self.is_in(&region) {
            tried.region = true;
            return Ok(RetryDecision::Retry);
        }
        if code == "RequestTimeTooSkewed" && !tried.clock {
            tried.clock = true;
            if httpdate::parse_http_date(header("date")).map(|theirs| self.clock(theirs)).is_ok() {
                return Ok(RetryDecision::Retry);
            }
        }
        let is_expired = matches!(code.as_str(), "ExpiredToken" | "ExpiredTokenException" | "TokenRefreshRequired");
        if let (true, false, Some(keys)) = (is_expired, tried.renewed, keys) {
            tried.renewed = true;
            if self.credentials.renew(keys, options, handle).await? {
                return Ok(RetryDecision::Retry);
            }
        }
        if matches!(status, 429 | 500..=599)
            || code == "RequestTimeout"
            || code == "SlowDown"
            || (status == 307 && code.is_empty())
        {
            return Ok(RetryDecision::Default);
        }
        Ok(RetryDecision::Refuse(self.refusal(status, &code, &shown(&of("Message"), keys))))
    }

    fn refusal(&self, status: u16, code: &str, message: &str) -> Error {
        let code = shown(code, None);
        let told = match (code.as_str(), message) {
            ("", _) => format!("the store responded with {status}"),
            (code, "") => format!("the store responded with {status} {code}"),
            (code, message) => format!("the store responded with {status} {code}: {message}"),
        };
        let denied = |remedy: &str| Error::new(ErrorKind::Denied, told.clone()).with_remedy(remedy);
        let bucket = &self.name;
        match (status, code.as_str()) {
            (_, "NoSuchBucket") => Error::no_such_file(told)
                .with_remedy(format!("check the name of the bucket ({bucket}) and the endpoint ({})", self.store())),
            (_, "NoSuchKey" | "NoSuchVersion") | (404, "" | "NotFound") => {
                Error::no_such_file(told).with_remedy("check the key; `sapwood ls` lists a prefix that ends in a slash")
            }
            (_, "RequestTimeTooSkewed") => denied("set the clock of this machine"),
            (_, "ExpiredToken" | "ExpiredTokenException" | "TokenRefreshRequired") => {
                denied("the credentials have expired: get new ones")
            }
            (_, "InvalidAccessKeyId" | "SignatureDoesNotMatch" | "InvalidToken" | "InvalidClientTokenId" | "XAdminUserNotFound") => {
                denied("check the access key, the secret key and the session token, and that they are those of this store")
            }
            (_, "AuthorizationHeaderMalformed" | "PermanentRedirect" | "IllegalLocationConstraintException") | (301, _) => {
                let what = format!("{told} (the region used is {})", self.region());
                let remedy = "set the bucket's region: AWS_REGION, or ?region= in the URL";
                Error::new(ErrorKind::Protocol, what).with_remedy(remedy)
            }
            (_, "InvalidObjectState") => denied("the object is archived: restore it first"),
            (401 | 403, _) => denied(self.credentials.unsigned().unwrap_or(
                "these credentials may not read it; stores also respond like this to a missing object where listing is not \
                 permitted",
            )),
            _ => Error::new(ErrorKind::Protocol, told),
        }
    }
}

/// The size of the object, as the response to a range outside of it states it.
pub(crate) fn actual_size(body: &[u8]) -> Option<u64> {
    Document::new(&String::from_utf8_lossy(body))?.text("ActualObjectSize")?.parse().ok()
}

/// A store's text for messages: one short line, without the request's credentials.
fn shown(text: &str, keys: Option<&S3Keys>) -> String {
    let mut text = text.to_owned();
    if let Some(keys) = keys {
        for secret in
            [Some(&keys.access_key), Some(&keys.secret_key), keys.session_token.as_ref()].into_iter().flatten()
        {
            if !secret.is_empty() {
                text = text.replace(secret.as_str(), "***");
            }
        }
    }
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(200)
        .collect::<String>()
        .trim()
        .trim_end_matches('.')
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_do_not_come_back_in_messages() {
        let keys =
            S3Keys { access_key: "AKIA".into(), secret_key: "SECRET".into(), session_token: Some("TOKEN".into()) };
        assert_eq!(shown("a\nAKIA SECRET b TOKEN", Some(&keys)), "a *** *** b ***");
    }
}
