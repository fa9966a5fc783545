//! `--entries`: which entries a command reads.

use crate::failure::Failure;
use crate::target::Target;
use sapwood::query::Entries;
use sapwood::raw_text::path_of;
use sapwood::{Chain, Counted, EntryList, EntryListObject, Instances, OpenOptions, Tree};
use std::sync::Arc;

/// How many numbers a list of entries may hold.
const MOST_NUMBERS: u64 = 256 << 20;

/// The entries of a chain that `--entries` names: those of a list that ROOT made, as `FILE:NAME`; the numbers in a file;
/// or, divided by commas, numbers and `START:STOP` as slices of Python's. All when nothing is named. A list may have instances of entries besides. All files are opened
/// where entries are counted from the end, or where a list is for several of them.
///
/// # Errors
/// `Usage` when the text makes no sense, what reading a list says, and what counting says.
pub(crate) fn chosen(text: Option<&str>, chain: &Chain, first: &Tree) -> Result<(Entries, Instances), Failure> {
    let alone = chain.files().len() == 1;
    if let Some(list) = text.map(|text| stored(text, first.file().options())).transpose()?.flatten() {
        // only where a list tells trees apart is it to be known where they begin
        let trees = if alone || list.counts_through() { vec![Counted::new(first, 0)] } else { chain.counted()? };
        let (list, instances) = list.of_trees(&trees)?;
        return Ok((Entries::List(Arc::new(list)), instances));
    }
    let total = match text {
        _ if alone => Some(first.entries()),
        Some(text) if text.contains('-') && !path_of(text).exists() => Some(chain.entries()?),
        _ => None,
    };
    Ok((entries(text, total).map_err(Failure::Usage)?, Instances::default()))
}

/// The entry list that a text names, if it names a file and what is in it.
fn stored(text: &str, options: &OpenOptions) -> Result<Option<EntryListObject>, Failure> {
    let target = Target::parse(text);
    let is_file = target.url.contains("://") || path_of(&target.url).is_file();
    match &target.object {
        Some(name) if is_file => Ok(Some(EntryListObject::read(&target.open(options)?, name)?)),
        _ => Ok(None),
    }
}

/// Numbers and slices: either end may be left out, negative ones count from the end, and the range is limited to the entries that exist; or a file
/// with numbers. `total` is how many entries there are, where that is known.
fn entries(text: Option<&str>, total: Option<u64>) -> Result<Entries, String> {
    let Some(text) = text else { return Ok(Entries::ALL) };
    if path_of(text).is_file() {
        return listed(text);
    }
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let ranges = parts.iter().map(|part| slice(text, part, total)).collect::<Result<Vec<_>, _>>()?;
    match ranges.as_slice() {
        [one] => Ok(Entries::Range(one.clone())),
        _ => Ok(Entries::List(Arc::new(EntryList::from_ranges(ranges)))),
    }
}

fn slice(text: &str, part: &str, total: Option<u64>) -> Result<std::ops::Range<u64>, String> {
    let bad = || {
        if text.contains(char::is_alphabetic) {
            return format!("--entries {text}: no such file, and not entry numbers");
        }
        format!(
            "--entries {text}: write START:STOP, as in 0:1000, 5000: or -100:, numbers, or a comma-separated list of both; \
             the name of a file with numbers; or FILE.root:LIST for an entry list written by ROOT"
        )
    };
    // beyond the end is cut later; in front of the beginning is none
    let place = |part: &str| match part.strip_prefix('-') {
        Some(back) => back.parse::<u64>().map(|n| total.and_then(|t| t.checked_sub(n))).map_err(|_| bad()),
        None => part.parse::<u64>().map(Some).map_err(|_| bad()),
    };
    let most = total.unwrap_or(u64::MAX);
    let Some((start, stop)) = part.split_once(':') else {
        return match place(part)? {
            Some(entry) if entry < most => Ok(entry..entry + 1),
            _ => Err(format!("--entries {text}: the tree has {most} entries, counted from 0")),
        };
    };
    let end = |part: &str, otherwise: u64| match part.trim() {
        "" => Ok(otherwise),
        digits => place(digits).map(|n| n.unwrap_or(0)),
    };
    let has_stop = !stop.trim().is_empty();
    let (start, stop) = (end(start, 0)?, end(stop, most)?);
    // without STOP, what begins behind the last entry is empty, as Python's slices are
    if has_stop && start > stop {
        return Err(format!("--entries {text}: the range is empty: START is after STOP"));
    }
    Ok(start.min(most)..stop.min(most))
}

