//! Watches a session for silence.
//!
//! `crate::silence` describes what silence may mean and how that is found out.

use super::failure::Broken;
use super::sockets::Endpoint;
use super::state::Core;
use crate::lock;
use crate::silence::{self, CALM, PAUSE, PROBE, SUSPICIOUS};
use sapwood_span::defect::{caught_async, inject};
use sapwood_span::{Error, ErrorKind};
use std::sync::Weak;
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};

/// The next task.
enum Task {
    /// Nothing until a request is sent.
    Rest,
    /// Check again after this time.
    Sleep(Duration),
    /// Test whether the server can be reached.
    Probe,
}

/// Runs as long as the session.
pub(super) async fn run(core: Weak<Core>, way: Endpoint) {
    let watching = async {
        watch(&core, way).await;
        Ok(())
    };
    // without it a silence would never end
    if let (Err(defect), Some(core)) = (caught_async(watching).await, core.upgrade()) {
        core.die(&mut lock(&core.state), Broken::new(defect).finally());
    }
}

async fn watch(core: &Weak<Core>, way: Endpoint) {
    inject::here("xrd watch");
    let mut probe_at: Option<Instant> = None;
    let mut away = false;
    loop {
        let Some(strong) = core.upgrade() else { return };
        let Some((task, silent)) = look(&strong, probe_at) else { return };
        if silent < SUSPICIOUS {
            (probe_at, away) = (None, false);
        }
        match task {
            // New requests and the end of the session notify.
            Task::Rest => strong.busy.notified().await,
            Task::Sleep(time) => {
                drop(strong);
                sleep(time).await;
            }
            Task::Probe => {
                drop(strong);
                let begin = Instant::now();
                let reached = timeout(PROBE, silence::answers(&way.host, way.port)).await.unwrap_or(false);
                if !reached {
                    away = true;
                    sleep(PAUSE.saturating_sub(begin.elapsed())).await;
                    probe_at = Some(Instant::now());
                } else if away {
                    let Some(strong) = core.upgrade() else { return };
                    let mut state = lock(&strong.state);
                    if silence(&strong, &mut state, Instant::now()).is_some_and(|s| s >= SUSPICIOUS) {
                        let what = "the network was down; the server can be reached again";
                        strong.die(&mut state, Broken::away(Error::new(ErrorKind::Io, what)));
                    }
                    away = false;
                } else {
                    probe_at = Some(Instant::now() + CALM);
                }
            }
        }
    }
}

/// How long the longest wait for a byte has lasted; none where nothing is pending.
fn silence(core: &Core, state: &mut super::state::State, now: Instant) -> Option<Duration> {
    let waited = state.session.is_waiting(0);
    state.session.tick(now - core.begin);
    if !waited && let Some(control) = state.links.first_mut() {
        // Output held back on purpose is sent only now.
        control.moved = now;
    }
    core.wake(state);
    let waiting = |link: usize| state.session.is_waiting(link);
    state.links.iter().enumerate().filter(|(link, _)| waiting(*link)).map(|(_, l)| now - l.moved).max()
}

/// The next task, and how long nothing has arrived; none when the session is over.
fn look(core: &Core, probe_at: Option<Instant>) -> Option<(Task, Duration)> {
    let now = Instant::now();
    let mut state = lock(&core.state);
    if state.dead.is_some() {
        return None;
    }
    let limit = core.expire(&mut state, now).map(|at| at.saturating_duration_since(now));
    let silent = silence(core, &mut state, now);
    let resend = state.session.deadline().map(|at| at.saturating_sub(now - core.begin));
    // the other half is for a retry over another session: if that one is silent, too, the report is true
    let longest = state.time_limit / 2;
    if silent.is_some_and(|s| s >= longest) {
        let what = format!("no progress for {:.0?} (progress timeout)", state.time_limit);
        core.die(&mut state, Broken::stalled(Error::new(ErrorKind::Timeout, what)));
        return None;
    }
    let Some(silent) = silent else {
        let next = [limit, resend].into_iter().flatten().min();
        let task = next.map_or(Task::Rest, |time| Task::Sleep(time.max(Duration::from_millis(1))));
        return Some((task, Duration::ZERO));
    };
    if silent >= SUSPICIOUS && probe_at.is_none_or(|at| at <= now) {
        return Some((Task::Probe, silent));
    }
    let starve = core.starve(&mut state, now).map(|at| at.saturating_duration_since(now));
    let probe = match probe_at {
        Some(at) if at > now => at - now,
        _ => SUSPICIOUS.saturating_sub(silent),
    };
    let next =
        [Some(longest - silent), Some(probe), limit, resend, starve].into_iter().flatten().min().unwrap_or(longest);
    Some((Task::Sleep(next.max(Duration::from_millis(1))), silent))
}
