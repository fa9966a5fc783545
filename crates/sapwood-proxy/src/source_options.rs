//! How files are opened at their origins.

use crate::common::Common;
use crate::credential::Credential;
use crate::place::Place;
use sapwood_source::{S3Keys, S3Options, SourceOptions};

impl Common {
    /// Options for opening the file or directory of a place.
    pub(crate) fn source_options(&self, place: &Place) -> SourceOptions {
        SourceOptions {
            head: sapwood_prefetch::BEGINNING,
            tail: 0,
            compare_briefly: true,
            connect_timeout: self.connect_timeout,
            progress_timeout: self.progress_timeout,
            retries: 2,
            token: Some(place.shown.token()),
            ca_dir: self.ca_dir.clone(),
            redirects: place.route.redirects.clone(),
            hosts: self.hosts_for(place),
            s3: self.s3_of(place),
            ..SourceOptions::default()
        }
    }

    /// How an S3 store is read: with the client's access key and secret, if it sent any; otherwise without credentials,
    /// unless the proxy shares its own for its origins. What clients name themselves is never read with them.
    fn s3_of(&self, place: &Place) -> S3Options {
        match &place.shown.credential {
            Credential::Basic { user, password } => {
                let keys = S3Keys { access_key: user.clone(), secret_key: password.clone(), session_token: None };
                S3Options { keys: Some(keys), anonymous: None, ..self.s3.clone() }
            }
            _ if self.shares_credentials && place.route.redirects.is_none() => self.s3.clone(),
            _ => S3Options { keys: None, anonymous: Some(true), ..self.s3.clone() },
        }
    }
}
