//! Turns panics in threads and tasks into errors: callers that wait for their work get an error that calls it a bug.

use crate::{Error, ErrorKind, Result};
use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

/// Runs `work`, which may panic.
///
/// # Errors
/// The error of `work`; [`ErrorKind::Defect`] where it panicked. Its data is then in an unknown state: the caller must
/// not use it any more.
pub fn caught<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| Err(of_panic(&*payload)))
}

/// As [`caught`], for a future.
///
/// # Errors
/// As [`caught`].
pub async fn caught_async<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let mut work = pin!(work);
    std::future::poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context)));
        polled.unwrap_or_else(|payload| Poll::Ready(Err(of_panic(&*payload))))
    })
    .await
}

/// The error for what a thread panicked with.
pub fn of_panic(payload: &(dyn Any + Send)) -> Error {
    let said = payload.downcast_ref::<String>().map(String::as_str).or_else(|| payload.downcast_ref::<&str>().copied());
    Error::new(ErrorKind::Defect, format!("a bug in Sapwood: {}", said.unwrap_or("a panic without a message")))
        .with_remedy("please report this message, the version, and a file that reproduces it")
}

/// Panics on purpose, for tests of what follows.
#[doc(hidden)]
pub mod inject {
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    use std::sync::{Mutex, PoisonError};

    static ARMED: AtomicBool = AtomicBool::new(false);
    /// The place, and the file for which it panics.
    static PLACE: Mutex<(&str, String)> = Mutex::new(("", String::new()));

    /// The next call at a place of this name panics.
    pub fn arm(place: &'static str) {
        arm_for(place, "");
    }

    /// The next call at a place of this name, for this file, panics: abandoned work on other files may reach it, too.
    pub fn arm_for(place: &'static str, file: &str) {
        *PLACE.lock().unwrap_or_else(PoisonError::into_inner) = (place, file.to_owned());
        ARMED.store(true, Relaxed);
    }

    /// Whether it was not reached since.
    pub fn disarm() -> bool {
        ARMED.swap(false, Relaxed)
    }

    /// A place that tests may arm.
    #[inline]
    pub fn here(place: &str) {
        here_with(place, "");
    }

    /// A place that tests may arm for one file.
    #[inline]
    pub fn here_with(place: &str, file: &str) {
        if ARMED.load(Relaxed) {
            strike(place, file);
        }
    }

    #[cold]
    fn strike(place: &str, file: &str) {
        let armed = PLACE.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if armed.0 == place && (armed.1.is_empty() || armed.1 == file) && ARMED.swap(false, Relaxed) {
            panic!("injected at {place}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_that_says_whose_it_is() {
        let e = caught(|| -> Result<()> { panic!("index {} of nothing", 7) }).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Defect);
        assert!(e.to_string().starts_with("a bug in Sapwood: index 7 of nothing; please report"), "{e}");
        assert_eq!(caught(|| Ok(3)).unwrap(), 3);
    }
}
