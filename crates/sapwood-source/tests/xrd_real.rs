//! Against an installed XRootD.

mod common;

use common::ports::free_port;
use common::servers::{Folder, Server, certificate, own_key, revive, xrootd_at, xrootd_native};
use common::{fetch, impatient, noise, open_right, runtime, scattered};
use sapwood_source::{SourceOptions, list, locate};
use sapwood_span::{ErrorKind, Span};
use std::time::Duration;

const SIZE: usize = 4 << 20;

fn options() -> SourceOptions {
    SourceOptions { progress_timeout: Duration::from_secs(10), ..impatient() }
}

fn folder() -> Folder {
    let folder = Folder::new();
    let file = noise(SIZE);
    folder.put("large.root", &file);
    folder.put("small.root", &file[..700]);
    folder.put("middling.root", &file[..5500]);
    folder.put("exact.root", &file[..6000]);
    folder.put("empty.root", b"");
    folder
}

fn url(server: &Server, name: &str) -> String {
    format!("root://127.0.0.1:{}//{name}", server.port)
}

#[test]
fn conforms() {
    let Some(server) = xrootd_native(folder(), "") else { return };
    let (rt, file, options) = (runtime(), noise(SIZE), options());
    let opening = open_right(&rt, &url(&server, "large.root"), &options, &file).unwrap();
    let stats = opening.source.stats();
    assert_eq!(
        (stats.requests, stats.connections, stats.round_trips),
        (3, 1, 3),
        "TCP, everything, the tail: {stats:?}"
    );
    assert_eq!(stats.payload, opening.head.len() as u64 + options.tail);
    // 257 ranges and 512 kB of them in one go.
    let spans = scattered(250, SIZE as u64);
    let report = fetch(&rt, &opening.source, &spans, &file).unwrap();
    assert!(report.wire >= report.payload && report.wire < report.payload + 300 * 32 + 2000, "{report:?}");
    assert!(report.requests <= 2, "{report:?}");
    let whole = fetch(&rt, &opening.source, &[Span::new(0, SIZE as u64)], &file).unwrap();
    assert!(whole.wire <= whole.payload + whole.payload / 1000 + 8, "checksums of pages: {whole:?}");
    assert_eq!(fetch(&rt, &opening.source, &[], &file).unwrap().requests, 0);
    // The first long read asks for a data link, later ones use it.
    for i in 0..20 {
        fetch(&rt, &opening.source, &[Span::new(i * 1000, 1 << 20), Span::new((2 << 20) + i, 600_000)], &file).unwrap();
    }
    let connections = opening.source.stats().connections;
    assert!((2..=16).contains(&connections), "{connections}");
    let before = opening.source.stats().requests;
    let beyond = [Span::new(0, 1), Span::new(SIZE as u64 - 1, 2)];
    let refused = fetch(&rt, &opening.source, &beyond, &[&file[..], &[0]].concat()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Corrupt);
    assert_eq!(opening.source.stats().requests, before, "refused before any request");

    for (name, len) in [("small.root", 700), ("middling.root", 5500), ("exact.root", 6000), ("empty.root", 0)] {
        let opening =
            open_right(&rt, &url(&server, name), &options, &file[..len]).unwrap_or_else(|e| panic!("{name}: {e}"));
        let stats = opening.source.stats();
        assert_eq!(stats.connections, 0, "{name}: the session is shared");
        assert!(stats.round_trips <= 2, "{name}: {stats:?}");
        fetch(&rt, &opening.source, &[Span::new(0, len as u64)], &file).unwrap();
    }
    let missing = open_right(&rt, &url(&server, "none.root"), &options, &file).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound, "{missing}");
    assert!(missing.to_string().contains("none.root"), "{missing}");
}

#[test]
fn small_files_are_here_after_one_flight() {
    let Some(server) = xrootd_native(folder(), "") else { return };
    let (rt, file) = (runtime(), noise(SIZE));
    let options = SourceOptions { head: 1000, tail: 300, ..options() };
    let opening = open_right(&rt, &url(&server, "small.root"), &options, &file[..700]).unwrap();
    let stats = opening.source.stats();
    assert_eq!((stats.requests, stats.round_trips), (2, 2), "TCP, and everything: {stats:?}");
    let again = open_right(&rt, &url(&server, "small.root"), &options, &file[..700]).unwrap();
    assert_eq!((again.source.stats().round_trips, again.source.stats().connections), (1, 0));
}

