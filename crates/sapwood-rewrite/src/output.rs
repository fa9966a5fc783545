//! The output of a merge, built input by input.

use crate::classes::ClassUnion;
use crate::container::{Container, DirectoryId, Part, ROOT_DIRECTORY};
use crate::copy::Chunk;
use crate::input::{Input, InputObject};
use crate::ntuple::{CurrentNtuple, InputNtuple, NtupleSum, PageChunk};
use crate::objects::{Objects, other_kind};
use crate::options::{MergeOptions, MergeReport, MergedTree, check};
use crate::recode::Recoder;
use crate::tree::{Relayout, TreeSum};
use sapwood_codec::Compression;
use sapwood_edit::{Label, patch_basket};
use sapwood_format::Streamers;
use sapwood_span::{Error, Result};
use sapwood_write::target::Placement;
use std::collections::HashMap;
use std::path::Path;

/// What an ntuple is called in messages.
const NTUPLE: &str = "RNTuple";

pub(crate) struct Output {
    file: Container,
    compression: Option<Compression>,
    directories: HashMap<String, DirectoryId>,
    trees: Vec<TreeSum>,
    tree_at: HashMap<String, usize>,
    ntuples: Vec<NtupleSum>,
    /// Pages of each.
    pages: Vec<u64>,
    /// Whether the inputs' ntuples may have different fields.
    extends: bool,
    objects: Objects,
    classes: ClassUnion,
    /// Process ids of the output, by content.
    process_ids: Vec<Vec<u8>>,
    /// Whether counted arrays of pointers hold objects, once an input has such arrays.
    pointers_are_objects: Option<bool>,
    report: MergeReport,
    baskets: Vec<u64>,
    current: Current,
    recoder: Recoder,
}

/// The input that is being copied.
#[derive(Default)]
struct Current {
    name: String,
    trees: Vec<CurrentTree>,
    ntuples: Vec<CurrentNtuple>,
    /// Added to the process ids of its baskets.
    pid: u16,
    /// Its trees and branches whose baskets get offsets, or lose them, to match the output's.
    offsets: HashMap<(usize, usize), bool>,
}

/// A tree of the input that is being copied.
struct CurrentTree {
    /// The index of the output's tree that it joins.
    sum: usize,
    /// Position of its directory in the output.
    parent: u64,
    entries: u64,
    /// For each of its branches: the index of the output's branch that it joins.
    branches: Vec<usize>,
}

impl Output {
    pub(crate) fn create(
        path: &Path,
        place: Placement,
        own: Compression,
        compression: Option<Compression>,
    ) -> Result<Self> {
        Ok(Self {
            file: Container::create(path, place, own)?,
            compression,
            directories: HashMap::new(),
            trees: Vec::new(),
            tree_at: HashMap::new(),
            ntuples: Vec::new(),
            pages: Vec::new(),
            extends: false,
            objects: Objects::default(),
            classes: ClassUnion::default(),
            process_ids: Vec::new(),
            pointers_are_objects: None,
            report: MergeReport::default(),
            baskets: Vec::new(),
            current: Current::default(),
            recoder: Recoder::default(),
        })
    }

    /// From now on the inputs' ntuples may have different fields.
    pub(crate) fn extend_ntuples(&mut self, extends: bool) {
        self.extends = extends;
    }

    pub(crate) fn position(&self) -> u64 {
        self.file.position()
    }

    /// Adds everything but the baskets of an input.
    pub(crate) fn begin(&mut self, mut input: Input) -> Result<()> {
        let name = input.reader.name().to_owned();
        self.take(&mut input).map_err(|e| e.in_file(name))
    }

    /// Objects and baskets are copied unchanged, so the header must declare a version of ROOT with the rules by which
    /// they were written.
    fn keep_version(&mut self, streamers: &Streamers) -> Result<()> {
        if !streamers.have_counted_pointers() {
            return Ok(());
        }
        let are_objects = streamers.counted_pointers_are_objects();
        if are_objects {
            self.file.root_version = streamers.root_version();
        }
        if *self.pointers_are_objects.get_or_insert(are_objects) != are_objects {
            let what = "it has counted arrays of pointers, which ROOT wrote in another form up to version 5.15/08, and an earlier file has the other form";
            return Err(Error::unsupported(what).with_remedy("merge old and new files separately"));
        }
        Ok(())
    }

