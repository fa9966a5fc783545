//! Answers to listings and stats.

use super::link::{Gone, failure};
use super::reads::FRAME;
use super::reply::Reply;
use crate::error::FilesError;
use crate::files::{Entries, Entry, FileInfo, OpenFolder};
use sapwood_xrd::code::{stat, status};
use sapwood_xrd::reply::{LISTING_WITH_STATS, Stat, encode_entry};

/// A file's or directory's stat.
pub(super) fn stat_of(info: &FileInfo) -> Stat {
    let flags = stat::READABLE | if info.is_folder { stat::IS_DIR | stat::SEARCHABLE } else { 0 };
    Stat { size: info.size, flags, modified: info.modified, inode: Some(info.changed) }
}

/// Answers a request for a listing: frame by frame, however many entries there are.
pub(super) async fn list(mut reply: Reply, folder: &dyn OpenFolder, stats: bool) -> Result<(), Gone> {
    let mut entries = match folder.entries().await {
        Ok(entries) => entries,
        Err(e) => return reply.fail(&failure(&e)).await,
    };
    let mut out = Vec::new();
    let mut begun = false;
    loop {
        let more = match more(&mut *entries).await {
            Ok(more) => more,
            Err(e) => return reply.fail(&failure(&e)).await,
        };
        let Some(more) = more else { break };
        for entry in more {
            if !begun && stats {
                out.extend(LISTING_WITH_STATS);
            }
            begun = true;
            // The unsent part is the end, as far as known.
            if out.len() as u64 >= FRAME {
                reply.data(status::OKSOFAR, std::mem::take(&mut out).into()).await?;
            }
            encode_entry(&entry.name, stats.then(|| stat_of(&entry.info)).as_ref(), &mut out);
        }
    }
    // The last line ends in a zero.
    if let Some(end) = out.last_mut() {
        *end = 0;
    }
    reply.ok(&out).await
}

/// More entries that can be listed: a name with a newline in it would be read as two.
async fn more(entries: &mut dyn Entries) -> Result<Option<Vec<Entry>>, FilesError> {
    let mut more = entries.more().await?;
    if more.is_empty() {
        return Ok(None);
    }
    more.retain(|entry| !entry.name.contains(&b'\n'));
    Ok(Some(more))
}
