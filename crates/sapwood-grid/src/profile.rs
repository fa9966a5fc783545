//! What a file contains: its branches and where their baskets are. Given in numbers, or taken from a real file.

use crate::scenario::Workload;
use sapwood_engine::{Tree, glob_match};
use sapwood_plan::Basket;
use sapwood_prefetch::{BasketMap, BranchBaskets};
use sapwood_span::{Error, Result, Span};
use serde_json::{Value, json};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

const MOST_BASKETS: u64 = 4_000_000;
const MOST_JSON: u64 = 512 << 20;
/// The name of all branches that a scenario does not list.
const OTHERS: &str = "(other branches)";
/// Bytes in front of the first basket of a given file, if it is not full of branches.
const HEADER: u64 = 1024;
/// Those others are as many branches of the mean size of the listed ones, so that a share can be taken of them, but at most so many.
const MOST_OTHERS: u64 = 100;

/// A file of a dataset: one tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Entries of the tree.
    pub entries: u64,
    /// Bytes of the whole file.
    pub file_bytes: u64,
    /// Entries at which clusters begin.
    pub clusters: Vec<u64>,
    /// Names of branches; of an ntuple, the branch of each column.
    pub branches: Vec<String>,
    /// By branch: others that are read along with it, as the ends of lists are with what is in the lists; empty if there are none.
    pub together: Vec<Vec<u32>>,
    /// All baskets.
    pub baskets: Vec<Basket>,
    /// Bytes at the end of the file that are read before the first basket is requested.
    pub to_open: u64,
}

/// Bytes at the end of a given file that opening it takes: key list, class descriptions, the tree's header.
const TO_OPEN: u64 = 100_000;

/// A branch as a scenario gives it.
#[derive(Clone, Debug)]
pub(crate) struct GivenBranch {
    pub(crate) name: String,
    /// Compressed bytes in the file.
    pub(crate) bytes: u64,
}

