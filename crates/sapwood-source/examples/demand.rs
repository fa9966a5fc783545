//! How long a read of 100 bytes takes, alone and with 8 MB of prefetching in flight: `demand URL`.
//!
//! The file must be larger than 24 MB. Prints JSON: seconds of the connection's round trip, of the small read alone
//! (the median of some), and during the large one, started at several moments of it.

use bytes::Bytes;
use sapwood_source::{Sink, Source, SourceOptions, open};
use sapwood_span::{Result, Span};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

const BULK: u64 = 8 << 20;
const MEGABYTE: u64 = 1 << 20;

/// Counts received bytes.
#[derive(Default)]
struct Count(AtomicU64);

impl Sink for Count {
    fn part(&self, _index: usize, _bytes: Bytes) {}

    fn moved(&self, bytes: u64) {
        self.0.fetch_add(bytes, Relaxed);
    }
}

async fn small(source: &Arc<dyn Source>, at: u64) -> Result<f64> {
    let begin = Instant::now();
    Arc::clone(source).fetch(vec![Span::new(at, 100)], Arc::new(Count::default())).await?;
    Ok(begin.elapsed().as_secs_f64())
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

async fn measure(url: &str, handle: &tokio::runtime::Handle) -> Result<()> {
    let source = open(url, &SourceOptions::default(), handle).await?.source;
    // connections opened ahead are established by then
    let round_trip = source.limits().round_trip.unwrap_or_default();
    tokio::time::sleep(round_trip * 4).await;
    let mut alone = Vec::new();
    for i in 0..5 {
        alone.push(small(&source, i * MEGABYTE).await?);
    }
    let mut beside = Vec::new();
    for after in [0, 1 << 14, MEGABYTE, 4 * MEGABYTE] {
        let count = Arc::new(Count::default());
        let far = Arc::clone(&source);
        let bulk = tokio::spawn(far.fetch(vec![Span::new(8 * MEGABYTE, BULK)], count.clone()));
        while count.0.load(Relaxed) < after {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        beside.push(small(&source, 6 * MEGABYTE).await?);
        let came = count.0.load(Relaxed);
        assert!(came < BULK, "the large read had ended");
        let _ = bulk.await;
    }
    let worst = beside.iter().copied().fold(0.0, f64::max);
    println!(
        "RESULT {{\"round_trip\": {}, \"alone\": {}, \"beside\": {beside:?}, \"seconds\": {worst}}}",
        round_trip.as_secs_f64(),
        median(alone)
    );
    Ok(())
}

fn main() -> std::process::ExitCode {
    let Some(url) = std::env::args().nth(1) else {
        eprintln!("usage: demand URL");
        return 2.into();
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match runtime.map(|rt| rt.block_on(measure(&url, rt.handle()))) {
        Ok(Ok(())) => std::process::ExitCode::SUCCESS,
        Ok(Err(error)) => {
            eprintln!("{error}");
            1.into()
        }
        Err(error) => {
            eprintln!("{error}");
            1.into()
        }
    }
}
