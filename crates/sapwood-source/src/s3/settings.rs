//! Where a store is, and where credentials for it come from: options, then the environment, then the AWS files.

use super::bucket_name::is_label;
use super::options::{S3Keys, S3Options, addressing_style, flag};
use super::profile::{self, Profile};
use crate::url::{Location, Url};
use sapwood_span::{Error, Result, percent, redact};

/// The region of AWS where none is set.
const USUAL_REGION: &str = "us-east-1";

/// What makes a profile that needs other programs usable here.
const EXPORT: &str = "export its credentials to the environment: aws configure export-credentials";

/// All that is known of a store before it is asked.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Settings {
    /// None: AWS.
    pub endpoint: Option<Url>,
    pub region: String,
    virtual_hosts: Option<bool>,
    pub from: Origin,
}

/// Where credentials come from.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum Origin {
    /// Requests are not signed, as asked.
    Anonymous,
    /// Nothing was found: requests are not signed.
    Nowhere,
    Keys(S3Keys),
    /// A command that prints them.
    Process(String),
    /// A token file is exchanged for credentials (`AssumeRoleWithWebIdentity`).
    WebIdentity {
        token_file: String,
        role: String,
        session: String,
        endpoint: Url,
    },
    /// An address that the container's environment names.
    Container {
        url: Url,
        token: Option<String>,
        token_file: Option<String>,
    },
    /// The metadata service of a virtual machine.
    Instance {
        url: Url,
    },
}

type Variable<'a> = &'a dyn Fn(&str) -> Option<String>;

/// A variable of this process that is set and not empty.
fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

impl Settings {
    /// What these options mean in the environment of this process.
    ///
    /// # Errors
    /// `Invalid` for a profile that is not there and addresses that are none; `Unsupported` for single sign-on and
    /// roles of other profiles.
    pub(super) fn resolve(options: &S3Options) -> Result<Self> {
        Self::with(options, &environment)
    }

    fn with(options: &S3Options, variable: Variable) -> Result<Self> {
        let named =
            options.profile.clone().or_else(|| variable("AWS_PROFILE")).or_else(|| variable("AWS_DEFAULT_PROFILE"));
        let profile = profile::read(named.as_deref().unwrap_or("default"), variable)?;
        if let (Some(name), None) = (&named, &profile) {
            let what = format!("the AWS configuration has no profile {name:?}");
            return Err(Error::invalid(what).with_remedy("check AWS_PROFILE, ~/.aws/config and ~/.aws/credentials"));
        }
        let profile = profile.unwrap_or_default();
        let in_profile = |name: &str| profile.get(name).filter(|value| !value.is_empty()).cloned();
        let region =
            options.region.clone().or_else(|| variable("AWS_REGION")).or_else(|| variable("AWS_DEFAULT_REGION"));
        let region = region.or_else(|| in_profile("region")).unwrap_or_else(|| USUAL_REGION.to_owned());
        if !is_region(&region) {
            return Err(Error::invalid(format!("{region:?} is not the name of a region")));
        }
        let endpoint = address_of(options, variable).or_else(|| in_profile("endpoint_url"));
        let endpoint = endpoint.map(|text| address(&text)).transpose()?;
        let style = in_profile("s3.addressing_style").and_then(|text| addressing_style(&text).ok().flatten());
        let virtual_hosts = options.virtual_hosts.or(style);
        let from = origin(options, &profile, variable, &region)?;
        Ok(Self { endpoint, region, virtual_hosts, from })
    }

    /// The store's address as options and the environment give it; none for AWS.
    pub(super) fn endpoint_of(options: &S3Options) -> Option<String> {
        let named = || options.profile.clone().or_else(|| environment("AWS_PROFILE"));
        let of_profile = || {
            let profile =
                profile::read(&named().unwrap_or_else(|| "default".to_owned()), &environment).ok().flatten()?;
            profile.get("endpoint_url").filter(|url| !url.is_empty()).cloned()
        };
        address_of(options, &environment).or_else(of_profile).map(|text| text.trim_end_matches('/').to_owned())
    }

    /// The address of a bucket in a region, its path without a slash at the end.
    pub(super) fn base(&self, bucket: &str, region: &str) -> Url {
        let (mut url, usual) = match &self.endpoint {
            Some(endpoint) => (endpoint.clone(), false),
            None => {
                let china = if region.starts_with("cn-") { ".cn" } else { "" };
                let host = format!("s3.{region}.amazonaws.com{china}");
                (Url { https: true, host, port: 443, target: String::new(), user: None }, true)
            }
        };
        // no certificate covers a name with dots below the store's own
        if self.virtual_hosts.unwrap_or(usual) && (is_label(bucket) || !url.https) {
            url.host = format!("{bucket}.{}", url.host);
        } else {
            url.target =
                format!("{}/{}", url.target.trim_end_matches('/'), percent::encode_component(bucket.as_bytes()));
        }
        url
    }
}

