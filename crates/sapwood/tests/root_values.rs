//! Small files of ROOT 6.40 (tests/data, made by make_seeds.py): our values beside those that ROOT reads.

mod common;

use common::{columns, open};
use sapwood::{Array, ErrorKind, ScanOptions, StepSize, Tree, Values};
use serde_json::{Value, json};

/// Branches that this version refuses, with a word of the reason.
const REFUSED: &[(&str, &str, &str)] = &[];

/// Branches of which the JSON tells some members only: not those whose values ROOT itself makes up.
const IN_PART: &[(&str, &str)] = &[("types.root", "whole")];

/// The entry `i` of a column in the form the JSON has it.
fn value(a: &Array, i: usize) -> Value {
    match a {
        Array::Flat(v) => number(v, i),
        Array::Regular { size, content, .. } => (i * size..(i + 1) * size).map(|k| value(content, k)).collect(),
        Array::List { offsets, content } => (offsets[i]..offsets[i + 1]).map(|k| value(content, k as usize)).collect(),
        Array::Text { offsets, bytes } => {
            let bytes = &bytes[offsets[i] as usize..offsets[i + 1] as usize];
            json!(String::from_utf8(bytes.to_vec()).unwrap())
        }
        Array::Record { fields, .. } => {
            Value::Object(fields.iter().map(|(name, a)| (bare(name).to_owned(), value(a, i))).collect())
        }
    }
}

/// A member's name without its dimensions.
fn bare(name: &str) -> &str {
    name.split('[').next().unwrap_or(name)
}

fn number(values: &Values, i: usize) -> Value {
    match values {
        Values::I64(v) => json!(v[i]),
        Values::U64(v) => json!(v[i]),
        v => json!(v.get_f64(i)),
    }
}

/// Numbers by value (1 is 1.0), the rest as it is.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => {
            x == y || (!(x.is_i64() && y.is_i64() || x.is_u64() && y.is_u64()) && x.as_f64() == y.as_f64())
        }
        (Value::Array(x), Value::Array(y)) => x.len() == y.len() && x.iter().zip(y).all(|(a, b)| same(a, b)),
        (Value::Object(x), Value::Object(y)) => {
            x.len() == y.len() && x.iter().all(|(k, a)| y.get(k).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

fn compare(file: &str) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data");
    let path = format!("{folder}/{file}");
    let said: Value = serde_json::from_slice(&std::fs::read(format!("{path}.json")).unwrap()).unwrap();
    let tree = open(&path).tree(said["tree"].as_str().unwrap()).unwrap();
    let mut wrong = Vec::new();
    for (name, expected) in said["branches"].as_object().unwrap() {
        let refused = REFUSED.iter().find(|(f, n, _)| *f == file && n == name);
        match (read(&tree, name), refused) {
            (Ok(mut values), None) => {
                if IN_PART.contains(&(file, name.as_str())) {
                    leave_out(&mut values, expected);
                }
                if !same(&values, expected) {
                    let lines = values.as_array().into_iter().flatten().zip(expected.as_array().into_iter().flatten());
                    let entry = lines.enumerate().find(|(_, (a, b))| !same(a, b));
                    wrong.push(format!("{name}: the first entry that differs, read and said by ROOT: {entry:?}"));
                }
            }
            (Ok(_), Some(_)) => wrong.push(format!("{name} is read now: take it from the list of refused branches")),
            (Err(e), Some((_, _, why))) if e.kind() == ErrorKind::Unsupported && e.to_string().contains(why) => {}
            (Err(e), _) => wrong.push(format!("{name}: {e}")),
        }
    }
    assert!(wrong.is_empty(), "{file}:\n{}", wrong.join("\n"));
}

/// Takes the members that were not expected out of a list of records.
fn leave_out(values: &mut Value, expected: &Value) {
    for (record, expected) in values.as_array_mut().into_iter().flatten().zip(expected.as_array().into_iter().flatten())
    {
        if let (Value::Object(record), Value::Object(expected)) = (record, expected) {
            record.retain(|name, _| expected.contains_key(name));
        }
    }
}

fn read(tree: &Tree, name: &str) -> sapwood::Result<Value> {
    let branch = tree.find(name)?;
    let options = ScanOptions::default().branches(vec![branch]).step(StepSize::Entries(7));
    let column = columns(tree, &options)?.remove(0);
    Ok((0..column.len()).map(|i| value(&column, i)).collect())
}

#[test]
fn collections_as_branches() {
    compare("collections.root");
}

#[test]
fn members_of_a_split_object() {
    compare("split.root");
}

#[test]
fn an_object_in_one_branch() {
    compare("whole.root");
}

#[test]
fn a_branch_for_each_type() {
    compare("types.root");
}

#[test]
fn leaves_and_baskets_in_the_header() {
    compare("leaves.root");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/leaves.root");
    let tree = open(path).tree("deep/er/Events").unwrap();
    assert!(tree.header().branches.iter().any(|b| !b.embedded.is_empty()), "the file tests baskets in the header");
    assert_eq!(tree.header().aliases, [("sum".to_owned(), "point.x + point.y".to_owned())]);
}

#[test]
fn every_codec() {
    compare("codecs.root");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/codecs.root");
    let file = open(path);
    assert_eq!(file.tree("t").unwrap().entries(), 60);
    let old = file.list("", false).unwrap().into_iter().filter(|l| l.path == "t").map(|l| l.key.cycle).min().unwrap();
    assert_eq!(file.tree(&format!("t;{old}")).unwrap().entries(), 3, "the older cycle");
}
