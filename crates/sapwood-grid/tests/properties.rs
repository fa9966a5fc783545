//! What must hold whatever the scenario: bytes are conserved, no link carries more than it can, chance repeats, and where everything is
//! local it does not matter who decides.

use proptest::prelude::*;
use sapwood_grid::{
    Access, Copy, Grid, Job, NewDataset, Outcome, Placement, Policy, Replica, Report, SHIPPED, Scenario, simulate,
    simulate_with,
};
use std::path::Path;

/// Two sites with cores around one with the files.
fn scenario(changes: &[(&str, &str)]) -> Scenario {
    let mut text = "
duration = '1d'
check_jobs = 0
[[site]]
name = 'a'
cores = 8
disk = '1 TB'
proxy = '200 GB'
[[site]]
name = 'b'
cores = 4
disk = '200 GB'
proxy = '100 GB'
parent = 'a'
[[site]]
name = 'origin'
[[link]]
from = 'a'
to = 'origin'
rtt = '20ms'
bandwidth = '400 Mbit/s'
[[link]]
from = 'b'
to = 'a'
rtt = '5ms'
bandwidth = '200 Mbit/s'
[[dataset]]
name = 'd'
count = 5
files = 20
site = 'origin'
file_size = '1 GB'
entries = 100_000
[[workload]]
name = 'some'
site = ['a', 'b']
tasks_per_day = 60
files = 10
share = 0.3
cpu_per_entry = '0.5ms'
[[workload]]
name = 'all'
site = 'b'
tasks_per_day = 5
files = 3
entries = 0.5
"
    .to_owned();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    Scenario::parse("test", &text, Path::new("")).unwrap()
}

fn assert_conserved(outcome: &Outcome, what: &str) {
    for link in &outcome.links {
        for i in 0..2 {
            let (bytes, integral, peak) = (link.bytes[i] as f64, link.integral[i], link.peak[i]);
            assert!((bytes - integral).abs() <= 1e-6 * bytes + 1000.0, "{what} {}: {bytes} {integral}", link.name);
            assert!(peak <= link.bandwidth * (1.0 + 1e-6), "{what} {}: {peak} of {}", link.name, link.bandwidth);
        }
    }
    assert_eq!(outcome.completed, outcome.submitted, "{what}");
    assert_eq!(outcome.late_events, 0, "{what}: events in the past");
    for (name, site) in &outcome.sites {
        assert!(site.cpu_seconds <= site.core_seconds * (1.0 + 1e-6), "{what} {name}: more work than time of cores");
        for cache in site.proxy.iter().chain(&site.nodes) {
            assert!(cache.most_bytes <= cache.max_bytes, "{what} {name}");
            if let Some(least) = cache.least_miss_bytes {
                assert!(least <= cache.miss_bytes, "{what} {name}: no rule of eviction fetches less than the least");
            }
        }
    }
    let (moved, headers, unread) = (outcome.moved_bytes, outcome.header_bytes, outcome.unread_bytes);
    assert!(unread + headers <= moved, "{what}: {unread} B of {moved} B were not read, and {headers} B are headers");
    let over_links: u64 = outcome.links.iter().flat_map(|l| l.bytes).sum();
    assert!(over_links >= outcome.moved_bytes, "{what}: what was moved has passed a link");
}

