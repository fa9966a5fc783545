//! Files that another file names: friends and baskets stored next to it.

use crate::url::{Location, Url};
use crate::xrd::RootUrl;
use sapwood_span::raw_text::{bytes_of, path_of, text_of_path};
use sapwood_span::{Error, Result, percent};

/// The file that another file names: relative to that file, unless the name is absolute and both are local.
///
/// A file must not choose which server is contacted, with which credentials, nor which local files are read on behalf
/// of a remote one: in a URL only the end of the path is replaced, by plain relative names.
///
/// # Errors
/// `Unsupported` for any other name.
pub fn sibling_file(file: &str, name: &str) -> Result<String> {
    let refused = |why: &str| {
        let what = format!("its values are in another file, {}, {why}", name.escape_debug());
        Error::unsupported(what).with_remedy("copy both files to one directory and open them there")
    };
    if name.contains("://") {
        return Err(refused("named by a URL, which is not followed"));
    }
    match Location::parse(file)? {
        Location::Local(path) => {
            let name = path_of(name);
            let path = if name.is_absolute() { name.into_owned() } else { path.with_file_name("").join(name) };
            // a directory may be named like the beginning of a URL
            let path = Some(text_of_path(&path)).filter(|p| matches!(Location::parse(p), Ok(Location::Local(_))));
            path.ok_or_else(|| refused("which is not a file name"))
        }
        Location::Http(url) => {
            let segments = segments(name).map_err(refused)?;
            let names: Vec<String> = segments.iter().map(|s| percent::encode_component(&bytes_of(s))).collect();
            let (path, query) = url.target.split_once('?').map_or((url.target.as_str(), None), |(p, q)| (p, Some(q)));
            let folder = &path[..path.rfind('/').map_or(0, |at| at + 1)];
            let query = query.map_or_else(String::new, |q| format!("?{q}"));
            Ok(Url { target: format!("{folder}{}{query}", names.join("/")), ..url.clone() }.with_credentials())
        }
        Location::Root(url) => {
            let segments = segments(name).map_err(refused)?;
            let folder = &url.path[..url.path.rfind('/').map_or(0, |at| at + 1)];
            Ok(RootUrl { path: format!("{folder}{}", segments.join("/")), ..url.clone() }.with_credentials())
        }
        Location::S3(_) => {
            let segments = segments(name).map_err(refused)?;
            let (path, query) = file.split_once('?').map_or((file, String::new()), |(p, q)| (p, format!("?{q}")));
            let names: Vec<String> = segments.iter().map(|s| percent::encode_component(&bytes_of(s))).collect();
            let folder = path
                .rfind('/')
                .filter(|at| *at > "s3://".len())
                .map_or(format!("{path}/"), |at| path[..=at].to_owned());
            Ok(format!("{folder}{}{query}", names.join("/")))
        }
    }
}

/// The parts of a relative path to a file on a server.
///
/// # Errors
/// What is wrong with it, as text.
fn segments(name: &str) -> Result<Vec<&str>, &'static str> {
    if name.starts_with('/') {
        return Err("named by an absolute path");
    }
    // some servers and proxies decode twice, and take one slash for the other
    if name.contains(['?', '#', '%', '\\', '@', ':', '&', ';']) || name.chars().any(char::is_control) {
        return Err("which is not a valid name in a URL");
    }
    let segments: Vec<&str> = name.split('/').collect();
    if segments.iter().any(|s| matches!(*s, "" | "." | "..")) {
        return Err("which leads out of its directory");
    }
    Ok(segments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_beside_the_file() {
        let is = |file, name, wanted: &str| assert_eq!(sibling_file(file, name).unwrap(), wanted);
        is("a.root", "b.root", "b.root");
        is("/data/run?1/a.root", "b.root", "/data/run?1/b.root");
        is("/data/a.root", "/other/b.root", "/other/b.root");
        is("/data/a.root", "../b.root", "/data/../b.root");
        is("file:///data%20x/a.root", "b.root", "/data x/b.root");
        is("http://host/x/a.root?authz=t/u", "b.root", "http://host/x/b.root?authz=t/u");
        is("https://u:p%2F@host:81/x/a.root#f", "ü b.root", "https://u:p%2F@host:81/x/%C3%BC%20b.root");
        is("s3://bucket/x/a.root?region=r", "sub/b c.root", "s3://bucket/x/sub/b%20c.root?region=r");
        is("s3://bucket", "b.root", "s3://bucket/b.root");
        is("root://host//x/a.root", "sub/b.root", "root://host//x/sub/b.root");
        is("roots://u@[::1]:7//x/a.root?authz=t", "b.root", "roots://u@[::1]:7//x/b.root?authz=t");
        for (file, name) in
            [("a.root", "http://other/b.root"), ("http://host/a.root", "/etc/b"), ("root://h//a", "b?c")]
        {
            assert!(sibling_file(file, name).is_err(), "{name}");
        }
    }

    /// `http://host?token=...` has no path to put a name in.
    #[test]
    fn no_name_leads_to_another_host() {
        is_kept("http://host?token=SECRET", "http://host/loot.root?token=SECRET");
        is_kept("http://host", "http://host/loot.root");
        is_kept("https://u:p@host:8443?token=SECRET/x", "https://u:p@host:8443/loot.root?token=SECRET/x");
        is_kept("root://host?authz=SECRET", "root://host//loot.root?authz=SECRET");
        is_kept("root://u@host:1095", "root://u@host:1095//loot.root");
    }

    fn is_kept(file: &str, wanted: &str) {
        assert_eq!(sibling_file(file, "loot.root").unwrap(), wanted);
        for name in [
            "evil:81/loot.root",
            "//evil/loot.root",
            "/loot.root",
            "@evil/loot.root",
            "x@evil:1/loot.root",
            "?x",
            "#x",
            "\\\\evil\\loot.root",
            "..%2floot.root",
            "%2e%2e/loot.root",
            "../loot.root",
            "a/../../loot.root",
            "./loot.root",
            "a//loot.root",
            ".evil.org/loot.root:80",
            "http:evil",
            "evil\r\nHost: evil",
            "evil\0",
            "",
            ".",
            "..",
        ] {
            assert!(sibling_file(file, name).is_err(), "{file} {name:?}");
        }
    }

    mod any {
        use super::*;
        use proptest::prelude::*;

        proptest! {
            #[test]
            fn name_keeps_the_server(
                server in "(http|https|root|roots)://(u(:p)?@)?[a-z]{1,5}(:80)?(/[a-z]{0,3}){0,3}([?]t=[A-Z]{3})?",
                name in "[-a-z./:@?#%\\\\ ü~=&0-9]{0,12}",
            ) {
                let Ok(found) = sibling_file(&server, &name) else { return Ok(()) };
                match (Location::parse(&server).unwrap(), Location::parse(&found).unwrap()) {
                    (Location::Http(a), Location::Http(b)) => {
                        prop_assert!(a.same_origin(&b) && a.user == b.user);
                        prop_assert_eq!(a.target.split_once('?').map(|t| t.1), b.target.split_once('?').map(|t| t.1));
                    }
                    (Location::Root(a), Location::Root(b)) => {
                        prop_assert_eq!((a.server(), a.user, a.query), (b.server(), b.user, b.query));
                    }
                    _ => prop_assert!(false, "{} {}", server, found),
                }
            }
        }
    }
}