/// The store's address in options and environment.
fn address_of(options: &S3Options, variable: Variable) -> Option<String> {
    let set = || variable("AWS_ENDPOINT_URL_S3").or_else(|| variable("AWS_ENDPOINT_URL"));
    options.endpoint.clone().or_else(set)
}

/// The address of a server, without credentials and parameters.
fn address(text: &str) -> Result<Url> {
    let refuse = |what: &str| {
        Error::invalid(format!("the S3 endpoint {} {what}", redact(text)))
            .with_remedy("write it as https://host or http://host:port")
    };
    let Ok(Location::Http(mut url)) = Location::parse(text) else {
        return Err(refuse("is not an http:// or https:// URL"));
    };
    if url.user.is_some() || url.target.contains('?') {
        return Err(refuse("has credentials or parameters"));
    }
    url.target = url.target.trim_end_matches('/').to_owned();
    Ok(url)
}

/// Whether this can be a region: it becomes a part of a host name.
pub(super) fn is_region(text: &str) -> bool {
    !text.is_empty() && text.len() <= 63 && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
}

fn origin(options: &S3Options, profile: &Profile, variable: Variable, region: &str) -> Result<Origin> {
    let in_profile = |name: &str| profile.get(name).filter(|value| !value.is_empty()).cloned();
    let is_unsigned = || {
        ["AWS_NO_SIGN_REQUEST", "AWS_SKIP_SIGNATURE"].iter().any(|n| variable(n).and_then(|v| flag(&v)) == Some(true))
    };
    if options.anonymous == Some(true) || (options.anonymous.is_none() && options.keys.is_none() && is_unsigned()) {
        return Ok(Origin::Anonymous);
    }
    if let Some(keys) = &options.keys {
        return Ok(Origin::Keys(keys.clone()));
    }
    let keys = |access: Option<String>, secret: Option<String>, session_token| {
        Some(Origin::Keys(S3Keys { access_key: access?, secret_key: secret?, session_token }))
    };
    let of_variables =
        || keys(variable("AWS_ACCESS_KEY_ID"), variable("AWS_SECRET_ACCESS_KEY"), variable("AWS_SESSION_TOKEN"));
    // a profile that the caller names goes before the environment
    if let (None, Some(found)) = (&options.profile, of_variables()) {
        return Ok(found);
    }
    let both = |name: &str, set: &str| match &options.profile {
        None => variable(set).or_else(|| in_profile(name)),
        Some(_) => in_profile(name),
    };
    if let (Some(token_file), Some(role)) =
        (both("web_identity_token_file", "AWS_WEB_IDENTITY_TOKEN_FILE"), both("role_arn", "AWS_ROLE_ARN"))
    {
        let session = both("role_session_name", "AWS_ROLE_SESSION_NAME");
        let set = variable("AWS_ENDPOINT_URL_STS").or_else(|| variable("AWS_ENDPOINT_URL"));
        let china = if region.starts_with("cn-") { ".cn" } else { "" };
        let endpoint = address(&set.unwrap_or_else(|| format!("https://sts.{region}.amazonaws.com{china}")))?;
        let session = session.unwrap_or_else(|| format!("sapwood-{}", std::process::id()));
        return Ok(Origin::WebIdentity { token_file, role, session, endpoint });
    }
    let of_files =
        keys(in_profile("aws_access_key_id"), in_profile("aws_secret_access_key"), in_profile("aws_session_token"));
    let wants_instance = in_profile("credential_source").as_deref() == Some("Ec2InstanceMetadata");
    if in_profile("role_arn").is_some() && !wants_instance {
        let what = "this AWS profile takes the role of another one (role_arn), which is not supported";
        return Err(Error::unsupported(what).with_remedy(EXPORT));
    }
    if let Some(found) = of_files {
        return Ok(found);
    }
    if let Some(command) = in_profile("credential_process") {
        return Ok(Origin::Process(command));
    }
    if ["sso_session", "sso_start_url", "login_session"].iter().any(|name| in_profile(name).is_some()) {
        return Err(Error::unsupported("this AWS profile signs in through a browser (SSO), which is not supported")
            .with_remedy(EXPORT));
    }
    let relative = variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI").map(|path| format!("http://169.254.170.2{path}"));
    if let Some(url) = relative.or_else(|| variable("AWS_CONTAINER_CREDENTIALS_FULL_URI")) {
        let Ok(Location::Http(url)) = Location::parse(&url) else {
            return Err(Error::invalid("AWS_CONTAINER_CREDENTIALS_FULL_URI is not an http:// or https:// URL"));
        };
        let token = variable("AWS_CONTAINER_AUTHORIZATION_TOKEN");
        return Ok(Origin::Container { url, token, token_file: variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") });
    }
    // elsewhere than on such a machine, asking for it would take a second of every first opening
    let disabled = variable("AWS_EC2_METADATA_DISABLED").map(|value| flag(&value) == Some(true));
    let service = variable("AWS_EC2_METADATA_SERVICE_ENDPOINT");
    if disabled != Some(true) && (wants_instance || disabled == Some(false) || service.is_some()) {
        let url = address(&service.unwrap_or_else(|| "http://169.254.169.254".to_owned()))?;
        return Ok(Origin::Instance { url });
    }
    Ok(Origin::Nowhere)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(options: &S3Options, variables: &[(&str, &str)]) -> Result<Settings> {
        Settings::with(options, &|name| variables.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned()))
    }

    fn base(options: &S3Options, variables: &[(&str, &str)], bucket: &str) -> String {
        let settings = settings(options, variables).unwrap();
        settings.base(bucket, &settings.region).with_credentials()
    }

    #[test]
    fn addresses_of_buckets() {
        let none = S3Options::default();
        let virtual_hosts = S3Options { virtual_hosts: Some(true), ..S3Options::default() };
        for (options, variables, bucket, expected) in [
            (&none, &[][..], "data", "https://data.s3.us-east-1.amazonaws.com"),
            (&none, &[("AWS_REGION", "eu-west-3")], "data", "https://data.s3.eu-west-3.amazonaws.com"),
            (&none, &[("AWS_DEFAULT_REGION", "cn-north-1")], "data", "https://data.s3.cn-north-1.amazonaws.com.cn"),
            (&none, &[], "my.data", "https://s3.us-east-1.amazonaws.com/my.data"),
            (&virtual_hosts, &[], "my.data", "https://s3.us-east-1.amazonaws.com/my.data"),
            (&none, &[], "Old_Data", "https://s3.us-east-1.amazonaws.com/Old_Data"),
            (&none, &[("AWS_ENDPOINT_URL", "http://h:9000/")], "data", "http://h:9000/data"),
            (
                &none,
                &[("AWS_ENDPOINT_URL_S3", "http://h/s3"), ("AWS_ENDPOINT_URL", "http://x")],
                "data",
                "http://h/s3/data",
            ),
            (&virtual_hosts, &[("AWS_ENDPOINT_URL", "https://store.org")], "data", "https://data.store.org"),
        ] {
            assert_eq!(base(options, variables, bucket), expected);
        }
        for bad in ["h:9000", "ftp://h", "http://u:p@h", "http://h?x=1"] {
            let error = settings(&none, &[("AWS_ENDPOINT_URL", bad)]).err().unwrap().to_string();
            assert!(!error.contains("u:p"), "{error}");
        }
        assert!(settings(&none, &[("AWS_REGION", "evil.org/")]).is_err());
    }

    #[test]
    fn credentials_are_looked_for_in_the_order_of_the_sdks() {
        let none = S3Options::default();
        let of = |options: &S3Options, variables: &[(&str, &str)]| settings(options, variables).map(|s| s.from);
        let keys = [("AWS_ACCESS_KEY_ID", "ID"), ("AWS_SECRET_ACCESS_KEY", "SECRET")];
        assert!(
            matches!(of(&none, &keys).unwrap(), Origin::Keys(k) if k.access_key == "ID" && k.session_token.is_none())
        );
        assert!(of(&none, &[]).unwrap() == Origin::Nowhere);
        assert!(of(&none, &[keys[0], keys[1], ("AWS_NO_SIGN_REQUEST", "yes")]).unwrap() == Origin::Anonymous);
        let own = S3Options {
            keys: Some(S3Keys { access_key: "MINE".into(), secret_key: "S".into(), session_token: None }),
            ..S3Options::default()
        };
        assert!(matches!(of(&own, &keys).unwrap(), Origin::Keys(k) if k.access_key == "MINE"));
        assert!(of(&S3Options { anonymous: Some(true), ..own }, &keys).unwrap() == Origin::Anonymous);
        let role = [("AWS_WEB_IDENTITY_TOKEN_FILE", "/t"), ("AWS_ROLE_ARN", "arn:r"), ("AWS_REGION", "eu-west-1")];
        let Origin::WebIdentity { endpoint, .. } = of(&none, &role).unwrap() else { panic!() };
        assert_eq!(endpoint.with_credentials(), "https://sts.eu-west-1.amazonaws.com");
        assert!(matches!(
            of(&none, &[("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/v2/x")]).unwrap(),
            Origin::Container { .. }
        ));
        assert!(matches!(of(&none, &[("AWS_EC2_METADATA_DISABLED", "false")]).unwrap(), Origin::Instance { .. }));
        assert!(of(&none, &[("AWS_PROFILE", "absent")]).err().unwrap().to_string().contains("absent"));
    }
}