#[test]
fn bytes_are_conserved_in_every_scenario_that_comes_along() {
    for shipped in SHIPPED {
        let mut scenario = shipped.scenario().unwrap();
        // the first day is enough, but for the outage
        if shipped.name != "outage" && scenario.duration > 86_400_000_000_000 {
            scenario.duration = 86_400_000_000_000;
            scenario.workloads.iter_mut().for_each(|w| w.stop = w.stop.min(scenario.duration));
        }
        scenario.check_jobs = 0;
        for outcome in simulate(&scenario).unwrap() {
            assert_conserved(&outcome, &format!("{} {}", shipped.name, outcome.policy));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn bytes_are_conserved_whatever_the_network(
        rtt in 1u32..300, mbit in 20u32..2000, proxy in 1u32..500, disk in 5u32..500, seed in 0u64..1000, whole in 0u8..4,
    ) {
        let (rtt, mbit) = (format!("rtt = '{rtt}ms'"), format!("'{mbit} Mbit/s'"));
        let [parent, child] = [1, 2].map(|bit| if whole & bit > 0 { "\nfetch = 'files'" } else { "" });
        let (proxy, child) = (format!("proxy = '{proxy} GB'{parent}"), format!("proxy = '100 GB'{child}"));
        let disk = format!("disk = '{disk} GB'");
        let changes = [("rtt = '20ms'", rtt.as_str()), ("'400 Mbit/s'", &mbit), ("proxy = '100 GB'", &child), ("proxy = '200 GB'", &proxy), ("disk = '200 GB'", &disk)];
        let mut scenario = scenario(&changes);
        scenario.seed = seed;
        for outcome in simulate(&scenario).unwrap() {
            assert_conserved(&outcome, &outcome.policy);
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_report_to_the_byte() {
    let page = |seed: u64| {
        let mut scenario = scenario(&[("check_jobs = 0", "check_jobs = 5")]);
        scenario.seed = seed;
        let axes = sapwood_grid::Axis::parse_list("proxy=50GB|200GB,rtt=5ms|50ms").unwrap();
        Report::new(scenario, axes, 1 + seed as usize % 2 * 3).unwrap().to_html()
    };
    assert_eq!(page(7), page(7));
    assert_ne!(page(7), page(8));
    // the number of threads does not matter: 1 and 4
    let [mut one, mut four] = [page(2), page(2)];
    one.make_ascii_lowercase();
    four.make_ascii_lowercase();
    assert_eq!(one, four);
}

#[test]
fn push_equals_pull_where_everything_is_local() {
    let local = [("site = 'origin'", "site = ['a', 'b', 'origin']")];
    let [push, pull] = <[Outcome; 2]>::try_from(simulate(&scenario(&local)).unwrap()).unwrap();
    assert_eq!((push.moved_bytes, pull.moved_bytes), (0, 0));
    assert_eq!((push.median, push.p95, push.mean), (pull.median, pull.p95, pull.mean));
    assert_eq!(push.jobs, pull.jobs);
}

/// What holds for more disk: the least bytes that any rule of eviction must fetch for the same reads never rise. (With the shipped rule
/// they may: the least recently used of all is not always what is needed latest.) The reads are the same as jobs run at home.
#[test]
fn more_disk_never_makes_the_best_rule_fetch_more() {
    let mut before = u64::MAX;
    for gigabytes in [5, 20, 50, 100, 200, 400, 1000] {
        let proxy = format!("proxy = '{gigabytes} GB'");
        let home = "duration = '1d'\npolicy = [{ kind = 'pull', place = 'home' }]";
        let out = simulate(&scenario(&[("proxy = '200 GB'", &proxy), ("parent = 'a'", ""), ("duration = '1d'", home)]))
            .unwrap();
        let least = out[0].sites[0].1.proxy.unwrap().least_miss_bytes.unwrap();
        assert!(least <= before, "{gigabytes} GB: {least} after {before}");
        before = least;
    }
    assert!(before > 0);
}

/// What holds for more bandwidth: where jobs do not wait for each other's cores and run at home, no task takes longer.
#[test]
fn more_bandwidth_never_makes_jobs_longer_that_run_at_home() {
    let mut before = f64::INFINITY;
    for mbit in [50, 100, 200, 400, 800, 1600] {
        let (mbit, home) =
            (format!("'{mbit} Mbit/s'"), "duration = '1d'\npolicy = [{ kind = 'pull', place = 'home' }]");
        let changes = [
            ("'400 Mbit/s'", mbit.as_str()),
            ("duration = '1d'", home),
            ("cores = 8", "cores = 8000"),
            ("cores = 4", "cores = 8000"),
        ];
        let out = simulate(&scenario(&changes)).unwrap();
        assert!(out[0].mean <= before * 1.001, "{mbit}: {} after {before}", out[0].mean);
        before = out[0].mean;
    }
}

#[test]
fn a_larger_proxy_moves_less_and_a_whole_file_more() {
    let moved = |proxy: &str| {
        let out = simulate(&scenario(&[("proxy = '200 GB'", proxy)])).unwrap();
        (out[1].moved_bytes, out[1].unread_bytes)
    };
    let (small, large, files) =
        (moved("proxy = '5 GB'"), moved("proxy = '500 GB'"), moved("proxy = '500 GB'\nfetch = 'files'"));
    assert!(large.0 < small.0, "{large:?} {small:?}");
    assert!(files.0 > large.0 && files.1 > large.1, "{files:?} {large:?}");
}

#[test]
fn a_policy_of_the_caller_decides() {
    struct AtB(u64);
    impl Policy for AtB {
        fn place(&mut self, job: &Job<'_>, grid: &dyn Grid) -> Placement {
            self.0 += 1;
            assert!(grid.name(1) == "b" && grid.cores(1) == 4 && job.dataset.starts_with("d-"));
            Placement { site: 1, access: if job.workload == "all" { Access::Replica } else { Access::Stream } }
        }
    }
    let mut policy = AtB(0);
    let out = simulate_with(&scenario(&[]), "all at b", &mut policy).unwrap();
    assert_eq!((out.jobs, out.sites[0].1.jobs), (policy.0, 0));
    assert!(out.copied_bytes > 0 && out.moved_bytes > out.copied_bytes);
    assert_conserved(&out, "all at b");
}

/// Copies everything to a, and loses what was used last where the disk is full.
#[derive(Default)]
struct CopiesAndDeletes {
    asked: u64,
    copied: u64,
    by_rule: usize,
}

impl Policy for CopiesAndDeletes {
    fn place(&mut self, _: &Job<'_>, _: &dyn Grid) -> Placement {
        Placement { site: 1, access: Access::Replica }
    }

    fn replicate(&mut self, dataset: &NewDataset<'_>, grid: &dyn Grid) -> Vec<Copy> {
        assert!(dataset.name.starts_with("d-") && grid.name(0) == "a");
        self.by_rule += dataset.by_rule.len();
        self.copied += dataset.files;
        (0..dataset.files).map(|file| Copy { file, site: 0 }).collect()
    }

    fn delete(&mut self, site: usize, needed: u64, copies: &[Replica<'_>]) -> Option<Vec<usize>> {
        assert!(site == 1 && needed > 0 && copies.iter().all(|c| c.file < 20 && c.bytes >= 1_000_000_000));
        self.asked += 1;
        let mut latest: Vec<usize> = (0..copies.len()).collect();
        latest.sort_by(|&a, &b| copies[b].used.total_cmp(&copies[a].used));
        Some(latest)
    }
}

#[test]
fn a_policy_copies_and_deletes() {
    let rule = "[[dataset]]\nname = 'd'";
    let with_rule = "[[rule]]\ndataset = '*'\nsite = 'b'\n[[dataset]]\nname = 'd'";
    let changes = [("disk = '200 GB'", "disk = '20 GB'"), (rule, with_rule)];
    let mut policy = CopiesAndDeletes::default();
    let out = simulate_with(&scenario(&changes), "mine", &mut policy).unwrap();
    assert_conserved(&out, "mine");
    assert_eq!((policy.copied, policy.by_rule), (100, 100));
    assert!(policy.asked > 0 && out.sites[1].1.disk_evicted > 0);
    assert!(out.sites[0].1.disk_most >= 100_000_000_000, "all were copied to a: {}", out.sites[0].1.disk_most);
    assert!(out.sites[1].1.disk_most <= 20_000_000_000);
}

#[test]
fn a_policy_that_has_failed_ends_the_simulation() {
    struct Fails;
    impl Policy for Fails {
        fn place(&mut self, job: &Job<'_>, _: &dyn Grid) -> Placement {
            Placement { site: job.home, access: Access::Stream }
        }
        fn failure(&self) -> Option<sapwood_span::Error> {
            Some(sapwood_span::Error::invalid("no more"))
        }
    }
    let said = simulate_with(&scenario(&[]), "fails", &mut Fails).unwrap_err().to_string();
    assert!(said.contains("no more"), "{said}");
    struct Nowhere;
    impl Policy for Nowhere {
        fn place(&mut self, job: &Job<'_>, _: &dyn Grid) -> Placement {
            Placement { site: job.home, access: Access::Stream }
        }
        fn replicate(&mut self, dataset: &NewDataset<'_>, _: &dyn Grid) -> Vec<Copy> {
            vec![Copy { file: dataset.files, site: 0 }]
        }
    }
    let said = simulate_with(&scenario(&[]), "nowhere", &mut Nowhere).unwrap_err().to_string();
    assert!(said.contains("there is no such file or site"), "{said}");
}

#[test]
fn a_link_that_is_down_is_passed_around_or_waited_for() {
    let outage = "bandwidth = '400 Mbit/s'\noutage = [{ from = '2h', for = '6h' }]";
    let [with, without] = [&[("bandwidth = '400 Mbit/s'", outage)][..], &[]].map(|c| simulate(&scenario(c)).unwrap());
    assert!(with[1].p95 > without[1].p95, "{} {}", with[1].p95, without[1].p95);
    with.iter().for_each(|o| assert_conserved(o, "outage"));
}

#[test]
fn jobs_in_the_model_take_as_long_as_basket_by_basket() {
    for name in ["home", "tier3", "facility"] {
        let mut scenario = sapwood_grid::Shipped::find(name).unwrap().scenario().unwrap();
        scenario.duration = scenario.duration.min(86_400_000_000_000);
        scenario.workloads.iter_mut().for_each(|w| w.stop = w.stop.min(scenario.duration));
        let out = simulate(&scenario).unwrap();
        let check = out.iter().find(|o| o.policy == "pull").unwrap().check.clone().unwrap();
        assert!(check.difference().abs() < 0.05 && check.largest < 0.1, "{name}: {check:?}");
    }
}

#[test]
fn threads_without_a_core_make_no_job_faster() {
    let run = |cores: u32, threads: u32| {
        let cores = format!("cores = {cores}");
        let work = format!("cpu_per_entry = '0.5ms'\nthreads = {threads}\ndecompression = '80 Mbit/s'");
        simulate(&scenario(&[("cores = 4", &cores), ("cores = 8", &cores), ("cpu_per_entry = '0.5ms'", &work)]))
            .unwrap()
    };
    for (one, four) in run(1, 1).iter().zip(&run(1, 4)) {
        assert_eq!((one.median, one.p95, one.cpu_seconds), (four.median, four.p95, four.cpu_seconds), "{}", one.policy);
        assert_conserved(four, "one core");
    }
}

#[test]
fn a_tree_cache_of_one_basket_does_not_make_one_thread_faster_than_two() {
    let seconds = |threads: u32, work: &str| {
        let work =
            format!("threads = {threads}\ncache = '64 kB'\ndecompression = '80 Mbit/s'\nprotocol = 'xrootd'{work}");
        let files = "files = 1\nsite = 'origin'\nfile_size = '100 MB'\nentries = 100_000\nbasket = '67 kB'";
        let text = format!(
            "check_jobs = 0\npolicy = [{{ kind = 'pull', place = 'home' }}]\n[[site]]\nname = 'a'\ncores = 8\n[[site]]\nname = 'origin'
            [[link]]\nfrom = 'a'\nto = 'origin'\nrtt = '1ms'\nbandwidth = '1 Gbit/s'\n[[dataset]]\nname = 'd'\n{files}
            [[workload]]\nname = 'w'\nsite = 'a'\nat = '1s'\n{work}"
        );
        simulate(&Scenario::parse("test", &text, Path::new("")).unwrap()).unwrap()[0].median
    };
    let [one, two, four] = [1, 2, 4].map(|threads| seconds(threads, ""));
    assert!(two <= one && four <= two, "{one} {two} {four}");
    // with work on entries a core decompresses less beside it
    let [one, two, four] = [1, 2, 4].map(|threads| seconds(threads, "\ncpu_per_entry = '50us'"));
    assert!(two < one && four <= two, "{one} {two} {four}");
}

/// Among many sites, the least loaded one is found without a look at all: it must be the one that a look at all finds.
#[test]
fn the_least_loaded_site_is_the_one_that_a_look_at_all_finds() {
    struct Compares {
        every: usize,
        chosen: std::collections::BTreeSet<usize>,
    }
    impl Policy for Compares {
        fn place(&mut self, job: &Job<'_>, grid: &dyn Grid) -> Placement {
            let fits = |site: usize| site % self.every != 1;
            let with_cores = (0..grid.sites()).filter(|&s| grid.cores(s) > 0 && fits(s));
            let all = with_cores.map(|site| {
                let load = (grid.running(site) + grid.queued(site)) as f64 / grid.cores(site) as f64;
                (load, grid.round_trip(job.home, site).unwrap_or(f64::INFINITY), site)
            });
            let best = all.min_by(|a, b| a.partial_cmp(b).unwrap()).map(|b| b.2);
            assert_eq!(grid.least_loaded(job.home, &fits), best);
            let with_files: Vec<usize> =
                (0..grid.sites()).filter(|&s| grid.has_files(s) || grid.expects_files(s)).collect();
            assert_eq!(grid.with_files(), with_files);
            self.chosen.extend(best);
            let access = if job.file.is_multiple_of(2) { Access::Replica } else { Access::Stream };
            Placement { site: best.unwrap_or(0), access }
        }
    }
    // sites of two sizes, near and far, some of them as near as others
    let many = "
[[site]]
name = 'small'
count = 30
cores = 2
disk = '100 GB'
[[site]]
name = 'large'
count = 10
cores = 7
[[link]]
from = 'origin'
to = ['small-*', 'large-1*']
rtt = '3ms'
bandwidth = '1 Gbit/s'
[[link]]
from = 'b'
to = ['large-*']
rtt = '4ms'
bandwidth = '1 Gbit/s'
[[dataset]]
name = 'd'";
    let changes = [("[[dataset]]\nname = 'd'", many), ("tasks_per_day = 60", "tasks_per_day = 600")];
    for every in [2, 3, 1000] {
        let mut policy = Compares { every, chosen: Default::default() };
        assert_conserved(&simulate_with(&scenario(&changes), "compares", &mut policy).unwrap(), "compares");
        assert!(policy.chosen.len() > 1, "{every}: {:?}", policy.chosen);
    }
}
