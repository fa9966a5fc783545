/// CPU time of this process so far, all threads, user and system, in seconds; 0 where the system does not tell.
pub fn cpu_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // Safety: the call writes to `time` only, which lives until it returns.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) } != 0;
    if failed { 0.0 } else { time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9 }
}
