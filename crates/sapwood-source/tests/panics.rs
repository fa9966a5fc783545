//! A panic in a task of an XRootD session ends what waits for it with an error that says so.

mod common;

use common::xrd_scripted::{Then, XrdServer, good};
use common::{impatient, noise, open_right, runtime};
use sapwood_source::SourceOptions;
use sapwood_span::ErrorKind;
use sapwood_span::defect::inject;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

#[test]
fn of_a_task_of_a_session() {
    let file = noise(300_000);
    let served = file.clone();
    let silent = Arc::new(AtomicBool::new(true));
    let says_nothing = Arc::clone(&silent);
    let server = XrdServer::start(move |asked, back| match says_nothing.load(Relaxed) {
        true => Then::Hang,
        false => good(asked, back, &served),
    });
    // reporting a panic takes time on a busy machine
    let options = SourceOptions { progress_timeout: Duration::from_secs(60), ..impatient() };
    for place in ["xrd link", "xrd watch"] {
        // only the panic ends the wait
        let rt = runtime();
        inject::arm(place);
        let opened = open_right(&rt, &server.url(), &options, &file);
        assert!(!inject::disarm(), "{place}: nobody came by");
        let e = opened.map(|_| ()).expect_err(place);
        assert_eq!(e.kind(), ErrorKind::Defect, "{e}");
        assert!(e.to_string().contains(&format!("a bug in Sapwood: injected at {place}")), "{e}");
    }
    silent.store(false, Relaxed);
    open_right(&runtime(), &server.url(), &options, &file).expect("it can be opened again");
}
