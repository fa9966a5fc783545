//! `sapwood proxy`: a caching proxy in front of remote files.

use crate::args::{Global, Listener, ProxyArgs};
use crate::failure::{Failure, remark};
use crate::interrupt::{Interrupt, LAST_REQUESTS, wait_for};
use crate::output;
use sapwood::local_cache::{LocalCache, default_directory, resolve};
use sapwood::proxy::{Proxy, ProxyHandle, ProxyOptions};
use sapwood::serve::{ServerOptions, Tls};
use sapwood::{ErrorKind, Result, redacted};
use serde_json::json;
use std::io::Write;
use std::sync::Arc;

/// Runs the command: it ends only by an error, by Ctrl-C or by SIGTERM.
pub(crate) fn run(args: &ProxyArgs, global: &Global, interrupt: &Interrupt) -> Result<(), Failure> {
    if args.origins.is_empty() && args.allow.is_empty() {
        return Err(Failure::Usage("specify --origin URL, or --allow PATTERN".to_owned()));
    }
    let stop = interrupt.defer_all()?;
    let mut server = ServerOptions::default()
        .http(Listener::address(args.listen_http))
        .root(Listener::address(args.listen_root))
        .allowed_hosts(args.allowed_hosts.clone())
        .metrics(args.listen_metrics.map(|at| at.address()));
    if let (Some(certificate), Some(key)) = (&args.certificate, &args.key) {
        server.tls = Some(Tls { certificate: certificate.clone(), key: key.clone() });
    }
    if args.access_log {
        // a full or closed pipe must not stop the proxy
        server.access = Some(Arc::new(|access| drop(writeln!(std::io::stderr().lock(), "{access}"))));
    }
    // nobody asks it what it has served
    server.remember = 0;
    let mut options = ProxyOptions::default()
        .origins(args.origins.clone())
        .allow(args.allow.clone())
        .fresh(args.fresh)
        .prefetch(args.prefetch)
        .progress_timeout(global.timeout.min(ProxyOptions::default().progress_timeout))
        .s3(global.s3_options())
        .share_credentials(args.share_credentials)
        .ca_dir(args.ca_dir.clone())
        .server(server);
    if let Some(cache) = cache(args)? {
        options.cache_max_bytes = cache.1;
        options.cache_directory = Some(cache.0);
    }
    let of_origin = |e: &sapwood::Error| args.origins.iter().any(|url| e.file() == Some(redacted(url).as_str()));
    let proxy = Proxy::start(options).map_err(|e| match e.kind() == ErrorKind::Invalid && of_origin(&e) {
        true => Failure::Usage(e.to_string()),
        false => e.into(),
    })?;
    announce(args, &proxy, global.json)?;
    let mut said = 0;
    wait_for(&stop, || {
        let warnings = proxy.warnings();
        warnings.iter().skip(said).for_each(|warning| remark(warning));
        said = warnings.len();
    });
    proxy.stop_within(LAST_REQUESTS);
    Ok(())
}

/// Directory and size of the cache.
fn cache(args: &ProxyArgs) -> Result<Option<(std::path::PathBuf, u64)>> {
    let named = args.cache_dir.clone().unwrap_or_default();
    let resolved = match resolve(&named)? {
        None if named == LocalCache::Configured => {
            resolve(&LocalCache::In { directory: default_directory()?, max_bytes: None })?
        }
        resolved => resolved,
    };
    Ok(resolved.map(|options| (options.directory, args.cache_max.unwrap_or(options.max_bytes))))
}

/// The first line of output.
fn announce(args: &ProxyArgs, proxy: &ProxyHandle, as_json: bool) -> Result<(), Failure> {
    let origins: Vec<String> = args.origins.iter().map(|url| redacted(url)).collect();
    if as_json {
        let addresses = json!({ "http": proxy.http_url(), "root": proxy.root_url(), "origins": origins });
        return Ok(output::json(&addresses)?);
    }
    let mut out = output::stdout();
    let addresses: Vec<String> = [proxy.http_url(), proxy.root_url()].into_iter().flatten().collect();
    let what = if origins.is_empty() { "allowed servers".to_owned() } else { origins.join(", ") };
    writeln!(out, "proxying {} at {}", output::clean(&what), addresses.join(" and "))?;
    Ok(out.flush()?)
}
