//! Against installed nginx, Apache and XRootD.

mod common;

use common::servers::{Folder, Server, apache, certificate, certificate_for, nginx, xrootd};
use common::{fetch, impatient, noise, open_right, runtime, scattered};
use sapwood_source::SourceOptions;
use sapwood_span::{ErrorKind, Span};
use std::time::Duration;

fn options() -> SourceOptions {
    SourceOptions { progress_timeout: Duration::from_secs(10), ..impatient() }
}

fn folder() -> Folder {
    let folder = Folder::new();
    let file = noise(4 << 20);
    folder.put("large.root", &file);
    folder.put("a b#c.root", &file[..300_000]);
    folder.put("small.root", &file[..700]);
    folder.put("middling.root", &file[..5500]);
    folder.put("exact.root", &file[..6000]);
    folder.put("empty.root", b"");
    folder
}

/// What must hold for every server: one that accepts several ranges, or ranges from the end, must get them in one
/// request.
fn conforms(server: &Server, multi: bool, from_end: bool) {
    // nginx is known to accept more of them
    let many = if server.is("nginx") { 1 } else { 2 };
    let (rt, file) = (runtime(), noise(4 << 20));
    let url = |name: &str| format!("http://127.0.0.1:{}/{name}", server.port);
    let options = options();

    let opening = open_right(&rt, &url("large.root"), &options, &file).unwrap();
    if multi && from_end {
        let stats = opening.source.stats();
        assert_eq!((stats.requests, stats.ranges, stats.connections), (1, 2, 1));
        assert_eq!(stats.round_trips, 2, "connecting and one request");
        assert_eq!(stats.payload, options.head + options.tail);
    }
    let spans = scattered(250, file.len() as u64);
    let report = fetch(&rt, &opening.source, &spans, &file).unwrap();
    assert!(report.wire >= report.payload || report.requests == 0, "{report:?}");
    if multi {
        assert_eq!(report.requests, many);
        assert!(report.wire < report.payload + 260 * 200, "{report:?}");
    }
    fetch(&rt, &opening.source, &[Span::new(0, file.len() as u64)], &file).unwrap();
    assert_eq!(fetch(&rt, &opening.source, &[], &file).unwrap().requests, 0);
    let before = opening.source.stats().requests;
    let beyond = [Span::new(0, 1), Span::new(file.len() as u64 - 1, 2)];
    let refused = fetch(&rt, &opening.source, &beyond, &[&file[..], &[0]].concat()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Corrupt);
    assert!(refused.to_string().contains("large.root"), "{refused}");
    assert_eq!(opening.source.stats().requests, before, "refused before any request");

    for (name, len) in [
        ("small.root", 700),
        ("middling.root", 5500),
        ("exact.root", 6000),
        ("empty.root", 0),
        ("a%20b%23c.root", 300_000),
    ] {
        let opening = open_right(&rt, &url(name), &options, &file[..len]).unwrap_or_else(|e| panic!("{name}: {e}"));
        fetch(&rt, &opening.source, &[Span::new(0, len as u64)], &file).unwrap();
    }
    let missing = open_right(&rt, &url("none.root"), &options, &file).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound, "{missing}");
    assert!(missing.to_string().contains("none.root"), "{missing}");
}

#[test]
fn nginx_conforms() {
    if let Some(server) = nginx(folder(), "") {
        conforms(&server, true, true);
    }
}

#[test]
fn nginx_without_several_ranges() {
    if let Some(server) = nginx(folder(), "max_ranges 1;") {
        conforms(&server, false, true);
    }
}

#[test]
fn nginx_with_short_header_lines() {
    let Some(server) = nginx(folder(), "large_client_header_buffers 4 4k;") else { return };
    let (rt, file) = (runtime(), noise(4 << 20));
    let url = format!("http://127.0.0.1:{}/large.root", server.port);
    let opening = open_right(&rt, &url, &options(), &file).unwrap();
    let spans = scattered(340, file.len() as u64);
    assert_eq!(fetch(&rt, &opening.source, &spans, &file).unwrap().requests, 3, "one is refused, two are not");
    assert_eq!(fetch(&rt, &opening.source, &spans, &file).unwrap().requests, 2, "that is remembered");
    assert_eq!(opening.source.stats().fallbacks, 0, "several ranges are as good as ever");
}

