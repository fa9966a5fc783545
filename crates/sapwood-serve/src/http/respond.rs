//! From requests to answers.

use super::plan::{Answer, Plan, plan};
use super::{ListenerContext, Serves, status};
use crate::client_request::{ClientRequest, Protocol, ServedPath};
use crate::connections::Busy;
use crate::error::FilesError;
use crate::exchange::Exchange;
use crate::files::Files;
use crate::log::{Served, shown};
use crate::shared::Shared;
use crate::wan::Window;
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap};
use hyper::{Method, Request, StatusCode, Version};
use sapwood_xrd::SecretBytes;
use std::sync::Arc;
use tokio::sync::Mutex;

/// Answers one request.
pub(super) async fn respond(
    request: Request<Incoming>,
    shared: &Arc<Shared>,
    door: &ListenerContext,
    window: Arc<Mutex<Window>>,
    busy: Busy,
    is_secure: bool,
) -> Answer {
    let (method, path) = (request.method(), request.uri().path());
    let mut exchange = Exchange::begin(&shared.reports, busy.address(), Protocol::Http, method.as_str(), path);
    shared.wan.half_way().await;
    let (head, _) = request.into_parts();
    let (method, path) = (head.method.to_string(), head.uri.path().to_owned());
    let query = head.uri.query().unwrap_or_default();
    let bodyless = head.method == Method::HEAD;
    let body = body_of(&head.headers);
    let mut plan = if let Err(status) = door.names.check(&head.uri, head.version, &head.headers) {
        let why = "this Host name is not allowed; allow it with --allow-host NAME\n";
        Plan::text(status, why)
    } else if body == RequestBody::Doubtful {
        Plan::text(StatusCode::BAD_REQUEST, "the request states its length twice\n")
    } else if !bodyless && head.method != Method::GET {
        let mut plan = Plan::text(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD are supported\n");
        plan.set(header::ALLOW, "GET, HEAD");
        plan
    } else if let Some(page) = status::Page::of(&path).filter(|_| door.serves != Serves::Files) {
        page.plan(shared)
    } else if door.serves == Serves::Pages {
        Plan::text(StatusCode::NOT_FOUND, "only /metrics and /health are served here\n")
    } else {
        match ServedPath::of_url(&path, query) {
            Some(served) => {
                let asked = ClientRequest::new(served, busy.address(), Protocol::Http)
                    .connection(busy.connection())
                    .is_secure(is_secure)
                    .authorization(authorization(&head.headers));
                let files = &*shared.files;
                let mut found = found(files, &asked, &path, bodyless, &head.headers).await;
                if matches!(found, Err(FilesError::Changed)) {
                    // the request is for the file that has replaced it
                    found = self::found(files, &asked, &path, bodyless, &head.headers).await;
                }
                found.unwrap_or_else(|e| Plan::failed(&e))
            }
            None => Plan::failed(&FilesError::NotFound),
        }
    };
    if body != RequestBody::None {
        // Nothing reads what follows the head: it must not be parsed as another request.
        plan.set(header::CONNECTION, "close");
    }
    if head.version == Version::HTTP_10 && !keeps_open(&head.headers) {
        // the answer has a later version, in which connections stay open by default
        plan.set(header::CONNECTION, "close");
    }
    let status = plan.status.as_u16();
    exchange.status(status);
    let served = Served {
        method,
        path: shown(&path),
        ranges: plan.ranges.clone(),
        status,
        bytes: if bodyless { 0 } else { plan.length() },
    };
    shared.log(served);
    shared.wan.half_way().await;
    plan.send(bodyless, shared, window, busy, exchange)
}

/// What was found, with the beginning of its body if wanted.
async fn found(
    files: &dyn Files,
    asked: &ClientRequest,
    path: &str,
    bodyless: bool,
    headers: &HeaderMap,
) -> Result<Plan, FilesError> {
    let plan = plan(files, asked, path, !bodyless, headers).await;
    if bodyless { Ok(plan) } else { plan.read_beginning().await }
}

fn authorization(headers: &HeaderMap) -> Option<SecretBytes> {
    headers.get(header::AUTHORIZATION).map(|value| SecretBytes(value.as_bytes().to_vec()))
}

/// Whether an HTTP/1.0 client wants its connection kept open.
fn keeps_open(headers: &HeaderMap) -> bool {
    let options = headers.get_all(header::CONNECTION).iter().filter_map(|value| value.to_str().ok());
    options.flat_map(|value| value.split(',')).any(|option| option.trim().eq_ignore_ascii_case("keep-alive"))
}

/// The body length stated by a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RequestBody {
    None,
    Some,
    /// Its length is stated in two ways: an intermediary may have used the other one.
    Doubtful,
}

fn body_of(headers: &HeaderMap) -> RequestBody {
    let mut lengths = headers.get_all(header::CONTENT_LENGTH).iter();
    let (length, further) = (lengths.next(), lengths.next());
    let coded = headers.contains_key(header::TRANSFER_ENCODING);
    match length {
        _ if further.is_some() || (coded && length.is_some()) => RequestBody::Doubtful,
        Some(length) if length.as_bytes() == b"0" => RequestBody::None,
        Some(_) => RequestBody::Some,
        None if coded => RequestBody::Some,
        None => RequestBody::None,
    }
}
