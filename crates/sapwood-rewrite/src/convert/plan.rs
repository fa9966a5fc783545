//! What becomes of the branches of a tree, or of the fields of an ntuple: decided for all of them before anything is
//! written.

use super::ConvertOptions;
use super::shape::Shape;
use sapwood_column::Array;
use sapwood_engine::{Tree, did_you_mean, glob_match};
use sapwood_span::{Error, Result};
use sapwood_write::{BranchSpec, FieldSpec};
use std::collections::{HashMap, HashSet};

/// A branch or field of the output, and where its values come from.
pub(super) struct OutputColumn {
    pub(super) name: String,
    pub(super) target: TargetColumn,
    pub(super) source: ColumnSource,
    /// The branch of the input, for messages.
    pub(super) of: String,
    /// The output whose values are taken to be the lengths of this one's lists, by its place.
    pub(super) counter: Option<usize>,
}

/// How it is declared.
pub(super) enum TargetColumn {
    Field(FieldSpec),
    Branch(BranchSpec),
}

/// Where the values of a column come from.
pub(super) enum ColumnSource {
    /// A column that was read, by its place among [`Plan::branches`].
    Column(usize, Shape),
    /// Columns of the same length, as the members of records.
    Record(Vec<(String, ColumnSource)>),
    /// Columns of lists of the same lengths, as lists of records. With the number of the branch that has them as
    /// sub-branches.
    Items(usize, Vec<(String, ColumnSource)>),
}

/// A branch that cannot be converted, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) branch: String,
    pub(super) reason: String,
}

/// How a tree or ntuple is converted.
#[derive(Default)]
pub(super) struct Plan {
    /// The branches to be read, as indices.
    pub(super) branches: Vec<usize>,
    pub(super) outputs: Vec<OutputColumn>,
    pub(super) refused: Vec<Refused>,
    /// The names of the outputs.
    names: HashSet<String>,
    damaged: HashMap<String, String>,
}

/// What turned out while converting, so that the plan is made anew without it.
#[derive(Default)]
pub(super) struct Disproved {
    /// Branches whose sub-branches have lists of different lengths.
    pub(super) items: HashSet<usize>,
    /// Outputs that a counter does not count.
    pub(super) counted: HashSet<String>,
    /// Branches whose values cannot be read, and why.
    pub(super) damaged: HashMap<String, String>,
}

impl Plan {
    /// A plan without the branches that turned out to be damaged.
    pub(super) fn without(disproved: &Disproved) -> Self {
        Self { damaged: disproved.damaged.clone(), ..Self::default() }
    }

    /// Whether a branch is damaged, which is then told.
    pub(super) fn is_damaged(&mut self, branch: &str) -> bool {
        let reason = self.damaged.get(branch).cloned();
        if let Some(reason) = &reason {
            self.refuse(branch, reason.clone());
        }
        reason.is_some()
    }

    /// Reads a branch; returns its place among those that are read.
    pub(super) fn read(&mut self, branch: usize) -> usize {
        self.branches.push(branch);
        self.branches.len() - 1
    }

    pub(super) fn refuse(&mut self, branch: &str, reason: impl Into<String>) {
        self.refused.push(Refused { branch: branch.to_owned(), reason: reason.into() });
    }

    /// A name that no output has, made of this one: what is not allowed becomes an underscore.
    pub(super) fn free_name(&self, name: &str, also: &[char]) -> String {
        unique(&allowed(name, also), |n| self.names.contains(n))
    }

    pub(super) fn add(&mut self, output: OutputColumn) {
        self.names.insert(output.name.clone());
        self.outputs.push(output);
    }
}

/// A name in which what is not allowed is an underscore.
pub(super) fn allowed(name: &str, also: &[char]) -> String {
    let change = |c: char| if c.is_control() || "./\\ ".contains(c) || also.contains(&c) { '_' } else { c };
    let mut out: String = name.trim_end_matches('.').chars().map(change).collect();
    // these belong to the items of collections
    if out.strip_prefix('_').is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit())) {
        out.insert(0, 'm');
    }
    if out.is_empty() { "_".to_owned() } else { out }
}

/// The name, with a number behind it where it is taken.
pub(super) fn unique(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let mut out = name.to_owned();
    let mut n = 1;
    while is_taken(&out) {
        n += 1;
        out = format!("{name}_{n}");
    }
    out
}

