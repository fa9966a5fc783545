//! The schemes of origins.

/// The protocol of an origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Scheme {
    Http,
    Https,
    Root,
    Roots,
    /// An S3 store; the host is the bucket.
    S3,
}

impl Scheme {
    pub(crate) fn of(name: &str) -> Option<Self> {
        match name.to_ascii_lowercase().as_str() {
            "http" => Some(Self::Http),
            "https" => Some(Self::Https),
            "root" | "xroot" => Some(Self::Root),
            "roots" | "xroots" => Some(Self::Roots),
            "s3" => Some(Self::S3),
            _ => None,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
            Self::Root => "root",
            Self::Roots => "roots",
            Self::S3 => "s3",
        }
    }

    pub(crate) fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
            Self::Root | Self::Roots => 1094,
            // buckets have none
            Self::S3 => 0,
        }
    }

    /// Whether it is one of HTTP's.
    pub(crate) fn is_http(self) -> bool {
        matches!(self, Self::Http | Self::Https)
    }

    /// Whether files come over HTTP, and names are encoded in URLs.
    pub(crate) fn uses_http(self) -> bool {
        self.is_http() || self == Self::S3
    }
}
