//! Reading from a source by a caller that waits.

use crate::runtime;
use bytes::Bytes;
use sapwood_format::{Opener, Step};
use sapwood_source::{FetchReport, Sink, Source};
use sapwood_span::sync::lock;
use sapwood_span::{Error, ErrorKind, Result, Span};
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

/// Questions about a file are answered in so many steps at most; each opens one more directory.
const STEPS: usize = 1000;

/// Asks until the opener has what it needs.
pub(crate) fn answer<T>(
    source: &Arc<dyn Source>,
    opener: &mut Opener,
    mut question: impl FnMut(&mut Opener) -> Result<Step<T>>,
) -> Result<T> {
    for _ in 0..STEPS {
        match question(opener)? {
            Step::Done(t) => {
                opener.forget_large();
                return Ok(t);
            }
            Step::Need(spans) => {
                let bytes = gathered(source, &spans, |sink| source.clone().fetch_soon(spans.clone(), sink))?;
                for (span, bytes) in spans.iter().zip(bytes) {
                    opener.push(span.start, bytes);
                }
            }
        }
    }
    Err(Error::corrupt("the file's directories are too deeply nested"))
}

/// Reads spans and waits for all.
pub(crate) fn read(source: &Arc<dyn Source>, spans: &[Span]) -> Result<Vec<Bytes>> {
    gathered(source, spans, |sink| source.clone().fetch_last(spans.to_vec(), sink))
}

/// Reads spans as `fetch` does.
pub(crate) fn gathered<F>(
    source: &Arc<dyn Source>,
    spans: &[Span],
    fetch: impl FnOnce(Arc<dyn Sink>) -> F,
) -> Result<Vec<Bytes>>
where
    F: Future<Output = Result<FetchReport>> + Send + 'static,
{
    let gather = Arc::new(Gather(Mutex::new(vec![Bytes::new(); spans.len()])));
    let fetch = fetch(gather.clone());
    if source.is_local() {
        poll_once(fetch)?;
    } else {
        runtime::wait(fetch)?;
    }
    Ok(std::mem::take(&mut *lock(&gather.0)))
}

/// Local files are read within the first poll.
pub(crate) fn poll_once<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    let mut future = std::pin::pin!(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(r) => r,
        Poll::Pending => Err(Error::new(ErrorKind::Io, "a local file made its reader wait")),
    }
}

struct Gather(Mutex<Vec<Bytes>>);

impl Sink for Gather {
    fn part(&self, index: usize, bytes: Bytes) {
        if let Some(place) = lock(&self.0).get_mut(index) {
            *place = bytes;
        }
    }
}
