//! Locks that outlive a panic, and the order of what runs at once.

use std::future::Future;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

/// Locks, whether or not a thread panicked with the lock held.
///
/// For state that is consistent between any two of its changes. A panic is reported where it happened (see
/// [`crate::defect`]); poisoning all other threads with it would only hide it.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until the condition is signalled, as [`Condvar::wait`], and takes the lock again as [`lock`] does.
pub fn wait<'a, T>(condition: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    condition.wait(guard).unwrap_or_else(PoisonError::into_inner)
}

/// Polls a future once, and gives the rest of it. What it does before it first waits is done in the order of the calls.
pub async fn begun<F: Future>(future: F) -> impl Future<Output = F::Output> {
    let mut future = Box::pin(future);
    let ended = std::future::poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(result) => Poll::Ready(Some(result)),
        Poll::Pending => Poll::Ready(None),
    });
    let ended = ended.await;
    async move {
        match ended {
            Some(result) => result,
            None => future.await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_with_the_lock_held_does_not_lock_others_out() {
        let mutex = Mutex::new(1);
        let panicked = std::thread::scope(|s| {
            s.spawn(|| {
                let _guard = lock(&mutex);
                std::panic::resume_unwind(Box::new("on purpose"));
            })
            .join()
        });
        assert!(panicked.is_err() && mutex.is_poisoned());
        *lock(&mutex) += 1;
        assert_eq!(*lock(&mutex), 2);
    }
}
