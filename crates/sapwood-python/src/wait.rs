use crate::error::{Missing, exception};
use pyo3::prelude::*;
use sapwood::defect::of_panic;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::Duration;

/// How long a signal such as Ctrl-C may wait to be seen.
const TICK: Duration = Duration::from_millis(100);

type Job = Box<dyn FnOnce() + Send>;

/// Threads that wait for work, and the process they belong to: a fork takes the list along but not the threads.
///
/// Nobody waits for the lock: when another thread has it while this one forks, the child's copy is never released, and
/// a forked child that waited for it would hang. A thread that finds it taken does without.
///
/// They are used again not for the cost of a thread but for its memory: the C library keeps a heap per thread, and
/// each new one would touch fresh pages for every batch.
static IDLE: Mutex<(u32, Vec<Sender<Job>>)> = Mutex::new((0, Vec::new()));

/// Threads kept.
const MOST_IDLE: usize = 8;

/// Does `work` on another thread and waits for it with the interpreter free, looking for signals and calling `tick`
/// every tenth of a second.
///
/// When a signal handler or `tick` raises, this returns at once with that exception and `work` is left to end by
/// itself: a thread that can hurry it sets a flag that `work` looks at.
///
/// # Errors
/// What a signal handler or `tick` raised; `DefectError` when `work` panicked.
pub(crate) fn wait<T: Send + 'static>(
    py: Python<'_>,
    mut tick: impl FnMut(Python<'_>) -> PyResult<()>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, mut receiver) = channel();
    start(Box::new(move || {
        // nobody listens any more once the wait was interrupted
        let _ = sender.send(catch_unwind(AssertUnwindSafe(work)));
    }))?;
    loop {
        // the receiver goes in and out, for it may not be shared between threads
        let (back, result) = py.detach(move || {
            let result = receiver.recv_timeout(TICK);
            (receiver, result)
        });
        receiver = back;
        match result {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(payload)) => return Err(panicked(py, Some(payload))),
            Err(RecvTimeoutError::Timeout) => {
                py.check_signals()?;
                tick(py)?;
            }
            Err(RecvTimeoutError::Disconnected) => return Err(panicked(py, None)),
        }
    }
}

/// The list of this process, unless another thread has it right now.
fn idle() -> Option<MutexGuard<'static, (u32, Vec<Sender<Job>>)>> {
    let mut idle = match IDLE.try_lock() {
        Ok(idle) => idle,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => return None,
    };
    if idle.0 != std::process::id() {
        // the parent's threads are not here
        *idle = (std::process::id(), Vec::new());
    }
    Some(idle)
}

/// Gives the job to an idle thread, or to a new one.
fn start(mut job: Job) -> std::io::Result<()> {
    loop {
        let Some(thread) = idle().and_then(|mut idle| idle.1.pop()) else { break };
        match thread.send(job) {
            Ok(()) => return Ok(()),
            Err(back) => job = back.0,
        }
    }
    let (sender, receiver) = channel::<Job>();
    std::thread::Builder::new().name("sapwood-wait".into()).spawn(move || {
        let mut next = Some(job);
        while let Some(job) = next.take() {
            job();
            match idle() {
                Some(mut idle) if idle.1.len() < MOST_IDLE => idle.1.push(sender.clone()),
                _ => return,
            }
            next = receiver.recv().ok();
        }
    })?;
    Ok(())
}

fn panicked(py: Python<'_>, payload: Option<Box<dyn std::any::Any + Send>>) -> PyErr {
    let payload = payload.unwrap_or_else(|| Box::new("a thread ended early"));
    exception(py, &of_panic(&*payload), Missing::File)
}
