//! Rows and histograms against those of ROOT's TTree::Draw, stored by tests/oracle/draw_expressions.py.

use sapwood_column::{Array, Values};
use sapwood_query::{Axis, Batch, Expr, Hist1D, Query};
use serde_json::Value;

fn fixture() -> Value {
    serde_json::from_str(include_str!("fixtures/draw.json")).unwrap()
}

fn number(v: &Value) -> f64 {
    match v.as_str() {
        Some("nan") => f64::NAN,
        Some("inf") => f64::INFINITY,
        Some("-inf") => f64::NEG_INFINITY,
        Some("-0") => -0.0,
        Some(s) => panic!("{s}"),
        None => v.as_f64().unwrap(),
    }
}

fn numbers(v: &Value) -> Vec<f64> {
    v.as_array().unwrap().iter().map(number).collect()
}

fn text(v: &Value) -> Array {
    let mut offsets = vec![0];
    let mut bytes = Vec::new();
    for s in v.as_array().unwrap() {
        bytes.extend_from_slice(s.as_str().unwrap().as_bytes());
        offsets.push(bytes.len() as i64);
    }
    Array::Text { offsets, bytes }
}

fn list(v: &Value, content: impl Fn(&Value) -> Array) -> Array {
    let mut offsets = vec![0];
    let mut flat = Vec::new();
    for items in v.as_array().unwrap() {
        flat.extend(items.as_array().unwrap().iter().cloned());
        offsets.push(flat.len() as i64);
    }
    Array::List { offsets, content: Box::new(content(&Value::Array(flat))) }
}

fn regular(sizes: &[usize], content: Array) -> Array {
    sizes.iter().rev().fold(content, |content, &size| Array::Regular {
        size,
        len: content.len() / size,
        content: Box::new(content),
    })
}

fn flat(v: &Value) -> Value {
    Value::Array(v.as_array().unwrap().iter().flat_map(|i| i.as_array().unwrap().iter().cloned()).collect())
}

fn columns(data: &Value) -> Vec<(String, Array)> {
    macro_rules! typed {
        ($t:ident, $n:ty, $as:ident) => {
            |v: &Value| Array::Flat(Values::$t(v.as_array().unwrap().iter().map(|x| x.$as().unwrap() as $n).collect()))
        };
    }
    let f32s = typed!(F32, f32, as_f64);
    let i32s = typed!(I32, i32, as_i64);
    let f64s = typed!(F64, f64, as_f64);
    let d = |name: &str| &data[name];
    let named = |name: &str, a: Array| (name.to_string(), a);
    let w = Value::Array(
        d("w")
            .as_array()
            .unwrap()
            .iter()
            .map(|e| Value::Array(e.as_array().unwrap().chunks(3).map(|c| Value::Array(c.to_vec())).collect()))
            .collect(),
    );
    vec![
        named("n", i32s(d("n"))),
        named("s", i32s(d("s"))),
        named("i8", typed!(I8, i8, as_i64)(d("i8"))),
        named("u8", typed!(U8, u8, as_u64)(d("u8"))),
        named("i16", typed!(I16, i16, as_i64)(d("i16"))),
        named("u16", typed!(U16, u16, as_u64)(d("u16"))),
        named("i32", i32s(d("i32"))),
        named("u32", typed!(U32, u32, as_u64)(d("u32"))),
        named("i64", typed!(I64, i64, as_i64)(d("i64"))),
        named("u64", typed!(U64, u64, as_u64)(d("u64"))),
        named("f32", f32s(d("f32"))),
        named("f64", f64s(d("f64"))),
        named("b", typed!(Bool, u8, as_u64)(d("b"))),
        named("x", list(d("x"), f32s)),
        named("y", regular(&[4], f32s(&flat(d("y"))))),
        named("m", regular(&[2, 3], f32s(&flat(d("m"))))),
        named("k", regular(&[2, 3], i32s(&flat(d("k"))))),
        named("w", list(&w, |v| regular(&[3], f64s(&flat(v))))),
        named("v", list(d("v"), f32s)),
        named("vi", list(d("vi"), i32s)),
        named("vs", list(d("vs"), text)),
        named("vv", list(d("vv"), |v| list(v, f32s))),
        named("str", text(d("str"))),
        named("nm", text(d("nm"))),
    ]
}

