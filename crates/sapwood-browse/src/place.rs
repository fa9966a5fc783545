//! Targets, and the files and objects in them that a request may name.

use crate::answer::Fault;
use crate::folder::{Folder, Found};
use crate::parameters::Parameters;
use sapwood::raw_text::path_of;
use sapwood::{Error, is_remote, redacted};
use sapwood_span::sync::lock;
use serde_json::{Value, json};
use std::sync::Mutex;

/// Targets of one page, at most: those that were given, and those that were opened in it.
const MOST: usize = 1000;

/// What the user named: a file, or a directory of files.
#[derive(Clone, Debug)]
struct Target {
    /// Path or URL.
    url: String,
    /// The directory, where it is one.
    folder: Option<Folder>,
}

/// All targets, by number.
pub(crate) struct Targets {
    all: Mutex<Vec<Target>>,
    /// Whether the page may open others.
    can_open: bool,
}

/// A file, and an object in it.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// Path or URL of the file; none for a directory.
    pub url: Option<String>,
    /// A directory that the place is.
    pub folder: Option<Folder>,
    /// Directories and key, with the cycle; empty for the file itself.
    pub object: String,
}

impl Targets {
    /// Those that were named; without any, the page may open some.
    ///
    /// # Errors
    /// Local files that are not there.
    pub(crate) fn new<'u>(named: impl Iterator<Item = &'u str>) -> sapwood::Result<Self> {
        let all = named.map(target).collect::<sapwood::Result<Vec<_>>>()?;
        Ok(Self { can_open: all.is_empty(), all: Mutex::new(all) })
    }

    /// What the page shows of them.
    pub(crate) fn to_json(&self) -> Value {
        let all = lock(&self.all);
        let shown = all.iter().enumerate().map(|(id, target)| target.to_json(id)).collect::<Vec<_>>();
        json!({ "version": env!("CARGO_PKG_VERSION"), "targets": shown, "can_open": self.can_open })
    }

    /// Adds one that was typed into the page.
    pub(crate) fn open(&self, text: &str) -> Result<Value, Fault> {
        if !self.can_open {
            return Err(Fault::new("this page shows the files that were named when it was started, and no others"));
        }
        if text.is_empty() {
            return Err(Fault::new("type the path or URL of a file"));
        }
        let target = target(text)?;
        let mut all = lock(&self.all);
        if all.len() >= MOST {
            return Err(Fault::new("too many files are open in this page; start `sapwood browse` again"));
        }
        all.push(target);
        let id = all.len() - 1;
        Ok(all.last().map(|target| target.to_json(id)).unwrap_or_default())
    }

    /// The place that a request names. Nothing outside of the targets has one.
    pub(crate) fn place(&self, parameters: &Parameters) -> Result<Place, Fault> {
        let number = parameters.whole("target").and_then(|n| usize::try_from(n).ok());
        let found = number.and_then(|n| lock(&self.all).get(n).cloned());
        let target = found.ok_or_else(|| Fault::new("there is no such target"))?;
        let (file, object) = (parameters.text("file"), parameters.text("object").to_owned());
        let Some(folder) = &target.folder else {
            return match file {
                "" => Ok(Place { url: Some(target.url), folder: None, object }),
                _ => Err(Fault::new("the target is a file: it contains no others")),
            };
        };
        Ok(match folder.below(file)? {
            Found::Folder(folder) => Place { url: None, folder: Some(folder), object },
            Found::File(url) => Place { url: Some(url), folder: None, object },
        })
    }
}

impl Target {
    fn to_json(&self, id: usize) -> Value {
        let kind = if self.folder.is_some() { "directory" } else { "file" };
        json!({ "id": id, "name": redacted(&self.url), "kind": kind })
    }
}

impl Place {
    /// The file; an error for a directory.
    pub(crate) fn url(&self) -> Result<&str, Fault> {
        self.url.as_deref().ok_or_else(|| Fault::new("this is a directory, not a file"))
    }
}

fn target(text: &str) -> sapwood::Result<Target> {
    if is_remote(text) {
        return Ok(Target { url: text.to_owned(), folder: Folder::remote(text) });
    }
    let path = path_of(text);
    let missing = |e: std::io::Error| {
        let e = match e.kind() {
            std::io::ErrorKind::NotFound => Error::no_such_file("no such file"),
            _ => Error::io("cannot open the file", e),
        };
        e.in_file(text)
    };
    let whole = path.canonicalize().map_err(missing)?;
    Ok(Target { url: text.to_owned(), folder: whole.is_dir().then_some(Folder::Local(whole)) })
}
