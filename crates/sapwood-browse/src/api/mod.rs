//! What the page asks for.

mod bytes;
mod doctor;
mod draw;
mod io;
mod list;
mod map;
mod repeat;
mod scan;
mod tree;

use crate::answer::{self, Answer, Fault, lines, refused};
use crate::cancel::CancelOnDrop;
use crate::parameters::Parameters;
use crate::place::Place;
use crate::shared::Shared;
use hyper::header::{HeaderMap, RANGE};
use hyper::{Method, StatusCode};
use sapwood::{File, Tree};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tokio::sync::mpsc;

/// Lines that wait for a slow client.
const LINES: usize = 16;

/// Answers a request below `api/`.
pub(crate) async fn answer(
    method: &Method,
    name: &str,
    parameters: Parameters,
    headers: &HeaderMap,
    shared: &Arc<Shared>,
) -> Answer {
    let post = *method == Method::POST;
    let done = match (post, name) {
        (false, "session") => Ok(answer::json(&shared.targets.to_json())),
        (true, "open") => shared
            .work(move |shared, _| shared.targets.open(parameters.text("url")))
            .await
            .map(|target| answer::json(&target)),
        (false, "ls") => value(shared, parameters, list::answer).await,
        (false, "tree") => value(shared, parameters, tree::answer).await,
        (false, "object") => value(shared, parameters, object).await,
        (false, "map") => value(shared, parameters, map::answer).await,
        (false, "key") => value(shared, parameters, map::key).await,
        (false, "doctor") => value(shared, parameters, doctor::answer).await,
        (true, "cost") => value(shared, parameters, doctor::cost).await,
        (true, "scan") => value(shared, parameters, scan::answer).await,
        (true, "draw") => draws(shared, parameters),
        (false, "bytes") => {
            let range = headers.get(RANGE).and_then(|value| value.to_str().ok()).map(str::to_owned);
            shared
                .work(move |shared, _| {
                    let place = shared.targets.place(&parameters)?;
                    let file = read(shared, &place, |file| Ok(file.clone()));
                    file.and_then(|file| bytes::answer(&file, range.as_deref()))
                        .inspect_err(|fault| shared.forget_after(fault, &place))
                })
                .await
        }
        _ => return refused(StatusCode::NOT_FOUND, "there is nothing at this address"),
    };
    done.unwrap_or_else(|fault| fault.answer())
}

/// An answer of one value, made on a thread of its own.
async fn value(
    shared: &Arc<Shared>,
    parameters: Parameters,
    make: impl FnOnce(&Shared, &Parameters, &Place, &Arc<AtomicBool>) -> Result<Value, Fault> + Send + 'static,
) -> Result<Answer, Fault> {
    let made = shared.work(move |shared, cancel| {
        let place = shared.targets.place(&parameters)?;
        make(shared, &parameters, &place, cancel).inspect_err(|fault| shared.forget_after(fault, &place))
    });
    made.await.map(|value| answer::json(&value))
}

/// An answer of lines, which are sent while a draw goes on.
fn draws(shared: &Arc<Shared>, parameters: Parameters) -> Result<Answer, Fault> {
    let place = shared.targets.place(&parameters)?;
    let (sender, receiver) = mpsc::channel(LINES);
    let cancel = shared.flag();
    shared.begin(cancel.clone(), move |shared, cancel| draw::run(shared, &parameters, &place, cancel, &sender))?;
    Ok(lines(receiver, CancelOnDrop(cancel)))
}

/// How to get an object of a file without the page.
fn object(shared: &Shared, _parameters: &Parameters, place: &Place, _cancel: &Arc<AtomicBool>) -> Result<Value, Fault> {
    read(shared, place, |file| {
        let found = file.find(&place.object)?;
        let again = repeat::object(file, &format!("{};{}", found.path, found.key.cycle));
        Ok(json!({ "command": again.command, "python": again.python }))
    })
}

/// Reads from a file.
fn read<T>(shared: &Shared, place: &Place, f: impl FnOnce(&File) -> Result<T, Fault>) -> Result<T, Fault> {
    f(&shared.files.get(place.url()?)?)
}

/// The tree that a place names.
fn tree_of(shared: &Shared, place: &Place) -> Result<Tree, Fault> {
    read(shared, place, |file| {
        let path = if place.object.is_empty() { file.only_tree()? } else { place.object.clone() };
        Ok(file.tree(&path)?)
    })
}