    fn take(&mut self, input: &mut Input) -> Result<()> {
        self.report.inputs += 1;
        self.report.input_bytes += input.reader.size();
        self.keep_version(&input.streamers)?;
        self.classes.add(input.classes.0, &input.classes.1)?;
        self.no_directory_clash(input)?;
        for (path, label) in &input.directories {
            self.directory(path, label)?;
        }
        let pid = self.process_ids(&input.process_ids)?;
        for object in &input.objects {
            let directory = self.directory_of(&object.path);
            if let Some(other) = self.kind_of_tree(&object.path) {
                return Err(other_kind(&object.path, &object.key.class, other));
            }
            match input.keeps_cycles {
                true => self.objects.keep(object, input, directory, &mut self.file)?,
                false => self.objects.add(object, input, directory, &mut self.file)?,
            }
        }
        let mut trees = Vec::with_capacity(input.trees.len());
        let mut offsets = HashMap::new();
        let streamers = input.streamers.clone();
        for tree in &mut input.trees {
            let directory = self.directory_of(&tree.path);
            let other =
                self.objects.class_of(&tree.path).or_else(|| self.kind_of_tree(&tree.path).filter(|k| *k != "tree"));
            if let Some(other) = other {
                return Err(other_kind(&tree.path, &tree.class, other));
            }
            let (at, map) = match self.tree_at.get(&tree.path) {
                Some(&at) => match self.trees.get_mut(at) {
                    Some(sum) => (at, sum.join(tree)?),
                    None => continue,
                },
                None => {
                    let (sum, map) = TreeSum::new(tree, directory, &streamers, input.reader.name());
                    let at = self.trees.len();
                    self.tree_at.insert(tree.path.clone(), at);
                    self.trees.push(sum);
                    self.baskets.push(0);
                    (at, map)
                }
            };
            if let Some(sum) = self.trees.get(at) {
                for (i, (b, &here)) in tree.facts.branches.iter().zip(&map).enumerate() {
                    offsets.extend(sum.other_offsets(here, &b.schema).map(|wanted| ((trees.len(), i), wanted)));
                }
            }
            let (parent, entries) = (self.file.seek_of(directory), tree.facts.entries);
            trees.push(CurrentTree { sum: at, parent, entries, branches: map });
        }
        let name = input.reader.name().to_owned();
        let ntuples = self.take_ntuples(std::mem::take(&mut input.ntuples), &name)?;
        self.current = Current { name, trees, ntuples, pid, offsets };
        Ok(())
    }

    /// Adds an input's ntuples, whose pages follow.
    fn take_ntuples(&mut self, ntuples: Vec<InputNtuple>, file: &str) -> Result<Vec<CurrentNtuple>> {
        let mut out = Vec::with_capacity(ntuples.len());
        for ntuple in ntuples {
            let directory = self.directory_of(&ntuple.path);
            let other = self.objects.class_of(&ntuple.path).or_else(|| self.tree_at.get(&ntuple.path).map(|_| "tree"));
            if let Some(other) = other {
                return Err(other_kind(&ntuple.path, NTUPLE, other));
            }
            let known = self.ntuples.iter().position(|sum| sum.path == ntuple.path);
            let at = known.unwrap_or_else(|| {
                self.ntuples.push(NtupleSum::new(&ntuple, directory, file));
                self.pages.push(0);
                self.ntuples.len() - 1
            });
            let Some(sum) = self.ntuples.get_mut(at) else { continue };
            out.push(sum.join(ntuple, at, self.compression, self.extends)?);
        }
        Ok(out)
    }

    /// Writes pages of an ntuple; returns where the first one is.
    pub(crate) fn blob(&mut self, size: u64, parts: &[&[u8]]) -> Result<u64> {
        self.file.put_blob(size, parts)
    }

    /// Adds an ntuple whose pages are written.
    pub(crate) fn add_ntuple(&mut self, sum: NtupleSum, pages: u64) {
        self.ntuples.push(sum);
        self.pages.push(pages);
    }

