//! Baskets that lie in other files than the tree's header (`TBranch::SetFile`).

use crate::open_source::open_source;
use crate::options::OpenOptions;
use sapwood_source::{Joined, Opening, Source, SourceStats, sibling_file};
use sapwood_span::sync::lock;
use sapwood_span::{Error, ErrorKind, Result};
use std::sync::{Arc, Mutex, MutexGuard};

/// The file in which a branch's baskets lie.
#[derive(Clone)]
pub(crate) struct BasketFile {
    /// Where it begins among all files that are read together.
    pub begin: u64,
    /// Its size.
    pub size: u64,
    /// Its name, without credentials.
    pub name: Arc<str>,
}

/// A file, and those in which its trees keep baskets: opened when they are first needed.
pub(crate) struct ExternalFiles {
    /// What the file itself was opened by, credentials included: never shown. None where nothing is beside it.
    location: Option<String>,
    options: OpenOptions,
    source: Arc<dyn Source>,
    size: u64,
    opened: Mutex<Opened>,
}

#[derive(Default)]
struct Opened {
    files: Vec<(String, Result<BasketFile>)>,
    joined: Option<Joined>,
}

impl ExternalFiles {
    /// None is opened yet.
    pub(crate) fn new(location: Option<&str>, options: &OpenOptions, source: Arc<dyn Source>, size: u64) -> Self {
        Self { location: location.map(str::to_owned), options: options.clone(), source, size, opened: Mutex::default() }
    }

    /// What the file itself was opened by, credentials included.
    ///
    /// # Errors
    /// `Unsupported` where it was not opened by a path or URL.
    pub(crate) fn location(&self) -> Result<&str> {
        let refused = || {
            let e =
                Error::unsupported("this file was not opened by path or URL, so files relative to it cannot be found");
            e.with_remedy("open it by its path or URL")
        };
        self.location.as_deref().ok_or_else(refused)
    }

    fn opened(&self) -> MutexGuard<'_, Opened> {
        lock(&self.opened)
    }

    /// The file of this name, from the header of a branch.
    ///
    /// # Errors
    /// What opening it says, as `Unsupported`: the tree's other branches can be read.
    pub(crate) fn find(&self, name: &str) -> Result<BasketFile> {
        let mut opened = self.opened();
        let result = match opened.files.iter().find(|(n, _)| n == name) {
            Some((_, result)) => result,
            None => {
                let file = self.open(&mut opened.joined, name);
                opened.files.push((name.to_owned(), file));
                &opened.files[opened.files.len() - 1].1
            }
        };
        match result {
            Ok(file) => Ok(file.clone()),
            Err(e) => Err(e.clone()),
        }
    }

    fn open(&self, joined: &mut Option<Joined>, name: &str) -> Result<BasketFile> {
        let Some(location) = &self.location else {
            let what = format!("its values are in another file, {name}, and this one was not opened by path or URL");
            return Err(Error::unsupported(what).with_remedy("open it by its path or URL"));
        };
        let place = sibling_file(location, name)?;
        let lacks = |e: Error| {
            Error::new(ErrorKind::Unsupported, format!("its values are in another file, {name}: {}", e.what()))
                .with_remedy("put that file into the directory of this one")
        };
        let Opening { source, size, head, .. } = open_source(&place, &self.options).map_err(lacks)?;
        if !head.starts_with(b"root") {
            return Err(lacks(Error::corrupt("this is not a ROOT file")));
        }
        let name = source.name().into();
        let files = joined.get_or_insert_with(|| Joined::new(Arc::clone(&self.source), self.size));
        Ok(BasketFile { begin: files.add(source, size)?, size, name })
    }

    /// The file itself, and behind it those that were needed so far.
    pub(crate) fn all_sources(&self) -> Arc<dyn Source> {
        self.opened().joined.clone().map_or_else(|| Arc::clone(&self.source), |joined| Arc::new(joined))
    }

    /// What all of them have done.
    pub(crate) fn stats(&self) -> SourceStats {
        self.opened().joined.as_ref().map_or_else(|| self.source.stats(), Source::stats)
    }
}
