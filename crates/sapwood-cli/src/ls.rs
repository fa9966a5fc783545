//! `sapwood ls`: what a file holds.

use crate::args::LsArgs;
use crate::failure::Failure;
use crate::output::table::{Align, Table};
use crate::output::{self, io_report};
use crate::target::{Target, listed, with_warnings};
use crate::units;
use sapwood::{
    Error, ErrorKind, File, Listing, MissingItem, OpenOptions, RemoteEntry, Result, list_directory, locate_file,
    redacted,
};
use serde_json::{Value, json};
use std::io::Write;

/// Runs the command.
pub(crate) fn run(args: &LsArgs, options: &OpenOptions, as_json: bool) -> Result<(), Failure> {
    if args.target.starts_with('@') && !args.locate {
        return list(&args.target, options, as_json);
    }
    let options = &options.clone().keys_only(true);
    if args.locate {
        return locate(&Target::parse(&args.target).url, options, as_json);
    }
    let target = Target::one(&args.target, options)?;
    let file = match open(&target, options)? {
        Found::File(file) => file,
        Found::Directory(entries) => return directory(&target.url, &entries, as_json),
    };
    let keys = with_warnings(&file, keys(&file, target.object.as_deref().unwrap_or(""), args.recursive)?);
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

/// The files of a list, each with its tree where the list names one.
fn list(name: &str, options: &OpenOptions, as_json: bool) -> Result<(), Failure> {
    let targets = listed(std::iter::once(name), options)?;
    if as_json {
        let files: Vec<Value> = targets.iter().map(|t| json!({"file": redacted(&t.url), "tree": t.object})).collect();
        output::json(&json!({"list": name, "files": files}))?;
        return Ok(());
    }
    let mut table = Table::new([("tree", Align::Left), ("file", Align::Left)]);
    for t in &targets {
        table.row([t.object.clone().unwrap_or_default(), redacted(&t.url)]);
    }
    let mut out = output::stdout();
    table.write(&mut out)?;
    out.flush()?;
    Ok(())
}

/// What a target leads to.
enum Found {
    File(File),
    Directory(Vec<RemoteEntry>),
}

/// Opens the file; on an XRootD server or in an S3 store it may be a directory of files as well.
fn open(target: &Target, options: &OpenOptions) -> Result<Found> {
    let scheme = target.url.split("://").next().unwrap_or_default().to_ascii_lowercase();
    let lists = matches!(scheme.as_str(), "root" | "roots" | "xroot" | "xroots" | "s3") && target.object.is_none();
    let path = target.url.split('?').next().unwrap_or_default();
    let is_bucket = scheme == "s3" && path.matches('/').count() == 2;
    if lists && (path.ends_with('/') || is_bucket) {
        return list_directory(&target.url, options).map(Found::Directory);
    }
    // a prefix of a bucket is no object, and no server says what it is
    let may_be =
        |e: &Error| e.kind() == ErrorKind::Invalid || (scheme == "s3" && e.missing_item() == Some(MissingItem::File));
    match target.open(options) {
        Err(e) if lists && may_be(&e) => match list_directory(&target.url, options) {
            Ok(entries) => Ok(Found::Directory(entries)),
            Err(_) => Err(e),
        },
        other => other.map(Found::File),
    }
}

fn directory(url: &str, entries: &[RemoteEntry], as_json: bool) -> Result<(), Failure> {
    if as_json {
        let entries: Vec<Value> = entries
            .iter()
            .map(|e| json!({"name": e.name, "bytes": e.size, "directory": e.directory, "modified": e.modified}))
            .collect();
        output::json(&json!({"directory": redacted(url), "entries": entries}))?;
        return Ok(());
    }
    let mut table = Table::new([("kind", Align::Left), ("size", Align::Right), ("name", Align::Left)]);
    for e in entries {
        let (kind, size) = if e.directory { ("directory", String::new()) } else { ("file", units::bytes(e.size)) };
        table.row([kind.to_owned(), size, e.name.clone()]);
    }
    let mut out = output::stdout();
    table.write(&mut out)?;
    out.flush()?;
    Ok(())
}

/// The servers of a file.
fn locate(url: &str, options: &OpenOptions, as_json: bool) -> Result<(), Failure> {
    let servers = locate_file(url, options)?;
    if as_json {
        output::json(&json!({"file": redacted(url), "servers": servers}))?;
        return Ok(());
    }
    let mut out = output::stdout();
    for server in servers {
        writeln!(out, "{}", output::clean(&server))?;
    }
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
