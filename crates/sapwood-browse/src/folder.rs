//! Directories of files, on this machine and on servers that list them.

use crate::answer::Fault;
use percent_encoding::percent_decode_str;
use sapwood::Error;
use sapwood::raw_text::{path_of, text_of_path};
use std::path::{Component, PathBuf};

/// A directory.
#[derive(Clone, Debug)]
pub(crate) enum Folder {
    /// On this machine, without symbolic links.
    Local(PathBuf),
    /// On a server: its URL, which ends with a slash, and what stands behind the path.
    Remote(String, String),
}

/// What there is below a directory.
pub(crate) enum Found {
    Folder(Folder),
    /// Path or URL of a file.
    File(String),
}

impl Folder {
    /// The directory that a URL names: it ends with a slash, or is the bucket of a store.
    pub(crate) fn remote(url: &str) -> Option<Self> {
        let (front, query) = url.split_at(url.find('?').unwrap_or(url.len()));
        let scheme = front.split("://").next().unwrap_or_default().to_ascii_lowercase();
        let lists = matches!(scheme.as_str(), "root" | "roots" | "xroot" | "xroots" | "s3");
        let is_bucket = scheme == "s3" && front.matches('/').count() == 2;
        let slash = if is_bucket { "/" } else { "" };
        (lists && (is_bucket || front.ends_with('/')))
            .then(|| Self::Remote(format!("{front}{slash}"), query.to_owned()))
    }

    /// What a path names that leads down from here. On servers, one that ends with a slash is a directory.
    ///
    /// # Errors
    /// Paths that lead elsewhere, also by symbolic links; files that are not there.
    pub(crate) fn below(&self, path: &str) -> Result<Found, Fault> {
        let refused = || Fault::from(Error::not_found(format!("there is no file {path} in this directory")));
        match self {
            Self::Local(folder) => {
                let relative = path_of(path);
                let plain = relative.components().all(|part| matches!(part, Component::Normal(_)));
                if !plain || path.contains('\0') {
                    return Err(refused());
                }
                let whole = folder.join(relative).canonicalize().map_err(|_| refused())?;
                match whole.starts_with(folder) {
                    true if whole.is_dir() => Ok(Found::Folder(Self::Local(whole))),
                    true => Ok(Found::File(text_of_path(&whole))),
                    false => {
                        let what = format!("{path} is a link that leads out of this directory");
                        let how = format!("start `sapwood browse` with {} to show it", text_of_path(&whole));
                        Err(Error::not_found(what).with_remedy(how).into())
                    }
                }
            }
            Self::Remote(front, query) => {
                let parts = path.strip_suffix('/').unwrap_or(path).split('/');
                if !path.is_empty() && !parts.into_iter().all(is_plain) {
                    return Err(refused());
                }
                Ok(match path.is_empty() || path.ends_with('/') {
                    true => Found::Folder(Self::Remote(format!("{front}{path}"), query.clone())),
                    false => Found::File(format!("{front}{path}{query}")),
                })
            }
        }
    }
}

/// Whether a part of a path on a server stays below what is in front of it, however the server reads it.
fn is_plain(part: &str) -> bool {
    let read: Vec<u8> = percent_decode_str(part).collect();
    !matches!(read.as_slice(), b"" | b"." | b"..")
        && !part.contains(['?', '#', '\\'])
        && !read.iter().any(|&b| b == b'/' || b.is_ascii_control())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_outside_of_a_folder_is_found() {
        let folder = std::env::temp_dir().join(format!("sapwood-browse-{}", std::process::id()));
        let inside = folder.join("inside/deep");
        std::fs::create_dir_all(&inside).unwrap();
        std::fs::write(inside.join("a.root"), b"x").unwrap();
        std::fs::write(folder.join("secret.root"), b"x").unwrap();
        std::os::unix::fs::symlink(folder.join("secret.root"), folder.join("inside/link.root")).unwrap();
        let root = Folder::Local(folder.join("inside").canonicalize().unwrap());
        assert!(matches!(root.below("deep/a.root"), Ok(Found::File(url)) if url.ends_with("inside/deep/a.root")));
        assert!(matches!(root.below(""), Ok(Found::Folder(_))));
        assert!(matches!(root.below("deep/"), Ok(Found::Folder(_))));
        for file in [
            "../secret.root",
            "deep/../../secret.root",
            "/etc/passwd",
            "link.root",
            "nix.root",
            "a\0b",
            ".",
            "deep/a.root/",
        ] {
            assert!(root.below(file).is_err(), "{file:?}");
        }
        let message = root.below("link.root").err().unwrap().to_json()["message"].to_string();
        assert!(message.contains("leads out of this directory") && message.contains("secret.root"), "{message}");
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn folders_of_servers() {
        let folder = Folder::remote("root://host//data/?authz=a/b").unwrap();
        assert!(
            matches!(folder.below("run 1/a.root"), Ok(Found::File(u)) if u == "root://host//data/run 1/a.root?authz=a/b")
        );
        assert!(
            matches!(folder.below("sub/"), Ok(Found::Folder(Folder::Remote(u, _))) if u == "root://host//data/sub/")
        );
        for path in
            ["../a.root", "/etc/a.root", "a/%2e%2E/b", "a//b", "a.root?authz=x", "a\nb", "..", "%2Fetc/", "a/.", "/"]
        {
            assert!(folder.below(path).is_err(), "{path:?}");
        }
        assert!(Folder::remote("s3://bucket").is_some());
        for file in ["root://host//data/a.root", "s3://bucket/a.root", "https://host/data/"] {
            assert!(Folder::remote(file).is_none(), "{file}");
        }
    }
}
