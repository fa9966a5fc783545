//! No text makes the parser panic, and no expression the evaluator, whatever the columns hold.

use proptest::prelude::*;
use sapwood_column::{Array, Values};
use sapwood_query::{AutoHist, Batch, Bins, DrawOption, Expr, Query, Shape, parse_target};

fn list(lengths: &[usize], content: Array) -> Array {
    let mut offsets = vec![0];
    for n in lengths {
        offsets.push(offsets[offsets.len() - 1] + *n as i64);
    }
    Array::List { offsets, content: Box::new(content) }
}

fn floats(n: usize) -> Array {
    let odd = [0.0, -1.5, f32::NAN, f32::INFINITY, 3e38, 7.0, -0.0, 1e-40];
    Array::Flat(Values::F32((0..n).map(|i| odd[i % odd.len()]).collect()))
}

/// A tree whose lists have these lengths.
fn tree(x: &[usize], z: &[usize]) -> Vec<(String, Array)> {
    let n = x.len();
    let z: Vec<usize> = (0..n).map(|i| z.get(i).copied().unwrap_or(0)).collect();
    let total: usize = x.iter().sum();
    let inner: Vec<usize> = (0..total).map(|i| (i * 7 + 1) % 4).collect();
    let words: Vec<usize> = (0..total).map(|i| i % 3).collect();
    let letters: usize = words.iter().sum();
    let c = |name: &str, a: Array| (name.to_string(), a);
    let text = |lengths: &[usize]| match list(lengths, floats(0)) {
        Array::List { offsets, .. } => Array::Text { offsets, bytes: vec![b'a'; letters.max(3 * n)] },
        other => other,
    };
    vec![
        c("s", Array::Flat(Values::I32((0..n).map(|i| i as i32 - 3).collect()))),
        c("u", Array::Flat(Values::U64((0..n).map(|i| u64::MAX - i as u64).collect()))),
        c("x", list(x, floats(total))),
        c("z", list(&z, Array::Flat(Values::I8((0..z.iter().sum()).map(|i| i as i8).collect())))),
        c("w", list(x, list(&inner, floats(inner.iter().sum())))),
        c(
            "m",
            Array::Regular {
                size: 2,
                len: n,
                content: Box::new(Array::Regular { size: 3, len: 2 * n, content: Box::new(floats(6 * n)) }),
            },
        ),
        c("e", Array::Regular { size: 0, len: n, content: Box::new(floats(0)) }),
        c("t", text(&vec![2; n])),
        c("tt", list(x, text(&words))),
    ]
}

/// Expressions that mostly make sense.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("s"),
        Just("u"),
        Just("x"),
        Just("z"),
        Just("w"),
        Just("m"),
        Just("e"),
        Just("x[0]"),
        Just("x[1]"),
        Just("w[1]"),
        Just("w[][1]"),
        Just("m[1]"),
        Just("m[][2]"),
        Just("x[s]"),
        Just("m[s][]"),
        Just("m[1][s]"),
        Just("w[s][0]"),
        Just("x[Iteration$]"),
        Just("x[z]"),
        Just("Entry$"),
        Just("Iteration$"),
        Just("Length$"),
        Just("t==\"aa\""),
        Just("tt==\"a\""),
        Just("strstr(tt,t)"),
        Just("@w.size()"),
        Just("t.length()"),
        Just("pi"),
        Just("0"),
        Just("2"),
        Just("-1.5"),
        Just("1e300"),
        Just("63"),
    ]
    .prop_map(String::from);
    leaf.prop_recursive(5, 40, 3, |inner| {
        let op = prop_oneof![
            Just("+"),
            Just("-"),
            Just("*"),
            Just("/"),
            Just("%"),
            Just("^"),
            Just("<"),
            Just("=="),
            Just("!="),
            Just("&&"),
            Just("||"),
            Just("&"),
            Just("|"),
            Just("<<"),
            Just(">>"),
        ];
        let call = prop_oneof![
            Just("sqrt"),
            Just("int"),
            Just("TMath::Gaus"),
            Just("max"),
            Just("Sum$"),
            Just("Max$"),
            Just("Min$"),
            Just("Length$"),
            Just("MaxIf$"),
            Just("Alt$"),
            Just("tgamma"),
        ];
        prop_oneof![
            (inner.clone(), op, inner.clone()).prop_map(|(a, op, b)| format!("({a}){op}({b})")),
            (call.clone(), inner.clone()).prop_map(|(f, a)| format!("{f}({a})")),
            (call, inner.clone(), inner.clone()).prop_map(|(f, a, b)| format!("{f}({a},{b})")),
            (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| format!("({a})?({b}):({c})")),
            inner.clone().prop_map(|a| format!("!({a})")),
            inner.prop_map(|a| format!("x[{a}]")),
        ]
    })
}

