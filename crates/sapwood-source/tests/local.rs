//! Files of this machine.

mod common;

use common::servers::Folder;
use common::{check_ends, fetch, impatient, noise, runtime, scattered};
use sapwood_source::{LocalFile, Source, open, open_local};
use sapwood_span::{ErrorKind, Span};
use std::sync::Arc;

#[test]
fn ends_and_spans() {
    let folder = Folder::new();
    let (options, rt, file) = (impatient(), runtime(), noise(100_000));
    for len in [0, 1, 700, 1000, 5500, 6000, 6001, 100_000] {
        folder.put("f", &file[..len]);
        let path = folder.0.join("root/f");
        check_ends(&open_local(&path, options.head, options.tail).unwrap(), &options, &file[..len]);
        let url = format!("file://{}", path.display());
        check_ends(&rt.block_on(open(&url, &options, rt.handle())).unwrap(), &options, &file[..len]);
    }
    let opening = open_local(folder.0.join("root/f"), 10, 10).unwrap();
    assert!(opening.source.is_local());
    let report = fetch(&rt, &opening.source, &scattered(50, 100_000), &file).unwrap();
    assert_eq!(u64::from(report.requests) + 2, opening.source.stats().requests);
    let beyond = fetch(&rt, &opening.source, &[Span::new(99_999, 2)], &file).unwrap_err();
    assert_eq!(beyond.kind(), ErrorKind::Corrupt);
    assert_eq!(beyond.span(), Some(Span::new(99_999, 2)));
}

#[test]
fn a_local_fetch_is_done_at_the_first_poll() {
    let folder = Folder::new();
    folder.put("f", b"0123456789");
    let source = Arc::new(LocalFile::open(folder.0.join("root/f")).unwrap());
    let mut future = source.fetch(vec![Span::new(2, 3)], Arc::new(common::Collect::default()));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(future.as_mut().poll(&mut context).is_ready());
}

#[test]
fn what_cannot_be_read_is_named() {
    let folder = Folder::new();
    let missing = open_local(folder.0.join("none"), 1, 1).unwrap_err();
    assert_eq!((missing.kind(), missing.what()), (ErrorKind::NotFound, "no such file"));
    let directory = open_local(&folder.0, 1, 1).unwrap_err();
    assert!(directory.to_string().contains("directory"), "{directory}");
    let device = open_local("/dev/null", 1, 1).unwrap_err();
    assert!(device.to_string().contains("regular file"), "{device}");
    let rt = runtime();
    let scheme = rt.block_on(open("gopher://h/f", &impatient(), rt.handle())).unwrap_err();
    assert_eq!(scheme.kind(), ErrorKind::Invalid);
}

#[test]
fn a_file_truncated_while_being_read() {
    let folder = Folder::new();
    folder.put("f", &noise(10_000));
    let file = LocalFile::open(folder.0.join("root/f")).unwrap();
    folder.put("f", &noise(4_000));
    // what is still there may be of another version
    let error = file.read(Span::new(0, 4000)).unwrap_err();
    assert!(error.to_string().contains("had 10000 bytes and now has 4000"), "{error}");
    let error = file.read(Span::new(3000, 2000)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains("now 4000") && error.to_string().contains("3000-4999"), "{error}");
}
