//! Folders as origins have them.

use crate::common::Common;
use crate::failure::{Failure, failure_of};
use crate::opening::Place;
use sapwood_serve::{Answer, Entries, Entry, FileInfo, OpenFolder};
use sapwood_source::{RemoteEntry, list};
use sapwood_span::sync::lock;
use std::sync::{Arc, Mutex};

/// A folder of an XRootD origin, listed when it was looked up.
pub(crate) struct Listed(Mutex<Vec<Entry>>);

/// Lists the folder at the first of these places that has it.
///
/// # Errors
/// What the last place said.
pub(crate) async fn listed(places: &[Place], common: &Arc<Common>) -> Result<Listed, Failure> {
    let handle = tokio::runtime::Handle::current();
    let mut failure = Failure::NotFound;
    for place in common.by_health(places).into_iter().filter(|place| !place.route.target.scheme.is_http()) {
        match list(&place.url(false), &place.options(common), &handle).await {
            Ok(entries) => return Ok(Listed(Mutex::new(entries.into_iter().map(entry).collect()))),
            Err(error) => failure = failure_of(&error, false),
        }
    }
    Err(failure)
}

fn entry(of: RemoteEntry) -> Entry {
    let size = if of.directory { 0 } else { of.size };
    let info = FileInfo { is_folder: of.directory, size, modified: of.modified, changed: of.modified };
    Entry { name: sapwood_span::raw_text::bytes_of(&of.name).into_owned(), info }
}

impl OpenFolder for Listed {
    fn info(&self) -> Answer<'_, FileInfo> {
        Box::pin(std::future::ready(Ok(FileInfo { is_folder: true, size: 0, modified: 0, changed: 0 })))
    }

    fn entries(&self) -> Answer<'_, Box<dyn Entries>> {
        let all: Box<dyn Entries> = Box::new(Once(std::mem::take(&mut *lock(&self.0))));
        Box::pin(std::future::ready(Ok(all)))
    }
}

/// Entries that are all here.
struct Once(Vec<Entry>);

impl Entries for Once {
    fn more(&mut self) -> Answer<'_, Vec<Entry>> {
        Box::pin(std::future::ready(Ok(std::mem::take(&mut self.0))))
    }
}
