//! Maps a path to the origins that may have it.

use crate::allow::AllowRule;
use crate::failure::Failure;
use crate::target::Target;
use sapwood_source::RedirectFilter;
use std::sync::Arc;

/// The origins of a proxy, and what else clients may name.
pub(crate) struct Routes {
    origins: Vec<Target>,
    allow: Arc<Vec<AllowRule>>,
}

/// A place where a file or directory may be.
#[derive(Clone)]
pub(crate) struct Route {
    pub target: Target,
    /// Where servers may redirect to; none: wherever a client would follow.
    pub redirects: Option<RedirectFilter>,
}

impl Routes {
    pub(crate) fn new(origins: Vec<Target>, allow: Vec<AllowRule>) -> Self {
        Self { origins, allow: Arc::new(allow) }
    }

    /// The places of a path, in the order in which they are tried: never empty.
    ///
    /// # Errors
    /// A path that names no origin, or a forbidden one.
    pub(crate) fn of(&self, parts: &[Vec<u8>]) -> Result<Vec<Route>, Failure> {
        match Target::forwarded(parts) {
            Some(Ok(target)) if self.allow.iter().any(|rule| rule.permits(&target)) => {
                let rules = Arc::clone(&self.allow);
                let redirects: RedirectFilter = Arc::new(move |url| rules.iter().any(|rule| rule.permits_url(url)));
                Ok(vec![Route { target, redirects: Some(redirects) }])
            }
            Some(Ok(target)) => Err(Failure::Denied(format!("this proxy does not forward to {}", target.server()))),
            Some(Err(why)) => Err(Failure::Denied(why.to_owned())),
            None => {
                let joined = self.origins.iter().filter_map(|origin| origin.join(parts));
                let routes: Vec<Route> = joined.map(|target| Route { target, redirects: None }).collect();
                if routes.is_empty() { Err(Failure::NotFound) } else { Ok(routes) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(routes: &Routes, path: &[&str]) -> Result<Vec<String>, Failure> {
        let parts: Vec<Vec<u8>> = path.iter().map(|part| part.as_bytes().to_vec()).collect();
        routes.of(&parts).map(|routes| routes.iter().map(|r| r.target.url()).collect())
    }

    #[test]
    fn paths_are_the_origins_and_names_only_what_is_allowed() {
        let origins = ["root://a//store", "https://b/"].map(|url| Target::parse(url).unwrap());
        let routes = Routes::new(origins.to_vec(), vec!["root://*.example.org/".parse().unwrap()]);
        assert_eq!(of(&routes, &["x", "y"]).unwrap(), ["root://a//store/x/y", "https://b/x/y"]);
        assert_eq!(of(&routes, &["root:", "s.example.org", "z"]).unwrap(), ["root://s.example.org//z"]);
        for bad in [&["root:", "example.org", "z"][..], &["https:", "b", "x"], &["root:", "u@s.example.org", "z"]] {
            assert!(matches!(of(&routes, bad), Err(Failure::Denied(_))), "{bad:?}");
        }
        let redirect = routes.of(&[b"root:".to_vec(), b"s.example.org".to_vec()]).unwrap().remove(0).redirects.unwrap();
        assert!(redirect("root://t.example.org//z") && !redirect("root://127.0.0.1//z"));
        assert_eq!(of(&Routes::new(Vec::new(), Vec::new()), &["x"]), Err(Failure::NotFound));
    }
}