#[test]
fn limits_of_the_server_are_obeyed() {
    let Some(server) = xrootd_native(folder(), "") else { return };
    let (rt, file) = (runtime(), noise(SIZE));
    let opening = open_right(&rt, &url(&server, "large.root"), &options(), &file).unwrap();
    assert_eq!(opening.source.limits().max_ranges, 1024);
    let many: Vec<Span> = (0..3000).map(|i| Span::new(i * 1000, 50)).collect();
    let report = fetch(&rt, &opening.source, &many, &file).unwrap();
    // and the first bytes, on their own, where another session opens the file and its vector read is full
    let more = opening.source.stats().connections as u32 - 1;
    assert!(report.requests >= 3 && report.requests <= 3 + more, "{report:?}");
}

#[test]
fn unix_authentication_is_remembered() {
    let extra = "xrootd.seclib libXrdSec.so\nsec.protocol unix\nsec.protbind * only unix";
    let Some(server) = xrootd_native(folder(), extra) else { return };
    let (rt, file, options) = (runtime(), noise(SIZE), options());
    let opening = open_right(&rt, &url(&server, "large.root"), &options, &file).unwrap();
    let stats = opening.source.stats();
    assert_eq!((stats.connections, stats.round_trips), (1, 3), "the guess was right: {stats:?}");
    fetch(&rt, &opening.source, &scattered(100, SIZE as u64), &file).unwrap();
}

#[test]
fn host_authentication() {
    let extra = "xrootd.seclib libXrdSec.so\nsec.protocol host\nsec.protbind * only host";
    let Some(server) = xrootd_native(folder(), extra) else { return };
    let (rt, file, options) = (runtime(), noise(SIZE), options());
    let opening = open_right(&rt, &url(&server, "large.root"), &options, &file).unwrap();
    fetch(&rt, &opening.source, &scattered(100, SIZE as u64), &file).unwrap();
}

/// A server with a certificate; `extra`: further directives.
fn with_tls(extra: &str) -> Option<Server> {
    let folder = folder();
    certificate(&folder, "CA:FALSE")?;
    let run = folder.0.display().to_string();
    own_key(&folder);
    let tls = format!("xrd.tls {run}/ca/cert.pem {run}/key.pem\nxrd.tlsca certfile {run}/ca/cert.pem");
    xrootd_native(folder, &format!("{tls}\n{extra}"))
}

/// Options that trust that certificate.
fn trusting(server: &Server) -> SourceOptions {
    SourceOptions { ca_dir: Some(server.folder.0.join("ca")), ..options() }
}

#[test]
fn certificates_are_checked() {
    let Some(server) = with_tls("xrootd.tls capable none") else { return };
    let (rt, file) = (runtime(), noise(SIZE));
    let url = format!("roots://localhost:{}//large.root", server.port);
    let opening = open_right(&rt, &url, &trusting(&server), &file).unwrap();
    assert_eq!(opening.source.stats().round_trips, 5, "TCP, greeting, TLS, everything, the tail");
    fetch(&rt, &opening.source, &scattered(50, SIZE as u64), &file).unwrap();

    let refused = open_right(&rt, &url, &options(), &file).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Denied, "{refused}");
    assert!(refused.to_string().contains("X509_CERT_DIR"), "{refused}");
}

#[test]
fn servers_that_demand_tls_get_it() {
    for demand in ["login", "session", "all"] {
        let Some(server) = with_tls(&format!("xrootd.tls {demand}")) else { return };
        let (rt, file, options) = (runtime(), noise(SIZE), trusting(&server));
        let url = format!("root://localhost:{}//large.root", server.port);
        let opening = open_right(&rt, &url, &options, &file).unwrap_or_else(|e| panic!("{demand}: {e}"));
        fetch(&rt, &opening.source, &scattered(50, SIZE as u64), &file).unwrap();
        for i in 0..10 {
            fetch(&rt, &opening.source, &[Span::new(i, 1 << 20)], &file).unwrap();
        }
        // Learnt once.
        let before = opening.source.stats().connections;
        let again = open_right(&rt, &url, &options, &file).unwrap();
        assert_eq!(again.source.stats().connections, 0, "{demand}: {before}");
    }
}

