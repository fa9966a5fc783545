//! Histograms with inconsistent parts: they can be read, but are refused as soon as bins are requested.
//!
//! The rules are those of the Python package (`_objects_hist.py`, `_objects_axis.py`, `_objects_buffer.py`).

use super::Examination;
use sapwood_format::object::{Object, Objects, Value};
use sapwood_span::Span;

/// Members that hold the axes, x first.
const AXES: [&str; 3] = ["fXaxis", "fYaxis", "fZaxis"];

/// Checks all histograms among the objects of a key.
pub(super) fn check(out: &mut Examination, name: &str, span: Span, objects: &Objects) {
    for o in objects.all() {
        // its bins are separate objects
        if !o.is_a("TH1") || o.is_a("TH2Poly") {
            continue;
        }
        let dimensions = if o.is_a("TH3") {
            3
        } else if o.is_a("TH2") {
            2
        } else {
            1
        };
        check_one(out, name, span, objects, o, &AXES[..dimensions]);
    }
}

fn check_one(out: &mut Examination, name: &str, span: Span, objects: &Objects, o: &Object, axes: &[&str]) {
    let class = &o.class.name;
    let mut damage = |what: String| out.damage("object", name, Some(span), format!("{class}: {what}"));
    let mut cells = Some(1_u64);
    let mut has_range = true;
    for &axis in axes {
        let Some(a) = o.member(axis).and_then(|v| objects.object(v)) else {
            // an unreadable base was reported before
            if !matches!(o.member(axis), Some(Value::Refused(_))) && !has_refused(o) {
                damage(format!("it has no {axis}"));
            }
            return;
        };
        if !a.is_a("TAxis") {
            return damage(format!("a {} is in place of {axis}", a.class.name));
        }
        let Some(bins) = a.member("fNbins").and_then(Value::as_i64).and_then(|n| u64::try_from(n).ok()) else {
            if !has_refused(a) {
                damage(format!("{axis} has no number of bins"));
            }
            return;
        };
        let (low, high) = (number(a, "fXmin"), number(a, "fXmax"));
        if (low.is_none() || high.is_none()) && !has_refused(a) {
            damage(format!("{axis} has no range"));
        }
        has_range &= high > low;
        cells = cells.and_then(|n| n.checked_mul(bins + 2));
    }
    let mut arrays = vec![("its array", Some(o.content()))];
    let is_profile = ["TProfile", "TProfile2D", "TProfile3D"].iter().any(|c| o.is_a(c));
    if is_profile {
        arrays.push(("fBinEntries", o.member("fBinEntries").map(|v| contents(objects, v))));
    }
    for (what, value) in arrays {
        let n = match value {
            Some(Value::Numbers(n)) => n.data.len(),
            Some(Value::Refused(_)) => continue,
            _ if has_refused(o) => continue,
            _ => 0,
        };
        if cells != Some(n as u64) {
            let wanted = cells.map_or("more than can be".to_owned(), |n| n.to_string());
            damage(format!("{what} has {n} cells, its axes have {wanted}"));
        }
    }
    let buffer = match o.member("fBuffer") {
        Some(Value::Numbers(buffer)) if buffer.shape.len() == 1 => buffer,
        None | Some(Value::Null | Value::Refused(_)) => return,
        Some(_) => return damage("its buffer is not an array of numbers".to_owned()),
    };
    let Some(rows) = buffer.data.get(0).and_then(|v| v.as_f64()).filter(|&rows| rows > 0.0) else { return };
    if 1.0 + rows.floor() * (axes.len() as f64 + 1.0) > buffer.data.len() as f64 {
        damage(format!("its buffer is too small for the {rows} rows that it claims"));
    } else if is_profile || !has_range {
        out.note("object", name, Some(span), format!("{class}: {rows} rows in its buffer are in no bin yet"));
    }
}

/// The content of a value: an array as a member is an object with numbers.
fn contents<'a>(objects: &'a Objects, value: &'a Value) -> &'a Value {
    objects.object(value).map_or(value, Object::content)
}

fn number(o: &Object, name: &str) -> Option<f64> {
    o.member(name).and_then(Value::as_f64)
}

/// Whether a base of it, or of a base, is unreadable.
fn has_refused(o: &Object) -> bool {
    o.bases().any(|b| match b {
        Value::Refused(_) => true,
        Value::Object(o) => has_refused(o),
        _ => false,
    })
}