impl Profile {
    /// A file in clusters, with a basket for each branch in each; or, with the size of a basket, one without: baskets are written when
    /// they are full, scattered over the file.
    pub(crate) fn given(
        size: u64,
        entries: u64,
        clusters: u64,
        basket: Option<u64>,
        branches: &[GivenBranch],
    ) -> Result<Self> {
        let sum = branches.iter().try_fold(0u64, |sum, b| sum.checked_add(b.bytes));
        let others = sum.and_then(|sum| size.checked_sub(sum));
        let others = others.ok_or_else(|| Error::invalid("the branches have more bytes than file_size"))?;
        let mut names: Vec<&str> = branches.iter().map(|b| b.name.as_str()).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::invalid(format!("there are two branches with the name {}", twice[0])));
        }
        // the file is as large as it is said to be
        let header = HEADER.min(others);
        let tail = TO_OPEN.min((others - header) / 10);
        let others = others - header - tail;
        let pieces = |bytes: u64| match basket {
            Some(each) => bytes.div_ceil(each.max(1)).clamp(1, entries),
            None => clusters,
        };
        let mut all: Vec<GivenBranch> = branches.iter().filter(|b| b.bytes > 0).cloned().collect();
        let mean = (all.iter().map(|b| b.bytes).sum::<u64>() / all.len().max(1) as u64).max(1);
        // many clusters leave no room for many branches
        let room = MOST_OTHERS.min(MOST_BASKETS / 2 / pieces(mean).max(1)).max(1);
        let more = others.div_ceil(mean).clamp(u64::from(others > 0), room.min(others));
        let end = |i: u64| (u128::from(others) * u128::from(i) / u128::from(more.max(1))) as u64;
        all.extend((0..more).map(|i| GivenBranch { name: OTHERS.to_owned(), bytes: end(i + 1) - end(i) }));
        let count = all.iter().fold(0u64, |n, b| n.saturating_add(pieces(b.bytes)));
        if count > MOST_BASKETS {
            return Err(Error::invalid(format!("a file has more than {MOST_BASKETS} baskets")));
        }
        let mut baskets = Vec::new();
        for (branch, given) in all.iter().enumerate() {
            let n = pieces(given.bytes);
            let part = |i: u64, of: u64| (u128::from(of) * u128::from(i) / u128::from(n)) as u64;
            for i in 0..n {
                let (first, last) = (part(i, entries), part(i + 1, entries));
                let len = (part(i + 1, given.bytes) - part(i, given.bytes)).max(1);
                let span = Span::new(0, len);
                baskets.push(Basket { branch: branch as u32, index: i as u32, span, first, last, unzipped: len * 3 });
            }
        }
        // a basket is written when its last entry is
        baskets.sort_by_key(|b| (b.last, b.branch));
        let mut offset = header;
        for basket in &mut baskets {
            basket.span = Span::new(offset, basket.span.len);
            offset += basket.span.len;
        }
        let starts = if basket.is_some() { Vec::new() } else { (0..clusters).collect() };
        let clusters = starts.iter().map(|i| (u128::from(entries) * u128::from(*i) / u128::from(clusters)) as u64);
        Ok(Self {
            entries,
            file_bytes: offset + tail,
            clusters: clusters.collect(),
            branches: all.into_iter().map(|b| b.name).collect(),
            together: Vec::new(),
            baskets,
            to_open: TO_OPEN.min(offset + tail),
        })
    }

    /// So many bytes of a file of this size are in front of its first basket.
    pub(crate) fn header(size: u64) -> u64 {
        HEADER.min(size / 10)
    }

    /// So many bytes of a file of this size are left for branches.
    pub(crate) fn room(size: u64) -> u64 {
        let rest = size - Self::header(size);
        rest - TO_OPEN.min(rest / 10)
    }

    /// The first of these patterns that no branch fits.
    pub(crate) fn unmatched<'a>(&self, patterns: &'a [String]) -> Option<&'a str> {
        let all = patterns.iter().map(String::as_str);
        all.into_iter().find(|p| !self.branches.iter().any(|b| glob_match(p, b)))
    }

    /// The numbers of the branches that fit one of these patterns.
    pub(crate) fn numbers<'a>(&'a self, patterns: &'a [String]) -> impl Iterator<Item = u32> + 'a {
        let fits = move |name: &String| patterns.iter().any(|p| glob_match(p, name));
        (0..).zip(&self.branches).filter(move |(_, name)| fits(name)).map(|(number, _)| number)
    }

    /// The baskets as a proxy knows them that fetches ahead; none if they are too many for it.
    pub(crate) fn map(&self) -> Option<Arc<BasketMap>> {
        let mut baskets = vec![Vec::new(); self.branches.len()];
        for basket in &self.baskets {
            if let Some(of_branch) = baskets.get_mut(basket.branch as usize) {
                of_branch.push((basket.first, basket.span));
            }
        }
        let described = self.branches.iter().zip(baskets).enumerate().map(|(i, (path, baskets))| {
            let counter = self.together.get(i).and_then(|with| with.first()).map(|&with| with as usize);
            BranchBaskets { path, counter, baskets }
        });
        BasketMap::new("", self.entries, described).map(Arc::new)
    }

    /// The bytes that a workload reads of a file: to open it, and of the baskets of its branches.
    pub(crate) fn read_by(&self, workload: &Workload) -> u64 {
        let chosen = self.chosen(&workload.branches, workload.share);
        let entries = workload.entries_of(self.entries);
        let is_read = |b: &&Basket| b.first < entries && chosen.get(b.branch as usize).is_some_and(|&c| c);
        self.baskets.iter().filter(is_read).fold(self.to_open, |sum, b| sum.saturating_add(b.span.len))
    }

    /// Which branches fit a pattern; or so many of all that they have this share of the bytes, evenly spread.
    pub(crate) fn chosen(&self, patterns: &[String], share: Option<f64>) -> Vec<bool> {
        let Some(share) = share else {
            let mut chosen = vec![false; self.branches.len()];
            for number in self.numbers(patterns) {
                let along = self.together.get(number as usize).into_iter().flatten();
                for &also in along.chain([&number]) {
                    if let Some(slot) = chosen.get_mut(also as usize) {
                        *slot = true;
                    }
                }
            }
            return chosen;
        };
        let mut sizes = vec![0u64; self.branches.len()];
        for basket in &self.baskets {
            if let Some(size) = sizes.get_mut(basket.branch as usize) {
                *size += basket.span.len;
            }
        }
        // each branch is taken that brings what is taken nearer to the share of the bytes so far
        let (mut seen, mut taken) = (0.0, 0.0);
        let take = |&size: &u64| {
            let size = size as f64;
            seen += size;
            let take = size > 0.0 && taken + size / 2.0 <= seen * share * (1.0 + 1e-12);
            taken += if take { size } else { 0.0 };
            take
        };
        let mut chosen: Vec<bool> = sizes.iter().map(take).collect();
        // a share is never nothing
        if share > 0.0 && !chosen.contains(&true) {
            let smallest = (0..sizes.len()).filter(|&i| sizes[i] > 0).min_by_key(|&i| sizes[i]);
            if let Some(slot) = smallest.and_then(|i| chosen.get_mut(i)) {
                *slot = true;
            }
        }
        chosen
    }

    /// The baskets of a real tree, or the pages of an ntuple.
    ///
    /// # Errors
    /// `Unsupported` when it has none in its file: it is empty.
    pub fn of_tree(tree: &Tree) -> Result<Self> {
        let file = tree.file();
        let stored = sapwood_perf::stored_parts(tree.header());
        if stored.parts.is_empty() || tree.entries() == 0 {
            return Err(Error::unsupported("the tree has no baskets in this file").in_file(file.url()));
        }
        Ok(Self {
            entries: tree.entries(),
            file_bytes: file.size(),
            clusters: tree.clusters().to_vec(),
            branches: stored.branches.iter().map(|&b| tree.name_of(b)).collect(),
            together: if stored.together.iter().all(Vec::is_empty) { Vec::new() } else { stored.together },
            baskets: stored.parts.into_iter().filter(|b| b.last <= tree.entries()).collect(),
            to_open: sapwood_engine::bytes_to_open(tree),
        })
    }

    /// Reads a file that [`Self::to_json`] made.
    ///
    /// # Errors
    /// That it cannot be read, or is something else.
    pub fn load(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let opened = |e| Error::io("cannot be opened", e).in_file(&name);
        // a pipe would wait for somebody who writes
        if !std::fs::metadata(path).map_err(opened)?.is_file() {
            return Err(Error::invalid("is not a file").in_file(&name));
        }
        let file = std::fs::File::open(path).map_err(opened)?;
        let mut text = String::new();
        let read = file.take(MOST_JSON + 1).read_to_string(&mut text);
        read.map_err(|e| Error::io("cannot be read", e).in_file(&name))?;
        if text.len() as u64 > MOST_JSON {
            return Err(Error::invalid("is too large for a profile").in_file(&name));
        }
        Self::from_json(&text).map_err(|e| e.in_file(&name))
    }

    /// The profile of this text.
    ///
    /// # Errors
    /// `Invalid` when it is no profile.
    pub fn from_json(text: &str) -> Result<Self> {
        let wrong = |what: &str| Error::invalid(format!("is not a profile of `sapwood simulate`: {what}"));
        let value: Value = serde_json::from_str(text).map_err(|e| wrong(&e.to_string()))?;
        let number = |v: &Value, key: &str| v.get(key).and_then(Value::as_u64).ok_or_else(|| wrong(key));
        let list = |v: &Value, key: &str| v.get(key).and_then(Value::as_array).cloned().ok_or_else(|| wrong(key));
        let entries = number(&value, "entries")?;
        let file_bytes = number(&value, "file_bytes")?;
        let clusters = list(&value, "clusters")?.iter().map(Value::as_u64).collect::<Option<Vec<u64>>>();
        let clusters = clusters.filter(|c| c.is_sorted()).ok_or_else(|| wrong("clusters"))?;
        let (mut branches, mut baskets, mut together) = (Vec::new(), Vec::new(), Vec::new());
        for (number, branch) in list(&value, "branches")?.iter().enumerate() {
            let name = branch.get("name").and_then(Value::as_str).ok_or_else(|| wrong("name"))?;
            branches.push(name.to_owned());
            let with = branch.get("with").map(|v| v.as_array().ok_or_else(|| wrong("with"))).transpose()?;
            let with = with.into_iter().flatten().map(|n| n.as_u64().and_then(|n| u32::try_from(n).ok()));
            together.push(with.collect::<Option<Vec<u32>>>().ok_or_else(|| wrong("with"))?);
            for (index, basket) in list(branch, "baskets")?.iter().enumerate() {
                let numbers = basket.as_array().map(|a| a.iter().map(Value::as_u64).collect::<Option<Vec<u64>>>());
                let Some(Some([offset, len, first, last, unzipped])) = numbers.as_ref().map(|n| n.as_deref()) else {
                    return Err(wrong("baskets"));
                };
                let (offset, len, first, last) = (*offset, *len, *first, *last);
                if len == 0 || first >= last || last > entries || offset.checked_add(len).is_none_or(|e| e > file_bytes)
                {
                    return Err(wrong(&format!("basket {index} of {name} is outside the file")));
                }
                let (branch, index) = (number as u32, index as u32);
                baskets.push(Basket { branch, index, span: Span::new(offset, len), first, last, unzipped: *unzipped });
                if baskets.len() as u64 > MOST_BASKETS {
                    return Err(wrong("too many baskets"));
                }
            }
        }
        if entries == 0 || baskets.is_empty() {
            return Err(wrong("it has no entries"));
        }
        if let Some((one, other)) = shared_entries(&baskets) {
            let name = branches.get(one.branch as usize).map_or("", String::as_str);
            let (a, b, entry) = (one.index, other.index, other.first);
            return Err(wrong(&format!("baskets {a} and {b} of {name} both contain entry {entry}")));
        }
        if together.iter().flatten().any(|&n| n as usize >= branches.len()) {
            return Err(wrong("with: there is no such branch"));
        }
        if together.iter().all(Vec::is_empty) {
            together = Vec::new();
        }
        let to_open = number(&value, "bytes_to_open")?.min(file_bytes);
        Ok(Self { entries, file_bytes, clusters, branches, together, baskets, to_open })
    }

    /// As JSON, for a file that scenarios name.
    pub fn to_json(&self) -> Value {
        let branch = |(number, name): (usize, &String)| {
            let mine = self.baskets.iter().filter(|b| b.branch as usize == number);
            let baskets: Vec<Value> =
                mine.map(|b| json!([b.span.start, b.span.len, b.first, b.last, b.unzipped])).collect();
            let with = self.together.get(number).filter(|with| !with.is_empty());
            match with {
                Some(with) => json!({ "name": name, "with": with, "baskets": baskets }),
                None => json!({ "name": name, "baskets": baskets }),
            }
        };
        json!({
            "profile": 1,
            "entries": self.entries,
            "file_bytes": self.file_bytes,
            "clusters": self.clusters,
            "bytes_to_open": self.to_open,
            "branches": self.branches.iter().enumerate().map(branch).collect::<Vec<_>>(),
        })
    }
}

