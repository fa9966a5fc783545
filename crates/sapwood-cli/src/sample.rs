//! `sapwood sample`: a file with made-up collisions.

use crate::args::SampleArgs;
use crate::failure::Failure;
use crate::output;
use sapwood::Compression;
use sapwood::raw_text::text_of_path;
use sapwood::write::sample::{SampleLayout, write_sample_as};
use serde_json::json;

/// Runs the command.
pub(crate) fn run(args: &SampleArgs, as_json: bool) -> Result<(), Failure> {
    let layout = if args.scattered { SampleLayout::Scattered } else { SampleLayout::Clustered };
    write_sample_as(&args.output, args.entries, args.seed, layout, Compression::default())?;
    if as_json {
        output::json(&json!({ "file": text_of_path(&args.output), "tree": "Events", "entries": args.entries }))?;
    }
    Ok(())
}
