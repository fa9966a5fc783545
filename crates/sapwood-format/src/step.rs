//! Questions to a file are answered in steps.

use sapwood_span::Span;

/// The answer to a question about a file.
#[derive(Clone, Debug)]
pub enum Step<T> {
    /// Give these bytes to [`Opener::push`](super::Opener::push), then ask again.
    Need(Vec<Span>),
    /// The answer.
    Done(T),
}
