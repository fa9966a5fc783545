//! Failures, sorted by the reaction to them.

use sapwood_span::{Error, ErrorKind};
use sapwood_xrd::Refusal;
use sapwood_xrd::code::{error as number, error_name};
use sapwood_xrd::reply::Failure;

/// Why a session is over.
#[derive(Clone)]
pub(crate) struct Broken {
    pub error: Error,
    /// The server refused while the session was being set up.
    pub refusal: Option<Refusal>,
    /// Nothing moved for the whole progress timeout.
    pub stalled: bool,
    /// Nothing moved for a while, and it is not the server's fault: other sessions may be dead, too.
    pub away: bool,
    /// A retry will not help.
    pub last: bool,
    /// This side ended it because others are faster at what it still owed.
    pub given_up: bool,
}

impl Broken {
    pub(crate) fn new(error: Error) -> Self {
        Self { error, refusal: None, stalled: false, away: false, last: false, given_up: false }
    }

    pub(crate) fn stalled(error: Error) -> Self {
        Self { stalled: true, ..Self::new(error) }
    }

    pub(crate) fn away(error: Error) -> Self {
        Self { away: true, ..Self::new(error) }
    }

    /// Its other requests go over other sessions.
    pub(crate) fn given_up() -> Self {
        let error = Error::new(ErrorKind::Interrupted, "the session was dropped: others are faster");
        Self { given_up: true, ..Self::new(error) }
    }

    pub(crate) fn finally(self) -> Self {
        Self { last: true, ..self }
    }

    pub(crate) fn refused(refusal: Refusal) -> Self {
        let error = refused(&refusal);
        Self { refusal: Some(refusal), ..Self::new(error) }
    }
}

/// How to react to a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RetryAction {
    /// Nothing helps.
    None,
    /// A retry may help, preferably elsewhere.
    Again,
    /// The file must be opened again.
    Reopen,
    /// A new session is needed: the server behind the connection does not know this one.
    LogIn,
    /// The request was too large for this server.
    Smaller,
}

/// How to react to a server's refusal of a request.
pub(crate) fn retry_action(failure: &Failure) -> RetryAction {
    match failure.number {
        number::FILE_NOT_OPEN => RetryAction::Reopen,
        // servers also answer so before a login
        number::INVALID_REQUEST => RetryAction::LogIn,
        number::ARG_TOO_LONG | number::NO_MEMORY => RetryAction::Smaller,
        number::FS_ERROR
        | number::IO_ERROR
        | number::SERVER_ERROR
        | number::NO_SERVER
        | number::CHECKSUM
        | number::OVERLOADED
        | number::FILE_LOCKED
        | number::NO_REPLICAS
        | number::TIMED_OUT => RetryAction::Again,
        _ => RetryAction::None,
    }
}

/// A server's refusal of a request as an error.
pub(crate) fn failed(failure: &Failure) -> Error {
    let what =
        format!("the server responded with {} ({}): {}", failure.number, error_name(failure.number), failure.message);
    match failure.number {
        number::NOT_FOUND => Error::no_such_file(what).with_remedy("check the path"),
        number::NOT_AUTHORIZED | number::AUTH_FAILED => Error::new(ErrorKind::Denied, what).with_remedy(
            "use a token that grants read access (BEARER_TOKEN with roots://, or ?authz=), or request access; \
             tokens are not sent to hosts of another domain",
        ),
        number::TLS_REQUIRED => Error::new(ErrorKind::Denied, what).with_remedy("use roots:// instead of root://"),
        number::SIGNATURE => Error::new(ErrorKind::Unsupported, what)
            .with_remedy("this server requires signed requests, which this version does not support; try https://"),
        number::IS_DIRECTORY | number::NOT_FILE | number::ARG_INVALID => Error::new(ErrorKind::Invalid, what),
        number::UNSUPPORTED => Error::new(ErrorKind::Unsupported, what),
        number::INVALID_REQUEST => Error::new(ErrorKind::Protocol, what),
        _ => Error::new(ErrorKind::Io, what),
    }
}

fn refused(refusal: &Refusal) -> Error {
    let denied = |what: String| Error::new(ErrorKind::Denied, what);
    match refusal {
        Refusal::NoTls => denied("the server does not offer TLS".to_owned())
            .with_remedy("use root:// instead of roots:// if the data may be sent unencrypted"),
        Refusal::TlsWanted => denied("the server requires TLS".to_owned()).with_remedy("use roots://"),
        Refusal::PipeliningRefused => {
            Error::new(ErrorKind::Protocol, "the server requires another authentication first")
        }
        Refusal::Failed(_, failure) => failed(failure),
        Refusal::Redirect(_) => Error::new(ErrorKind::Protocol, "the server redirects the login"),
        Refusal::Auth { offered, said } => {
            let list = offered.join(", ");
            let what = match said {
                Some(failure) => format!("the server accepts no authentication ({list}): {}", failure.message),
                None => {
                    format!("the server requires authentication with {list}, and no credentials are available")
                }
            };
            let remedy = if offered.iter().any(|o| o == "ztn") {
                "set a token in BEARER_TOKEN or in the file of BEARER_TOKEN_FILE, and use roots://: tokens are sent over TLS only"
            } else if offered.iter().any(|o| o == "gsi") {
                "gsi (grid certificates) is not supported yet: use a token (BEARER_TOKEN with roots://, or ?authz=), the \
                 server's HTTPS door, or a cache or door that accepts unix or tokens"
            } else {
                "host, unix and ztn (tokens) are supported"
            };
            denied(what).with_remedy(remedy)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gsi_is_refused_with_alternatives() {
        let refusal = Refusal::Auth { offered: vec!["gsi".into(), "krb5".into()], said: None };
        let text = Broken::refused(refusal).error.to_string();
        assert!(text.contains("gsi") && text.contains("BEARER_TOKEN") && text.contains("HTTPS"), "{text}");
    }
}
