//! `sapwood ls`: what a file holds.

use crate::args::LsArgs;
use crate::failure::Failure;
use crate::output::table::{Align, Table};
use crate::output::{self, io_report};
use crate::target::Target;
use crate::units;
use sapwood::{ErrorKind, File, Listing, OpenOptions, Result};
use serde_json::{Value, json};
use std::io::Write;

/// Runs the verb.
pub fn run(args: &LsArgs, options: &OpenOptions, as_json: bool) -> Result<(), Failure> {
    let target = Target::parse(&args.target);
    let file = target.open(options)?;
    let keys = keys(&file, target.object.as_deref().unwrap_or(""), args.recursive)?;
    if as_json {
        output::json(&to_json(&file, &keys))?;
        return Ok(());
    }
    let mut out = output::stdout();
    let mut table = if args.long { long(&keys) } else { short(&keys) };
    table.write(&mut out)?;
    out.flush()?;
    Ok(())
}

/// A directory's keys, or the one key that is named.
fn keys(file: &File, path: &str, recursive: bool) -> Result<Vec<Listing>> {
    match file.list(path, recursive) {
        Err(e) if e.kind() == ErrorKind::Invalid => Ok(vec![file.find(path)?]),
        other => other,
    }
}

fn short(keys: &[Listing]) -> Table {
    let mut table = Table::new([("class", Align::Left), ("size", Align::Right), ("key", Align::Left)]);
    for l in keys {
        table.row([l.key.class.clone(), units::bytes(l.key.span.len), name(l)]);
    }
    table
}

fn long(keys: &[Listing]) -> Table {
    let mut table = Table::new([
        ("class", Align::Left),
        ("compressed", Align::Right),
        ("uncompressed", Align::Right),
        ("date", Align::Left),
        ("key", Align::Left),
        ("title", Align::Left),
    ]);
    for l in keys {
        let k = &l.key;
        table.row([
            k.class.clone(),
            units::bytes(k.span.len),
            units::bytes(u64::from(k.object_len) + u64::from(k.key_len)),
            output::date(k, ' '),
            name(l),
            k.title.clone(),
        ]);
    }
    table
}

fn name(listing: &Listing) -> String {
    format!("{};{}", listing.path, listing.key.cycle)
}

fn to_json(file: &File, keys: &[Listing]) -> Value {
    let keys: Vec<Value> = keys
        .iter()
        .map(|l| {
            let k = &l.key;
            json!({
                "path": l.path,
                "name": k.name,
                "cycle": k.cycle,
                "class": k.class,
                "title": k.title,
                "offset": k.span.start,
                "compressed_bytes": k.span.len,
                "uncompressed_bytes": u64::from(k.object_len) + u64::from(k.key_len),
                "datetime": output::date(k, 'T'),
            })
        })
        .collect();
    json!({
        "file": file.url(),
        "bytes": file.size(),
        "root_version": file.header().version_text(),
        "keys": keys,
        "io": io_report::to_json(&file.io()),
    })
}
