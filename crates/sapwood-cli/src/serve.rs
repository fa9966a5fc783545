//! `sapwood serve`: a directory over HTTP and the XRootD protocol.

use crate::args::ServeArgs;
use crate::failure::Failure;
use crate::interrupt::{Interrupt, LAST_REQUESTS, wait_for};
use crate::output;
use sapwood::raw_text::text_of_path;
use sapwood::serve::{Origin, OriginOptions, Tls};
use sapwood::{Error, is_remote, redacted};
use serde_json::json;
use std::io::Write;

/// Runs the command: it ends only by an error, by Ctrl-C or by SIGTERM.
pub(crate) fn run(args: &ServeArgs, as_json: bool, interrupt: &Interrupt) -> Result<(), Failure> {
    let stop = interrupt.defer_all()?;
    let given = text_of_path(&args.directory);
    if is_remote(&given) {
        return Err(Error::invalid("only a local directory can be served").in_file(redacted(&given)).into());
    }
    let mut options = OriginOptions::new(&args.directory);
    options.bind = args.http_address();
    options.bind_root = args.root_address();
    options.delay = args.delay;
    options.bandwidth = args.bandwidth;
    options.allowed_hosts.clone_from(&args.allowed_hosts);
    if let (Some(certificate), Some(key)) = (&args.certificate, &args.key) {
        options.tls = Some(Tls { certificate: certificate.clone(), key: key.clone() });
    }
    // The record of requests is for tests; here nothing reads it.
    options.remember = 0;
    let server = Origin::start(options)?;
    let directory = given.clone();
    if as_json {
        let root = server.root_url();
        output::json(&json!({ "directory": directory, "url": server.url(), "http": server.url(), "root": root }))?;
    } else {
        let mut out = output::stdout();
        let root = server.root_url().map(|root| format!(" and {root}")).unwrap_or_default();
        writeln!(out, "serving {} at {}{root}", output::clean(&directory), server.url())?;
        out.flush()?;
    }
    wait_for(&stop, || ());
    server.stop_within(LAST_REQUESTS);
    Ok(())
}
