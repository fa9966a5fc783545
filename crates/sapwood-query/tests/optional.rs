//! Values that may be missing: they keep their places, and rows that need a missing one are not drawn.

use sapwood_column::{Array, DType, Values};
use sapwood_query::{Batch, Dim, Expr, Kind, Query, Rows, Shape};

fn list(offsets: &[i64], content: Array) -> Array {
    Array::List { offsets: offsets.to_vec(), content: Box::new(content) }
}

fn numbers(values: &[i64]) -> Array {
    Array::Flat(Values::I64(values.to_vec()))
}

/// Optional numbers.
fn optional(values: &[Option<i64>]) -> Array {
    let mut offsets = vec![0];
    for value in values {
        offsets.push(offsets[offsets.len() - 1] + i64::from(value.is_some()));
    }
    list(&offsets, numbers(&values.iter().flatten().copied().collect::<Vec<_>>()))
}

const BIG: i64 = (1 << 62) + 1;

/// Four entries. `w` and `v` have as many items.
fn tree() -> Vec<(&'static str, Shape, Array)> {
    let whole = Kind::Number(DType::I64);
    let with = |dims: &[Dim], options: &[usize]| Shape { dims: dims.to_vec(), kind: whole, options: options.to_vec() };
    let ends = [0, 3, 3, 4, 6];
    let v = [None, Some(1), Some(2), Some(5), None, None];
    let names = Array::Text { offsets: vec![0, 1, 2, 2], bytes: b"ab".to_vec() };
    vec![
        ("i", Shape::scalar(DType::I64), numbers(&[0, 1, 0, 1])),
        ("o", with(&[], &[0]), optional(&[Some(1), None, None, Some(2)])),
        ("big", with(&[], &[0]), optional(&[Some(BIG), None, Some(BIG + 2), None])),
        ("oo", with(&[], &[0, 0]), list(&[0, 1, 2, 2, 3], optional(&[Some(7), None, Some(8)]))),
        ("w", Shape::list(DType::I64), list(&ends, numbers(&[10, 20, 30, 40, 50, 60]))),
        ("v", with(&[Dim::Jagged], &[1]), list(&ends, optional(&v))),
        ("ol", with(&[Dim::Jagged], &[0]), list(&[0, 1, 1, 1, 2], list(&[0, 2, 3], numbers(&[1, 2, 3])))),
        ("s", Shape { dims: vec![], kind: Kind::Text, options: vec![0] }, list(&[0, 1, 2, 2, 3], names)),
    ]
}

fn schema() -> Vec<(String, Shape)> {
    tree().into_iter().map(|(name, shape, _)| (name.to_owned(), shape)).collect()
}

fn with_batch<R>(query: &Query, f: impl FnOnce(&Batch<'_>) -> R) -> R {
    let tree = tree();
    let column = |name: &String| &tree.iter().find(|(n, ..)| n == name).unwrap().2;
    f(&Batch {
        first_entry: 0,
        first_local_entry: 0,
        total_entries: 4,
        entries: 4,
        apart: None,
        instances: None,
        columns: query.names().iter().map(column).collect(),
        present: Vec::new(),
        weight: 1.0,
    })
}

fn drawn(expression: &str, cut: &str) -> Vec<(f64, f64)> {
    let exprs = Expr::parse_list(expression).unwrap();
    let cut = (!cut.is_empty()).then(|| Expr::parse(cut).unwrap());
    let query = Query::new(&exprs, cut.as_ref(), schema().as_slice()).unwrap();
    let mut all = Vec::new();
    let fill = |batch: &Batch<'_>| {
        query.visit(batch, |rows| {
            all.extend(rows.values[0].iter().copied().zip(rows.weights.iter().copied()));
            Ok(())
        })
    };
    with_batch(&query, fill).unwrap();
    let rows = with_batch(&query, |batch| query.rows(batch)).unwrap();
    assert_eq!(rows.weights, all.iter().map(|r| r.1).collect::<Vec<_>>(), "what is drawn are the rows");
    assert!(rows.present.iter().all(Option::is_none));
    all
}

fn values(expression: &str, cut: &str) -> Vec<f64> {
    drawn(expression, cut).into_iter().map(|r| r.0).collect()
}

fn scanned(expressions: &str, cut: &str) -> Rows {
    let cut = (!cut.is_empty()).then(|| Expr::parse(cut).unwrap());
    let query = Query::scan(&Expr::parse_list(expressions).unwrap(), cut.as_ref(), schema().as_slice()).unwrap();
    with_batch(&query, |batch| query.rows(batch)).unwrap()
}

fn printed(rows: &Rows) -> Vec<String> {
    let cell = |row: usize, column: usize| rows.cell(column, row).map_or("-".to_owned(), |c| c.to_string());
    let line = |row| (0..rows.columns.len()).map(|c| cell(row, c)).collect::<Vec<_>>().join(" ");
    (0..rows.len()).map(line).collect()
}

