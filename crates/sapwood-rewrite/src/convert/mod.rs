//! Trees as ntuples, as ROOT's RNTupleImporter writes them, and ntuples as trees.
//!
//! What becomes of each branch is decided for the whole file first (`plan`, `to_ntuple`, `to_tree`); what cannot be
//! converted is refused then, or skipped if so requested. Values are read in batches, brought into the shape of the output
//! and written, while all cores decompress and compress. Before the output gets its name it is read back, and sums over
//! the values of every branch must equal those of what was read.

mod column_sum;
mod copy;
mod options;
mod plan;
mod shape;
mod to_ntuple;
mod to_tree;
mod unnamed_file;
mod verify;

pub use options::{ConvertOptions, ConvertProgress, ConvertReport, ConvertTo, ConvertedTree, SkippedBranch};

use crate::options::check_differ;
use copy::{NotCopied, RangeSums, Writer, copy};
use plan::{Disproved, Plan, TargetColumn, check_patterns, unique};
use sapwood_codec::Compression;
use sapwood_engine::{File, Tree};
use sapwood_span::raw_text::text_of_path;
use sapwood_span::{Error, ErrorKind, Result, Setting};
use sapwood_write::target::Placement;
use sapwood_write::{BranchSpec, FieldSpec, FileOptions, FileWriter, NtupleOptions, TreeOptions};
use std::collections::HashSet;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use unnamed_file::UnnamedFile;

/// ROOT's default for ntuples: zstd with level 5.
const COMPRESSION: i32 = 505;
/// Bytes of a page: small beside a cluster, so that pages are compressed while others are being filled.
const PAGE: u32 = 128 << 10;
/// Branches that a message names.
const NAMED: usize = 20;

/// Converts the trees of a file (path or URL) to ntuples, or its ntuples to trees, in a new file `out`: all of them, or the
/// one with this path.
///
/// # Errors
/// `Unsupported` when a branch cannot be converted, with all of these and why; `Invalid` when the output exists or options
/// are invalid; `Corrupt` when a basket or page is damaged, or a value came out differently. Nothing is left under the
/// output's name, nor next to it.
pub fn convert(out: &Path, url: &str, path: Option<&str>, options: &ConvertOptions) -> Result<ConvertReport> {
    check_differ(url, out)?;
    let file = File::open(url, &options.open)?;
    let (trees, to, mut remarks) = inputs(&file, path, options)?;
    check_patterns(&trees, options).map_err(|e| e.in_file(file.url()))?;
    let paths = paths_of_outputs(&trees, to);
    for (tree, path) in trees.iter().zip(&paths) {
        let old = without_cycle(tree.path());
        if old != path {
            remarks.push(format!("{old}: called {path}, because ROOT refuses its name for {}s", to.name()));
        }
    }
    let mut disproved: Vec<Disproved> = trees.iter().map(|_| Disproved::default()).collect();
    loop {
        let plans: Vec<Plan> = trees.iter().zip(&disproved).map(|(tree, not)| plan(tree, to, options, not)).collect();
        let skipped = refused(&file, &trees, &plans, options)?;
        match attempt(out, (&trees, &paths), &plans, to, options) {
            Ok((written, output_bytes)) => {
                remarks.extend(trees.iter().filter_map(lost));
                return Ok(ConvertReport {
                    to,
                    input_bytes: file.size(),
                    output_bytes,
                    trees: written,
                    skipped,
                    verified: options.verify,
                    remarks,
                });
            }
            Err((_, NotCopied::Failed(e))) => return Err(e),
            Err((tree, NotCopied::Damaged(branch, e))) => {
                let told = disproved.get_mut(tree).map(|not| not.damaged.insert(branch, e.what().to_owned()));
                // the damage is elsewhere, such as in a counter that it needs
                if !matches!(told, Some(None)) {
                    return Err(e);
                }
            }
            Err((tree, NotCopied::Disproved(items, counted))) => {
                if let Some(not) = disproved.get_mut(tree) {
                    not.items.extend(items);
                    not.counted.extend(counted);
                }
            }
        }
    }
}

