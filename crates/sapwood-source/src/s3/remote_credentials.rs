//! Credentials that a service hands out: STS, a container's agent, a virtual machine's metadata service.

use super::date;
use super::options::S3Keys;
use super::xml::Document;
use crate::http::small::{Answer, SmallRequest, ask};
use crate::open::SourceOptions;
use crate::url::Url;
use bytes::Bytes;
use hyper::Method;
use sapwood_span::{Error, ErrorKind, Result, percent};
use std::time::SystemTime;
use tokio::runtime::Handle;

/// Credentials and when they expire.
#[derive(Clone)]
pub(super) struct Obtained {
    pub keys: S3Keys,
    pub expires: Option<SystemTime>,
}

/// Longest token file.
const LONGEST_TOKEN: usize = 64 << 10;

/// Exchanges the token in a file for credentials.
///
/// # Errors
/// `Io` for the file; `Denied` where STS refuses.
pub(super) async fn web_identity(
    token_file: &str,
    role: &str,
    session: &str,
    endpoint: &Url,
    options: &SourceOptions,
    handle: &Handle,
) -> Result<Obtained> {
    let token = token_in(token_file)?;
    let encoded = |text: &str| percent::encode_component(text.as_bytes());
    let body = format!(
        "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn={}&RoleSessionName={}&WebIdentityToken={}",
        encoded(role),
        encoded(session),
        encoded(&token)
    );
    let mut request = SmallRequest::new(Method::POST, endpoint.clone());
    request.header("content-type", "application/x-www-form-urlencoded")?;
    request.body = Bytes::from(body);
    let answer = ask(request, options, handle).await?;
    let text = answer.text();
    let document = Document::new(&text);
    if answer.status != 200 {
        let code = document.and_then(|d| d.text("Code")).unwrap_or_default();
        return Err(refused("the role could not be taken on (AssumeRoleWithWebIdentity)", &answer, &code));
    }
    let found = document.and_then(|d| {
        let keys = S3Keys {
            access_key: d.text("AccessKeyId")?,
            secret_key: d.text("SecretAccessKey")?,
            session_token: Some(d.text("SessionToken")?),
        };
        Some(Obtained { keys, expires: d.text("Expiration").and_then(|text| date::parse(&text)) })
    });
    found.ok_or_else(|| refused("STS sent no credentials", &answer, ""))
}

/// Credentials from the address that a container's environment names.
///
/// # Errors
/// `Denied` where it refuses, or where it would be asked in the clear beyond this machine.
pub(super) async fn container(
    url: &Url,
    token: Option<&str>,
    token_file: Option<&str>,
    options: &SourceOptions,
    handle: &Handle,
) -> Result<Obtained> {
    // the addresses of ECS and EKS, and this machine
    let near = ["169.254.170.2", "169.254.170.23", "[fd00:ec2::23]", "localhost"].contains(&url.host.as_str())
        || url.bare_host().parse::<std::net::IpAddr>().is_ok_and(|a| a.is_loopback());
    if !url.https && !near {
        let what = "AWS_CONTAINER_CREDENTIALS_FULL_URI names another machine without encryption";
        return Err(Error::new(ErrorKind::Denied, what).with_remedy("use https"));
    }
    let mut request = SmallRequest::new(Method::GET, url.clone());
    let in_file = token_file.map(token_in).transpose()?;
    if let Some(token) = in_file.as_deref().or(token) {
        request.header("authorization", token.trim())?;
    }
    let answer = ask(request, options, handle).await?;
    of_json(&answer.body)
        .filter(|_| answer.status == 200)
        .ok_or_else(|| refused("the container's agent gave no credentials", &answer, ""))
}

/// Credentials of the role of a virtual machine (IMDSv2).
///
/// # Errors
/// `Denied` where the service has none.
pub(super) async fn instance(url: &Url, options: &SourceOptions, handle: &Handle) -> Result<Obtained> {
    let at = |path: &str| Url { target: format!("{}{path}", url.target.trim_end_matches('/')), ..url.clone() };
    let mut request = SmallRequest::new(Method::PUT, at("/latest/api/token"));
    request.header("x-aws-ec2-metadata-token-ttl-seconds", "300")?;
    let token = ask(request, options, handle).await?;
    let none = |answer: &Answer| refused("the instance metadata service gave no credentials", answer, "");
    if token.status != 200 {
        return Err(none(&token));
    }
    let token = token.text();
    let roles = "/latest/meta-data/iam/security-credentials/";
    let get = async |path: &str| {
        let mut request = SmallRequest::new(Method::GET, at(path));
        request.header("x-aws-ec2-metadata-token", token.trim())?;
        ask(request, options, handle).await
    };
    let role = get(roles).await?;
    let name = role.text();
    let name = name.lines().next().unwrap_or_default().trim();
    if role.status != 200 || name.is_empty() {
        return Err(none(&role));
    }
    let answer = get(&format!("{roles}{}", percent::encode_component(name.as_bytes()))).await?;
    of_json(&answer.body).filter(|_| answer.status == 200).ok_or_else(|| none(&answer))
}

/// Credentials as these services and `credential_process` write them.
pub(super) fn of_json(text: &[u8]) -> Option<Obtained> {
    let value: serde_json::Value = serde_json::from_slice(text).ok()?;
    let text = |name: &str| value.get(name)?.as_str().filter(|s| !s.is_empty()).map(str::to_owned);
    let session_token = text("SessionToken").or_else(|| text("Token"));
    let keys = S3Keys { access_key: text("AccessKeyId")?, secret_key: text("SecretAccessKey")?, session_token };
    Some(Obtained { keys, expires: text("Expiration").and_then(|text| date::parse(&text)) })
}

fn token_in(path: &str) -> Result<String> {
    let text =
        std::fs::read_to_string(path).map_err(|e| Error::io("the token file cannot be read", e).in_file(path))?;
    let token = text.trim();
    if token.is_empty() || token.len() > LONGEST_TOKEN {
        return Err(Error::invalid("the token file is empty, or too long").in_file(path));
    }
    Ok(token.to_owned())
}

fn refused(what: &str, answer: &Answer, code: &str) -> Error {
    let code: String = code.chars().filter(char::is_ascii_alphanumeric).take(60).collect();
    let space = if code.is_empty() { "" } else { " " };
    Error::new(ErrorKind::Denied, format!("{what}: {}{space}{code}", answer.status))
        .with_remedy("check the role and its token, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_in_json() {
        let found = of_json(
            br#"{"Version":1,"AccessKeyId":"A","SecretAccessKey":"S","Token":"T","Expiration":"2030-01-01T00:00:00Z"}"#,
        )
        .unwrap();
        assert_eq!((found.keys.access_key.as_str(), found.keys.session_token.as_deref()), ("A", Some("T")));
        assert!(found.expires.is_some());
        for bad in ["", "{}", "[1]", r#"{"AccessKeyId":1,"SecretAccessKey":"S"}"#] {
            assert!(of_json(bad.as_bytes()).is_none(), "{bad}");
        }
    }
}
