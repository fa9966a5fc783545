//! Runs a target with many seeds: no panic, no hang, no more memory than the input justifies.

use crate::memory;
use crate::random::Random;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Once;
use std::time::Instant;

mod watch;

/// Memory that any case may take, however small its input.
const ANY: usize = 64 << 20;

/// Bytes of memory per byte of input.
const PER_BYTE: usize = 50;

thread_local! {
    /// Where and why this thread panicked last.
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

fn prepare() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if watch::in_case() {
                PANIC.with_borrow_mut(|p| *p = info.to_string());
            } else {
                usual(info);
            }
        }));
        watch::start();
    });
}

/// Runs `case` with `count` seeds; it returns how many bytes its input had. All failures are told together.
///
/// `SAPWOOD_FUZZ_SECONDS=n` runs it for n seconds instead, from a seed of the time of day, which is printed;
/// `SAPWOOD_FUZZ_SEED=n` runs that seed alone.
pub fn run(target: &'static str, count: u64, mut case: impl FnMut(&mut Random) -> usize) {
    prepare();
    let number = |name: &str| std::env::var(name).ok().and_then(|v| v.parse::<u64>().ok());
    let (first, seconds) = match (number("SAPWOOD_FUZZ_SEED"), number("SAPWOOD_FUZZ_SECONDS")) {
        (Some(seed), _) => return report(target, try_one(target, seed, &mut case).into_iter().collect()),
        (None, Some(seconds)) => {
            let now = std::time::UNIX_EPOCH.elapsed().map_or(0, |d| d.as_nanos() as u64);
            println!("{target}: {seconds} s from seed {now}");
            (now, Some(seconds))
        }
        (None, None) => (0, None),
    };
    let began = Instant::now();
    let mut failures = BTreeMap::new();
    for i in 0.. {
        let over = match seconds {
            Some(s) => began.elapsed().as_secs() >= s,
            None => i == count,
        };
        if over {
            break;
        }
        if let Some((what, words)) = try_one(target, first.wrapping_add(i), &mut case) {
            failures.entry(what).or_insert(words);
        }
    }
    report(target, failures.into_iter().collect());
}

/// Runs `case` once with each input, whatever the environment says; `name` tells them apart.
pub fn all<T>(target: &'static str, inputs: &[T], name: impl Fn(&T) -> String, mut case: impl FnMut(&T) -> usize) {
    prepare();
    let mut failures = Vec::new();
    for (i, input) in inputs.iter().enumerate() {
        if let Some((what, words)) = try_one(target, i as u64, &mut |_| case(input)) {
            failures.push((what, format!("{}, {words}", name(input))));
        }
    }
    report(target, failures);
}

fn report(target: &str, failures: Vec<(String, String)>) {
    let words: Vec<String> = failures.into_iter().map(|(_, words)| words).collect();
    assert!(words.is_empty(), "{target} (SAPWOOD_FUZZ_SEED=n repeats case n):\n{}", words.join("\n"));
}

/// Runs one case; on failure gives what it is told apart by, and the words.
fn try_one(target: &'static str, seed: u64, case: &mut impl FnMut(&mut Random) -> usize) -> Option<(String, String)> {
    watch::begin(format!("{target}, seed {seed}"));
    let before = memory::begin(target, seed);
    let done = std::panic::catch_unwind(AssertUnwindSafe(|| case(&mut Random::new(seed))));
    let used = memory::peak().saturating_sub(before);
    watch::end();
    match done {
        Err(_) => {
            let said = PANIC.take();
            let place = said.lines().next().unwrap_or_default().to_owned();
            Some((place, format!("case {seed}: {said}")))
        }
        Ok(input) if used > ANY + PER_BYTE * input => {
            Some(("memory".to_owned(), format!("case {seed}: {used} bytes of memory for {input} of input")))
        }
        Ok(_) => None,
    }
}