#[test]
fn nginx_without_any_ranges() {
    if let Some(server) = nginx(folder(), "max_ranges 0;") {
        conforms(&server, false, true);
        let tight = SourceOptions { whole_file: 1 << 20, ..options() };
        let url = format!("http://127.0.0.1:{}/large.root", server.port);
        let refused = open_right(&runtime(), &url, &tight, &[]).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Unsupported);
        assert!(refused.to_string().contains("byte ranges"), "{refused}");
    }
}

#[test]
fn apache_conforms() {
    if let Some(server) = apache(folder()) {
        conforms(&server, true, true);
    }
}

#[test]
fn xrootd_conforms() {
    if let Some(server) = xrootd(folder()) {
        conforms(&server, true, false);
    }
}

#[test]
fn certificates_are_checked() {
    let folder = folder();
    if certificate(&folder, "CA:FALSE").is_none() {
        return;
    }
    let run = folder.0.display().to_string();
    let Some(server) = nginx(folder, &format!("ssl_certificate {run}/ca/cert.pem; ssl_certificate_key {run}/key.pem;"))
    else {
        return;
    };
    let (rt, file) = (runtime(), noise(4 << 20));
    let url = format!("https://localhost:{}/large.root", server.port);
    let trusting = SourceOptions { ca_dir: Some(server.folder.0.join("ca")), ..options() };
    let opening = open_right(&rt, &url, &trusting, &file).unwrap();
    assert_eq!(opening.source.stats().round_trips, 3, "TCP, TLS and one request");
    fetch(&rt, &opening.source, &scattered(50, file.len() as u64), &file).unwrap();

    let refused = open_right(&rt, &url, &options(), &file).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Denied, "{refused}");
    assert!(refused.to_string().contains("X509_CERT_DIR"), "{refused}");
    assert!(refused.to_string().contains("not signed by an authority that is trusted here"), "{refused}");
}

#[test]
fn a_trusted_certificate_may_call_itself_an_authority() {
    let folder = folder();
    if certificate(&folder, "CA:TRUE").is_none() {
        return;
    }
    let run = folder.0.display().to_string();
    let Some(server) = nginx(folder, &format!("ssl_certificate {run}/ca/cert.pem; ssl_certificate_key {run}/key.pem;"))
    else {
        return;
    };
    let (rt, file) = (runtime(), noise(4 << 20));
    let trusting = SourceOptions { ca_dir: Some(server.folder.0.join("ca")), ..options() };
    let url = |host: &str| format!("https://{host}:{}/large.root", server.port);
    open_right(&rt, &url("localhost"), &trusting, &file).unwrap();
    open_right(&rt, &url("127.0.0.1"), &trusting, &file).unwrap();

    let refused = open_right(&rt, &url("localhost"), &options(), &file).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Denied, "{refused}");
    assert!(refused.to_string().contains("X509_CERT_DIR"), "{refused}");

    // one for other names
    let elsewhere = Folder::new();
    certificate_for(&elsewhere, "CA:TRUE", "DNS:elsewhere.example").unwrap();
    let run = elsewhere.0.display().to_string();
    let tls = format!("ssl_certificate {run}/ca/cert.pem; ssl_certificate_key {run}/key.pem;");
    let other = nginx(elsewhere, &tls).unwrap();
    let pinned = SourceOptions { ca_dir: Some(other.folder.0.join("ca")), ..options() };
    let refused = open_right(&rt, &format!("https://localhost:{}/none.root", other.port), &pinned, &file).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Denied, "{refused}");
    assert!(refused.to_string().contains("made for other names"), "{refused}");

    // another one of the same name: that one is trusted, not this
    let others = Folder::new();
    certificate(&others, "CA:TRUE").unwrap();
    let trusting = SourceOptions { ca_dir: Some(others.0.join("ca")), ..options() };
    let refused = open_right(&rt, &url("localhost"), &trusting, &file).unwrap_err();
    assert!(refused.to_string().contains("is not itself trusted here"), "{refused}");
}