/// What is to be converted, what to, and what is left as it is.
fn inputs(file: &File, path: Option<&str>, options: &ConvertOptions) -> Result<(Vec<Tree>, ConvertTo, Vec<String>)> {
    let other = |is_ntuple: bool| if is_ntuple { ConvertTo::Tree } else { ConvertTo::Ntuple };
    if let Some(path) = path {
        let tree = file.tree(path)?;
        let to = other(tree.header().ntuple.is_some());
        if options.to.is_some_and(|wanted| wanted != to) {
            let wanted = options.to.unwrap_or(to).name();
            return Err(Error::invalid(format!("{path} is already {}", article(wanted))).in_file(file.url()));
        }
        return Ok((vec![tree], to, Vec::new()));
    }
    let mut found: [Vec<(String, i16)>; 2] = Default::default();
    let (mut others, mut older) = (0, Vec::new());
    for listing in file.list("", true)? {
        let paths = match (listing.key.is_tree(), listing.key.is_ntuple()) {
            (true, _) => &mut found[0],
            (_, true) => &mut found[1],
            _ => {
                others += u64::from(!matches!(&*listing.key.class, "TDirectory" | "TDirectoryFile"));
                continue;
            }
        };
        match paths.iter_mut().find(|(path, _)| *path == listing.path) {
            Some((path, cycle)) => {
                *cycle = listing.key.cycle.max(*cycle);
                older.push(path.clone());
            }
            None => paths.push((listing.path.clone(), listing.key.cycle)),
        }
    }
    let to = match (options.to, found[0].is_empty(), found[1].is_empty()) {
        (Some(to), ..) => to,
        (None, false, false) => {
            return Err(Error::invalid("the file has trees and ntuples")
                .in_file(file.url())
                .with_remedy("specify what to convert to")
                .with_setting(Setting::ConvertTo));
        }
        (None, true, false) => ConvertTo::Tree,
        (None, ..) => ConvertTo::Ntuple,
    };
    let [trees, ntuples] = found;
    let (chosen, same) = if to == ConvertTo::Ntuple { (trees, ntuples) } else { (ntuples, trees) };
    if chosen.is_empty() {
        let kind = if to == ConvertTo::Ntuple { "tree" } else { "ntuple" };
        return Err(Error::not_found(format!("the file has no {kind}")).in_file(file.url()));
    }
    let mut remarks = Vec::new();
    if !same.is_empty() {
        let paths: Vec<&str> = same.iter().map(|(path, _)| path.as_str()).collect();
        remarks.push(format!("not copied, because already {}s: {}", to.name(), paths.join(", ")));
    }
    older.sort_unstable();
    older.dedup();
    if !older.is_empty() {
        remarks.push(format!("older cycles, of which only the last is converted: {}", older.join(", ")));
    }
    if others > 0 {
        let s = if others == 1 { "" } else { "s" };
        remarks.push(format!("{others} other object{s} of the file, such as histograms: not copied"));
    }
    let tree = |(path, cycle): &(String, i16)| match same.iter().any(|(other, _)| other == path) {
        // a tree and an ntuple can be cycles of one name
        true => file.tree(&format!("{path};{cycle}")),
        false => file.tree(path),
    };
    Ok((chosen.iter().map(tree).collect::<Result<_>>()?, to, remarks))
}

fn article(name: &str) -> String {
    if name.starts_with('n') { format!("an {name}") } else { format!("a {name}") }
}

fn plan(tree: &Tree, to: ConvertTo, options: &ConvertOptions, disproved: &Disproved) -> Plan {
    match to {
        ConvertTo::Ntuple => to_ntuple::plan(tree, options, disproved),
        ConvertTo::Tree => to_tree::plan(tree, options, disproved),
    }
}

/// Branches that cannot be converted: they are skipped if so requested, otherwise an error.
fn refused(file: &File, trees: &[Tree], plans: &[Plan], options: &ConvertOptions) -> Result<Vec<SkippedBranch>> {
    let mut all = Vec::new();
    for (tree, plan) in trees.iter().zip(plans) {
        for refused in &plan.refused {
            let (branch, reason) = (refused.branch.clone(), refused.reason.clone());
            all.push(SkippedBranch { tree: tree.path().to_owned(), branch, reason });
        }
        // a tree without branches stays one
        if plan.outputs.is_empty() && !tree.header().branches.is_empty() && plan.refused.is_empty() {
            let what = format!("no branch of {} was chosen that has values", tree.path());
            return Err(Error::invalid(what).in_file(file.url()));
        }
        if plan.outputs.is_empty() && options.skip_unsupported && !plan.refused.is_empty() {
            let what = format!("no branch of {} can be converted: {}", tree.path(), listed(&all));
            return Err(Error::unsupported(what).in_file(file.url()));
        }
    }
    if all.is_empty() || options.skip_unsupported {
        return Ok(all);
    }
    let what = match all.len() {
        1 => format!("a branch cannot be converted: {}", listed(&all)),
        n => format!("{n} branches cannot be converted: {}", listed(&all)),
    };
    Err(Error::unsupported(what)
        .in_file(file.url())
        .with_remedy("choose others, or convert without them")
        .with_setting(Setting::SkipUnsupported))
}

