//! The files of a trace, and what is read of them: files and reads that are nearly alike behave alike, and are counted exactly.
//!
//! How a job behaves is measured for one size of files and one part that is read, both among 24 numbers in each power of ten, so that
//! millions of reads are some hundred kinds. How many bytes it reads, and how large a file is, is known for each.

use super::datasets::{Dataset, MOST_DATASETS, MOST_FILES};
use crate::profile::Profile;
use crate::trace::Trace;
use sapwood_plan::Basket;
use sapwood_span::{Error, Result, Span, units};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Entries of each file: what is read of it is known to a billionth.
const ENTRIES: u64 = 1_000_000_000;
/// Clusters of each file.
const CLUSTERS: u64 = 100;
/// Numbers that are a tenth apart, as those of resistors (E24, IEC 60063).
const SERIES: [u64; 24] =
    [10, 11, 12, 13, 15, 16, 18, 20, 22, 24, 27, 30, 33, 36, 39, 43, 47, 51, 56, 62, 68, 75, 82, 91];
/// Baskets are not made smaller than this: reading one takes no time beside that of its request.
const SMALLEST: u64 = 10_000;

/// The sizes of the files of a trace: what it tells, or else what the scenario says, unless more was read.
pub(super) fn sizes(trace: &Trace, given: Option<u64>) -> Result<Vec<u64>> {
    let mut most = vec![0u64; trace.sizes.len()];
    for read in &trace.reads {
        if let Some(slot) = most.get_mut(read.file as usize) {
            *slot = (*slot).max(read.bytes().unwrap_or(0));
        }
    }
    let size = |(told, most): (&Option<u64>, u64)| told.or(given.map(|size| size.max(most)));
    let all: Option<Vec<u64>> = trace.sizes.iter().zip(most).map(size).collect();
    all.ok_or_else(|| Error::invalid("is missing: the trace does not tell how large its files are"))
}

/// Makes datasets of the files, by size; returns the dataset of each, and its number there.
pub(super) fn place(
    name: &str,
    sizes: &[u64],
    origins: &[usize],
    datasets: &mut Vec<Dataset>,
) -> Result<Vec<(u32, u32)>> {
    let mut by_size: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    let mut places = Vec::with_capacity(sizes.len());
    for &size in sizes {
        let alike = by_size.entry(rounded(size.max(1))).or_default();
        places.push((rounded(size.max(1)), alike.len() as u32));
        alike.push(size);
    }
    let mut first_file = datasets.last().map_or(0, |d| d.first_file + d.files);
    let mut numbers = BTreeMap::new();
    for (size, exact) in by_size {
        let files = exact.len() as u64;
        if datasets.len() >= MOST_DATASETS || first_file + files > MOST_FILES {
            return Err(Error::invalid("has too many files"));
        }
        numbers.insert(size, datasets.len() as u32);
        datasets.push(Dataset {
            name: format!("{name}, {}", units::bytes(size)),
            files,
            first_file,
            profile: Arc::new(profile(size)),
            sizes: exact.into(),
            origins: origins.into(),
            created: 0,
        });
        first_file += files;
    }
    Ok(places.into_iter().map(|(size, n)| (numbers.get(&size).copied().unwrap_or(0), n)).collect())
}

/// The billionths of the entries of a file that a job reads so that it gets about these bytes of it, as one of the series.
pub(super) fn entries(bytes: u64, size: u64) -> u64 {
    let opening = size - Profile::room(size);
    let (bytes, room) = (bytes.saturating_sub(opening), size.saturating_sub(opening).max(1));
    let part = u128::from(bytes) * u128::from(ENTRIES) / u128::from(room);
    rounded((part as u64).clamp(1, ENTRIES))
}

/// Of all entries of a file.
pub(super) fn part_of_all(entries: u64) -> f64 {
    entries as f64 / ENTRIES as f64
}

