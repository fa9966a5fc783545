//! Objects other than trees: added up where that is meaningful, otherwise kept.

mod axes;
mod buffer;
mod collection;
mod efficiency;
mod event_list;
mod filled;
mod graph;
mod hist;
mod labels;
mod limits;
mod members;
mod multi;
mod numbers;
mod parameter;
mod part;
mod poly;
mod rules;

use crate::container::{Container, DirectoryId};
use crate::input::{Input, InputObject};
use rules::Streamed;
use sapwood_codec::Decoder;
use sapwood_edit::Label;
use sapwood_edit::survey::survey;
use sapwood_format::{Streamers, inflate};
use sapwood_span::{Error, ErrorKind, Result};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// The objects of all inputs so far.
#[derive(Default)]
pub(crate) struct Objects {
    decoder: Decoder,
    /// Sums, in the order in which their names appeared.
    sums: Vec<Sum>,
    by_path: HashMap<String, usize>,
    /// The objects kept under each name: class, and the content of every cycle.
    kept: HashMap<String, (String, Vec<u64>)>,
    /// Objects of an additive class that were kept separately, with the reason.
    apart: BTreeMap<String, String>,
    /// Other remarks for the user, each once.
    notes: BTreeSet<String>,
    pub(crate) kept_count: usize,
}

/// A running sum.
struct Sum {
    path: String,
    directory: DirectoryId,
    class: String,
    label: Label,
    base: usize,
    data: Vec<u8>,
    streamers: Arc<Streamers>,
    /// File of the first.
    file: String,
}

/// Refuses a name used for objects of two kinds.
pub(crate) fn other_kind(path: &str, class: &str, other: &str) -> Error {
    Error::invalid(format!("{path} is a {class} here, but a {other} in another file"))
        .with_remedy("omit the file, or rename one of them")
}

impl Objects {
    /// Number of sums.
    pub(crate) fn sums(&self) -> usize {
        self.sums.len()
    }

    /// The class of the objects so far under a name; none if there are none.
    pub(crate) fn class_of(&self, path: &str) -> Option<&str> {
        let sum = self.by_path.get(path).and_then(|&at| self.sums.get(at)).map(|s| s.class.as_str());
        sum.or_else(|| self.kept.get(path).map(|(class, _)| class.as_str()))
    }

    /// Adds an object of an input.
    ///
    /// # Errors
    /// `Invalid` when it cannot be added to that of another input.
    pub(crate) fn add(
        &mut self,
        o: &InputObject,
        input: &Input,
        directory: DirectoryId,
        out: &mut Container,
    ) -> Result<()> {
        if let Some(other) = self.class_of(&o.path).filter(|c| rules::clash(c, &o.key.class)) {
            return Err(other_kind(&o.path, &o.key.class, other));
        }
        if !rules::has_rule(&o.key.class) {
            return self.keep(o, input, directory, out);
        }
        let data = inflate(&o.key, &o.stored, &mut self.decoder)?;
        let base = o.key.key_len as usize;
        let Some(&at) = self.by_path.get(&o.path) else {
            self.by_path.insert(o.path.clone(), self.sums.len());
            self.sums.push(Sum {
                path: o.path.clone(),
                directory,
                class: o.key.class.clone(),
                label: o.label.clone(),
                base,
                data,
                streamers: input.streamers.clone(),
                file: input.reader.name().to_owned(),
            });
            return Ok(());
        };
        let Some(sum) = self.sums.get_mut(at) else { return Ok(()) };
        let one = Streamed { data: &sum.data, base: sum.base, class: &sum.class, streamers: &sum.streamers };
        let two = Streamed { data: &data, base, class: &o.key.class, streamers: &input.streamers };
        let added = rules::join(one, two);
        if let Some(e) = added.as_ref().err().filter(|e| e.kind() == ErrorKind::Unsupported) {
            // objects that cannot be parsed are not lost
            let why = e.what().to_owned();
            self.apart.entry(o.path.clone()).or_insert(why);
            return self.keep(o, input, directory, out);
        }
        let (data, notes) = added.map_err(|e| {
            let what = format!("{} {} (compared with {})", sum.path, e.what(), sum.file);
            e.worded(what).with_remedy("omit the file, or rename the object")
        })?;
        sum.data = data;
        self.notes.extend(notes.into_iter().map(|note| format!("{}: {note}", o.path)));
        Ok(())
    }

    /// Keeps an object unchanged: one cycle for every different content, as in hadd.
    pub(crate) fn keep(
        &mut self,
        o: &InputObject,
        input: &Input,
        directory: DirectoryId,
        out: &mut Container,
    ) -> Result<()> {
        let mut hasher = DefaultHasher::new();
        (&o.key.class, o.key.object_len, &o.stored).hash(&mut hasher);
        let content = hasher.finish();
        let (_, cycles) = self.kept.entry(o.path.clone()).or_insert_with(|| (o.key.class.clone(), Vec::new()));
        if cycles.contains(&content) {
            return Ok(());
        }
        if cycles.len() >= i16::MAX as usize {
            return Err(Error::unsupported(format!("{} would have more than {} cycles", o.path, i16::MAX)));
        }
        cycles.push(content);
        self.kept_count += 1;
        let label = Label { pid: 0, ..o.label.clone() };
        let moves = label.len() != o.key.key_len as usize || (out.needs_big() && !label.big);
        if !moves {
            out.put(directory, label, o.key.object_len, &o.stored)?;
            return Ok(());
        }
        // references count from the beginning of the label, whose length changes
        let data = inflate(&o.key, &o.stored, &mut self.decoder)?;
        let base = o.key.key_len as usize;
        let s = survey(&data, base, &o.key.class, &input.streamers)?;
        if let Some((_, class)) = s.unknown.first() {
            return Err(Error::unsupported(format!(
                "{} contains {class}, which this version cannot move beyond 2 GB",
                o.path
            ))
            .with_remedy("list the file that contains it first"));
        }
        out.put_object(directory, label, |base| s.rewrite(&mut [], base))?;
        Ok(())
    }

    /// Writes the sums and reports what was done with the rest.
    pub(crate) fn finish(&mut self, out: &mut Container, remarks: &mut Vec<String>) -> Result<()> {
        for sum in std::mem::take(&mut self.sums) {
            let moves = out.needs_big() && !sum.label.big;
            let label = Label { pid: 0, ..sum.label };
            if moves {
                let s = survey(&sum.data, sum.base, &sum.class, &sum.streamers)?;
                out.put_object(sum.directory, label, |base| s.rewrite(&mut [], base))?;
            } else {
                out.put_object(sum.directory, label, |_| Ok(sum.data))?;
            }
        }
        remarks.extend(std::mem::take(&mut self.notes));
        for (path, why) in &self.apart {
            let cycles = self.kept.get(path).map_or(0, |(_, c)| c.len()) + 1;
            remarks.push(format!("{path} was not added in all inputs: it {why}; {cycles} cycles of it are kept"));
        }
        let mut several: Vec<(&String, &(String, Vec<u64>))> =
            self.kept.iter().filter(|(p, (_, c))| c.len() > 1 && !self.apart.contains_key(*p)).collect();
        several.sort();
        for (path, (class, cycles)) in several {
            remarks.push(format!(
                "{path}: {class} cannot be summed; the {} different versions are kept as cycles",
                cycles.len()
            ));
        }
        Ok(())
    }
}
