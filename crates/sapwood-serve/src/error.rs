//! Why files cannot be served, and the errors that clients get.

use hyper::StatusCode;
use sapwood_xrd::code::error;
use std::io;

/// Why files cannot be served. The texts are sent to clients: they hold no credential.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FilesError {
    /// Not found, or not served.
    NotFound,
    /// It exists, and this client may not read it.
    Denied(String),
    /// No client gets it from this server, whatever it presents.
    Refused(String),
    /// The client has to present a credential, or another one.
    Unauthorized {
        /// Why.
        why: String,
        /// The challenge of the origin, from its `WWW-Authenticate` header; by default a bearer token.
        challenge: Option<String>,
    },
    /// It is no longer the version that was opened.
    Changed,
    /// Too much is open or in progress; later it may work.
    Busy(String),
    /// Reading failed here.
    Failed(String),
    /// The origin cannot be reached, or answers with an error.
    Origin(String),
    /// The origin did not answer in time.
    TimedOut(String),
}

impl FilesError {
    /// The status for an HTTP client.
    pub(crate) fn http_status(&self) -> StatusCode {
        match self {
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::Denied(_) | Self::Refused(_) => StatusCode::FORBIDDEN,
            Self::Unauthorized { .. } => StatusCode::UNAUTHORIZED,
            // The new version can be requested.
            Self::Changed | Self::Busy(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Failed(_) => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Origin(_) => StatusCode::BAD_GATEWAY,
            Self::TimedOut(_) => StatusCode::GATEWAY_TIMEOUT,
        }
    }

    /// The error number for an XRootD client.
    pub(crate) fn root_number(&self) -> u32 {
        match self {
            Self::NotFound => error::NOT_FOUND,
            Self::Denied(_) | Self::Refused(_) | Self::Unauthorized { .. } => error::NOT_AUTHORIZED,
            // Clients retry after a file system error, and open the file again where it is not open: they would
            // continue with another version.
            Self::Changed => error::CANCELLED,
            Self::Busy(_) => error::OVERLOADED,
            Self::Failed(_) => error::IO_ERROR,
            Self::Origin(_) => error::SERVER_ERROR,
            Self::TimedOut(_) => error::TIMED_OUT,
        }
    }
}

impl std::fmt::Display for FilesError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotFound => f.write_str("no such file"),
            Self::Changed => f.write_str("the file changed while it was sent"),
            Self::Unauthorized { why, .. } => f.write_str(why),
            Self::Denied(why)
            | Self::Refused(why)
            | Self::Busy(why)
            | Self::Failed(why)
            | Self::Origin(why)
            | Self::TimedOut(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for FilesError {}

impl From<io::Error> for FilesError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::NotFound,
            io::ErrorKind::PermissionDenied => Self::Denied("permission denied".to_owned()),
            // No file has such a path.
            _ if matches!(error.raw_os_error(), Some(libc::ELOOP | libc::ENAMETOOLONG)) => Self::NotFound,
            _ if matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE)) => {
                Self::Busy("too many open files".to_owned())
            }
            _ => Self::Failed(error.to_string()),
        }
    }
}
