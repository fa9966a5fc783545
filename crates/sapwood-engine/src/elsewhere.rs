//! Baskets that lie in other files than the tree's header (`TBranch::SetFile`).

use crate::file::{File, open_source};
use sapwood_source::{Joined, Opening, Source, beside};
use sapwood_span::{Error, ErrorKind, Result};
use std::sync::{Arc, Mutex, PoisonError};

/// Where a branch's baskets lie.
#[derive(Clone)]
pub(crate) struct Place {
    /// Where their file begins among all that are read together.
    pub begin: u64,
    /// Its size.
    pub size: u64,
    /// Its name, without credentials.
    pub name: Arc<str>,
}

/// The files beside one, opened when they are first needed.
#[derive(Default)]
pub(crate) struct Elsewhere(Mutex<Known>);

#[derive(Default)]
struct Known {
    places: Vec<(String, Result<Place>)>,
    joined: Option<Joined>,
}

impl File {
    /// The file of this name, from the header of a branch.
    ///
    /// # Errors
    /// What opening it says, as `Unsupported`: the tree's other branches can be read.
    pub(crate) fn elsewhere(&self, name: &str) -> Result<Place> {
        let mut known = self.files().0.lock().unwrap_or_else(PoisonError::into_inner);
        let result = match known.places.iter().find(|(n, _)| n == name) {
            Some((_, result)) => result,
            None => {
                let place = self.join(&mut known.joined, name);
                known.places.push((name.to_owned(), place));
                &known.places[known.places.len() - 1].1
            }
        };
        match result {
            Ok(place) => Ok(place.clone()),
            Err(e) => Err(e.duplicate()),
        }
    }

    fn join(&self, joined: &mut Option<Joined>, name: &str) -> Result<Place> {
        let place = beside(self.location(), name)?;
        let lacks = |e: Error| {
            Error::new(ErrorKind::Unsupported, format!("its values lie in another file, {name}: {}", e.what()))
                .with_remedy("put that file beside this one")
        };
        let Opening { source, size, head, .. } = open_source(&place, self.options()).map_err(lacks)?;
        if !head.starts_with(b"root") {
            return Err(lacks(Error::corrupt("this is no ROOT file")));
        }
        let name = source.name().into();
        let files = joined.get_or_insert_with(|| Joined::new(Arc::clone(self.source()), self.size()));
        Ok(Place { begin: files.add(source, size)?, size, name })
    }

    /// This file, and behind it those that were needed so far.
    pub(crate) fn all_sources(&self) -> Arc<dyn Source> {
        let known = self.files().0.lock().unwrap_or_else(PoisonError::into_inner);
        known.joined.clone().map_or_else(|| Arc::clone(self.source()), |joined| Arc::new(joined))
    }
}
