//! Ctrl-C: the first asks a scan to stop, the second (or the first, when no scan runs) ends the process.

use sapwood::{Error, ErrorKind, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

/// What a shell reports for a process that SIGINT ended: 128 and the number of the signal.
const STATUS: i32 = 128 + SIGINT;

/// How often a server looks whether it has been asked to stop.
const LOOK: Duration = Duration::from_millis(100);

/// How long requests in progress may continue when a server has been asked to stop.
pub(crate) const LAST_REQUESTS: Duration = Duration::from_secs(20);

/// Waits until a server is asked to stop, and calls `meanwhile` regularly. To be stopped is how servers end: their status is 0.
pub(crate) fn wait_for(stop: &AtomicBool, mut meanwhile: impl FnMut()) {
    while !stop.load(Ordering::SeqCst) {
        meanwhile();
        std::thread::sleep(LOOK);
    }
}

/// The signal that asked to stop.
static SIGNAL: LazyLock<Arc<AtomicUsize>> = LazyLock::new(|| Arc::new(AtomicUsize::new(SIGINT as usize)));

/// The exit status of a process that a signal asked to stop, and that did.
pub(crate) fn status() -> u8 {
    128 + SIGNAL.load(Ordering::SeqCst) as u8
}

/// Whether SIGHUP is ignored since before this process began: `nohup` asks for that, and it stays so. SIGINT, which is
/// ignored in the background of a script, ends a command all the same: it is how servers there are ended.
fn ignores_hangup() -> bool {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return false };
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (SIGHUP - 1) & 1 == 1
}

/// The state of Ctrl-C in this process.
pub(crate) struct Interrupt {
    pressed: Arc<AtomicBool>,
    immediate: Arc<AtomicBool>,
}

impl Interrupt {
    /// Takes over SIGINT; until [`Interrupt::defer`] it ends the process at once with status 130.
    ///
    /// # Errors
    /// When the system refuses the handlers.
    pub(crate) fn install() -> Result<Self> {
        let refused = |e| Error::io("cannot handle Ctrl-C", e);
        let pressed = Arc::new(AtomicBool::new(false));
        let immediate = Arc::new(AtomicBool::new(true));
        // handlers run in the order of registration: a second Ctrl-C finds the flag set by the first
        flag::register_conditional_shutdown(SIGINT, STATUS, immediate.clone()).map_err(refused)?;
        flag::register_conditional_shutdown(SIGINT, STATUS, pressed.clone()).map_err(refused)?;
        flag::register(SIGINT, pressed.clone()).map_err(refused)?;
        // a limit on the size of files is an error of the write that meets it, not the end of the process
        flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false))).map_err(refused)?;
        Ok(Self { pressed, immediate })
    }

    /// From here on the first Ctrl-C sets the flag that this returns, for a scan to obey.
    pub(crate) fn defer(&self) -> Arc<AtomicBool> {
        self.immediate.store(false, Ordering::SeqCst);
        self.pressed.clone()
    }

    /// The same for work that leaves something behind when it is cut off: SIGTERM and SIGHUP (unless it is ignored)
    /// set the flag as well.
    ///
    /// # Errors
    /// When the system refuses the handler.
    pub(crate) fn defer_all(&self) -> Result<Arc<AtomicBool>> {
        let refused = |e| Error::io("cannot handle SIGTERM", e);
        let hangup = Some(SIGHUP).filter(|_| !ignores_hangup());
        for signal in [SIGTERM].into_iter().chain(hangup) {
            flag::register_usize(signal, SIGNAL.clone(), signal as usize).map_err(refused)?;
            flag::register(signal, self.pressed.clone()).map_err(refused)?;
        }
        Ok(self.defer())
    }

    /// An error when Ctrl-C was pressed.
    pub(crate) fn check(&self) -> Result<()> {
        if self.pressed.load(Ordering::SeqCst) {
            return Err(Error::new(ErrorKind::Interrupted, "interrupted"));
        }
        Ok(())
    }
}
