//! Maps errors of sources to errors for clients.

use sapwood_serve::FilesError;
use sapwood_span::{Error, ErrorKind, Setting};

/// Why an origin returned nothing.
pub(crate) type Failure = FilesError;

/// The client's error for an error of an origin. Errors name URLs without credentials.
pub(crate) fn failure_of(error: &Error, is_open: bool) -> Failure {
    let why = error.to_string();
    match error.kind() {
        ErrorKind::NotFound if !is_open => Failure::NotFound,
        // it existed when it was opened
        ErrorKind::Corrupt | ErrorKind::Gone | ErrorKind::NotFound if is_open => Failure::Changed,
        // the origin sends clients where this proxy does not go: no credential changes that
        ErrorKind::Denied if is_redirect(error) => Failure::Refused(why),
        ErrorKind::Denied => Failure::Denied(why),
        ErrorKind::Timeout => Failure::TimedOut(why),
        _ => Failure::Origin(why),
    }
}

fn is_redirect(error: &Error) -> bool {
    matches!(error.setting(), Some(Setting::RedirectFilter | Setting::InsecureRedirects))
}