fn listed(all: &[SkippedBranch]) -> String {
    let mut said: Vec<String> =
        all.iter().take(NAMED).map(|s| format!("{}:{} ({})", s.tree, s.branch, s.reason)).collect();
    if all.len() > NAMED {
        said.push(format!("and {} more", all.len() - NAMED));
    }
    said.join(", ")
}

/// What of a tree has no place in the output.
fn lost(tree: &Tree) -> Option<String> {
    let header = tree.header();
    let has = [
        (!header.aliases.is_empty(), "aliases"),
        (!header.friends.is_empty(), "friends"),
        (header.index.is_some(), "its index"),
    ];
    let lost: Vec<&str> = has.iter().filter(|(has, _)| *has).map(|(_, what)| *what).collect();
    (!lost.is_empty()).then(|| format!("{}: {} not converted", tree.path(), lost.join(" and ")))
}

/// The sums of a tree or ntuple that was written.
struct Written {
    report: ConvertedTree,
    sums: Vec<RangeSums>,
}

/// Writes the output and compares it. A failure comes with the place of the tree.
fn attempt(
    out: &Path,
    (trees, paths): (&[Tree], &[String]),
    plans: &[Plan],
    to: ConvertTo,
    options: &ConvertOptions,
) -> Result<(Vec<ConvertedTree>, u64), (usize, NotCopied)> {
    let failed = |e: Error| (0, NotCopied::Failed(e));
    let place = Placement { replace: options.force, sync: options.sync };
    let unnamed = UnnamedFile::create(out, place).map_err(failed)?;
    let compression =
        options.compression.map_or_else(|| Compression::from_settings(COMPRESSION), Ok).map_err(failed)?;
    let file = FileOptions::new().compression(compression).threads(options.open.threads);
    let mut file = FileWriter::create_on(Box::new(unnamed.clone()), out, file).map_err(failed)?;
    let ranges: Vec<Range<u64>> = trees.iter().map(|tree| chosen(tree, options)).collect();
    let all: u64 = ranges.iter().map(|r| r.end - r.start).sum();
    let total = if options.verify { 2 * all } else { all };
    let tell = |done: u64| {
        if let Some(f) = &options.progress {
            f(ConvertProgress { done, total, bytes: unnamed.len() });
        }
    };
    let mut done = 0;
    let mut written = Vec::new();
    for (i, (((tree, path), plan), range)) in trees.iter().zip(paths).zip(plans).zip(&ranges).enumerate() {
        let mut writer = begin(&mut file, tree, path, plan, to).map_err(failed)?;
        let copied = copy(tree, plan, range, &mut writer, options, |n| tell(done + n));
        let sums = copied.map_err(|e| (i, in_file(e, tree, options)))?;
        writer.finish().map_err(failed)?;
        done += range.end - range.start;
        written.push(Written { report: report(path, plan, range), sums });
    }
    file.finish().map_err(failed)?;
    if options.verify {
        // at the name that it will have, it does not exist yet
        let path = unnamed.path();
        let named = |e: Error| failed(e.in_file(text_of_path(out)));
        let output = File::open(&text_of_path(&path), &options.open).map_err(named)?;
        for (one, plan) in written.iter().zip(plans) {
            if plan.outputs.is_empty() {
                continue;
            }
            let tree = output.tree(&one.report.path).map_err(named)?;
            verify::compare(&tree, plan, &one.sums, options, |n| tell(done + n)).map_err(named)?;
            done += one.report.entries;
        }
    }
    check(options).map_err(failed)?;
    let bytes = unnamed.len();
    unnamed.commit().map_err(failed)?;
    Ok((written.into_iter().map(|one| one.report).collect(), bytes))
}