#[test]
fn an_optional_number_is_repeated_for_the_items_of_lists() {
    assert_eq!(values("w", "o>0"), [10.0, 20.0, 30.0, 50.0, 60.0]);
    assert_eq!(drawn("w", "o")[3..], [(50.0, 2.0), (60.0, 2.0)]);
    assert_eq!(values("w*o", ""), [10.0, 20.0, 30.0, 100.0, 120.0]);
    assert_eq!(values("o", ""), [1.0, 2.0]);
    assert_eq!(values("oo", ""), [7.0, 8.0]);
    assert_eq!(values("w", "v[2]==2"), [10.0, 20.0, 30.0]);
    assert_eq!(values("w*v[1]", ""), [10.0, 20.0, 30.0]);
    assert!(values("w", "s==\"b\"").is_empty());
    assert_eq!(values("i", "s==\"b\""), [1.0]);
}

#[test]
fn items_keep_their_places() {
    assert_eq!(values("v+w", ""), [21.0, 32.0, 45.0]);
    assert_eq!(values("w", "v>0"), [20.0, 30.0, 40.0]);
    assert_eq!(values("Iteration$", "v>0"), [1.0, 2.0, 0.0]);
    assert_eq!(values("Alt$(v,0)+w", ""), [10.0, 21.0, 32.0, 45.0, 50.0, 60.0]);
    assert_eq!(values("Alt$(v,o)+0*w", ""), [1.0, 1.0, 2.0, 5.0, 2.0, 2.0]);
    // a place that an index does not find is no missing value
    let found = values("w[o]", "");
    assert!(found.len() == 2 && found[0] == 20.0 && found[1].is_nan());
    assert!(values("v[i]", "i==0 && o<5").is_empty());
    assert_eq!(values("ol", ""), [1.0, 2.0, 3.0]);
}

#[test]
fn functions_over_instances_leave_missing_values_out() {
    assert_eq!(values("Sum$(v)", ""), [3.0, 0.0, 5.0, 0.0]);
    assert_eq!(values("Min$(v)", ""), [1.0, 0.0, 5.0, 0.0]);
    assert_eq!(values("Min$(v-3)", ""), [-2.0, 0.0, 2.0, 0.0]);
    assert_eq!(values("Max$(v-3)", ""), [-1.0, 0.0, 2.0, 0.0]);
    assert_eq!(values("MaxIf$(w,v<2)", ""), [20.0, 0.0, 0.0, 0.0]);
    assert_eq!(values("Length$(v)", ""), [3.0, 0.0, 1.0, 2.0]);
    assert_eq!(values("Length$(ol)", ""), [2.0, 0.0, 0.0, 1.0]);
    let rows = scanned("Max$(big-1):Sum$(big)", "");
    assert_eq!(rows.values(0)[1..], [0.0, (BIG + 1) as f64, 0.0]);
}

#[test]
fn logic_is_known_where_one_side_decides() {
    assert_eq!(values("Entry$", "o>1 || i==0"), [0.0, 2.0, 3.0]);
    assert_eq!(values("Entry$", "(o>1) | (i==0)"), [0.0, 2.0, 3.0]);
    assert_eq!(values("Entry$", "!(o>1) || i==0"), [0.0, 2.0]);
    assert_eq!(values("Entry$", "!(o>1 && i==1)"), [0.0, 2.0]);
    assert_eq!(values("Entry$", "!((o>1) & (i==1))"), [0.0, 2.0]);
    assert_eq!(values("Entry$", "!(o>1)"), [0.0]);
    assert_eq!(values("Entry$", "(o|1)>0"), [0.0, 3.0]);
    assert_eq!(values("i==0 ? 5 : o", ""), [5.0, 5.0, 2.0]);
    assert_eq!(values("Entry$", format!("big!={BIG}").as_str()), [2.0]);
}

#[test]
fn a_scan_leaves_missing_values_blank() {
    assert_eq!(
        printed(&scanned("o:w:v:w*o", "")),
        ["1 10 - 10", "1 20 1 20", "1 30 2 30", "- - - -", "- 40 5 -", "2 50 - 100", "2 60 - 120"]
    );
    assert_eq!(
        printed(&scanned("w:v:s:big", "w>20")),
        [format!("30 2 a {BIG}"), format!("40 5 - {}", BIG + 2), "50 -  -".to_owned(), "60 -  -".to_owned(),]
    );
    assert_eq!(printed(&scanned("o:i", "o>0")), ["1 0", "2 1"]);
    let mut rows = scanned("w:v", "v>0");
    assert_eq!(printed(&rows), ["20 1", "30 2", "40 5"]);
    rows.append(&scanned("w:v", "w>40")).unwrap();
    assert_eq!(printed(&rows), ["20 1", "30 2", "40 5", "50 -", "60 -"]);
}

#[test]
fn columns_that_are_none_of_options_are_refused() {
    let query = Query::new(&Expr::parse_list("o").unwrap(), None, schema().as_slice()).unwrap();
    let refused = |column: &Array| {
        let batch = |entries| Batch {
            first_entry: 0,
            first_local_entry: 0,
            total_entries: 4,
            entries,
            apart: None,
            instances: None,
            columns: vec![column],
            present: Vec::new(),
            weight: 1.0,
        };
        query.rows(&batch(column.len())).unwrap_err().to_string()
    };
    assert!(refused(&list(&[0, 2], numbers(&[1, 2]))).contains("several values"));
    assert!(refused(&list(&[0, 1], numbers(&[]))).contains("offsets"));
    assert!(refused(&numbers(&[1])).contains("type"));
}
