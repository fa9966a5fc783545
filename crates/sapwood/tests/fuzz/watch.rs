//! Ends the process when a case hangs, whatever the test harness waits for.

use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

/// A case that computes for so long hangs: time of the processor, where the system tells it, for a busy machine makes
/// any case wait.
const COMPUTES: Duration = Duration::from_secs(30);

/// A case that has not ended after so long hangs, whatever it does.
const LASTS: Duration = Duration::from_secs(1200);

/// The cases under way.
static RUNNING: LazyLock<Mutex<HashMap<ThreadId, Case>>> = LazyLock::new(Mutex::default);

struct Case {
    name: String,
    since: Instant,
    /// Where Linux tells how long the case's thread has computed.
    told: Option<PathBuf>,
    before: Option<Duration>,
}

impl Case {
    fn hangs(&self) -> bool {
        let computed = self.told.as_ref().and_then(computed).zip(self.before);
        let computed = computed.map_or_else(|| self.since.elapsed(), |(now, before)| now.saturating_sub(before));
        computed > COMPUTES || self.since.elapsed() > LASTS
    }
}

/// How long a thread has computed: the first number of its statistics.
fn computed(told: &PathBuf) -> Option<Duration> {
    let words = std::fs::read_to_string(told).ok()?;
    words.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

/// Whether this thread is in a case.
pub fn in_case() -> bool {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner).contains_key(&std::thread::current().id())
}

/// This thread begins a case.
pub fn begin(name: String) {
    let told = std::fs::read_link("/proc/thread-self").ok().map(|t| PathBuf::from("/proc").join(t).join("schedstat"));
    let before = told.as_ref().and_then(computed);
    let case = Case { name, since: Instant::now(), told, before };
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner).insert(std::thread::current().id(), case);
}

/// This thread's case is over.
pub fn end() {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner).remove(&std::thread::current().id());
}

/// Looks every second, for ever.
pub fn start() {
    std::thread::spawn(|| {
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(case) = running.values().find(|case| case.hangs()) {
                // past the test harness, which keeps what its threads print for later
                let _ = writeln!(std::io::stderr(), "\n{}: hangs after {:?}", case.name, case.since.elapsed());
                std::process::abort();
            }
        }
    });
}
