//! Many files into one, like ROOT's `hadd`: trees and ntuples by copying their compressed baskets and pages untouched,
//! histograms added, other objects kept.
//!
//! A few threads open inputs in advance and others read ahead; one thread writes the records, which come in the order
//! of the inputs. So memory holds a few chunks, however many inputs there are, and a handful of files are open at a
//! time. The output gets its name when it is complete.

pub use crate::options::{MergeOptions, MergeProgress, MergeReport, MergedTree};

use crate::copy::{self, Done, Job, Pool};
use crate::input;
use crate::options::{check, check_differ};
use crate::ordered::ordered;
use crate::output::Output;
use crate::recode::Recoder;
use sapwood_codec::Compression;
use sapwood_engine::File;
use sapwood_span::{Error, Result};
use sapwood_write::target::Placement;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Inputs opened ahead of the one that is being copied.
const OPEN_AHEAD: (usize, usize) = (3, 12);
/// Threads that read ahead, and chunks that may wait: local and remote.
const LOCAL_READERS: (usize, usize) = (2, 6);
const REMOTE_READERS: (usize, usize) = (6, 8);

/// Merges `inputs` (paths or URLs) into a new file `out`.
///
/// # Errors
/// `Invalid` when the output exists or inputs do not match, with the difference; errors of reading or writing. Nothing
/// is left under the output's name, nor next to it.
pub fn merge(out: &Path, inputs: &[String], options: &MergeOptions) -> Result<MergeReport> {
    let Some(first) = inputs.first() else {
        return Err(Error::invalid("nothing to merge").with_remedy("specify at least one input"));
    };
    inputs.iter().try_for_each(|i| check_differ(i, out))?;
    let header = File::open(first, &options.open)?.header().clone();
    let own = Compression::from_settings(header.compression).unwrap_or_default();
    let place = Placement { replace: options.force, sync: options.sync };
    let mut output = Output::create(out, place, options.compression.unwrap_or(own), options.compression)?;
    output.extend_ntuples(options.union);
    let remote = inputs.iter().any(|i| i.contains("://"));
    let (readers, chunks) = if remote { REMOTE_READERS } else { LOCAL_READERS };
    let threads = match (options.compression, options.open.threads) {
        (None, _) => readers,
        (Some(_), 0) => std::thread::available_parallelism().map_or(1, usize::from).max(readers),
        (Some(_), n) => n,
    };
    let ahead = if remote { OPEN_AHEAD.1 } else { OPEN_AHEAD.0 };
    let pool = Pool::default();
    let bytes = AtomicU64::new(0);
    ordered(
        if remote { ahead } else { 1 },
        ahead,
        inputs.iter(),
        || (),
        |(), url: &String| check(options).and_then(|()| input::open(url, &options.open)).map(Box::new),
        |opened| {
            let jobs = opened.flat_map(|input| match input {
                Ok(input) => copy::jobs(input),
                Err(e) => vec![Job::Failed(e)],
            });
            ordered(
                threads,
                chunks.max(threads + 1),
                jobs,
                Recoder::default,
                |recoder, job| check(options).and_then(|()| copy::work(job, &pool, recoder, options.compression)),
                |results| {
                    let mut done = 0;
                    for result in results {
                        check(options)?;
                        match result? {
                            Done::Begin(input) => output.begin(*input)?,
                            Done::Chunk(chunk) => pool.give(output.chunk(chunk)?),
                            Done::Pages(chunk) => pool.give(output.pages(chunk)?),
                            Done::End => {
                                output.end()?;
                                done += 1;
                            }
                        }
                        // not after every chunk: the callback may be slow
                        if output.position() - bytes.load(Relaxed) > 4 << 20 || done == inputs.len() {
                            bytes.store(output.position(), Relaxed);
                            if let Some(tell) = &options.progress {
                                tell(MergeProgress { inputs: done, total: inputs.len(), bytes: output.position() });
                            }
                        }
                    }
                    Ok::<(), Error>(())
                },
            )
        },
    )?;
    check(options)?;
    output.finish(options)
}
