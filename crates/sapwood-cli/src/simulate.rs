//! `sapwood simulate`: sites that share files, in virtual time.

use crate::args::{Global, SimulateArgs};
use crate::failure::Failure;
use crate::option_file;
use crate::output;
use crate::target::Target;
use sapwood::raw_text::text_of_path;
use sapwood::simulate::{Axis, PICTURE_FILES, Profile, Report, SHIPPED, Scenario, Shipped};
use sapwood::write::FileSet;
use sapwood::{CacheSize, Error, OpenOptions, Result};
use serde_json::json;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Runs the command.
pub(crate) fn run(args: &SimulateArgs, options: &OpenOptions, global: &Global) -> Result<(), Failure> {
    if args.list {
        return list(global.json);
    }
    if let Some(file) = &args.profile {
        return profile(file, args.output.as_deref(), options, global);
    }
    if global.cache_size != CacheSize::Auto {
        let what = "--cache-size sets the tree cache of files that are read now; that of simulated jobs is the key cache of a [[workload]]";
        return Err(Error::invalid(what).into());
    }
    let name = args.scenario.as_deref().unwrap_or_default();
    let (text, folder) = text_of(name)?;
    if args.show {
        let mut out = output::stdout();
        out.write_all(text.as_bytes())?;
        out.flush()?;
        return Ok(());
    }
    let mut scenario = Scenario::parse(name, &text, &folder)?;
    if let Some(seed) = args.seed {
        scenario.seed = seed;
    }
    let axes = args.sweep.as_deref().map_or(Ok(Vec::new()), Axis::parse_list)?;
    let threads = match global.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        n => n,
    };
    // before anything is simulated: that somebody else writes there, or that it is no directory, is told at once
    let folder = args.output.as_deref().map(FileSet::begin).transpose()?;
    let report = Report::new(scenario, axes, threads)?;
    if let Some(folder) = folder {
        save(&report, &folder)?;
    }
    if global.json {
        output::json(&report.to_json())?;
        return Ok(());
    }
    let mut out = output::stdout();
    report.write(&mut out)?;
    out.flush()?;
    Ok(())
}

/// The text of a scenario: a file, or one that comes with the program; and the directory of the files that it names.
fn text_of(name: &str) -> Result<(String, std::path::PathBuf)> {
    let path = Path::new(name);
    if !path.exists() && !name.contains(['/', '.']) {
        return Ok((Shipped::find(name)?.text.to_owned(), Path::new("").to_owned()));
    }
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    Ok((option_file::read_text(path)?, folder))
}

fn list(as_json: bool) -> Result<(), Failure> {
    let all: Vec<(&str, String)> =
        SHIPPED.iter().map(|s| Ok((s.name, s.scenario()?.title))).collect::<Result<_, Error>>()?;
    if as_json {
        output::json(&all.iter().map(|(name, title)| json!({ "name": name, "title": title })).collect())?;
        return Ok(());
    }
    let mut out = output::stdout();
    for (name, title) in all {
        writeln!(out, "{name:10} {title}")?;
    }
    out.flush()?;
    Ok(())
}

fn profile(file: &str, to: Option<&Path>, options: &OpenOptions, global: &Global) -> Result<(), Failure> {
    let target = Target::one(file, options)?;
    let file = target.open(options)?;
    if let Some(to) = to.filter(|to| is_same_file(to, Path::new(file.url()))) {
        let what = format!("{} is the file that is described; give another name to -o", text_of_path(to));
        return Err(Error::invalid(what).into());
    }
    let tree = target.tree(&file)?;
    let profile = Profile::of_tree(&tree)?;
    let text = profile.to_json().to_string();
    match to {
        Some(path) => {
            output::write_file(path, text.as_bytes())?;
            let told = || json!({ "profile": text_of_path(path), "baskets": profile.baskets.len() });
            output::written(global, &[], told, || {
                vec![format!("{}: {} baskets", text_of_path(path), profile.baskets.len())]
            })
        }
        None => {
            let mut out = output::stdout();
            writeln!(out, "{text}")?;
            out.flush()?;
            Ok(())
        }
    }
}

/// Whether two paths lead to one file.
fn is_same_file(a: &Path, b: &Path) -> bool {
    let [a, b] = [a, b].map(|path| path.metadata().map(|file| (file.dev(), file.ino())));
    a.ok().zip(b.ok()).is_some_and(|(a, b)| a == b)
}

/// All that a report has, in a directory.
fn save(report: &Report, folder: &FileSet) -> Result<(), Failure> {
    let mut text = Vec::new();
    report.write(&mut text)?;
    let mut files = vec![
        ("report.txt".to_owned(), text),
        ("report.json".to_owned(), report.to_json().to_string().into_bytes()),
        ("report.html".to_owned(), report.to_html().into_bytes()),
    ];
    let pictures = report.pictures().into_iter();
    files.extend(pictures.map(|(name, canvas)| (format!("{name}.svg"), canvas.to_svg().into_bytes())));
    let files: Vec<(&str, &[u8])> = files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
    Ok(folder.write(&files, PICTURE_FILES)?)
}