/// The numbers in a file, divided by spaces, commas or line ends; `#` begins a remark.
fn listed(path: &str) -> Result<Entries, String> {
    let failed = |why: &dyn std::fmt::Display| format!("--entries {path}: {why}");
    let size = std::fs::metadata(path_of(path).as_ref()).map_err(|e| failed(&e))?.len();
    if size > MOST_NUMBERS * 8 {
        return Err(failed(&"the file is too large for an entry list"));
    }
    let bytes = std::fs::read(path_of(path).as_ref()).map_err(|e| failed(&e))?;
    if bytes.starts_with(b"root") {
        return Err(format!("--entries {path}: this is a ROOT file: specify the entry list in it, as in {path}:NAME"));
    }
    let text = String::from_utf8(bytes).map_err(|e| failed(&e))?;
    let mut numbers = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        for word in line.split([' ', '\t', ',']).filter(|w| !w.is_empty()) {
            let n = word.parse::<u64>();
            numbers.push(n.map_err(|_| failed(&format!("line {}: {word} is not an entry number", i + 1)))?);
        }
    }
    Ok(Entries::List(Arc::new(EntryList::from_numbers(numbers))))
}

/// Parts of a range of entries along the clusters of the first file, each twice as many clusters as the one before: who
/// stops early has not read far ahead, and who does not stop has soon asked for all.
pub(crate) fn growing(clusters: &[u64], chosen: &Entries) -> Vec<Entries> {
    let Entries::Range(range) = chosen else { return vec![chosen.clone()] };
    let mut out = Vec::new();
    let mut start = range.start;
    let mut step = 1;
    while start < range.end {
        let next = clusters.partition_point(|&c| c <= start);
        let stop = clusters.get(next + step - 1).copied().unwrap_or(range.end).clamp(start + 1, range.end);
        out.push(Entries::Range(start..stop));
        start = stop;
        step *= 2;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_entries() {
        let entries = |text, total| entries(text, Some(total));
        let range = |r: std::ops::Range<u64>| Ok(Entries::Range(r));
        assert_eq!(entries(None, 10), Ok(Entries::ALL));
        assert_eq!(entries(Some("2:5"), 10), range(2..5));
        assert_eq!(entries(Some("2:"), 10), range(2..10));
        assert_eq!(entries(Some(":50"), 10), range(0..10));
        assert_eq!(entries(Some("20:30"), 10), range(10..10));
        assert_eq!((entries(Some("20:"), 10), entries(Some("20:15"), 10).is_err()), (range(10..10), true));
        assert_eq!(entries(Some("-3:"), 10), range(7..10));
        assert_eq!(entries(Some("-30: -2"), 10), range(0..8));
        assert_eq!((entries(Some("5"), 10), entries(Some("-1"), 10)), (range(5..6), range(9..10)));
        for text in ["", "10", "-11", "--1", "5:2", "a:b", "-1:3", "1:2:3", "1,,2", "1,x"] {
            assert!(entries(Some(text), 10).is_err(), "{text}");
        }
        let list = EntryList::from_numbers(vec![1, 4, 5, 6, 9]);
        assert_eq!(entries(Some("4:7, -1,1"), 10), Ok(Entries::List(Arc::new(list))));
        assert_eq!(super::entries(Some("5:"), None), Ok(Entries::Range(5..u64::MAX)));
    }

    #[test]
    fn entries_from_a_file() {
        let path = std::env::temp_dir().join(format!("sapwood-entries-{}.txt", std::process::id()));
        let name = path.to_str().unwrap();
        std::fs::write(&path, "3 # three\n5,4\n\n 1000\t7\n").unwrap();
        let list = EntryList::from_numbers(vec![3, 4, 5, 7, 1000]);
        assert_eq!(entries(Some(name), Some(10)), Ok(Entries::List(Arc::new(list))));
        std::fs::write(&path, "3\nx\n").unwrap();
        assert!(entries(Some(name), None).unwrap_err().contains("line 2: x is not an entry number"));
        std::fs::write(&path, "root\0\0").unwrap();
        assert!(entries(Some(name), None).unwrap_err().contains("specify the entry list"));
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn parts_double_along_the_clusters() {
        let parts = |clusters: &[u64], range: std::ops::Range<u64>| -> Vec<(u64, u64)> {
            let parts = growing(clusters, &Entries::Range(range)).into_iter();
            let ends = |part| match part {
                Entries::Range(r) => (r.start, r.end),
                Entries::List(_) => panic!("ranges stay ranges"),
            };
            parts.map(ends).collect()
        };
        let clusters = [0, 10, 20, 30, 40, 50, 60, 70, 75];
        assert_eq!(parts(&clusters, 0..75), [(0, 10), (10, 30), (30, 70), (70, 75)]);
        assert_eq!(parts(&clusters, 5..35), [(5, 10), (10, 30), (30, 35)]);
        assert_eq!(parts(&[0, 7], 0..7), [(0, 7)]);
        assert_eq!(parts(&[], 3..9), [(3, 9)]);
        assert_eq!(parts(&clusters, 5..5), []);
    }
}
