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
        c(
            "words",
            Array::List {
                offsets: vec![0, 2, 2, 3],
                content: Box::new(Array::Text { offsets: vec![0, 1, 2, 3], bytes: b"abc".to_vec() }),
            },
        ),
        c("odd name-1", Array::Flat(Values::F64(vec![0.5, 1.5, 2.5]))),
        c("a.b::c.", Array::Flat(Values::Bool(vec![1, 0, 1]))),
        c("pi", Array::Flat(Values::F64(vec![3.0, 3.0, 3.0]))),
        c(
            "ids",
            Array::List { offsets: vec![0, 2, 2, 3], content: Box::new(Array::Flat(Values::I64(vec![8, 9, 1 << 60]))) },
        ),
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
    let batch = Batch {
        first_entry: 100,
        first_local_entry: 10,
        total_entries: 1000,
        entries: 3,
        apart: None,
        instances: None,
        present: Vec::new(),
        weight: 1.0,
        columns,
    };
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

/// Entries 1 and 2 have no item at this place: 64-bit numbers and strings are compared as other numbers are.
#[test]
fn what_an_index_does_not_find_passes_no_comparison() {
    let entries = |cut: &str| run("k", cut).entry.iter().map(|e| e - 100).collect::<Vec<_>>();
    for (cut, passed) in [
        ("x[k]>1", vec![0]),
        ("ids[k]>1", vec![0]),
        ("ids[k]<10 || ids[k]>=10", vec![0]),
        ("ids[k]==9", vec![0]),
        ("ids[k]!=9", vec![1, 2]),
        ("ids[k]&1", vec![0]),
        ("!(ids[k]>1)", vec![1, 2]),
        ("words[k]==\"b\"", vec![0]),
        ("words[k]!=\"b\"", vec![1, 2]),
        ("words[k]==\"b\" && k<5", vec![0]),
        ("strstr(words[k],\"b\")", vec![0]),
    ] {
        assert_eq!(entries(cut), passed, "{cut}");
        assert_eq!(run("k", cut).weights, vec![1.0; passed.len()], "{cut}");
    }
}

#[test]
fn the_least_and_greatest_leave_out_what_an_index_does_not_find() {
    for list in ["x", "ids"] {
        let first = values(&format!("{list}[0]"))[0];
        for fold in ["Min$", "Max$"] {
            assert_eq!(values(&format!("{fold}({list}[x-1+(x>1)*5])"))[0], first, "{fold} of {list}");
        }
    }
}

#[test]
fn fractions_on_the_way_to_bits_of_large_numbers_count() {
    assert_eq!(values("(`odd name-1`*10)&id"), [5.0, 0.0, 1.0]);
    assert_eq!(values("round(`odd name-1`)&id"), [1.0, 0.0, 3.0]);
    assert_eq!(values("(`odd name-1`>0.7)|(id>9)"), [1.0, 1.0, 1.0]);
    assert_eq!(values("(`odd name-1`>0.7)&id"), [0.0, 0.0, 1.0]);
    assert_eq!(values("id%(`odd name-1`*2+0.5)"), [0.0, 2.0, 2.0]);
    assert_eq!(values("Sum$(x*0.5)&id"), [1.0, 0.0, 6.0]);
    assert_eq!(values("(id-1)&id"), [(u64::MAX - 1) as f64, 0.0, 6.0]);
    assert_eq!(values("id-(id-1)"), [1.0, 1.0, 1.0]);
    assert_eq!(values("(id*(k>0.5)-1)&1"), [0.0, 1.0, 1.0]);
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
    assert_eq!(values("@words.size()"), [2.0, 0.0, 1.0]);
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
        "the tree has no branch odd_name that an expression can read; the branches are x, z, vv, uu, m, k, and 7 more (column 5)\n    x + odd_name\n        ^"
    );
    assert!(message("Alt$(z[5], Iteration$)", "").contains("cannot be an array"));
    assert!(message("X", "").contains("did you mean x"));
    assert!(message("sqrtt(x)", "").contains("did you mean sqrt"));
    assert_eq!(make("nothing", "").err().unwrap().kind(), ErrorKind::NotFound);
    assert!(message("s+1", "").contains("left side is a string"));
    assert!(message("x", "s").contains("a string is not a number"));
    assert!(message("s>\"a\"", "").contains("only be compared with == and !="));
    assert!(message("m[2]", "").contains("the last one is [1]"));
    assert!(message("x[-1]", "").contains("[Length$(x)-1]"));
    // as in ROOT, indices that no dimension is left for have no effect
    assert!(make("x[0][0]", "").is_ok() && make("k[1]", "").is_ok());
    assert!(message("vv[k]", "").contains("computed index"));
    assert!(message("Alt$(x,z)", "").contains("second argument of Alt$"));
    assert!(message("atan2(x)", "").contains("takes 2 arguments, not 1"));
    assert!(message("Max$(s)", "").contains("requires numbers"));
    assert!(message("x:z", "qq").ends_with("    qq\n    ^"));
}