/// Whether the patterns choose a branch: by its name, its path, or those of a branch that contains it. All where there is
/// none.
pub(super) fn is_chosen(tree: &Tree, branch: usize, options: &ConvertOptions) -> bool {
    let mut at = Some(branch);
    options.branches.is_empty()
        || std::iter::from_fn(|| {
            let now = at?;
            at = tree.header().branches.get(now)?.parent;
            Some(now)
        })
        .any(|b| options.branches.iter().any(|p| matches(tree, b, p)))
}

fn matches(tree: &Tree, branch: usize, pattern: &str) -> bool {
    let name = tree.header().branches.get(branch).map_or("", |b| b.name.as_str());
    [name, name.trim_end_matches('.'), &tree.name_of(branch)].iter().any(|n| glob_match(pattern, n))
}

/// Patterns that choose no branch of any of the trees are errors.
pub(super) fn check_patterns(trees: &[Tree], options: &ConvertOptions) -> Result<()> {
    for pattern in &options.branches {
        if !trees.iter().any(|t| t.order().iter().any(|&b| matches(t, b, pattern))) {
            let names = trees.iter().flat_map(|t| t.order().iter().map(|&b| t.name_of(b))).collect::<Vec<_>>();
            let near = did_you_mean(pattern, names.iter().map(String::as_str));
            let remedy = near.unwrap_or_else(|| "`sapwood show` lists the branches".to_owned());
            return Err(Error::not_found(format!("no branch matches {pattern}")).with_remedy(remedy));
        }
    }
    Ok(())
}

/// Why the values of a column cannot be assembled.
pub(super) enum Unassembled {
    /// The sub-branches of this branch have lists of different lengths.
    Items(usize),
    Failed(Error),
}

impl ColumnSource {
    /// The column for the writer, out of those that were read.
    pub(super) fn assemble(&self, columns: &mut [Option<Array>]) -> Result<Array, Unassembled> {
        match self {
            ColumnSource::Column(at, shape) => {
                let array = columns.get_mut(*at).and_then(Option::take);
                let array = array.ok_or_else(|| Unassembled::Failed(Error::invalid("a column was used twice")))?;
                shape.apply(array).map_err(Unassembled::Failed)
            }
            ColumnSource::Record(members) => {
                let fields = assemble_all(members, columns)?;
                let len = fields.first().map_or(0, |(_, a)| a.len());
                if fields.iter().any(|(_, a)| a.len() != len) {
                    let what = "the members of a record have different numbers of values";
                    return Err(Unassembled::Failed(Error::invalid(what)));
                }
                Ok(Array::Record { len, fields })
            }
            ColumnSource::Items(branch, members) => {
                let different = || Unassembled::Items(*branch);
                let mut found: Option<Vec<i64>> = None;
                let mut fields = Vec::with_capacity(members.len());
                for (name, member) in members {
                    let (offsets, content) = member.items(columns, *branch)?;
                    if found.get_or_insert_with(|| offsets.clone()) != &offsets {
                        return Err(different());
                    }
                    fields.push((name.clone(), content));
                }
                let offsets = found.ok_or_else(different)?;
                let len = fields.first().map_or(0, |(_, a)| a.len());
                Ok(Array::List { offsets, content: Box::new(Array::Record { len, fields }) })
            }
        }
    }

    /// Where the lists of a member of a split collection begin, and their items.
    fn items(&self, columns: &mut [Option<Array>], branch: usize) -> Result<(Vec<i64>, Array), Unassembled> {
        let ColumnSource::Record(members) = self else {
            return match self.assemble(columns)? {
                Array::List { offsets, content } => Ok((offsets, *content)),
                _ => Err(Unassembled::Items(branch)),
            };
        };
        // a class within the collection's class: its members have the lists
        let mut found: Option<Vec<i64>> = None;
        let mut fields = Vec::with_capacity(members.len());
        for (name, member) in members {
            let (offsets, content) = member.items(columns, branch)?;
            if found.get_or_insert_with(|| offsets.clone()) != &offsets {
                return Err(Unassembled::Items(branch));
            }
            fields.push((name.clone(), content));
        }
        let offsets = found.ok_or(Unassembled::Items(branch))?;
        let len = fields.first().map_or(0, |(_, a)| a.len());
        Ok((offsets, Array::Record { len, fields }))
    }
}

fn assemble_all(
    members: &[(String, ColumnSource)],
    columns: &mut [Option<Array>],
) -> Result<Vec<(String, Array)>, Unassembled> {
    members.iter().map(|(name, member)| Ok((name.clone(), member.assemble(columns)?))).collect()
}