/// The number of the series that is nearest; small numbers stay.
pub(super) fn rounded(n: u64) -> u64 {
    let mut scale = 1u64;
    while n / scale >= 100 {
        scale *= 10;
    }
    if n < 10 {
        return n;
    }
    let all = SERIES.iter().chain(&[100]).map(|&m| m.saturating_mul(scale));
    all.min_by_key(|&m| m.abs_diff(n)).unwrap_or(n)
}

/// A file of this size with one branch. Baskets are a cluster of it at most, and end where reads do, of a tenth of the file as of a
/// millionth of it.
fn profile(size: u64) -> Profile {
    let room = Profile::room(size);
    let header = size - room - to_open(size, room);
    let mut ends: Vec<u64> = (1..=CLUSTERS).map(|i| i * (ENTRIES / CLUSTERS)).collect();
    let mut scale = ENTRIES / 100;
    // as long as the first basket, which has ten of these steps, is too large
    while scale >= 10 && u128::from(room) * u128::from(scale) * 10 / u128::from(ENTRIES) > u128::from(SMALLEST) {
        scale /= 10;
        ends.extend(SERIES.map(|m| m * scale));
    }
    ends.sort_unstable();
    ends.dedup();
    let mut baskets: Vec<Basket> = Vec::with_capacity(ends.len());
    let (mut first, mut from) = (0, 0);
    for last in ends {
        let to = (u128::from(room) * u128::from(last) / u128::from(ENTRIES)) as u64;
        if to > from {
            let span = Span::new(header + from, to - from);
            let index = baskets.len() as u32;
            baskets.push(Basket { branch: 0, index, span, first, last, unzipped: span.len.saturating_mul(3) });
            (first, from) = (last, to);
        }
    }
    Profile {
        entries: ENTRIES,
        file_bytes: size,
        clusters: (0..CLUSTERS).map(|i| i * (ENTRIES / CLUSTERS)).collect(),
        branches: vec!["all".to_owned()],
        together: Vec::new(),
        baskets,
        to_open: to_open(size, room),
    }
}

/// Of what is not for baskets, that which is read when a file is opened.
fn to_open(size: u64, room: u64) -> u64 {
    let others = size - room;
    others - Profile::header(size).min(others)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_to_one_that_is_near() {
        let numbers = [0, 1, 9, 10, 14, 97, 99, 100, 104, 106, 2_345_678].map(rounded);
        assert_eq!(numbers, [0, 1, 9, 10, 13, 100, 100, 100, 100, 110, 2_400_000]);
        assert!(rounded(u64::MAX) >= 18_000_000_000_000_000_000);
        assert!((10..100_000).all(|n| rounded(n).abs_diff(n) * 100 <= n * 8 && rounded(rounded(n)) == rounded(n)));
    }

    #[test]
    fn what_a_job_reads_of_a_file_is_what_the_trace_tells() {
        for size in [1, 7, 900, 50_000, 1_000_000, 2_400_000_000, 990_000_000_000_000] {
            let p = profile(size);
            assert!(p.baskets.len() < 320 && !p.baskets.is_empty(), "{size}: {}", p.baskets.len());
            assert_eq!(p.to_open + p.baskets.iter().map(|b| b.span.len).sum::<u64>() + Profile::header(size), size);
            assert!(p.baskets.windows(2).all(|w| w[0].span.end() == w[1].span.start && w[0].last == w[1].first));
            let opening = size - Profile::room(size);
            for bytes in [size, size / 2, size / 3, size / 77, size / 1234, size / 123_456] {
                let entries = entries(bytes, size);
                let read = p.baskets.iter().filter(|b| b.first < entries).map(|b| b.span.len).sum::<u64>() + opening;
                let most = bytes as f64 * 1.08 + (opening + 2 * SMALLEST) as f64;
                assert!(read as f64 >= bytes as f64 * 0.92 - 1.0 && read as f64 <= most, "{size} {bytes}: {read}");
            }
        }
    }
}
