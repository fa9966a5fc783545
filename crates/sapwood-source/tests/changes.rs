//! Redirects, credentials, and files that change while they are read.

mod common;

use common::ports::free_port;
use common::scripted::{Scripted, Then, good, send};
use common::{fetch, impatient, noise, open_right, runtime, scattered};
use sapwood_source::SourceOptions;
use sapwood_span::{ErrorKind, Span};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const SIZE: usize = 2_000_000;

fn storage() -> Scripted {
    let file = noise(SIZE);
    Scripted::start(SIZE as u64, move |request, stream| good(request, stream, &file))
}

fn redirect_to(url: String, status: &'static str) -> Scripted {
    Scripted::start(SIZE as u64, move |_, stream| send(stream, status, &[("Location", url.clone())], b"over there"))
}

#[test]
fn a_redirect_is_followed_once_per_file() {
    for status in ["301 A", "302 B", "303 C", "307 D", "308 E"] {
        let storage = storage();
        let door = redirect_to(storage.url(), status);
        let (rt, file) = (runtime(), noise(SIZE));
        let opening = open_right(&rt, &door.url(), &impatient(), &file).unwrap();
        fetch(&rt, &opening.source, &scattered(30, SIZE as u64), &file).unwrap();
        assert_eq!(door.requests().len(), 1, "{status}");
        assert_eq!(opening.source.stats().redirects, 1);
        assert_eq!(opening.source.name(), door.url());
    }
}

#[test]
fn redirects_without_end() {
    let server = Scripted::start(SIZE as u64, |request, stream| {
        send(stream, "302 Found", &[("Location", format!("/{}", request.number))], b"")
    });
    let error = open_right(&runtime(), &server.url(), &impatient(), &[]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Protocol);
    assert!(error.to_string().contains("16 redirects"), "{error}");
    assert_eq!(server.requests().len(), 17);
}

#[test]
fn redirects_into_nowhere() {
    for to in ["ftp://h/f", "http://", "root://h//f"] {
        let server = redirect_to(to.to_owned(), "302 Found");
        assert!(open_right(&runtime(), &server.url(), &impatient(), &[]).is_err(), "{to}");
    }
    let server = Scripted::start(SIZE as u64, |_, stream| send(stream, "302 Found", &[], b""));
    let error = open_right(&runtime(), &server.url(), &impatient(), &[]).unwrap_err();
    assert!(error.to_string().contains("without a Location"), "{error}");
}

#[test]
fn credentials_stay_with_their_host() {
    let storage = storage();
    let door = redirect_to(storage.url(), "307 Elsewhere");
    let (rt, file) = (runtime(), noise(SIZE));
    let with_token = SourceOptions { token: Some("s3cret".into()), ..impatient() };
    let opening = open_right(&rt, &door.url(), &with_token, &file).unwrap();
    fetch(&rt, &opening.source, &scattered(30, SIZE as u64), &file).unwrap();
    assert_eq!(door.requests()[0].headers["authorization"], "Bearer s3cret");
    assert!(!storage.requests().is_empty());
    assert!(storage.requests().iter().all(|r| !r.headers.contains_key("authorization")));

    let url = storage.url().replace("http://", "http://Aladdin:open%20sesame@");
    let opening = open_right(&rt, &url, &impatient(), &file).unwrap();
    assert_eq!(storage.requests().last().unwrap().headers["authorization"], "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
    assert!(!opening.source.name().contains("sesame"), "{}", opening.source.name());
}

#[test]
fn a_place_that_ceases_to_work_is_looked_up_again() {
    let (first, second) = (Arc::new(AtomicBool::new(true)), storage());
    let file = noise(SIZE);
    let expiring = Scripted::start(SIZE as u64, move |request, stream| {
        if request.number == 0 { good(request, stream, &file) } else { send(stream, "403 Expired", &[], b"") }
    });
    let places = [expiring.url(), second.url()];
    let door = Scripted::start(SIZE as u64, move |_, stream| {
        let place = &places[usize::from(!first.swap(false, Ordering::Relaxed))];
        send(stream, "307 There", &[("Location", place.clone())], b"")
    });
    let (rt, file) = (runtime(), noise(SIZE));
    let opening = open_right(&rt, &door.url(), &impatient(), &file).unwrap();
    fetch(&rt, &opening.source, &scattered(30, SIZE as u64), &file).unwrap();
    assert_eq!(door.requests().len(), 2);
    // one that shows an unknown server, one for its first bytes, and the data
    assert_eq!(second.requests().len(), 3);
}

#[test]
fn a_redirect_to_a_dead_server_and_another_replica() {
    let alive = storage();
    let places = [format!("http://127.0.0.1:{}/f.root", free_port()), alive.url()];
    let door = Scripted::start(SIZE as u64, move |request, stream| {
        send(stream, "307 There", &[("Location", places[request.number.min(1)].clone())], b"")
    });
    let (rt, file) = (runtime(), noise(SIZE));
    let opening = open_right(&rt, &door.url(), &impatient(), &file).unwrap();
    fetch(&rt, &opening.source, &scattered(30, SIZE as u64), &file).unwrap();
    assert_eq!(door.requests().len(), 2, "asked again once, and then no more");

    // without one
    let dead = redirect_to(format!("http://127.0.0.1:{}/f.root", free_port()), "307 There");
    let error = open_right(&rt, &dead.url(), &impatient(), &file).unwrap_err();
    assert!(error.to_string().contains("cannot connect"), "{error}");
}

/// Opens at one version, reads at the next.
fn error_after_change(
    headers: impl Fn(bool) -> Vec<(&'static str, String)> + Send + Sync + 'static,
    grow: bool,
) -> String {
    let (old, new) = (noise(SIZE), noise(if grow { SIZE + 1 } else { SIZE }));
    let server = Scripted::start(SIZE as u64, move |request, stream| {
        let later = request.number > 0;
        let file = if later { &new } else { &old };
        let (a, b) = if later { request.ranges[0] } else { (0, SIZE as u64 - 1) };
        let mut all = headers(later);
        all.push(("Content-Range", format!("bytes {a}-{b}/{}", file.len())));
        send(stream, "206 Partial Content", &all, &file[a as usize..=b as usize]);
        Then::Keep
    });
    let (rt, file) = (runtime(), noise(SIZE));
    // The whole file fits into the first answer's slack: one request opens it.
    let options = SourceOptions { tail: SIZE as u64 / 2, ..impatient() };
    let opening = open_right(&rt, &server.url(), &options, &file).unwrap();
    let error = fetch(&rt, &opening.source, &[Span::new(10, 1000)], &file).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    error.to_string()
}

#[test]
fn a_file_that_changes_is_never_mixed() {
    let etag = error_after_change(|later| vec![("ETag", format!("\"{later}\""))], false);
    assert!(etag.contains("ETag was \"false\" and is now \"true\""), "{etag}");
    let date = error_after_change(|later| vec![("Last-Modified", format!("Monday {later}"))], false);
    assert!(date.contains("Last-Modified"), "{date}");
    let size = error_after_change(|_| vec![], true);
    assert!(size.contains("2000000 bytes and now has 2000001"), "{size}");
}
