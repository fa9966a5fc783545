//! What is wrong in a scenario file is said with its line and key.

use sapwood_grid::{Report, SHIPPED, Scenario, Shipped};
use std::path::Path;

const GOOD: &str = "
[[site]]
name = 'here'
cores = 2
[[site]]
name = 'there'
[[link]]
from = 'here'
to = 'there'
rtt = '20ms'
bandwidth = '1 Gbit/s'
[[dataset]]
name = 'd'
files = 10
site = 'there'
file_size = '1 GB'
entries = 1000
[[workload]]
name = 'w'
site = 'here'
tasks_per_day = 10
";

fn error(text: &str) -> String {
    Scenario::parse("s.toml", text, Path::new("")).unwrap_err().to_string()
}

#[test]
fn mistakes_are_told_with_line_and_key() {
    Scenario::parse("s.toml", GOOD, Path::new("")).unwrap();
    let wrong = [
        ("cores = 2", "core = 2", "line 4: site.core is unknown; did you mean site.cores?"),
        ("cores = 2", "cores = -2", "line 4: site.cores: must be a whole number from 0 to"),
        ("cores = 2", "cores = 2\nfetch = 'files'", "line 2: parent and fetch are for sites with a proxy"),
        ("'20ms'", "20", "line 10: link.rtt: must be a time with its unit, such as"),
        ("cores = 2", "cores = 2\nlan = 0.3", "site.lan: must be a time"),
        (
            "[[workload]]",
            "[[dataset]]\nname = 'd'\nfiles = 1\nsite = 'there'\nfile_size = '1 GB'\nentries = 9\n[[workload]]",
            "line 19: dataset.name: there are two datasets with the name d",
        ),
        (
            "tasks_per_day = 10",
            "at = '1h'\n[[workload]]\nname = 'w'\nsite = 'here'\nat = '1h'",
            "two workloads with the name w",
        ),
        (
            "tasks_per_day = 10",
            "at = '1h'\n[[policy]]\nkind = 'pull'\n[[policy]]\nkind = 'pull'",
            "two policies with the name pull",
        ),
        (
            "entries = 1000",
            "entries = 1000\n[[dataset.branch]]\nname = 'b'\nsize = '9 B'\n[[dataset.branch]]\nname = 'b'\nsize = '9 B'",
            "two branches with the name b",
        ),
        ("'20ms'", "'20 parsecs'", "line 10: link.rtt: must be a time"),
        ("to = 'there'", "to = 'nowhere'", "line 9: link.to: no site is named nowhere; there are here, there"),
        ("rtt = '20ms'\n", "", "line 7: link.rtt is missing"),
        ("bandwidth", "bandwith", "line 11: link.bandwith is unknown; did you mean link.bandwidth?"),
        ("site = 'there'", "site = []", "line 15: dataset.site: must be a text in quotes or a list of at least one"),
        ("name = 'w'", "name = ''", "line 19: workload.name: must not be empty"),
        ("name = 'd'", "name = 'd*'", "line 13: dataset.name: must not have * or ?"),
        ("files = 10", "files = 'ten'", "line 14: dataset.files: must be a whole number"),
        ("tasks_per_day = 10", "", "line 18: tasks_per_day or at is missing"),
        ("tasks_per_day = 10", "tasks_per_day = 10\nbranches = 'pt'", "line 22: workload.branches: d has no branch pt"),
        ("tasks_per_day = 10", "tasks_per_day = 10\ncut = 'pt'", "line 22: workload.cut: d has no branch pt"),
        ("tasks_per_day = 10", "tasks_per_day = 10\nshare = 0.5\ncut = 'pt'", "workload.cut: names branches; give"),
        (
            "tasks_per_day = 10",
            "tasks_per_day = 10\nbranches = 'branch-1'\ncut = 'branch-2'",
            "workload.cut: has branches that are not read; add them to branches",
        ),
        ("tasks_per_day = 10", "tasks_per_day = 10\n[[policy]]\nkind = 'shove'", "line 23: policy.kind: must be"),
        ("[[site]]\nname = 'here'", "[[site]\nname = 'here'", "is not TOML"),
        ("'20ms'", "'20'", "line 10: link.rtt: must be a time with its unit, such as"),
        ("'1 GB'", "1000000000", "line 16: dataset.file_size: must be a size with its unit, such as"),
        ("'1 GB'", "'1000000000'", "line 16: dataset.file_size: must be a size with its unit, such as"),
        ("cores = 2", "cores = 2\ndisk = 1e12", "line 5: site.disk: must be a size with its unit"),
        ("cores = 2", "cores = 2\nstorage = '10'", "line 5: site.storage: must be a bandwidth"),
        ("tasks_per_day = 10", "tasks_per_day = 10\ncache = '30'", "line 22: workload.cache: must be"),
        ("tasks_per_day = 10", "tasks_per_day = 10\nstart = '2h'\nstop = '1h'", "workload.stop: is before start"),
        ("[[site]]", "settle = '1d'\n[[site]]", "line 2: settle: must be shorter than a thousandth of the duration"),
        ("file_size = '1 GB'\nentries = 1000", "profile = '.'", "line 16: dataset.profile: .: is not a file"),
        // what would be nothing at all
        ("'1 GB'", "'0 GB'", "line 16: dataset.file_size: must be more than 0"),
        ("'1 GB'", "'100 B'", "line 16: dataset.file_size: is too small for 100 branches"),
        ("files = 10", "files = 0", "line 14: dataset.files: must be a whole number from 1 to"),
        ("entries = 1000", "entries = 0", "line 17: dataset.entries: must be a whole number from 1 to"),
        ("entries = 1000", "entries = 1000\nclusters = 0", "line 18: dataset.clusters: must be a whole number from 1"),
        ("entries = 1000", "entries = 1000\nbranches = 0", "line 18: dataset.branches: must be a whole number from 1"),
        ("entries = 1000", "entries = 1000\nbasket = '0 B'", "line 18: dataset.basket: must be more than 0"),
        (
            "tasks_per_day = 10",
            "tasks_per_day = 10\nfiles = 0",
            "line 22: workload.files: must be a whole number from 1",
        ),
        ("tasks_per_day = 10", "tasks_per_day = 10\nfiles_per_job = 0", "files_per_job: must be a whole number from 1"),
        ("tasks_per_day = 10", "tasks_per_day = 10\nthreads = 0", "workload.threads: must be a whole number from 1"),
        ("tasks_per_day = 10", "tasks_per_day = 10\nhalf_life = '0s'", "workload.half_life: must be longer than 0"),
        ("tasks_per_day = 10", "tasks_per_day = 10\nentries = 0", "line 22: workload.entries: must be more than 0"),
        // times that cannot be, and that nobody would see
        (
            "tasks_per_day = 10",
            "tasks_per_day = 10\nstartup = '106751d'",
            "line 22: workload.startup: \"106751d\" is longer than 100 years",
        ),
        ("'20ms'", "'0.3ns'", "line 10: link.rtt: \"0.3ns\" is shorter than a nanosecond"),
        ("tasks_per_day = 10", "at = ['1h', '99999d']", "line 21: workload.at: \"99999d\" is longer than 100 years"),
        ("tasks_per_day = 10", "at = ['1h', '31d']", "line 21: workload.at: is after the end of the scenario"),
        ("cores = 2", "cores = 2\nnodes = 0", "line 5: site.nodes: must be a whole number from 1"),
        (
            "tasks_per_day = 10",
            "at = '1h'\n[[policy]]\nkind = 'push'\nstreams = 0",
            "policy.streams: must be a whole number",
        ),
        (
            "tasks_per_day = 10",
            "at = '1h'\n[[policy]]\nkind = 'push'\ntransfers = 0",
            "policy.transfers: must be a whole",
        ),
        ("[[site]]", "initial_window = '1 kB'\n[[site]]", "line 2: initial_window: must be one packet at least"),
        (
            "[[dataset]]",
            "[[link]]\nfrom = 'there'\nto = 'here'\nrtt = '1ms'\nbandwidth = '1 Gbit/s'\n[[dataset]]",
            "line 12: there is a link between there and here in line 7; remove one of them, or write one with the bandwidth",
        ),
        ("to = 'there'", "to = 'here'", "line 7: from and to are the same site; a link is between two"),
    ];
    for (from, to, expected) in wrong {
        assert!(GOOD.contains(from), "{from}");
        let told = error(&GOOD.replacen(from, to, 1));
        assert!(told.contains(expected) && told.contains("s.toml"), "{to}: {told}");
    }
}

