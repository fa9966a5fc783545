//! Writes a file with a branch of every kind of C++ object, for the checks against ROOT and uproot:
//!
//! ```text
//! write_objects PATH ENTRIES COMPRESSION
//! ```
//!
//! The values follow from the entry's number by formulas that the checker also uses.

use sapwood_column::{Array, DType, Values};
use sapwood_span::{Error, Result};
use sapwood_write::{BranchSpec, Cluster, CppType, FileWriter, TreeOptions};
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [path, entries, compression] => write(path, entries, compression),
        _ => Err(Error::invalid("usage: write_objects PATH ENTRIES COMPRESSION")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("{e}");
            ExitCode::FAILURE
        }
    }
}

fn class(name: &str, members: &[(&str, CppType)]) -> CppType {
    CppType::class(name, members.iter().map(|(n, t)| ((*n).to_owned(), t.clone())).collect())
}

fn specs() -> Vec<BranchSpec> {
    use CppType::{Array, Number, Text};
    use DType::{Bool, F32, F64, I32, I64, U8};
    let floats = || CppType::vector(Number(F32));
    let map = |k, v| CppType::Map(Box::new(k), Box::new(v));
    let pt = class("SwPt", &[("px", Number(F32)), ("py", Number(F64))]);
    let hit =
        class("SwHit", &[("x", Number(F32)), ("id", Number(I32)), ("v", floats()), ("s", Text), ("a", Array(F64, 3))]);
    let event = class(
        "SwEvent",
        &[
            ("run", Number(I64)),
            ("ok", Number(Bool)),
            ("c", Number(U8)),
            ("w", Array(F32, 2)),
            ("p", pt.clone()),
            ("v", floats()),
            ("name", Text),
            ("pts", CppType::vector(pt.clone())),
        ],
    );
    let object = |name: &str, ty: &CppType| BranchSpec::object(name, ty.clone());
    vec![
        object("text", &Text),
        object("v_f32", &floats()),
        object("v_bool", &CppType::vector(Number(Bool))),
        object("v_i64", &CppType::vector(Number(I64))),
        object("vv", &CppType::vector(floats())),
        object("vs", &CppType::vector(Text)),
        object("vvs", &CppType::vector(CppType::vector(Text))),
        object("m", &map(Number(I32), Number(F32))),
        object("mv", &map(Text, floats())),
        object("mu", &map(Text, floats())).unsplit(),
        object("pt", &pt),
        object("ptu", &pt).unsplit(),
        object("pts", &CppType::vector(pt.clone())),
        object("ptsm", &CppType::vector(pt.clone())).member_wise(),
        object("ptsu", &CppType::vector(pt.clone())).unsplit(),
        object("vpts", &CppType::vector(CppType::vector(pt.clone()))),
        object("hits", &CppType::vector(hit.clone())),
        object("hitsm", &CppType::vector(hit.clone())).member_wise(),
        object("hitsu", &CppType::vector(hit)).unsplit(),
        object("event.", &event),
        object("eventu", &event).unsplit(),
        object("events", &CppType::vector(event.clone())),
        object("eventsm", &CppType::vector(event)).member_wise(),
    ]
}

/// The column of a type for `n` values, the first of them number `first`.
fn column(ty: &CppType, first: usize, n: usize) -> Array {
    let each = first..first + n;
    let lists = |item: &CppType| {
        let mut offsets = vec![0_i64];
        let mut end = 0;
        for i in each.clone() {
            end += (i % 4) as i64;
            offsets.push(end);
        }
        Array::List { offsets, content: Box::new(column(item, 10 * first, end as usize)) }
    };
    match ty {
        CppType::Number(d) => Array::Flat(numbers(*d, each)),
        CppType::Array(d, k) => {
            let content = Box::new(Array::Flat(numbers(*d, k * first..k * (first + n))));
            Array::Regular { size: *k, len: n, content }
        }
        CppType::Text => {
            let (mut offsets, mut bytes) = (vec![0], Vec::new());
            for i in each {
                // a few are longer than one byte of length can express
                bytes.extend_from_slice(if i % 50 == 49 { "long ".repeat(60) } else { format!("s{i}") }.as_bytes());
                offsets.push(bytes.len() as i64);
            }
            Array::Text { offsets, bytes }
        }
        CppType::Vector(item) => lists(item),
        CppType::Map(key, value) => {
            // keys must ascend, and text does so only among numbers of as many digits
            let Array::List { offsets, content } = lists(value) else { return lists(value) };
            let keys = match &**key {
                CppType::Text => {
                    let words: Vec<String> = (0..content.len()).map(|i| format!("k{i:07}")).collect();
                    let ends = words.iter().scan(0, |end, w| {
                        *end += w.len() as i64;
                        Some(*end)
                    });
                    Array::Text {
                        offsets: std::iter::once(0).chain(ends).collect(),
                        bytes: words.concat().into_bytes(),
                    }
                }
                other => column(other, 10 * first, content.len()),
            };
            let fields = vec![("first".to_owned(), keys), ("second".to_owned(), *content)];
            let len = offsets.last().map_or(0, |&n| n as usize);
            Array::List { offsets, content: Box::new(Array::Record { len, fields }) }
        }
        CppType::Class(c) => {
            let fields = c.members.iter().map(|(name, ty)| (name.clone(), column(ty, first, n))).collect();
            Array::Record { len: n, fields }
        }
    }
}

fn numbers(dtype: DType, each: std::ops::Range<usize>) -> Values {
    match dtype {
        DType::Bool => Values::Bool(each.map(|i| (i % 3 == 0) as u8).collect()),
        DType::U8 => Values::U8(each.map(|i| i as u8).collect()),
        DType::I64 => Values::I64(each.map(|i| (1 << 40) - i as i64).collect()),
        DType::I32 => Values::I32(each.map(|i| i as i32).collect()),
        DType::F64 => Values::F64(each.map(|i| i as f64 + 0.5).collect()),
        _ => Values::F32(each.map(|i| i as f32 - 0.25).collect()),
    }
}

fn write(path: &str, entries: &str, compression: &str) -> Result<()> {
    let entries: usize = entries.parse().map_err(|_| Error::invalid("ENTRIES is a number"))?;
    let mut file = FileWriter::create(path, compression.parse()?)?;
    let specs = specs();
    let options = TreeOptions::default().cluster(Cluster::Entries(150)).basket_bytes(4000);
    let mut tree = file.tree("objects", "objects of every kind", &specs, options)?;
    let columns: Vec<(&str, Array)> = specs
        .iter()
        .map(|s| match &s.ty {
            sapwood_write::BranchType::Object(ty) => (&*s.name, column(ty, 0, entries)),
            _ => (&*s.name, Array::Flat(Values::U8(Vec::new()))),
        })
        .collect();
    let given: Vec<(&str, &Array)> = columns.iter().map(|(n, a)| (*n, a)).collect();
    tree.extend(&given)?;
    tree.finish()?;
    file.finish()
}