/// The chosen entries that the tree has.
fn chosen(tree: &Tree, options: &ConvertOptions) -> Range<u64> {
    let all = 0..tree.entries();
    options.entries.as_ref().map_or(all.clone(), |r| r.start.min(all.end)..r.end.min(all.end).max(r.start.min(all.end)))
}

/// Why a tree could not be copied; a damaged branch is one that cannot be converted.
fn in_file(e: NotCopied, tree: &Tree, options: &ConvertOptions) -> NotCopied {
    let NotCopied::Failed(e) = e else { return e };
    let e = e.in_file(tree.file().url());
    match e.branch().map(str::to_owned).filter(|_| e.kind() == ErrorKind::Corrupt) {
        Some(branch) if options.skip_unsupported => NotCopied::Damaged(branch, e),
        Some(_) => NotCopied::Failed(
            e.with_other_remedy("fetch the file again, or convert without the branch")
                .with_setting(Setting::SkipUnsupported),
        ),
        None => NotCopied::Failed(e),
    }
}

fn without_cycle(path: &str) -> &str {
    path.split(';').next().unwrap_or_default()
}

/// Directories and names of the outputs. What ROOT does not allow in names of their kind becomes an underscore.
fn paths_of_outputs(trees: &[Tree], to: ConvertTo) -> Vec<String> {
    let refused: &[char] = if to == ConvertTo::Ntuple { &['.', '\\', ' '] } else { &['[', ']', ':'] };
    let refused = |c: char| c.is_control() || refused.contains(&c);
    let name_of = |path: &str| path.rsplit_once('/').map_or(0, |(directories, _)| directories.len() + 1);
    let is_refused = |path: &str| path.get(name_of(path)..).unwrap_or_default().contains(refused);
    let paths = trees.iter().map(|tree| without_cycle(tree.path()));
    let mut taken: HashSet<String> = paths.clone().filter(|path| !is_refused(path)).map(str::to_owned).collect();
    let path = |path: &str| {
        if !is_refused(path) {
            return path.to_owned();
        }
        let (directories, name) = path.split_at(name_of(path));
        let changed = unique(&format!("{directories}{}", name.replace(refused, "_")), |path| taken.contains(path));
        taken.insert(changed.clone());
        changed
    };
    paths.map(path).collect()
}

fn begin(file: &mut FileWriter, tree: &Tree, path: &str, plan: &Plan, to: ConvertTo) -> Result<Writer> {
    let (directories, name) = path.rsplit_once('/').unwrap_or(("", path));
    let directory = file.mkdir(directories)?;
    let title = tree.header().title.clone();
    match to {
        ConvertTo::Ntuple => {
            let fields: Vec<FieldSpec> = plan.outputs.iter().filter_map(|o| o.target.field()).cloned().collect();
            // a file without its name is not completed in between
            let options = NtupleOptions::new().auto_save_bytes(0u64);
            file.ntuple(directory, name, &title, &fields, options.page_bytes(PAGE)).map(Writer::Ntuple)
        }
        ConvertTo::Tree => {
            let branches: Vec<BranchSpec> = plan.outputs.iter().filter_map(|o| o.target.branch()).cloned().collect();
            let options = TreeOptions::new().auto_save_bytes(0u64);
            file.tree_in(directory, name, &title, &branches, options).map(Writer::Tree)
        }
    }
}

impl TargetColumn {
    fn field(&self) -> Option<&FieldSpec> {
        if let TargetColumn::Field(spec) = self { Some(spec) } else { None }
    }

    fn branch(&self) -> Option<&BranchSpec> {
        if let TargetColumn::Branch(spec) = self { Some(spec) } else { None }
    }
}

fn report(path: &str, plan: &Plan, range: &Range<u64>) -> ConvertedTree {
    let renamed = plan.outputs.iter().filter(|o| o.of != o.name).map(|o| (o.of.clone(), o.name.clone())).collect();
    ConvertedTree {
        path: path.to_owned(),
        entries: range.end - range.start,
        branches: plan.outputs.len() as u64,
        renamed,
    }
}

fn check(options: &ConvertOptions) -> Result<()> {
    if options.cancel.load(Relaxed) {
        return Err(Error::new(ErrorKind::Interrupted, "interrupted"));
    }
    Ok(())
}
