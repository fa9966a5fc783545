//! What TTree::Draw leaves undefined, what is refused, and what the rows carry besides numbers.

use sapwood_column::{Array, DType, Values};
use sapwood_query::{Batch, Cell, Dim, Expr, Kind, Query, Rows, Shape};
use sapwood_span::ErrorKind;

fn list(rows: &[&[f32]]) -> Array {
    let mut offsets = vec![0];
    let mut flat = Vec::new();
    for r in rows {
        flat.extend_from_slice(r);
        offsets.push(flat.len() as i64);
    }
    Array::List { offsets, content: Box::new(Array::Flat(Values::F32(flat))) }
}

fn lists(entries: &[&[&[f32]]]) -> Array {
    let inner: Vec<&[f32]> = entries.iter().flat_map(|e| e.iter().copied()).collect();
    let mut offsets = vec![0];
    for e in entries {
        offsets.push(offsets[offsets.len() - 1] + e.len() as i64);
    }
    Array::List { offsets, content: Box::new(list(&inner)) }
}

/// Three entries.
fn tree() -> Vec<(String, Array)> {
    let c = |n: &str, a: Array| (n.to_string(), a);
    let m: Vec<f32> = (0..18).map(|i| i as f32).collect();
    let m = Array::Regular { size: 3, len: 6, content: Box::new(Array::Flat(Values::F32(m))) };
    vec![
        c("x", list(&[&[1.0, 2.0], &[], &[3.0, 4.0, 5.0]])),
        c("z", list(&[&[10.0], &[20.0], &[30.0, 40.0]])),
        c("vv", lists(&[&[&[1.0, 2.0], &[3.0]], &[], &[&[], &[4.0]]])),
        c("uu", lists(&[&[&[10.0], &[20.0, 30.0]], &[&[1.0]], &[&[5.0], &[6.0]]])),
        c("m", Array::Regular { size: 2, len: 3, content: Box::new(m) }),
        c("k", Array::Flat(Values::I32(vec![1, 0, -1]))),
        c("id", Array::Flat(Values::U64(vec![u64::MAX, 1 << 63, 7]))),
        c("s", Array::Text { offsets: vec![0, 2, 2, 5], bytes: "abüb".as_bytes().to_vec() }),
        c("odd name-1", Array::Flat(Values::F64(vec![0.5, 1.5, 2.5]))),
        c("a.b::c.", Array::Flat(Values::Bool(vec![1, 0, 1]))),
        c("pi", Array::Flat(Values::F64(vec![3.0, 3.0, 3.0]))),
    ]
}

fn make(exprs: &str, cut: &str) -> sapwood_span::Result<Query> {
    let cut = if cut.is_empty() { None } else { Some(Expr::parse(cut)?) };
    Query::new(&Expr::parse_list(exprs)?, cut.as_ref(), tree().as_slice())
}

fn run(exprs: &str, cut: &str) -> Rows {
    let tree = tree();
    let query = make(exprs, cut).unwrap_or_else(|e| panic!("{e}"));
    let columns = query.names().iter().map(|n| &tree.iter().find(|c| c.0 == *n).unwrap().1).collect();
    let batch = Batch { first_entry: 100, first_local_entry: 10, total_entries: 1000, entries: 3, columns };
    query.rows(&batch).unwrap()
}

fn values(expr: &str) -> Vec<f64> {
    run(expr, "").values(0)
}

fn message(exprs: &str, cut: &str) -> String {
    make(exprs, cut).err().unwrap_or_else(|| panic!("{exprs} is accepted")).to_string()
}

#[test]
fn lists_of_different_counters_run_to_the_shortest() {
    assert_eq!(values("x+z"), [11.0, 33.0, 44.0]);
    assert_eq!(values("Sum$(x+z)"), [11.0, 0.0, 77.0]);
    assert_eq!(values("vv+uu"), [11.0, 23.0, 10.0]);
    assert_eq!(values("vv*m"), [0.0, 2.0, 9.0, 60.0]);
}

#[test]
fn computed_indices_outside_are_nan() {
    let show = |e: &str| values(e).iter().map(|x| x.to_string()).collect::<Vec<_>>().join(" ");
    assert_eq!(show("x[k]"), "2 NaN NaN");
    assert_eq!(show("m[0][k+2]"), "NaN 8 13");
    assert_eq!(show("m[k][]"), "3 4 5 6 7 8 NaN NaN NaN");
    assert_eq!(show("x[Iteration$-1]"), "NaN NaN NaN");
    assert_eq!(show("x-x[Iteration$+0*x]"), "0 0 0 0 0");
}

#[test]
fn a_taken_item_counts_from_the_first_free_index() {
    assert_eq!(
        values("m*0+m[1]"),
        [3.0, 3.0, 3.0, 4.0, 4.0, 4.0, 9.0, 9.0, 9.0, 10.0, 10.0, 10.0, 15.0, 15.0, 15.0, 16.0, 16.0, 16.0]
    );
}

#[test]
fn odd_names_constants_and_sizes() {
    assert_eq!(values("`odd name-1`*2"), [1.0, 3.0, 5.0]);
    assert_eq!(values("a.b::c.+0"), [1.0, 0.0, 1.0]);
    assert_eq!(values("pi*(true-false)"), [3.0, 3.0, 3.0]);
    assert_eq!(values("x.size()+@x.size()+x.@size()+x@.size()"), [8.0, 0.0, 12.0]);
    assert_eq!(values("s.length()"), [2.0, 0.0, 3.0]);
    assert_eq!(values("Entry$+LocalEntry$/100+Entries$*0"), [100.1, 101.11, 102.12]);
    assert_eq!(make("pi", "").unwrap().names(), ["pi"]);
}

