//! Queries to a file are answered in steps.

use sapwood_span::Span;

/// The answer to a query about a file.
#[derive(Clone, Debug)]
pub enum Step<T> {
    /// Pass these bytes to [`Opener::push`](super::Opener::push), then query again.
    Need(Vec<Span>),
    /// The answer.
    Done(T),
}
