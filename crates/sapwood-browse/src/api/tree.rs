//! A tree and its branches.

use super::tree_of;
use crate::answer::Fault;
use crate::parameters::Parameters;
use crate::place::Place;
use crate::shared::Shared;
use sapwood::query::{Binding, Expr, function_names};
use sapwood::text::branch::{compression, is_split, parts};
use sapwood::{Branch, Tree};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub(super) fn answer(
    shared: &Shared,
    _parameters: &Parameters,
    place: &Place,
    _cancel: &Arc<AtomicBool>,
) -> Result<Value, Fault> {
    let tree = tree_of(shared, place)?;
    let header = tree.header();
    let order = tree.order();
    let mut at = vec![-1i64; header.branches.len()];
    for (shown, &branch) in order.iter().enumerate() {
        if let Some(at) = at.get_mut(branch) {
            *at = shown as i64;
        }
    }
    let facts: Vec<(&Branch, usize)> = order.iter().filter_map(|&i| Some((header.branches.get(i)?, i))).collect();
    let column = |of: &dyn Fn(&Branch, usize) -> Value| facts.iter().map(|&(b, i)| of(b, i)).collect::<Value>();
    let drawn: Vec<Result<String, String>> = facts.iter().map(|&(b, i)| expression(&tree, b, i)).collect();
    let branches = json!({
        "name": column(&|b, _| b.name.clone().into()),
        "parent": column(&|b, _| b.parent.and_then(|p| at.get(p).copied()).unwrap_or(-1).into()),
        "typename": column(&|_, i| tree.type_name(i).into()),
        "title": column(&|b, _| b.title.clone().into()),
        "expression": drawn.iter().map(|e| e.as_ref().ok()).collect::<Vec<_>>(),
        "reason": drawn.iter().map(|e| e.as_ref().err()).collect::<Vec<_>>(),
        "bytes": column(&|b, _| b.total_bytes.into()),
        "compressed_bytes": column(&|b, _| b.zip_bytes.into()),
        "baskets": column(&|_, i| parts(header, i).into()),
        "compression": column(&|b, _| compression(b).into()),
    });
    Ok(json!({
        "name": tree.path(),
        "title": header.title,
        "class": header.class,
        "entries": tree.entries(),
        "clusters": tree.clusters().len().saturating_sub(1),
        "bytes": header.total_bytes,
        "compressed_bytes": header.zip_bytes,
        "file_bytes": tree.file().size(),
        "branches": branches,
        "functions": function_names().filter(|name| !name.starts_with("std::")).collect::<Vec<_>>(),
    }))
}

/// What draws a branch, or why nothing does.
fn expression(tree: &Tree, branch: &Branch, number: usize) -> Result<String, String> {
    if is_split(branch) {
        return Err("its values are in its branches".to_owned());
    }
    tree.column_type(number).map_err(|e| e.what().to_owned())?;
    let bound = Expr::of_name(&tree.name_of(number))
        .and_then(|e| Binding::new(tree, std::slice::from_ref(&e), None).map(|_| e.text().to_owned()));
    match bound {
        Ok(text) => Ok(text),
        Err(e) => Err(e.what().lines().next().unwrap_or_default().to_owned()),
    }
}
