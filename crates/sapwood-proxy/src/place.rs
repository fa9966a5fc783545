//! Where a file may be, and the credential to send there.

use crate::credential::Shown;
use crate::route::Route;

/// A place to try, and the credential to send.
#[derive(Clone)]
pub(crate) struct Place {
    pub route: Route,
    pub shown: Shown,
}

impl Place {
    /// Whether a path that is not a file may be a directory: over HTTP directory names end in a slash.
    pub(crate) fn may_list(&self) -> bool {
        !self.route.target.scheme.is_http()
    }

    /// Distinguishes it from others: the URL, the credential, and whether the client has named it, since it is then not read
    /// with the proxy's own. The key holds the credential.
    pub(crate) fn key(&self) -> String {
        format!("{} {} {:?}", self.url(false), self.route.redirects.is_some(), self.shown.key())
    }

    /// The same for its server.
    pub(crate) fn url_of_server(&self) -> String {
        format!("{} {:?}", self.route.target.server(), self.shown.key())
    }

    /// The URL for requests. Never display it.
    pub(crate) fn url(&self, is_folder: bool) -> String {
        self.route.target.request_url(&self.shown.credential, &self.shown.query, is_folder)
    }
}
