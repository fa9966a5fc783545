//! A bucket: where it is, who asks for its objects, and what its responses have taught.

use super::address::S3Url;
use super::credentials::Credentials;
use super::options::{S3Keys, S3Options};
use super::settings::{Origin, Settings, is_region};
use super::sign::sign;
use crate::lock;
use crate::open::SourceOptions;
use crate::url::Url;
use hyper::header::HeaderMap;
use sapwood_span::{Error, Result, percent};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};
use tokio::runtime::Handle;

/// The buckets of this process, by name and settings.
#[derive(Default)]
pub(crate) struct Buckets(Mutex<HashMap<Key, Arc<Bucket>>>);

#[derive(PartialEq, Eq, Hash)]
struct Key {
    /// A forked child must not wait for what its parent began.
    process: u32,
    name: String,
    settings: Settings,
}

impl Buckets {
    /// The bucket of this URL.
    ///
    /// # Errors
    /// Settings that make no sense.
    pub(crate) fn get(&self, url: &S3Url, options: &S3Options) -> Result<Arc<Bucket>> {
        let options = url.options.or(options);
        let settings = Settings::resolve(&options)?;
        let key = Key { process: std::process::id(), name: url.bucket.clone(), settings: settings.clone() };
        let new = || Arc::new(Bucket::new(url.bucket.clone(), settings, &options));
        Ok(Arc::clone(lock(&self.0).entry(key).or_insert_with(new)))
    }
}

pub(crate) struct Bucket {
    pub(super) name: String,
    settings: Settings,
    pub(super) credentials: Credentials,
    learnt: Mutex<Learnt>,
}

/// What responses have taught.
struct Learnt {
    region: String,
    /// Seconds by which the store's clock is ahead of this machine's.
    ahead: i64,
}

impl Bucket {
    fn new(name: String, settings: Settings, options: &S3Options) -> Self {
        let credentials = Credentials::new(options, settings.from.clone());
        let learnt = Mutex::new(Learnt { region: settings.region.clone(), ahead: 0 });
        Self { name, settings, credentials, learnt }
    }

    /// Who asks: connections are not shared between users. Not for messages.
    pub(crate) fn user(&self) -> String {
        match &self.settings.from {
            Origin::Anonymous | Origin::Nowhere => "s3".to_owned(),
            Origin::Keys(keys) => format!("s3 {}", keys.access_key),
            Origin::WebIdentity { role, .. } => format!("s3 {role}"),
            Origin::Process(command) => format!("s3 {command}"),
            Origin::Container { url, .. } | Origin::Instance { url } => format!("s3 {}", url.authority()),
        }
    }

    /// Whether this is AWS itself, whose regions have addresses of their own.
    fn is_aws(&self) -> bool {
        self.settings.endpoint.is_none()
    }

    fn base(&self) -> Url {
        self.settings.base(&self.name, &lock(&self.learnt).region)
    }

    /// The store's address, for messages.
    pub(super) fn store(&self) -> String {
        self.base().authority()
    }

    /// Where an object is.
    ///
    /// # Errors
    /// `Invalid` for a URL that names no object.
    pub(crate) fn object(&self, url: &S3Url) -> Result<Url> {
        if url.key.is_empty() || url.key.ends_with(b"/") {
            let what = "the URL names a bucket or a prefix, not an object";
            return Err(Error::invalid(what).with_remedy("list it with `sapwood ls`, or add the name of an object"));
        }
        let mut at = self.base();
        let parts: Vec<String> = url.key.split(|b| *b == b'/').map(percent::encode_component).collect();
        at.target = format!("{}/{}", at.target, parts.join("/"));
        if let Some(version) = &url.version {
            at.target = format!("{}?versionId={}", at.target, percent::encode_component(version.as_bytes()));
        }
        Ok(at)
    }

    /// The bucket itself, with parameters, which are sorted by name here.
    pub(super) fn with_parameters(&self, mut parameters: Vec<(&str, String)>) -> Url {
        parameters.sort_unstable();
        let mut at = self.base();
        let encoded =
            |(name, value): &(&str, String)| format!("{name}={}", percent::encode_component(value.as_bytes()));
        let query: Vec<String> = parameters.iter().map(encoded).collect();
        let slash = if at.target.is_empty() { "/" } else { "" };
        at.target = format!("{}{slash}?{}", at.target, query.join("&"));
        at
    }

    /// The keys to sign with; none for requests that are not signed.
    ///
    /// # Errors
    /// Where credentials cannot be obtained.
    pub(crate) async fn keys(&self, options: &SourceOptions, handle: &Handle) -> Result<Option<Arc<S3Keys>>> {
        self.credentials.keys(options, handle).await
    }

    /// Whether requests to this address are signed: only the store gets signatures.
    fn is_own(&self, url: &Url) -> bool {
        let of_aws = |host: &str| host.ends_with(".amazonaws.com") || host.ends_with(".amazonaws.com.cn");
        url.same_origin(&self.base()) || (self.is_aws() && url.https && of_aws(&url.host))
    }

    /// Signs a request.
    ///
    /// # Errors
    /// `Invalid` for keys that are no header values.
    pub(crate) fn sign(&self, keys: Option<&S3Keys>, method: &str, url: &Url, headers: &mut HeaderMap) -> Result<()> {
        let Some(keys) = keys.filter(|_| self.is_own(url)) else { return Ok(()) };
        let (region, ahead) = {
            let learnt = lock(&self.learnt);
            (learnt.region.clone(), learnt.ahead)
        };
        let shift = Duration::from_secs(ahead.unsigned_abs());
        let now = SystemTime::now();
        let time = if ahead < 0 { now.checked_sub(shift) } else { now.checked_add(shift) };
        sign(keys, &region, method, &url.target, time.unwrap_or(now), headers)
    }

    /// The store has named the region that the bucket is in. Returns whether it is one.
    pub(super) fn is_in(&self, region: &str) -> bool {
        let fits = is_region(region);
        if fits {
            region.clone_into(&mut lock(&self.learnt).region);
        }
        fits
    }

    pub(super) fn region(&self) -> String {
        lock(&self.learnt).region.clone()
    }

    /// The store's clock shows this time.
    pub(super) fn clock(&self, theirs: SystemTime) {
        let seconds = |d: Duration| i64::try_from(d.as_secs()).unwrap_or(i64::MAX);
        let now = SystemTime::now();
        let ahead = theirs.duration_since(now).map_or_else(|e| -seconds(e.duration()), seconds);
        lock(&self.learnt).ahead = ahead;
    }
}
