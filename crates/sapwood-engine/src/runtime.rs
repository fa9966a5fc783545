//! The network runtime, started when the first remote file is opened: local work never pays for it.

use sapwood_span::defect::{caught_async, inject};
use sapwood_span::{Error, ErrorKind, Result};
use std::future::Future;
use std::sync::{Mutex, PoisonError, mpsc};
use tokio::runtime::{Builder, Handle, Runtime};

/// The runtime, and the process whose it is: a forked child inherits the value but not the thread behind it.
static RUNTIME: Mutex<Option<(u32, Runtime)>> = Mutex::new(None);

/// The runtime that all remote files share.
pub(crate) fn handle() -> Result<Handle> {
    let mut shared = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((process, runtime)) = &*shared
        && *process == std::process::id()
    {
        return Ok(runtime.handle().clone());
    }
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("sapwood-net")
        .enable_all()
        .build()
        .map_err(|e| Error::new(ErrorKind::Io, format!("cannot start the network thread: {e}")))?;
    let handle = runtime.handle().clone();
    // dropping the parent's would wait for its threads, which are not here
    std::mem::forget(shared.replace((std::process::id(), runtime)));
    Ok(handle)
}

/// Runs a future on the network runtime and waits for it, from any thread (also one of another runtime).
pub(crate) fn wait<T: Send + 'static>(future: impl Future<Output = Result<T>> + Send + 'static) -> Result<T> {
    let (send, receive) = mpsc::channel();
    handle()?.spawn(async move {
        // nobody listens any more only when the waiting thread has gone
        let _ = send.send(
            caught_async(async {
                inject::here("network");
                future.await
            })
            .await,
        );
    });
    receive.recv().unwrap_or_else(|_| Err(Error::new(ErrorKind::Io, "the network thread ended early")))
}
