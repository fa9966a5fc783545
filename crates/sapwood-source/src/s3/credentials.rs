//! Credentials: obtained once for all files of a bucket, and again before they expire.

use super::options::{S3Keys, S3Options};
use super::remote_credentials::{self as remote, Obtained};
use super::settings::{Origin, Settings};
use crate::open::SourceOptions;
use sapwood_span::{Error, ErrorKind, Result};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::runtime::Handle;
use tokio::sync::Mutex;

/// Credentials are renewed this long before they expire.
const EARLY: Duration = Duration::from_secs(300);

/// The credentials for a bucket.
pub(super) struct Credentials {
    options: S3Options,
    first: Origin,
    held: Mutex<Option<Held>>,
}

#[derive(Clone)]
struct Held {
    keys: Option<Arc<S3Keys>>,
    expires: Option<SystemTime>,
}

impl Credentials {
    pub(super) fn new(options: &S3Options, first: Origin) -> Self {
        Self { options: options.clone(), first, held: Mutex::new(None) }
    }

    /// Why requests are not signed, for messages; none where they are.
    pub(super) fn unsigned(&self) -> Option<&'static str> {
        match self.first {
            Origin::Anonymous => Some("the request was not signed, as requested: read it with credentials"),
            Origin::Nowhere => Some(
                "no credentials were found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or see the \
                 guide on remote files for the other places",
            ),
            _ => None,
        }
    }

    /// The keys to sign with; none for requests that are not signed.
    ///
    /// # Errors
    /// `Denied` where the place that has them refuses; network failures.
    pub(super) async fn keys(&self, options: &SourceOptions, handle: &Handle) -> Result<Option<Arc<S3Keys>>> {
        let mut held = self.held.lock().await;
        let now = SystemTime::now();
        if let Some(held) = &*held
            && held.expires.is_none_or(|at| at > now + EARLY)
        {
            return Ok(held.keys.clone());
        }
        match obtain(&self.first, options, handle).await {
            Ok(new) => {
                *held = Some(new.clone());
                Ok(new.keys)
            }
            // what is held is still valid
            Err(error) => match &*held {
                Some(held) if held.expires.is_some_and(|at| at > now) => Ok(held.keys.clone()),
                _ => Err(error),
            },
        }
    }

    /// Looks for credentials again, after the store has called these expired. Returns whether there are others now.
    ///
    /// # Errors
    /// As [`Self::keys`].
    pub(super) async fn renew(&self, expired: &S3Keys, options: &SourceOptions, handle: &Handle) -> Result<bool> {
        let mut held = self.held.lock().await;
        if held.as_ref().is_some_and(|held| held.keys.as_deref().is_some_and(|keys| keys != expired)) {
            return Ok(true);
        }
        // the files may have been rewritten
        let from = Settings::resolve(&self.options)?.from;
        let new = obtain(&from, options, handle).await?;
        let is_other = new.keys.as_deref().is_some_and(|keys| keys != expired);
        if is_other {
            *held = Some(new);
        }
        Ok(is_other)
    }
}

async fn obtain(from: &Origin, options: &SourceOptions, handle: &Handle) -> Result<Held> {
    let found = match from {
        Origin::Anonymous | Origin::Nowhere => return Ok(Held { keys: None, expires: None }),
        Origin::Keys(keys) => Obtained { keys: keys.clone(), expires: None },
        Origin::Process(command) => process(command.clone(), options, handle).await?,
        Origin::WebIdentity { token_file, role, session, endpoint } => {
            remote::web_identity(token_file, role, session, endpoint, options, handle).await?
        }
        Origin::Container { url, token, token_file } => {
            remote::container(url, token.as_deref(), token_file.as_deref(), options, handle).await?
        }
        Origin::Instance { url } => remote::instance(url, options, handle).await?,
    };
    Ok(Held { keys: Some(Arc::new(found.keys)), expires: found.expires })
}

/// The output of the command that a profile names.
async fn process(command: String, options: &SourceOptions, handle: &Handle) -> Result<Obtained> {
    let denied = |what: String| {
        Error::new(ErrorKind::Denied, what).with_remedy("check credential_process in the AWS configuration")
    };
    let run = move || {
        use std::process::{Command, Stdio};
        Command::new("sh").arg("-c").arg(command).stdin(Stdio::null()).stderr(Stdio::inherit()).output()
    };
    let output = tokio::time::timeout(options.progress_timeout, handle.spawn_blocking(run)).await;
    let output = output.map_err(|_| denied("the credential_process of the AWS profile does not end".to_owned()))?;
    let output = output.map_err(crate::ended)?.map_err(|e| Error::io("cannot run credential_process", e))?;
    if !output.status.success() {
        return Err(denied(format!("the credential_process of the AWS profile failed ({})", output.status)));
    }
    remote::of_json(&output.stdout)
        .ok_or_else(|| denied("the credential_process of the AWS profile printed no credentials".to_owned()))
}
