//! `sapwood cache`: the local cache turned on and off, looked at, and cleaned.

use crate::args::{CacheArgs, CacheVerb, Global, SwitchOn};
use crate::failure::{Failure, hint, hint_once};
use crate::interrupt::Interrupt;
use crate::output::table::{Align, Table};
use crate::output::{self, clean};
use crate::step_progress::StepProgress;
use crate::units;
use sapwood::local_cache::{self, DEFAULT_MAX_BYTES, HeldFile, LocalCache, Store, UserConfiguration, Verify};
use sapwood::raw_text::text_of_path;
use sapwood::{Error, ErrorKind, OpenOptions};
use serde_json::{Value, json};
use std::io::Write;
use std::time::{SystemTime, UNIX_EPOCH};

/// Runs the command.
pub(crate) fn run(
    args: &CacheArgs,
    options: &OpenOptions,
    global: &Global,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let cache = global.local_cache.clone().unwrap_or_default();
    match &args.verb {
        CacheVerb::On(on) => switch(on, global),
        CacheVerb::Off => switch(&SwitchOn { dir: None, max: None, off: true }, global),
        CacheVerb::Status => status(&cache, global),
        CacheVerb::Ls => list(&local_cache::store(&cache)?, global),
        CacheVerb::Info { url } => info(&local_cache::store(&cache)?, url, global),
        CacheVerb::Get { urls } => get(urls, options, global, interrupt),
        CacheVerb::Verify => verify(&local_cache::store(&cache)?, global),
        CacheVerb::Purge { url } => purge(&local_cache::store(&cache)?, url.as_deref(), global),
    }
}

/// Turns the cache on or off for the user; what is not named stays as it was.
fn switch(on: &SwitchOn, global: &Global) -> Result<(), Failure> {
    let mut kept = UserConfiguration::load().unwrap_or_else(|e| {
        hint(&format!("{e}; replacing it"));
        UserConfiguration::default()
    });
    kept.enabled = !on.off;
    if let Some(directory) = &on.dir {
        // it is meant from here, and used from anywhere
        let absolute = std::path::absolute(directory).map_err(|e| Error::io("cannot find the directory", e))?;
        kept.directory = Some(absolute);
    }
    kept.max_bytes = on.max.or(kept.max_bytes);
    let directory = match &kept.directory {
        Some(directory) => directory.clone(),
        None if kept.enabled => local_cache::default_directory()?,
        None => local_cache::default_directory().unwrap_or_default(),
    };
    let max_bytes = kept.max_bytes.unwrap_or(DEFAULT_MAX_BYTES);
    if kept.enabled {
        // a directory that cannot be used is an error now rather than a warning each time
        local_cache::store(&LocalCache::In { directory: directory.clone(), max_bytes: Some(max_bytes) })?;
    }
    let path = kept.save()?;
    if global.json {
        output::json(&json!({
            "enabled": kept.enabled,
            "directory": text_of_path(&directory),
            "max_bytes": max_bytes,
            "configuration": text_of_path(&path),
        }))?;
        return Ok(());
    }
    if !global.quiet {
        let what = if kept.enabled {
            format!("local cache: {}, up to {}", text_of_path(&directory), units::bytes(max_bytes))
        } else {
            format!(
                "local cache: off; cached data remain in {0}; to remove them, use: \
                 sapwood cache purge --local-cache {0}",
                text_of_path(&directory)
            )
        };
        lines(&[what])?;
    }
    Ok(())
}

fn status(cache: &LocalCache, global: &Global) -> Result<(), Failure> {
    let configuration = UserConfiguration::path().map(|p| text_of_path(&p)).ok();
    let Some(options) = local_cache::resolve(cache)? else {
        let warnings = local_cache::warnings(cache);
        if global.json {
            output::json(&json!({"enabled": false, "configuration": configuration, "warnings": warnings}))?;
            return Ok(());
        }
        warnings.iter().for_each(|w| hint_once(w));
        return lines(&["local cache: off; `sapwood cache on` turns it on".to_owned()]);
    };
    let store =
        local_cache::store(&LocalCache::In { directory: options.directory, max_bytes: Some(options.max_bytes) })?;
    let s = store.status();
    if global.json {
        output::json(&json!({
            "enabled": true,
            "directory": text_of_path(&s.directory),
            "max_bytes": s.max_bytes,
            "bytes": s.bytes,
            "files": s.files,
            "pieces": s.pieces,
            "configuration": configuration,
            "warnings": s.warnings,
        }))?;
        return Ok(());
    }
    s.warnings.iter().for_each(|w| hint_once(w));
    lines(&[
        format!("local cache: {}", text_of_path(&s.directory)),
        format!("{} of {}", units::bytes(s.bytes), units::bytes(s.max_bytes)),
        format!("{}, {}", units::plural(s.files, "file"), units::plural(s.pieces, "byte range")),
    ])
}

fn list(store: &Store, global: &Global) -> Result<(), Failure> {
    let held = store.list();
    if global.json {
        output::json(&json!({"files": held.iter().map(to_json).collect::<Vec<_>>()}))?;
        return Ok(());
    }
    let mut table = Table::new([
        ("cached", Align::Right),
        ("size", Align::Right),
        ("part", Align::Right),
        ("last used", Align::Left),
        ("file", Align::Left),
    ]);
    for file in &held {
        let older = if file.latest { "" } else { " (older version)" };
        table.row([
            units::bytes(file.bytes),
            units::bytes(file.id.version.size),
            part(file),
            ago(file.last_used),
            format!("{}{older}", file.id.url),
        ]);
    }
    let mut out = output::stdout();
    table.write(&mut out)?;
    out.flush()?;
    Ok(())
}

