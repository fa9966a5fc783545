//! The network runtime, started when the first remote file is opened: local work never pays for it.

use sapwood_span::defect::{caught_async, inject};
use sapwood_span::{Error, ErrorKind, Result};
use std::future::Future;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::mpsc;
use tokio::runtime::{Builder, Handle, Runtime};

/// A runtime, and the process whose it is: a forked child inherits the value but not the thread behind it.
struct Shared {
    process: u32,
    runtime: Runtime,
}

/// The runtime that all remote files share. Behind no lock: a child that is forked while another thread has one would
/// wait for it forever.
static RUNTIME: AtomicPtr<Shared> = AtomicPtr::new(std::ptr::null_mut());

/// The runtime that all remote files share.
pub(crate) fn handle() -> Result<Handle> {
    let process = std::process::id();
    let known = RUNTIME.load(Ordering::Acquire);
    // SAFETY: what was put there came from a box and is never freed.
    if let Some(shared) = unsafe { known.as_ref() }.filter(|s| s.process == process) {
        return Ok(shared.runtime.handle().clone());
    }
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("sapwood-net")
        .enable_all()
        .build()
        .map_err(|e| Error::new(ErrorKind::Io, format!("cannot start the network thread: {e}")))?;
    let handle = runtime.handle().clone();
    let new = Box::into_raw(Box::new(Shared { process, runtime }));
    // the parent's is left where it is: dropping it would wait for its threads, which are not here
    match RUNTIME.compare_exchange(known, new, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => Ok(handle),
        Err(first) => {
            // SAFETY: nobody has seen this box, and nothing runs on its runtime yet.
            unsafe { Box::from_raw(new) }.runtime.shutdown_background();
            // SAFETY: as above; another thread of this process put it there just now.
            Ok(unsafe { &*first }.runtime.handle().clone())
        }
    }
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