/// The column without some of its innermost values.
fn lacking(name: String, array: &Array, every: usize) -> (String, Shape, Array) {
    fn without(array: &Array, every: usize) -> Array {
        match array {
            Array::List { offsets, content } => {
                Array::List { offsets: offsets.clone(), content: Box::new(without(content, every)) }
            }
            Array::Regular { size, len, content } => {
                Array::Regular { size: *size, len: *len, content: Box::new(without(content, every)) }
            }
            leaf => {
                let (mut offsets, mut left) = (vec![0], leaf.slice(0, 0));
                for i in 0..leaf.len() {
                    if i % every > 0 {
                        left.append_range(leaf, i..i + 1).unwrap();
                    }
                    offsets.push(left.len() as i64);
                }
                Array::List { offsets, content: Box::new(left) }
            }
        }
    }
    let shape = Shape::of(array);
    let options = vec![shape.dims.len()];
    (name, Shape { options, ..shape }, without(array, every))
}

/// The entries that pass are those of the rows.
fn check_passing(query: &Query, batch: &Batch<'_>, rows: &sapwood_query::Rows) {
    let passing = query.passing(batch).unwrap();
    assert_eq!(passing.len(), batch.entries);
    let mut entries = rows.entry.clone();
    entries.dedup();
    let first = batch.first_entry;
    assert_eq!(
        (0..batch.entries as u64).filter(|i| passing[*i as usize]).map(|i| first + i).collect::<Vec<_>>(),
        entries
    );
}