/// Two baskets of a branch that have an entry in common. The pages of a column in a cluster of an ntuple have all of its entries.
fn shared_entries(baskets: &[Basket]) -> Option<(&Basket, &Basket)> {
    let mut sorted: Vec<&Basket> = baskets.iter().collect();
    sorted.sort_by_key(|b| (b.branch, b.first));
    sorted.windows(2).find_map(|pair| match pair {
        [a, b] if a.branch == b.branch && a.last > b.first && (a.first, a.last) != (b.first, b.last) => Some((*a, *b)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn baskets_with_an_entry_in_common_are_refused() {
        let text = |first: u64| {
            let branch = json!({ "name": "a", "baskets": [[200, 100, 0, 60, 300], [300, 100, first, 100, 300]] });
            let other = json!({ "name": "b", "baskets": [[400, 100, 0, 100, 300]] });
            let head = json!({ "entries": 100, "file_bytes": 1000, "clusters": [0], "bytes_to_open": 10 });
            let mut profile = head;
            profile["branches"] = json!([branch, other]);
            profile.to_string()
        };
        assert!(Profile::from_json(&text(60)).is_ok());
        let error = Profile::from_json(&text(50)).unwrap_err().to_string();
        assert!(error.contains("baskets 0 and 1 of a both contain entry 50"), "{error}");
        // pages of one cluster
        let pages = text(60).replace("[300,100,60,100,300]", "[300,100,0,60,300]");
        assert_eq!(Profile::from_json(&pages).unwrap().baskets.len(), 3);
    }

    fn two() -> Vec<GivenBranch> {
        [("a", 4000), ("b", 2000)].map(|(name, bytes)| GivenBranch { name: name.to_owned(), bytes }).to_vec()
    }

    #[test]
    fn the_given_bytes_are_in_the_baskets() {
        for basket in [None, Some(300)] {
            let p = Profile::given(10_000, 100, 5, basket, &two()).unwrap();
            let of = |n: u32| p.baskets.iter().filter(|b| b.branch == n).map(|b| b.span.len).sum::<u64>();
            // of the rest a part is the header, and a part what is read when a file is opened
            assert_eq!([of(0), of(1), of(2), p.file_bytes], [4000, 2000, 2679, 10_000]);
            assert!(p.baskets.windows(2).all(|w| w[0].span.end() <= w[1].span.start));
            assert_eq!(Profile::from_json(&p.to_json().to_string()).unwrap().to_json(), p.to_json());
        }
    }

    #[test]
    fn branches_are_chosen_by_name_or_share() {
        let p = Profile::given(10_000, 100, 5, None, &two()).unwrap();
        assert_eq!(p.chosen(&["a".to_owned()], None), [true, false, false]);
        assert_eq!(p.chosen(&[], Some(0.5)), [true, false, false]);
        assert_eq!(p.chosen(&[], Some(1.0)), [true, true, true]);
        assert_eq!(p.chosen(&[], Some(0.001)), [false, true, false], "never nothing");
        assert_eq!(p.chosen(&[], Some(0.0)), [false, false, false]);
        assert_eq!(p.unmatched(&["*".to_owned(), "c*".to_owned()]), Some("c*"));
        // the first of three columns, the ends of a list, is read along with what is in the list
        let p = Profile { together: vec![vec![], vec![0], vec![]], ..p };
        assert_eq!(p.chosen(&["b".to_owned()], None), [true, true, false]);
        assert_eq!(p.chosen(&["a".to_owned()], None), [true, false, false]);
        let text = p.to_json().to_string();
        let back = Profile::from_json(&text).unwrap();
        assert_eq!((&back.together, back.to_json()), (&p.together, p.to_json()));
        for with in ["[3]", "[-1]", "0", "[\"a\"]"] {
            assert!(Profile::from_json(&text.replace("\"with\":[0]", &format!("\"with\":{with}"))).is_err(), "{with}");
        }
    }

    #[test]
    fn a_share_is_one_of_the_bytes_of_the_file() {
        // most of the file is in branches that the scenario does not list
        let listed = [GivenBranch { name: "a".to_owned(), bytes: 1_000_000 }];
        let p = Profile::given(100_000_000, 100, 5, None, &listed).unwrap();
        assert_eq!(p.file_bytes, 100_000_000);
        for share in [0.01, 0.1, 0.3, 0.9] {
            let chosen = p.chosen(&[], Some(share));
            let bytes: u64 = p.baskets.iter().filter(|b| chosen[b.branch as usize]).map(|b| b.span.len).sum();
            assert!((bytes as f64 / 1e8 - share).abs() < 0.011, "{share}: {bytes}");
        }
        // as many clusters as a scenario may give
        let p = Profile::given(100_000_000_000, 1 << 30, 100_000, None, &listed).unwrap();
        assert!(p.branches.len() > 10, "{}", p.branches.len());
        let twice = [&listed[..], &listed[..]].concat();
        assert!(Profile::given(100_000_000, 100, 5, None, &twice).unwrap_err().to_string().contains("two branches"));
    }

    #[test]
    fn what_is_no_profile_is_refused() {
        let good = Profile::given(10_000, 100, 5, None, &two()).unwrap().to_json().to_string();
        let wrong =
            [("\"entries\":100", "\"entries\":10"), ("\"branches\"", "\"branch\""), ("\"bytes_to_open\"", "\"o\"")];
        for (from, to) in wrong {
            assert!(good.contains(from));
            assert!(Profile::from_json(&good.replacen(from, to, 1)).is_err(), "{to}");
        }
        assert!(Profile::given(100, 100, 5, None, &two()).is_err());
    }
}