#[test]
fn batches_that_do_not_fit_are_refused() {
    let query = make("x+k", "").unwrap();
    let tree = tree();
    let (x, k) = (&tree[0].1, &tree[5].1);
    let run = |columns: Vec<&Array>, entries: usize| {
        let batch = Batch {
            first_entry: 0,
            first_local_entry: 0,
            total_entries: 3,
            entries,
            apart: None,
            instances: None,
            present: Vec::new(),
            weight: 1.0,
            columns,
        };
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
    let batch = Batch {
        first_entry: 0,
        first_local_entry: 0,
        total_entries: 3,
        entries: 3,
        apart: None,
        instances: None,
        present: Vec::new(),
        weight: 1.0,
        columns: vec![&tree[7].1],
    };
    let error = query.visit(&batch, |_| Ok(())).unwrap_err().to_string();
    assert!(error.contains("scan it"), "{error}");
    // ROOT's bins are a whole number wide for branches and counts alone
    for (expr, integer) in [("k", true), ("Entry$", true), ("Length$(x)", true), ("k*2+1", false), ("k>1", false)] {
        assert_eq!(make(expr, "").unwrap().is_integer(0), integer, "{expr}");
    }
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
    assert_eq!(Shape::of(&tree[4].1).dims, [Dim::Fixed(2), Dim::Fixed(3)]);
    assert_eq!(Shape::of(&tree[7].1).kind, Kind::Text);
    assert_eq!(Shape::of(&tree[0].1), Shape::list(DType::F32));
    assert_eq!(Shape::of(&Array::Record { len: 0, fields: vec![] }).kind, Kind::Record);
}

#[test]
fn long_sums_and_deep_brackets_are_evaluated() {
    assert_eq!(values(&format!("k{}", "+k".repeat(900))), [901.0, 0.0, -901.0]);
    assert_eq!(values(&format!("{}k{}", "-(".repeat(90), ")".repeat(90))), [1.0, 0.0, -1.0]);
}

/// Rows as TTree::Scan prints them: each a line of its cells, `-` where there is none.
fn scan(exprs: &str, cut: &str) -> Vec<String> {
    let tree = tree();
    let cut = (!cut.is_empty()).then(|| Expr::parse(cut).unwrap());
    let exprs = Expr::parse_list(exprs).unwrap();
    let query = Query::scan(&exprs, cut.as_ref(), tree.as_slice()).unwrap_or_else(|e| panic!("{e}"));
    let columns: Vec<&Array> = query.names().iter().map(|n| &tree.iter().find(|c| c.0 == *n).unwrap().1).collect();
    let batch = Batch {
        first_entry: 100,
        first_local_entry: 10,
        total_entries: 1000,
        entries: 3,
        apart: None,
        instances: None,
        present: Vec::new(),
        weight: 1.0,
        columns,
    };
    let rows = query.rows(&batch).unwrap();
    let cell = |c, r| rows.cell(c, r).map_or_else(|| "-".to_string(), |c| c.to_string());
    (0..rows.len())
        .map(|r| {
            let cells: Vec<String> = (0..exprs.len()).map(|c| cell(c, r)).collect();
            format!("{}.{} {}", rows.entry[r], rows.index[r], cells.join(" "))
        })
        .collect()
}

#[test]
fn a_scan_keeps_every_entry_and_leaves_blanks() {
    let wanted = ["100.0 1 10 1", "100.1 2 - 1", "101.0 - 20 0", "102.0 3 30 -1", "102.1 4 40 -1", "102.2 5 - -1"];
    assert_eq!(scan("x:z:k", ""), wanted);
    // an item that is missing is blank, a string is repeated
    assert_eq!(scan("x[1]:z:s", ""), ["100.0 2 10 ab", "101.0 - 20 ", "102.0 4 30 üb", "102.1 4 40 üb"]);
    // matrices beside lists: by the number of the instance
    let rows = scan("m:z", "k==1");
    assert_eq!((rows.len(), rows[0].as_str(), rows[5].as_str()), (6, "100.0 0 10", "100.5 5 -"));
    assert_eq!(scan("vv:x", "k<1"), ["101.0 - -", "102.0 4 3", "102.1 - 4", "102.2 - 5"]);
    assert_eq!(scan("Iteration$*2:z", "k!=0"), ["100.0 0 10", "102.0 0 30", "102.1 2 40"]);
    assert_eq!(scan("Alt$(x,7):z", ""), ["100.0 1 10", "101.0 7 20", "102.0 3 30", "102.1 4 40"]);
    assert_eq!(scan("x+z:k", ""), ["100.0 11 1", "101.0 - 0", "102.0 33 -1", "102.1 44 -1"]);
    assert_eq!(scan("id", ""), ["100.0 18446744073709551615", "101.0 9223372036854775808", "102.0 7"]);
    assert_eq!(scan("\"a\":2", "k>0"), ["100.0 a 2"]);
}

#[test]
fn a_cut_with_instances_makes_a_scan_run_together() {
    assert_eq!(scan("x:z", "z>0"), ["100.0 1 10", "102.0 3 30", "102.1 4 40"]);
    assert_eq!(scan("x:k", "Iteration$<1"), ["100.0 1 1", "101.0 - 0", "102.0 3 -1"]);
    // an item of the cut that is missing takes the entry with it
    assert_eq!(scan("k", "x[2]>0"), ["102.0 -1"]);
}

#[test]
fn rows_of_a_scan_can_be_joined() {
    let tree = tree();
    let query = Query::scan(&Expr::parse_list("x:k").unwrap(), None, tree.as_slice()).unwrap();
    let rows = |tree: &[(String, Array)], entries| {
        let columns = query.names().iter().map(|n| &tree.iter().find(|c| c.0 == *n).unwrap().1).collect();
        let batch = Batch {
            first_entry: 0,
            first_local_entry: 0,
            total_entries: 3,
            entries,
            apart: None,
            instances: None,
            present: Vec::new(),
            weight: 1.0,
            columns,
        };
        query.rows(&batch).unwrap()
    };
    let full = vec![("x".to_string(), list(&[&[1.0]])), ("k".to_string(), Array::Flat(Values::I32(vec![1])))];
    let mut joined = rows(&full, 1);
    assert_eq!(joined.present, [None, None]);
    joined.append(&rows(&tree, 3)).unwrap();
    joined.append(&rows(&full, 1)).unwrap();
    let there: Vec<bool> = (0..joined.len()).map(|r| joined.has(0, r)).collect();
    assert_eq!(there, [true, true, true, false, true, true, true, true]);
    assert!((0..joined.len()).all(|r| joined.has(1, r)) && !joined.has(1, joined.len()) && !joined.has(2, 0));
    assert!(
        query
            .visit(
                &Batch {
                    first_entry: 0,
                    first_local_entry: 0,
                    total_entries: 1,
                    entries: 1,
                    apart: None,
                    instances: None,
                    present: Vec::new(),
                    weight: 1.0,
                    columns: full.iter().map(|c| &c.1).collect()
                },
                |_| Ok(())
            )
            .is_err()
    );
}
