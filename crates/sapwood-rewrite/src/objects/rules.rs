//! How two objects of one name are combined: which classes are added up, and how.

use super::part::{Part, Rule};
use super::{collection, efficiency, event_list, graph, hist, multi, parameter, poly};
use sapwood_edit::survey::{Changes, Survey, survey};
use sapwood_format::Streamers;
use sapwood_format::is_histogram;
use sapwood_span::{Error, Result};

/// An object: decompressed payload, length of its label, class, and its file's class descriptions.
#[derive(Clone, Copy)]
pub(crate) struct Streamed<'a> {
    pub(crate) data: &'a [u8],
    pub(crate) base: usize,
    pub(crate) class: &'a str,
    pub(crate) streamers: &'a Streamers,
}

impl<'a> Streamed<'a> {
    fn survey(&self) -> Result<Survey<'a>> {
        survey(self.data, self.base, self.class, self.streamers)
    }
}

/// How objects of a class are added up; none where they are not.
pub(super) fn rule(class: &str) -> Option<Rule> {
    Some(match class {
        c if is_histogram(c) => hist::add,
        c if c.starts_with("TParameter<") => parameter::add,
        c if graph::columns(c).is_some() => graph::append,
        c if c.starts_with("THnSparseT<") => multi::add_sparse,
        c if c.starts_with("THnT<") => multi::add_dense,
        "TEfficiency" => efficiency::add,
        "TH2Poly" => poly::add,
        "TEventList" => event_list::join,
        "TList" | "THashList" | "TObjArray" => join_lists,
        "THStack" => join_stacks,
        _ => return None,
    })
}

fn join_lists<'p>(one: Part<'p>, two: Part<'p>, changes: &mut Changes<'p>) -> Result<()> {
    collection::join(one, two, changes, rule)
}

fn join_stacks<'p>(one: Part<'p>, two: Part<'p>, changes: &mut Changes<'p>) -> Result<()> {
    collection::join_stacks(one, two, changes, rule)
}

/// Whether objects of a class are added up.
pub(super) fn has_rule(class: &str) -> bool {
    rule(class).is_some()
}

/// Whether objects of two classes cannot share one name in the output: one is added up, the other is not.
pub(super) fn clash(one: &str, other: &str) -> bool {
    let counts = |class: &str| is_histogram(class) || class.starts_with("TParameter<");
    one != other && (counts(one) || counts(other))
}

/// Both objects in one, in the bytes of the first and for its label, and remarks for the user.
///
/// # Errors
/// `Invalid` when they do not match, with the difference; `Unsupported` when they can only be kept separately.
pub(super) fn join(one: Streamed, two: Streamed) -> Result<(Vec<u8>, Vec<String>)> {
    if one.class != two.class {
        return Err(Error::unsupported(format!("is a {}, not a {}", two.class, one.class)));
    }
    let Some(rule) = rule(one.class) else {
        return Err(Error::unsupported(format!("objects of class {} are not added", one.class)));
    };
    let (a, b) = (one.survey()?, two.survey()?);
    let mut changes = Changes::default();
    rule(Part { survey: &a, node: 0 }, Part { survey: &b, node: 0 }, &mut changes)?;
    let bytes = a.rewrite_with(&mut changes, one.base)?;
    Ok((bytes, changes.notes))
}