fn info(store: &Store, url: &str, global: &Global) -> Result<(), Failure> {
    let name = local_cache::name_of(url, &global.s3_options());
    let held: Vec<HeldFile> = store.list().into_iter().filter(|f| f.id.url == name).collect();
    if held.is_empty() {
        let what = "this file is not in the local cache";
        return Err(Error::new(ErrorKind::NotFound, what).in_file(name).into());
    }
    if global.json {
        output::json(&json!({"url": name, "versions": held.iter().map(to_json).collect::<Vec<_>>()}))?;
        return Ok(());
    }
    let mut text = vec![name];
    for file in &held {
        let version = &file.id.version;
        let told = [("ETag", &version.etag), ("modified", &version.modified), ("checksum", &version.checksum)];
        let told = told.into_iter().filter_map(|(what, value)| Some(format!("{what} {}", value.as_ref()?)));
        text.push(format!(
            "{} of {} ({}) in {}, last used {}{}: {}",
            units::bytes(file.bytes),
            units::bytes(version.size),
            part(file),
            units::plural(file.pieces, "byte range"),
            ago(file.last_used),
            if file.latest { "" } else { ", an older version" },
            told.collect::<Vec<_>>().join(", "),
        ));
    }
    lines(&text)
}

/// Fetches whole files; one that fails does not keep the others from being fetched.
fn get(urls: &[String], options: &OpenOptions, global: &Global, interrupt: &Interrupt) -> Result<(), Failure> {
    let cancel = interrupt.defer();
    let (mut done, mut failed) = (Vec::new(), None);
    for url in urls {
        let bar = StepProgress::new(global.quiet || global.json);
        let tell = |held, all| bar.tell(held, all, held);
        let fetched = local_cache::fetch_whole(url, options, Verify::Always, &tell, &cancel);
        bar.done();
        match fetched {
            Ok(file) => {
                if !global.json && !global.quiet {
                    let (size, new) = (units::bytes(file.size), units::bytes(file.fetched));
                    let compared = match &file.checksum {
                        Some(checksum) => format!("checksum {checksum} matches the server's"),
                        None => "not compared: the server provides no checksum".to_owned(),
                    };
                    lines(&[format!("{}: {size}, {new} fetched; {compared}", file.url)])?;
                }
                done.push(json!({
                    "url": file.url,
                    "size": file.size,
                    "bytes_fetched": file.fetched,
                    "checksum": file.checksum,
                }));
            }
            Err(e) if e.kind() == ErrorKind::Interrupted => return Err(e.into()),
            Err(e) => {
                if let Some(before) = failed.replace(e) {
                    Failure::from(before).report();
                }
            }
        }
    }
    if global.json {
        output::json(&json!({ "files": done }))?;
    }
    failed.map_or(Ok(()), |e| Err(e.into()))
}

fn verify(store: &Store, global: &Global) -> Result<(), Failure> {
    let bar = StepProgress::new(global.quiet || global.json);
    let found = store.verify(&|done, all| bar.tell(done, all, done));
    bar.done();
    if global.json {
        output::json(&json!({
            "files": found.files,
            "pieces": found.pieces,
            "bytes": found.bytes,
            "damaged": found.damaged,
            "damaged_bytes": found.damaged_bytes,
        }))?;
        return Ok(());
    }
    let damaged = match found.damaged {
        0 => "all intact".to_owned(),
        n => format!("{} damaged and removed", units::count(n)),
    };
    lines(&[format!(
        "{} of {} ({}): {damaged}",
        units::plural(found.pieces, "byte range"),
        units::plural(found.files, "file"),
        units::bytes(found.bytes)
    )])
}

fn purge(store: &Store, url: Option<&str>, global: &Global) -> Result<(), Failure> {
    let name = url.map(|url| local_cache::name_of(url, &global.s3_options()));
    let purged = store.purge(name.as_deref())?;
    if global.json {
        output::json(&json!({"files": purged.files, "bytes": purged.bytes}))?;
        return Ok(());
    }
    if global.quiet {
        return Ok(());
    }
    lines(&[format!("removed {} ({})", units::plural(purged.files, "file"), units::bytes(purged.bytes))])
}

fn to_json(file: &HeldFile) -> Value {
    let version = &file.id.version;
    let used = file.last_used.duration_since(UNIX_EPOCH).unwrap_or_default();
    json!({
        "url": file.id.url,
        "size": version.size,
        "etag": version.etag,
        "modified": version.modified,
        "checksum": version.checksum,
        "bytes": file.bytes,
        "disk_bytes": file.disk_bytes,
        "pieces": file.pieces,
        "whole": file.is_whole(),
        "latest": file.latest,
        "in_use": file.in_use,
        "last_used": used.as_secs(),
    })
}

/// How much of a file is held, in per cent: 100 only where it is all.
fn part(file: &HeldFile) -> String {
    let share = 100.0 * file.bytes as f64 / file.id.version.size.max(1) as f64;
    if file.is_whole() { "100 %".to_owned() } else { format!("{:.1} %", (share * 10.0).floor() / 10.0) }
}

fn ago(time: SystemTime) -> String {
    // a clock that was set back makes it the future
    format!("{} ago", units::seconds(time.elapsed().unwrap_or_default().as_secs_f64()))
}

fn lines(text: &[String]) -> Result<(), Failure> {
    let mut out = output::stdout();
    for line in text {
        writeln!(out, "{}", clean(line))?;
    }
    out.flush()?;
    Ok(())
}
