//! The network runtime, started when the first remote file is opened: local work never pays for it.

use sapwood_span::{Error, ErrorKind, Result};
use std::future::Future;
use std::sync::OnceLock;
use std::sync::mpsc;
use tokio::runtime::{Builder, Handle, Runtime};

static RUNTIME: OnceLock<Result<Runtime, String>> = OnceLock::new();

/// The runtime that all remote files share.
pub(crate) fn handle() -> Result<Handle> {
    let started = RUNTIME.get_or_init(|| {
        Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("sapwood-net")
            .enable_all()
            .build()
            .map_err(|e| e.to_string())
    });
    match started {
        Ok(runtime) => Ok(runtime.handle().clone()),
        Err(why) => Err(Error::new(ErrorKind::Io, format!("cannot start the network thread: {why}"))),
    }
}

/// Runs a future on the network runtime and waits for it, from any thread (also one of another runtime).
pub(crate) fn wait<T: Send + 'static>(future: impl Future<Output = Result<T>> + Send + 'static) -> Result<T> {
    let (send, receive) = mpsc::channel();
    handle()?.spawn(async move {
        // nobody listens any more only when the waiting thread has gone
        let _ = send.send(future.await);
    });
    receive.recv().unwrap_or_else(|_| Err(Error::new(ErrorKind::Io, "the network thread ended early")))
}
