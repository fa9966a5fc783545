//! Shared by the tests of hostile XRootD servers: the requests they answer wrongly, and what a client may do then.

use super::xrd_scripted::{Asked, Back, Then, XrdServer, good};
use super::{fetch, impatient, noise, open_right, runtime, scattered};
use sapwood_span::{Error, Result};
use sapwood_xrd::Request;

/// Bytes of the file that is read.
pub const SIZE: usize = 300_000;
/// Requests that a server sees at most from one client that opens, and reads twice.
pub const FEW: usize = 120;

/// A server that answers these requests by the script and everything else correctly.
pub fn answering(
    which: impl Fn(&Request) -> bool + Send + Sync + 'static,
    answer: impl Fn(&Asked, &mut Back, &[u8]) -> Then + Send + Sync + 'static,
) -> XrdServer {
    let file = noise(SIZE);
    XrdServer::start(
        move |asked, back| {
            if which(&asked.request) { answer(asked, back, &file) } else { good(asked, back, &file) }
        },
    )
}

/// Opens the server's file and reads twice from it; compares what arrives.
pub fn read(server: &XrdServer) -> Result<()> {
    let (rt, file) = (runtime(), noise(SIZE));
    let opening = open_right(&rt, &server.url(), &impatient(), &file)?;
    fetch(&rt, &opening.source, &scattered(10, SIZE as u64), &file)?;
    fetch(&rt, &opening.source, &scattered(12, SIZE as u64), &file)?;
    Ok(())
}

/// The error of [`read`], which must be readable, after few requests.
pub fn refused(name: &str, server: &XrdServer) -> Error {
    let error = read(server).expect_err(name);
    let text = error.to_string();
    assert!(!text.chars().any(char::is_control) && text.len() < 4000, "{name}: {text:?}");
    let asked = server.log().len();
    assert!(asked <= FEW && server.connections() <= 30, "{name}: {asked} requests, {}", server.connections());
    error
}

pub fn is_open(request: &Request) -> bool {
    matches!(request, Request::Open { .. })
}

pub fn is_vector(request: &Request) -> bool {
    matches!(request, Request::ReadV(_))
}

pub fn is_login(request: &Request) -> bool {
    matches!(request, Request::Login { .. })
}

pub fn is_page_read(request: &Request) -> bool {
    matches!(request, Request::PageRead { .. })
}

pub fn any_read(request: &Request) -> bool {
    is_vector(request) || is_page_read(request) || matches!(request, Request::Read { .. })
}