/// A query and the columns it wants.
fn batch<'a>(query: &Query, columns: &'a [(String, Array)]) -> Batch<'a> {
    let entries = columns[0].1.len();
    Batch {
        first_entry: 0,
        first_local_entry: 0,
        total_entries: entries as u64,
        entries,
        apart: None,
        instances: None,
        present: Vec::new(),
        weight: 1.0,
        columns: query.names().iter().map(|n| &columns.iter().find(|c| c.0 == *n).unwrap().1).collect(),
    }
}

fn query(expr: &str, cut: &str, columns: &[(String, Array)]) -> Query {
    let expr = Expr::parse(expr).unwrap_or_else(|e| panic!("{e}"));
    let cut = (!cut.is_empty()).then(|| Expr::parse(cut).unwrap_or_else(|e| panic!("{e}")));
    Query::new(&[expr], cut.as_ref(), columns).unwrap_or_else(|e| panic!("{e}"))
}

/// Equal, or within the rounding of transcendental functions.
fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()) || a == b && a != 0.0 || (a - b).abs() <= 1e-12 * b.abs()
}

#[test]
fn rows_are_those_of_root() {
    let fixture = fixture();
    let columns = columns(&fixture["data"]);
    let mut wrong = Vec::new();
    let draws = fixture["draws"].as_array().unwrap();
    assert!(draws.len() > 300);
    for draw in draws {
        let (expr, cut) = (draw["expr"].as_str().unwrap(), draw["cut"].as_str().unwrap_or(""));
        let wanted = numbers(&draw["values"]);
        let weights = if cut.is_empty() { vec![1.0; wanted.len()] } else { numbers(&draw["weights"]) };
        let query = query(expr, cut, &columns);
        let (mut got, mut got_weights) = (Vec::new(), Vec::new());
        let batch = batch(&query, &columns);
        query
            .visit(&batch, |rows| {
                got.extend_from_slice(&rows.values[0]);
                got_weights.extend_from_slice(rows.weights);
                Ok(())
            })
            .unwrap();
        let all = |a: &[f64], b: &[f64]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(*a, *b));
        if !all(&got, &wanted) || !all(&got_weights, &weights) {
            wrong.push(format!("{expr} ; {cut}\n   ROOT {wanted:?}\n   here {got:?}\n   weights {got_weights:?}"));
        }
        let rows = query.rows(&batch).unwrap();
        assert!(all(&rows.values(0), &got) && all(&rows.weights, &got_weights), "{expr}: rows and visit differ");
        assert_eq!((rows.entry.len(), rows.index.len()), (got.len(), got.len()));
    }
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), draws.len(), wrong.join("\n"));
}

#[test]
fn histograms_are_those_of_root() {
    let fixture = fixture();
    let columns = columns(&fixture["data"]);
    for h in fixture["histograms"].as_array().unwrap() {
        let (expr, cut) = (h["expr"].as_str().unwrap(), h["cut"].as_str().unwrap());
        let bins = h["bins"].as_u64().unwrap() as usize;
        let mut hist = Hist1D::new(Axis::new(bins, number(&h["low"]), number(&h["high"])).unwrap());
        let query = query(expr, cut, &columns);
        query
            .visit(&batch(&query, &columns), |rows| {
                hist.fill(&rows.values[0], rows.weights);
                Ok(())
            })
            .unwrap();
        assert_eq!(hist.values(true), numbers(&h["counts"]), "{expr} ; {cut}");
        let errors: Vec<f64> = hist.variances(true).iter().map(|v| v.sqrt()).collect();
        assert!(errors.iter().zip(numbers(&h["errors"])).all(|(a, b)| same(*a, b)), "{expr} ; {cut}: {errors:?}");
        assert_eq!(hist.entries() as f64, number(&h["entries"]), "{expr} ; {cut}");
        for (name, got) in [("mean", hist.mean()), ("std_dev", hist.std_dev())] {
            let wanted = number(&h[name]);
            assert!((got - wanted).abs() <= 1e-12 * wanted.abs().max(1.0), "{expr} ; {cut}: {name} {got} {wanted}");
        }
    }
}
