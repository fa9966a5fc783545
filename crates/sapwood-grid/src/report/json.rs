//! A report as JSON.

use super::Report;
use crate::cache::CacheFigures;
use crate::outcome::{Outcome, part};
use crate::scenario::Scenario;
use serde_json::{Value, json};

pub(super) fn report(report: &Report) -> Value {
    let s = &report.scenario;
    let point = |p: &crate::sweep::Point| {
        let values: serde_json::Map<String, Value> =
            report.axes.iter().zip(&p.values).map(|(a, v)| (a.key.clone(), json!(v))).collect();
        json!({ "values": values, "policies": p.outcomes.iter().map(short).collect::<Vec<_>>() })
    };
    json!({
        "scenario": s.name,
        "title": s.title,
        "seed": s.seed,
        "seconds": s.seconds(),
        "policies": report.outcomes.iter().map(|o| outcome(s, o)).collect::<Vec<_>>(),
        "sweep": report.points.iter().map(point).collect::<Vec<_>>(),
    })
}

fn cache(c: &Option<CacheFigures>) -> Value {
    c.as_ref().map_or(Value::Null, |c| {
        json!({
            "max_bytes": c.max_bytes,
            "most_bytes": c.most_bytes,
            "hit_bytes": c.hit_bytes,
            "miss_bytes": c.miss_bytes,
            "hit_rate": c.hit_rate(),
            "evicted_bytes": c.evicted_bytes,
            "unread_bytes": c.unread_bytes,
            "least_miss_bytes": c.least_miss_bytes,
        })
    })
}

/// The figures that are compared in a sweep.
fn short(o: &Outcome) -> Value {
    json!({
        "policy": o.policy,
        "tasks": { "submitted": o.submitted, "completed": o.completed },
        "jobs": o.jobs,
        "seconds": { "median": o.median, "p95": o.p95, "mean": o.mean },
        "utilisation": o.utilisation(),
        "cpu_efficiency": o.cpu_efficiency(),
        "requests": o.requests,
        "moved_bytes": o.moved_bytes,
        "header_bytes": o.header_bytes,
        "copied_bytes": o.copied_bytes,
        "unread_bytes": o.unread_bytes,
        "disk_bytes": o.disk_bytes,
        "no_room": o.no_room,
        "cost": { "disk": o.cost[0], "network": o.cost[1], "cores": o.cost[2], "all": o.cost.iter().sum::<f64>() },
        "proxies": cache(&o.proxies),
        "local_caches": cache(&o.local_caches),
    })
}

fn outcome(s: &Scenario, o: &Outcome) -> Value {
    let cores = s.sites.iter().map(|s| s.cores);
    let all: u64 = cores.clone().sum();
    let lasted = o.available_seconds / all.max(1) as f64;
    let mut out = short(o);
    let Some(map) = out.as_object_mut() else { return out };
    let workloads = o.workloads.iter();
    let workloads = workloads.map(|w| json!({ "name": w.name, "tasks": w.tasks, "median": w.median, "p95": w.p95 }));
    let links =
        o.links.iter().map(|l| json!({ "name": l.name, "bandwidth": l.bandwidth, "bytes": l.bytes, "peak": l.peak }));
    let sites = o.sites.iter().zip(cores).map(|((name, s), cores)| {
        json!({
            "name": name,
            "jobs": s.jobs,
            "cores": cores,
            "utilisation": part(s.core_seconds, cores as f64 * lasted),
            "core_seconds": s.core_seconds,
            "cpu_seconds": s.cpu_seconds,
            "disk_most_bytes": s.disk_most,
            "disk_unread_bytes": s.disk_unread,
            "disk_evicted_bytes": s.disk_evicted,
            "proxy": cache(&s.proxy),
            "local_caches": cache(&s.nodes),
        })
    });
    let moments = o
        .moments
        .iter()
        .map(|m| json!([m.seconds, m.running, m.queued, m.waiting, m.network, m.disk, m.cached, m.busy]));
    let check = o.check.as_ref().map_or(Value::Null, |c| {
        json!({
            "jobs": c.jobs,
            "seconds_by_basket": c.full,
            "seconds_in_model": c.model,
            "difference": c.difference(),
            "largest_difference": c.largest,
        })
    });
    map.insert("end".into(), json!(o.end));
    map.insert("available_core_seconds".into(), json!(o.available_seconds));
    map.insert("core_seconds".into(), json!(o.core_seconds));
    map.insert("cpu_seconds".into(), json!(o.cpu_seconds));
    map.insert("workloads".into(), workloads.collect());
    map.insert("distribution".into(), json!(o.distribution));
    map.insert("links".into(), links.collect());
    map.insert("sites".into(), sites.collect());
    let columns =
        ["seconds", "running", "queued", "waiting_for_files", "network", "disk_bytes", "cached_bytes", "cores_in_use"];
    map.insert("time_line".into(), json!({ "columns": columns, "rows": moments.collect::<Vec<_>>() }));
    map.insert("check".into(), check);
    map.insert("events".into(), json!(o.events));
    out
}
