//! Directories on origins.

use crate::common::Common;
use crate::failure::{Failure, failure_of};
use crate::place::Place;
use sapwood_serve::{Answer, Entries, Entry, FileInfo, Found, OpenFolder, Page};
use sapwood_source::{RemoteEntry, SourceOptions, list};
use sapwood_span::sync::lock;
use sapwood_span::{Error, Result};
use std::sync::{Arc, Mutex};
use tokio::runtime::Handle;

/// Bytes of a page about a directory, at most.
const LONGEST_PAGE: u64 = 4 << 20;

/// A directory of an XRootD origin, listed when it was looked up.
pub(crate) struct Listed(Mutex<Vec<Entry>>);

/// The directory at the first of these places that has it: its entries, or an HTTP origin's page about it.
///
/// # Errors
/// The error of the last place.
pub(crate) async fn folder(places: &[Place], common: &Arc<Common>) -> Result<Found, Failure> {
    let handle = tokio::runtime::Handle::current();
    let mut failure = Failure::NotFound;
    for place in common.by_health(places) {
        let url = place.url(true);
        let found = if place.route.target.scheme.is_http() {
            page(&url, common.source_options(place), &handle).await.map(Found::Page)
        } else {
            let listed = list(&url, &common.source_options(place), &handle).await;
            listed.map(|all| {
                let folder: Arc<dyn OpenFolder> = Arc::new(Listed(Mutex::new(all.into_iter().map(entry).collect())));
                Found::Folder(folder)
            })
        };
        match found {
            Ok(found) => return Ok(found),
            Err(error) => failure = failure_of(&error, false),
        }
    }
    Err(failure)
}

/// The page of a directory, unchanged.
async fn page(url: &str, options: SourceOptions, handle: &Handle) -> Result<Page> {
    let whole = SourceOptions { head: LONGEST_PAGE, whole_file: LONGEST_PAGE, warm: false, ..options };
    let opening = sapwood_source::open(url, &whole, handle).await?;
    if opening.head.len() as u64 != opening.size {
        return Err(Error::unsupported("the page of the directory is too long").in_file(opening.source.name()));
    }
    Ok(Page { content_type: "text/html; charset=utf-8".to_owned(), body: opening.head })
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

/// A complete list of entries.
struct Once(Vec<Entry>);

impl Entries for Once {
    fn more(&mut self) -> Answer<'_, Vec<Entry>> {
        Box::pin(std::future::ready(Ok(std::mem::take(&mut self.0))))
    }
}
