//! Directories and locations as servers report them.

use sapwood_xrd::reply::{entries, locations};

#[test]
fn a_listing_that_is_cut_short_is_no_listing() {
    let stats = |names: &[&str]| {
        let lines: String = names.iter().map(|n| format!("{n}\n0 5 16 1\n")).collect();
        format!(".\n0 0 0 0\n{lines}")
    };
    let whole = stats(&["a.root", "b.root"]);
    assert_eq!(entries(whole.as_bytes()).unwrap().len(), 2);
    assert_eq!(entries(whole.trim_end().as_bytes()).unwrap().len(), 2);
    assert!(
        entries(format!("{whole}c.root\n").as_bytes()).is_err(),
        "a name without its stat is a file that is missed"
    );
    assert!(entries(b".\n").is_ok_and(|e| e.is_empty()));
}

#[test]
fn what_names_a_directory_a_million_times_takes_no_gigabytes() {
    assert_eq!(entries("a\n".repeat(1_000_000).as_bytes()).unwrap().len(), 1_000_000);
    assert!(entries("a\n".repeat(5_000_000).as_bytes()).is_err());
    assert!(entries(format!(".\n0 0 0 0\n{}", "a\n0 0 0 0\n".repeat(5_000_000)).as_bytes()).is_err());
}

#[test]
fn locations_are_addresses() {
    let of = |text: &[u8]| locations(text).map(|all| all.into_iter().map(|l| l.address).collect::<Vec<_>>());
    let several = b"Sr[::1]:1094 Mw10.0.0.1:99 srhost.example.org:1\0";
    assert_eq!(of(several).unwrap(), ["[::1]:1094", "10.0.0.1:99", "host.example.org:1"]);
    assert_eq!(of(b"Sr[::10.0.0.1]:1094 ").unwrap(), ["[::10.0.0.1]:1094"]);
    assert!(of(b"").unwrap().is_empty());
    for bad in
        ["Sr\u{1b}]0;owned\u{7}:1", "Sr<script>:1", "Srh:1\0x", "Sr\u{202e}h:1", "Xrhost:1", "S", "Sr", "Srh:x", "Sr:1"]
    {
        assert!(of(bad.as_bytes()).is_err() && of(format!("Srh:1 {bad}").as_bytes()).is_err(), "{bad:?}");
    }
    assert!(of(b"Sr\xff\xfe:1").is_err());
    assert!(of("Srh:1 ".repeat(40_000).as_bytes()).is_ok_and(|all| all.len() == 40_000));
}