#[test]
fn a_mesh_of_patterns_has_each_pair_once() {
    let mesh = GOOD.replace("from = 'here'\nto = 'there'", "from = '*'\nto = '*'");
    assert_eq!(Scenario::parse("s.toml", &mesh, Path::new("")).unwrap().links.len(), 1);
}

#[test]
fn a_site_without_a_way_to_the_files_is_an_error_and_no_wait() {
    let apart = GOOD.replace("[[link]]\nfrom = 'here'\nto = 'there'\nrtt = '20ms'\nbandwidth = '1 Gbit/s'\n", "");
    let scenario = Scenario::parse("s.toml", &apart, Path::new("")).unwrap();
    let told = sapwood_grid::simulate(&scenario).unwrap_err().to_string();
    assert!(told.contains("no link leads from here to a site with d; add a [[link]]"), "{told}");
}

#[test]
fn proxies_in_a_circle_are_refused() {
    let circle = GOOD
        .replace("name = 'here'", "name = 'here'\nproxy = '1 TB'\nparent = 'there'")
        .replace("name = 'there'\n[[link", "name = 'there'\nproxy = '1 TB'\nparent = 'here'\n[[link");
    assert!(error(&circle).contains("circle"), "{}", error(&circle));
}

#[test]
fn no_text_makes_it_panic() {
    let mut rest = 1u64;
    for shipped in SHIPPED {
        for _ in 0..200 {
            rest = rest.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let mut bytes = shipped.text.as_bytes().to_vec();
            let at = (rest >> 33) as usize % bytes.len();
            bytes[at] = (rest >> 20) as u8 & 0x7f;
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let _ = Scenario::parse("s.toml", &text, Path::new(""));
        }
    }
    assert!(Shipped::find("tier4").unwrap_err().to_string().contains("tier3"));
}

