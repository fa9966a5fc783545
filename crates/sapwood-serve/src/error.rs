//! Why files do not answer, and what clients hear of it.

use hyper::StatusCode;
use sapwood_xrd::code::error;
use std::io;

/// Why files do not answer. The texts are sent to clients: they hold no credential.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FilesError {
    /// There is nothing, or nothing that may be served.
    NotFound,
    /// It is there, and this client may not read it.
    Denied(String),
    /// No client gets it from this server, whatever it shows.
    Refused(String),
    /// The client has to show a credential, or one that is accepted.
    Unauthorized {
        /// Why.
        why: String,
        /// What the origin wants to see, as its `WWW-Authenticate` header says it; a bearer token unless said.
        challenge: Option<String>,
    },
    /// It is not the version that was opened any more.
    Changed,
    /// Too much is open or under way; later it may be possible.
    Busy(String),
    /// Reading failed here.
    Failed(String),
    /// The origin cannot be reached, or answers with an error.
    Origin(String),
    /// The origin did not answer in time.
    TimedOut(String),
}

impl FilesError {
    /// What an HTTP client hears.
    pub(crate) fn http_status(&self) -> StatusCode {
        match self {
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::Denied(_) | Self::Refused(_) => StatusCode::FORBIDDEN,
            Self::Unauthorized { .. } => StatusCode::UNAUTHORIZED,
            // The new version can be asked for.
            Self::Changed | Self::Busy(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Failed(_) => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Origin(_) => StatusCode::BAD_GATEWAY,
            Self::TimedOut(_) => StatusCode::GATEWAY_TIMEOUT,
        }
    }

    /// What an XRootD client hears.
    pub(crate) fn root_number(&self) -> u32 {
        match self {
            Self::NotFound => error::NOT_FOUND,
            Self::Denied(_) | Self::Refused(_) | Self::Unauthorized { .. } => error::NOT_AUTHORIZED,
            // Clients try again after a file system error, and open the file again where it is not open: they would go on with
            // another version.
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