#[test]
fn rows_keep_types_entries_and_instances() {
    let rows = run("x:id:s:x>2", "x!=4");
    assert_eq!((rows.entry.as_slice(), rows.index.as_slice()), (&[100, 100, 102, 102][..], &[0, 1, 0, 2][..]));
    assert_eq!(rows.cell(0, 3), Some(Cell::F32(5.0)));
    assert_eq!(rows.cell(1, 0), Some(Cell::UInt(u64::MAX)));
    assert_eq!(rows.cell(2, 2).unwrap().to_string(), "üb");
    assert_eq!(rows.cell(3, 1), Some(Cell::F64(0.0)));
    assert_eq!(rows.cell(3, 4), None);
    assert_eq!(rows.cell(9, 0), None);
    let mut twice = rows.clone();
    twice.append(&rows).unwrap();
    assert_eq!(twice.len(), 8);
    assert_eq!(twice.cell(2, 6).unwrap().to_string(), "üb");
}

#[test]
fn mistakes_are_named_with_their_place() {
    assert_eq!(
        message("x + odd_name", ""),
        "there is no branch odd_name that an expression can read (column 5)\n    x + odd_name\n        ^"
    );
    assert!(message("X", "").contains("did you mean x"));
    assert!(message("sqrtt(x)", "").contains("did you mean sqrt"));
    assert_eq!(make("nothing", "").err().unwrap().kind(), ErrorKind::NotFound);
    assert!(message("s+1", "").contains("left side is a string"));
    assert!(message("x", "s").contains("a string is not a number"));
    assert!(message("s>\"a\"", "").contains("only be compared with == and !="));
    assert!(message("m[2]", "").contains("the last one is [1]"));
    assert!(message("x[-1]", "").contains("[Length$(x)-1]"));
    assert!(message("x[0][0]", "").contains("2 indices"));
    assert!(message("k[1]", "").contains("1 indices"));
    assert!(message("vv[k]", "").contains("computed index"));
    assert!(message("Alt$(x,z)", "").contains("second argument of Alt$"));
    assert!(message("atan2(x)", "").contains("takes 2 argument(s), not 1"));
    assert!(message("Max$(s)", "").contains("wants numbers"));
    assert!(message("x:z", "qq").ends_with("    qq\n    ^"));
}

#[test]
fn batches_that_do_not_fit_are_refused() {
    let query = make("x+k", "").unwrap();
    let tree = tree();
    let (x, k) = (&tree[0].1, &tree[5].1);
    let run = |columns: Vec<&Array>, entries: usize| {
        let batch = Batch { first_entry: 0, first_local_entry: 0, total_entries: 3, entries, columns };
        query.rows(&batch).map(|r| r.len()).map_err(|e| e.to_string())
    };
    assert_eq!(run(vec![x, k], 3), Ok(5));
    assert!(run(vec![x], 3).unwrap_err().contains("reads 2 columns"));
    assert!(run(vec![x, k], 2).unwrap_err().contains("branch x: the column has 3 entries"));
    assert!(run(vec![k, k], 3).unwrap_err().contains("not of the type"));
    let broken = Array::List { offsets: vec![0, 9, 2, 3], content: Box::new(Array::Flat(Values::F32(vec![0.0; 3]))) };
    assert!(run(vec![&broken, k], 3).unwrap_err().contains("offsets"));
}

#[test]
fn strings_are_scanned_not_drawn() {
    let query = make("s", "").unwrap();
    assert!(query.is_text(0) && !query.is_integer(0));
    let tree = tree();
    let batch = Batch { first_entry: 0, first_local_entry: 0, total_entries: 3, entries: 3, columns: vec![&tree[7].1] };
    let error = query.visit(&batch, |_| Ok(())).unwrap_err().to_string();
    assert!(error.contains("scan it"), "{error}");
    assert!(make("k*2+1", "").unwrap().is_integer(0));
    assert!(!make("k/2", "").unwrap().is_integer(0));
}

#[test]
fn queries_can_be_shared_between_workers() {
    fn shared<T: Send + Sync + 'static>(_: &T) {}
    shared(&make("Sum$(x>1)", "k").unwrap());
    shared(&sapwood_query::AutoHist::new(false));
}

#[test]
fn shapes_are_read_off_columns() {
    let tree = tree();
    assert_eq!(Shape::of(&tree[4].1).unwrap().dims, [Dim::Fixed(2), Dim::Fixed(3)]);
    assert_eq!(Shape::of(&tree[7].1).unwrap().kind, Kind::Text);
    assert_eq!(Shape::of(&tree[0].1).unwrap(), Shape::list(DType::F32));
    assert_eq!(Shape::of(&Array::Record { len: 0, fields: vec![] }), None);
}

#[test]
fn long_sums_and_deep_brackets_are_evaluated() {
    assert_eq!(values(&format!("k{}", "+k".repeat(900))), [901.0, 0.0, -901.0]);
    assert_eq!(values(&format!("{}k{}", "-(".repeat(90), ")".repeat(90))), [1.0, 0.0, -1.0]);
}