    /// What has this name, if it is a tree or an ntuple.
    fn kind_of_tree(&self, path: &str) -> Option<&'static str> {
        let ntuple = || self.ntuples.iter().any(|n| n.path == path).then_some(NTUPLE);
        self.tree_at.get(path).map(|_| "tree").or_else(ntuple)
    }

    /// Writes a chunk's pages; returns its buffer.
    pub(crate) fn pages(&mut self, chunk: PageChunk) -> Result<Vec<u8>> {
        if let Some(ntuple) = self.current.ntuples.get_mut(chunk.ntuple) {
            let name = &self.current.name;
            ntuple.write(&chunk, &mut self.file).map_err(|e| e.in_file(name.clone()))?;
        }
        Ok(chunk.data)
    }

    /// Writes a chunk's baskets; returns its buffer.
    pub(crate) fn chunk(&mut self, mut chunk: Chunk) -> Result<Vec<u8>> {
        let mut run = 0..0;
        let mut widened = Vec::new();
        for p in std::mem::take(&mut chunk.pieces) {
            let Some(CurrentTree { sum: tree, parent, branches, .. }) = self.current.trees.get(p.tree) else {
                continue;
            };
            let Some(&branch) = branches.get(p.branch) else { continue };
            if p.at != run.end {
                self.file.append(chunk.data.get(run).unwrap_or_default())?;
                run = p.at..p.at;
            }
            let seek = self.file.position() + (run.end - run.start) as u64;
            let Some(record) = chunk.data.get_mut(p.at..p.at + p.len) else { continue };
            let (mut len, mut zip, mut total) = (p.len, p.zip_change, p.total_change);
            let setting = self.compression.unwrap_or(self.file.compression);
            // a rebuilt one, and by how much its decompressed size grows
            let remade = match self.current.offsets.get(&(p.tree, p.branch)) {
                Some(&wanted) => {
                    widened.clear();
                    let grown = self.recoder.set_offsets(record, wanted, setting, &mut widened);
                    let name = self.trees.get(*tree).map_or("", |t| t.is_plain(branch).1);
                    grown.map_err(|e| e.in_branch(name).in_file(chunk.reader.name()))?
                }
                None => None,
            };
            let remade = match remade {
                None if !patch_basket(record, seek, *parent, self.current.pid) => {
                    // a label of 32-bit positions, as in old files, is too narrow; with a wider one all entries move,
                    // which breaks objects that refer to positions in their basket
                    let (plain, name) = self.trees.get(*tree).map_or((false, ""), |t| t.is_plain(branch));
                    if !plain {
                        return Err(Error::unsupported(
                            "its old baskets cannot be stored beyond 2 GB, or cannot contain more references",
                        )
                        .in_branch(name)
                        .in_file(chunk.reader.name())
                        .with_remedy("merge into several files"));
                    }
                    widened.clear();
                    self.recoder.widen(record, setting, &mut widened).map_err(|e| e.in_file(chunk.reader.name()))?;
                    Some(8)
                }
                remade => remade,
            };
            if let Some(grown) = remade {
                if !patch_basket(&mut widened, seek, *parent, self.current.pid) {
                    return Err(Error::unsupported("a basket's label cannot be moved").in_file(chunk.reader.name()));
                }
                self.file.append(chunk.data.get(run).unwrap_or_default())?;
                run = p.at + p.len..p.at + p.len;
                self.file.append(&widened)?;
                zip += widened.len() as i64 - len as i64;
                total += grown;
                len = widened.len();
            } else {
                run.end = p.at + p.len;
            }
            if let (Some(sum), Some(n)) = (self.trees.get_mut(*tree), self.baskets.get_mut(*tree)) {
                sum.place(branch, p.first, seek, len as u32, zip, total);
                *n += 1;
            }
        }
        self.file.append(chunk.data.get(run).unwrap_or_default())?;
        Ok(chunk.data)
    }

    /// The input is complete: later entries follow its own.
    pub(crate) fn end(&mut self) -> Result<()> {
        for tree in std::mem::take(&mut self.current.trees) {
            if let Some(sum) = self.trees.get_mut(tree.sum) {
                sum.entries += tree.entries;
            }
        }
        for ntuple in std::mem::take(&mut self.current.ntuples) {
            if let (Some(sum), Some(n)) = (self.ntuples.get_mut(ntuple.sum), self.pages.get_mut(ntuple.sum)) {
                *n += sum.place(&ntuple);
            }
        }
        if self.file.position() > i64::MAX as u64 / 2 {
            return Err(Error::unsupported("the output is too large").in_file(self.current.name.clone()));
        }
        Ok(())
    }

    /// Writes a new record: (tree, branch) in the current input's numbering, its first entry, and its decompressed
    /// size, label included.
    pub(crate) fn record(
        &mut self,
        tree: usize,
        branch: usize,
        first: u64,
        record: &mut [u8],
        total: u64,
    ) -> Result<()> {
        let Some(CurrentTree { sum: tree, parent, branches, .. }) = self.current.trees.get(tree) else { return Ok(()) };
        let Some(&branch) = branches.get(branch) else { return Ok(()) };
        let seek = self.file.position();
        if !patch_basket(record, seek, *parent, self.current.pid) {
            return Err(Error::unsupported("a basket's label cannot be moved").in_file(self.current.name.clone()));
        }
        self.file.append(record)?;
        if let (Some(sum), Some(n)) = (self.trees.get_mut(*tree), self.baskets.get_mut(*tree)) {
            sum.place(branch, first, seek, record.len() as u32, record.len() as i64, total as i64);
            *n += 1;
        }
        Ok(())
    }

    /// The tree of the current input gets a new layout.
    pub(crate) fn relayout(&mut self, tree: usize, layout: Relayout) {
        if let Some(tree) = self.current.trees.get(tree)
            && let Some(sum) = self.trees.get_mut(tree.sum)
        {
            sum.relayout(layout);
        }
    }

    /// Writes the parts that depend on all inputs and gives the file its name.
    pub(crate) fn finish(self, options: &MergeOptions) -> Result<MergeReport> {
        let (mut part, report) = self.close(|| check(options))?;
        part.commit()?;
        Ok(report)
    }

    /// Writes the parts that depend on all inputs; the file is complete but has no name yet. `check` is called between
    /// trees and may stop.
    pub(crate) fn close(mut self, check: impl Fn() -> Result<()>) -> Result<(Part, MergeReport)> {
        let mut report = self.report;
        report.added = self.objects.sums();
        report.kept = self.objects.kept_count;
        self.objects.finish(&mut self.file, &mut report.remarks)?;
        for (sum, baskets) in self.trees.into_iter().zip(self.baskets) {
            check()?;
            let path = sum.path.clone();
            let (entries, inputs) = (sum.entries, sum.inputs);
            report.trees.push(MergedTree { path, entries, baskets, inputs, is_ntuple: false });
            sum.write(&mut self.file, self.compression, &mut report.remarks)?;
        }
        for (sum, pages) in self.ntuples.into_iter().zip(self.pages) {
            check()?;
            let (path, entries, inputs) = (sum.path.clone(), sum.entries, sum.inputs);
            sum.write(&mut self.file).map_err(|e| {
                let what = format!("ntuple {path}: {}", e.what());
                e.worded(what)
            })?;
            report.trees.push(MergedTree { path, entries, baskets: pages, inputs, is_ntuple: true });
        }
        let classes = self.classes;
        let part = self.file.close(|base| classes.record(base))?;
        report.output_bytes = part.position();
        Ok((part, report))
    }

    /// Refuses a name that is a directory in one input and something else in another: nothing in it could be found.
    fn no_directory_clash(&self, input: &Input) -> Result<()> {
        for (path, _) in &input.directories {
            if let Some(other) = self.kind_of_tree(path).or_else(|| self.objects.class_of(path)) {
                return Err(other_kind(path, "directory", other));
            }
        }
        let objects = input.objects.iter().map(|o| (&o.path, &*o.key.class));
        let trees = input.trees.iter().map(|t| (&t.path, &*t.class));
        let ntuples = input.ntuples.iter().map(|n| (&n.path, NTUPLE));
        let mut all = objects.chain(trees).chain(ntuples);
        match all.find(|(path, _)| self.directories.contains_key(*path)) {
            Some((path, class)) => Err(other_kind(path, class, "directory")),
            None => Ok(()),
        }
    }

    fn directory(&mut self, path: &str, label: &Label) -> Result<()> {
        if !self.directories.contains_key(path) {
            let parent = self.directory_of(path);
            let id = self.file.mkdir(parent, label.clone())?;
            self.directories.insert(path.to_owned(), id);
        }
        Ok(())
    }

    pub(crate) fn directory_of(&self, path: &str) -> DirectoryId {
        path.rsplit_once('/').and_then(|(above, _)| self.directories.get(above).copied()).unwrap_or(ROOT_DIRECTORY)
    }

    /// Adds an input's process ids, consecutively: references in its baskets keep their meaning with the returned
    /// number added.
    fn process_ids(&mut self, ids: &[InputObject]) -> Result<u16> {
        if ids.is_empty() {
            return Ok(0);
        }
        let same = |at: &usize| {
            let here = self.process_ids.get(*at..*at + ids.len()).unwrap_or_default();
            here.len() == ids.len() && here.iter().zip(ids).all(|(a, b)| *a == b.label.title)
        };
        let at = match (0..self.process_ids.len()).find(same) {
            Some(at) => at,
            None => {
                let at = self.process_ids.len();
                for (i, id) in ids.iter().enumerate() {
                    let name = format!("ProcessID{}", at + i).into_bytes();
                    let big = self.file.needs_big();
                    let label = Label { name, pid: 0, big, ..id.label.clone() };
                    self.process_ids.push(id.label.title.clone());
                    self.file.put(ROOT_DIRECTORY, label, id.key.object_len, &id.stored)?;
                }
                at
            }
        };
        u16::try_from(at).map_err(|_| Error::unsupported("more than 65535 process ids"))
    }
}
