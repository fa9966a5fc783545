use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// How long a signal such as Ctrl-C may wait to be seen.
const TICK: Duration = Duration::from_millis(100);

/// Does `work` on a thread of its own and waits for it with the interpreter free, looking for signals and calling
/// `tick` every tenth of a second.
///
/// When a signal handler or `tick` raises, this returns at once with that exception and `work` is left to end by
/// itself: whoever can hurry it sets a flag that `work` looks at.
///
/// # Errors
/// What a signal handler or `tick` raised; `RuntimeError` when `work` panicked.
pub fn wait<T: Send + 'static>(
    py: Python<'_>,
    mut tick: impl FnMut(Python<'_>) -> PyResult<()>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, mut receiver) = channel();
    let worker = std::thread::Builder::new().name("sapwood-wait".into()).spawn(move || {
        // nobody listens any more once the wait was interrupted
        let _ = sender.send(work());
    })?;
    loop {
        // the receiver goes in and out, for it may not be shared between threads
        let (back, result) = py.detach(move || {
            let result = receiver.recv_timeout(TICK);
            (receiver, result)
        });
        receiver = back;
        match result {
            Ok(value) => return Ok(value),
            Err(RecvTimeoutError::Timeout) => {
                py.check_signals()?;
                tick(py)?;
            }
            Err(RecvTimeoutError::Disconnected) => return Err(panicked(worker.join().err())),
        }
    }
}

fn panicked(payload: Option<Box<dyn std::any::Any + Send>>) -> PyErr {
    let payload = payload.as_deref();
    let what = payload
        .and_then(|p| p.downcast_ref::<String>().map(String::as_str).or_else(|| p.downcast_ref::<&str>().copied()))
        .unwrap_or("no message");
    PyRuntimeError::new_err(format!("sapwood failed inside ({what}); please report it with the file that shows it"))
}