fn entries_from(first: usize, entries: usize, columns: Vec<&Array>) -> Batch<'_> {
    let (first_entry, total_entries) = (first as u64, 9);
    let (apart, instances, present) = (None, None, Vec::new());
    Batch {
        first_entry,
        first_local_entry: first_entry,
        total_entries,
        entries,
        apart,
        instances,
        columns,
        present,
        weight: 1.0,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_parsed_or_refused(text in "\\PC{0,60}") {
        let _ = Expr::parse_list(&text);
        let _ = parse_target(&text);
        let _ = text.parse::<DrawOption>();
    }

    #[test]
    fn any_binning_is_parsed_or_refused(words in prop::collection::vec(prop_oneof![
        Just("1"), Just("20"), Just("-3"), Just("1e300"), Just("nan"), Just("inf"), Just(","), Just("["), Just("]"), Just(" "),
    ], 0..20)) {
        if let Ok(bins) = Bins::parse(&words.concat()) {
            prop_assert!(bins.axes.len() <= 3);
        }
    }

    #[test]
    fn any_words_are_parsed_or_refused(words in prop::collection::vec(prop_oneof![
        Just("x"), Just("("), Just(")"), Just("["), Just("]"), Just("1"), Just(".5"), Just("+"), Just("-"), Just("**"),
        Just("?"), Just(":"), Just("::"), Just(","), Just("Sum$("), Just("\""), Just("`"), Just("@"), Just(".size()"),
        Just("<"), Just(">>"), Just("!"), Just("é"), Just("0x"), Just("1e"), Just("$"), Just(" "),
    ], 0..40)) {
        let text = words.concat();
        if let Ok(exprs) = Expr::parse_list(&text) {
            for e in exprs {
                // What an expression says of itself can be parsed again.
                prop_assert_eq!(Expr::parse(e.text()).unwrap().names(), e.names());
            }
        }
        let _ = parse_target(&text);
    }

    #[test]
    fn any_expression_runs_over_any_columns(
        expr in expression(),
        cut in prop::option::of(expression()),
        x in prop::collection::vec(0usize..5, 0..12),
        z in prop::collection::vec(0usize..5, 0..12),
    ) {
        let tree = tree(&x, &z);
        let Ok(expr) = Expr::parse(&expr) else { return Ok(()) };
        let cut = cut.and_then(|c| Expr::parse(&c).ok());
        let Ok(query) = Query::new(&[expr], cut.as_ref(), tree.as_slice()) else { return Ok(()) };
        let columns = query.names().iter().map(|n| &tree.iter().find(|c| c.0 == *n).unwrap().1).collect();
        let batch = Batch { first_entry: 5, first_local_entry: 0, total_entries: 9, entries: x.len(), apart: None, instances: None, present: Vec::new(), weight: 1.0, columns };
        let rows = query.rows(&batch).unwrap();
        check_passing(&query, &batch, &rows);
        prop_assert_eq!(rows.columns[0].len(), rows.len());
        prop_assert!(rows.weights.iter().all(|w| *w != 0.0));
        let mut hist = AutoHist::new(query.is_integer(0));
        query.visit(&batch, |r| hist.fill(&r.values[0], r.weights)).unwrap();
        if let Ok(hist) = hist.finish() {
            prop_assert_eq!(hist.entries(), rows.len() as u64);
        }

        // Batches of one entry each give the same rows.
        let mut parts: Option<sapwood_query::Rows> = None;
        for e in 0..x.len() {
            let columns: Vec<Array> = batch.columns.iter().map(|c| c.slice(e, e + 1)).collect();
            let one = Batch { first_entry: 5 + e as u64, first_local_entry: e as u64, total_entries: 9, entries: 1, apart: None, instances: None, present: Vec::new(), weight: 1.0, columns: columns.iter().collect() };
            let rows = query.rows(&one).unwrap();
            match &mut parts { None => parts = Some(rows), Some(p) => p.append(&rows).unwrap() }
        }
        if let Some(parts) = parts {
            prop_assert_eq!(&parts.entry, &rows.entry);
            prop_assert_eq!(&parts.index, &rows.index);
            // which sign a NaN has depends on how many values are computed at once
            let bit = |x: &f64| if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() };
            let bits = |r: &sapwood_query::Rows| r.values(0).iter().map(bit).collect::<Vec<_>>();
            prop_assert_eq!(bits(&parts), bits(&rows));
        }
    }

    #[test]
    fn any_expression_runs_over_columns_that_lack_values(
        expr in expression(),
        cut in prop::option::of(expression()),
        x in prop::collection::vec(0usize..5, 1..12),
        z in prop::collection::vec(0usize..5, 12),
        every in 2usize..4,
    ) {
        let tree: Vec<(String, Shape, Array)> =
            tree(&x, &z[..x.len()]).into_iter().map(|(name, array)| lacking(name, &array, every)).collect();
        let schema: Vec<(String, Shape)> = tree.iter().map(|(name, shape, _)| (name.clone(), shape.clone())).collect();
        let Ok(expr) = Expr::parse(&expr) else { return Ok(()) };
        let cut = cut.and_then(|c| Expr::parse(&c).ok());
        let exprs = [expr];
        for is_scan in [false, true] {
            let make = if is_scan { Query::scan } else { Query::new };
            let Ok(query) = make(&exprs, cut.as_ref(), schema.as_slice()) else { return Ok(()) };
            let columns: Vec<&Array> =
                query.columns().iter().map(|(n, s)| &tree.iter().find(|c| c.0 == *n && c.1 == *s).unwrap().2).collect();
            let batch = entries_from(0, x.len(), columns.clone());
            let rows = query.rows(&batch).unwrap();
            check_passing(&query, &batch, &rows);
            let mut parts: Option<sapwood_query::Rows> = None;
            for e in 0..x.len() {
                let one: Vec<Array> = columns.iter().map(|c| c.slice(e, e + 1)).collect();
                let rows = query.rows(&entries_from(e, 1, one.iter().collect())).unwrap();
                match &mut parts { None => parts = Some(rows), Some(p) => p.append(&rows).unwrap() }
            }
            let parts = parts.unwrap();
            prop_assert_eq!((&parts.entry, &parts.index), (&rows.entry, &rows.index));
            for row in 0..rows.len() {
                let cell = |r: &sapwood_query::Rows| r.cell(0, row).map(|c| c.to_string());
                prop_assert_eq!(cell(&parts), cell(&rows));
            }
        }
    }

    #[test]
    fn any_expressions_are_scanned(
        exprs in prop::collection::vec(expression(), 1..4),
        cut in prop::option::of(expression()),
        x in prop::collection::vec(0usize..5, 1..12),
        z in prop::collection::vec(0usize..5, 12),
    ) {
        let tree = tree(&x, &z[..x.len()]);
        let exprs: Vec<Expr> = exprs.iter().filter_map(|e| Expr::parse(e).ok()).collect();
        let cut = cut.and_then(|c| Expr::parse(&c).ok());
        let Ok(query) = Query::scan(&exprs, cut.as_ref(), tree.as_slice()) else { return Ok(()) };
        let columns = query.names().iter().map(|n| &tree.iter().find(|c| c.0 == *n).unwrap().1).collect();
        let batch = Batch { first_entry: 5, first_local_entry: 0, total_entries: 9, entries: x.len(), apart: None, instances: None, present: Vec::new(), weight: 1.0, columns };
        let rows = query.rows(&batch).unwrap();
        check_passing(&query, &batch, &rows);
        for (column, present) in rows.columns.iter().zip(&rows.present) {
            prop_assert_eq!(column.len(), rows.len());
            prop_assert!(present.as_ref().is_none_or(|p| p.len() == rows.len()));
        }
        prop_assert!(rows.index.len() == rows.len() && rows.entry.is_sorted());
        if cut.is_none() {
            // every entry has a row, the instances count up from 0
            let mut entries = rows.entry.clone();
            entries.dedup();
            prop_assert_eq!(entries.len(), x.len());
            for r in 1..rows.len() {
                let next = if rows.entry[r] == rows.entry[r - 1] { rows.index[r - 1] + 1 } else { 0 };
                prop_assert_eq!(rows.index[r], next);
            }
        }
    }
}