#[test]
fn ipv6() {
    let Some(server) = xrootd_native(folder(), "") else { return };
    if std::net::TcpStream::connect(("::1", server.port)).is_err() {
        println!("skipped: no IPv6 here");
        return;
    }
    let (rt, file) = (runtime(), noise(SIZE));
    let url = format!("root://[::1]:{}//large.root", server.port);
    let opening = open_right(&rt, &url, &options(), &file).unwrap();
    assert_eq!(opening.source.name(), url);
}

#[test]
fn directories_and_locations() {
    let folder = folder();
    std::fs::create_dir(folder.0.join("root/sub")).unwrap();
    let Some(server) = xrootd_native(folder, "") else { return };
    let (rt, options) = (runtime(), options());
    let entries = rt.block_on(list(&url(&server, ""), &options, rt.handle())).unwrap();
    let names: Vec<(&str, u64, bool)> = entries.iter().map(|e| (e.name.as_str(), e.size, e.directory)).collect();
    assert!(names.contains(&("large.root", SIZE as u64, false)), "{names:?}");
    assert!(names.iter().any(|n| n.0 == "sub" && n.2), "{names:?}");
    let none = rt.block_on(list(&url(&server, "none"), &options, rt.handle())).unwrap_err();
    assert_eq!(none.kind(), ErrorKind::NotFound, "{none}");
    let found = rt.block_on(locate(&url(&server, "large.root"), &options, rt.handle())).unwrap();
    assert!(found.len() == 1 && found[0].ends_with(&format!(":{}", server.port)), "{found:?}");
}

#[test]
fn redirects_lead_to_the_data() {
    let data = folder();
    let port = free_port();
    let redirector = data.copy();
    let Some(door) = xrootd_native(redirector, &format!("xrootd.redirect localhost:{port} /")) else { return };
    let Some(server) = xrootd_at(data, port, "") else { return };
    let (rt, file, options) = (runtime(), noise(SIZE), options());
    let opening = open_right(&rt, &url(&door, "large.root"), &options, &file).unwrap();
    let stats = opening.source.stats();
    assert_eq!((stats.redirects, stats.connections), (1, 2), "{stats:?}");
    assert_eq!(stats.round_trips, 5, "two for each server, and the tail: {stats:?}");
    fetch(&rt, &opening.source, &scattered(100, SIZE as u64), &file).unwrap();
    drop(server);
}

#[test]
fn a_server_that_was_killed_and_comes_back() {
    let Some(mut server) = xrootd_native(folder(), "") else { return };
    let (rt, file, options) = (runtime(), noise(SIZE), options());
    let opening = open_right(&rt, &url(&server, "large.root"), &options, &file).unwrap();
    fetch(&rt, &opening.source, &scattered(20, SIZE as u64), &file).unwrap();
    server.kill();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(300));
            revive(&mut server);
        });
        let report = fetch(&rt, &opening.source, &scattered(30, SIZE as u64), &file).unwrap();
        assert!(report.retries > 0, "{report:?}");
    });
}

#[test]
fn a_file_that_changes_is_noticed() {
    let Some(mut server) = xrootd_native(folder(), "") else { return };
    let (rt, file, options) = (runtime(), noise(SIZE), options());
    let opening = open_right(&rt, &url(&server, "large.root"), &options, &file).unwrap();
    server.kill();
    server.folder.put("large.root", &file[..SIZE - 1]);
    revive(&mut server);
    let error = fetch(&rt, &opening.source, &[Span::new(100_000, 10)], &file).unwrap_err();
    assert!(error.to_string().contains("changed") && error.to_string().contains("large.root"), "{error}");
}
