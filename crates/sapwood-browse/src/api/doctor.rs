//! The doctor's report, and what reading costs over a network that the user chooses.

use super::tree_of;
use crate::answer::Fault;
use crate::parameters::Parameters;
use crate::place::Place;
use crate::shared::Shared;
use sapwood::doctor::{Conditions, Doctor, Price, cost_of_branches};
use sapwood::redacted;
use sapwood::text::shell::quoted;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

pub(super) fn answer(
    shared: &Shared,
    _parameters: &Parameters,
    place: &Place,
    _cancel: &Arc<AtomicBool>,
) -> Result<Value, Fault> {
    let url = place.url()?;
    let report = Doctor::examine(url, false, shared.files.options(), &Conditions::default())?;
    let mut out = report.to_json();
    let name = redacted(url);
    let own = name.split('?').next().unwrap_or_default().rsplit('/').next().unwrap_or_default();
    let optimized = format!("{}-optimized.root", own.strip_suffix(".root").unwrap_or(own));
    out["optimize"] = format!("sapwood optimize {} {}", quoted(&name), quoted(&optimized)).into();
    Ok(out)
}

pub(super) fn cost(
    shared: &Shared,
    parameters: &Parameters,
    place: &Place,
    _cancel: &Arc<AtomicBool>,
) -> Result<Value, Fault> {
    let tree = tree_of(shared, place)?;
    let names = parameters.texts("branches").unwrap_or_default();
    let branches = names.iter().map(|name| tree.find(name)).collect::<sapwood::Result<Vec<usize>>>()?;
    let milliseconds = parameters.number("rtt_ms").filter(|ms| (0.0..=60_000.0).contains(ms));
    let megabits = parameters.number("bandwidth_mbit").filter(|mbit| (0.001..=1e6).contains(mbit));
    let (Some(milliseconds), Some(megabits)) = (milliseconds, megabits) else {
        return Err(Fault::new("rtt_ms must be 0 to 60000, bandwidth_mbit 0.001 to 1000000"));
    };
    let round_trip = Duration::from_secs_f64(milliseconds / 1e3);
    let (now, rewritten) = cost_of_branches(tree.header(), tree.clusters(), &branches, round_trip, megabits * 125e3)?;
    let price = |p: &Price| json!({ "seconds": p.time.as_secs_f64(), "waits": p.waits, "requests": p.requests, "bytes": p.bytes });
    Ok(json!({ "now": price(&now), "rewritten": price(&rewritten) }))
}