/// They had fewer threads, and nothing said so.
#[test]
fn jobs_with_more_threads_than_a_site_has_cores_are_told() {
    let told = |there: &str, threads: u64| {
        let text = GOOD
            .replace("[[link]]", &format!("{there}\n[[link]]"))
            .replace("tasks_per_day = 10", &format!("at = '1h'\nthreads = {threads}"));
        let scenario = Scenario::parse("s.toml", &text, Path::new("")).unwrap();
        let mut text = Vec::new();
        Report::new(scenario, Vec::new(), 1).unwrap().write(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        text.lines().find(|line| line.contains("do not fit")).unwrap_or_default().to_owned()
    };
    assert_eq!(told("", 2), "");
    let one = "w: jobs of 4 threads do not fit here, which has 2 cores; there they have 2 threads.";
    assert_eq!(told("", 4), one);
    let two = "w: jobs of 4 threads do not fit here and 1 other site with fewer cores; there they have a thread for each core.";
    assert_eq!(told("cores = 3", 4), two);
}

#[test]
fn profiles_whose_baskets_overlap_are_told_with_their_file() {
    let folder = std::env::temp_dir().join(format!("sapwood-grid-overlap-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let branch = r#"{"name": "a", "baskets": [[200, 100, 0, 60, 300], [300, 100, 50, 100, 300]]}"#;
    let head = r#""profile": 1, "entries": 100, "file_bytes": 1000, "clusters": [0], "bytes_to_open": 10"#;
    std::fs::write(folder.join("p.json"), format!("{{{head}, \"branches\": [{branch}]}}")).unwrap();
    let text = GOOD.replace("file_size = '1 GB'\nentries = 1000", "profile = 'p.json'");
    let error = Scenario::parse("s.toml", &text, &folder).unwrap_err().to_string();
    assert!(error.contains("line 16: dataset.profile: ") && error.contains("p.json: is not a profile"), "{error}");
    assert!(error.ends_with("baskets 0 and 1 of a both contain entry 50"), "{error}");
    std::fs::remove_dir_all(folder).unwrap();
}
