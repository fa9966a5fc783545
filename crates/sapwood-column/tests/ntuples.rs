//! Ntuples made by hand: right ones, and ones with any damage behind right checksums.

use proptest::prelude::*;
use sapwood_codec::{Decoder, xxh3};
use sapwood_column::ntuple::{FieldLayout, Pages};
use sapwood_column::{Array, Values, interpret};
use sapwood_format::Streamers;
use sapwood_format::ntuple::{Anchor, Footer, LONGEST_BLOB, Ntuple, Page, PageListPlace, tree_of};
use sapwood_span::{Error, Result, Span};

fn record(payload: &[u8]) -> Vec<u8> {
    [&(payload.len() as i64 + 8).to_le_bytes()[..], payload].concat()
}

fn list(items: &[Vec<u8>]) -> Vec<u8> {
    let items_len: usize = items.iter().map(Vec::len).sum();
    let size = -(items_len as i64 + 12);
    [&size.to_le_bytes()[..], &(items.len() as u32).to_le_bytes(), &items.concat()].concat()
}

fn string(text: &str) -> Vec<u8> {
    [&(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat()
}

fn envelope(kind: u64, payload: &[u8]) -> Vec<u8> {
    let len = payload.len() as u64 + 16;
    let body = [&(kind | len << 16).to_le_bytes()[..], payload].concat();
    [&body[..], &xxh3(&body).to_le_bytes()].concat()
}

fn field(parent: u32, role: u16, name: &str, type_name: &str) -> Vec<u8> {
    let mut out = [0u32.to_le_bytes(), 0u32.to_le_bytes(), parent.to_le_bytes()].concat();
    out.extend(role.to_le_bytes());
    out.extend(0u16.to_le_bytes());
    for text in [name, type_name, "", ""] {
        out.extend(string(text));
    }
    record(&out)
}

fn column(code: u16, bits: u16, field: u32) -> Vec<u8> {
    let mut out = [code.to_le_bytes(), bits.to_le_bytes()].concat();
    out.extend(field.to_le_bytes());
    out.extend([0; 4]);
    record(&out)
}

fn page(elements: i32, size: u32, at: u64) -> Vec<u8> {
    [&elements.to_le_bytes()[..], &size.to_le_bytes(), &at.to_le_bytes()].concat()
}

/// The pages of a column in a cluster, with its element offset and compression.
fn pages(pages: &[Vec<u8>]) -> Vec<u8> {
    let items: Vec<u8> = pages.concat();
    let size = -(items.len() as i64 + 12 + 12);
    [&size.to_le_bytes()[..], &(pages.len() as u32).to_le_bytes(), &items, &0i64.to_le_bytes(), &0u32.to_le_bytes()]
        .concat()
}

/// The payloads of header, footer (without the header's checksum) and page list (likewise) of three entries: a number,
/// a list, a record with a string, a variant.
fn payloads() -> [Vec<u8>; 3] {
    let fields = [
        field(0, 0, "n", "std::int32_t"),
        field(1, 1, "v", "std::vector<float>"),
        field(1, 0, "_0", "float"),
        field(3, 2, "r", "R"),
        field(3, 0, "s", "std::string"),
        field(5, 3, "w", "std::variant<bool,double>"),
        field(5, 0, "_0", "bool"),
        field(5, 0, "_1", "double"),
    ];
    let columns = [
        column(0x07, 32, 0),
        column(0x0e, 32, 1),
        column(0x0c, 32, 2),
        column(0x0e, 32, 4),
        column(0x02, 8, 4),
        column(0x10, 96, 5),
        column(0x00, 1, 6),
        column(0x0d, 64, 7),
    ];
    let nothing = list(&[]);
    let schema = [list(&fields), list(&columns), nothing.clone(), nothing].concat();
    let header = [&0u64.to_le_bytes()[..], &string("n"), &string("title"), &string("test"), &schema].concat();
    let group = record(&[&0u64.to_le_bytes()[..], &3u64.to_le_bytes(), &1u32.to_le_bytes(), &[0; 20]].concat());
    let footer = [&record(&[])[..], &list(&[group])].concat();
    let summary = record(&[0u64.to_le_bytes(), 3u64.to_le_bytes()].concat());
    let located = [
        pages(&[page(2, 8, 100), page(1, 4, 108)]),
        pages(&[page(3, 12, 200)]),
        pages(&[page(3, 12, 300)]),
        pages(&[page(3, 12, 400)]),
        pages(&[page(4, 4, 500)]),
        pages(&[page(3, 36, 600)]),
        pages(&[page(1, 1, 700)]),
        pages(&[page(1, 8, 800)]),
    ];
    [header, footer, [&list(&[summary])[..], &list(&[list(&located)])].concat()]
}

fn opened([header, footer, page_list]: &[Vec<u8>; 3]) -> Result<Ntuple> {
    let mut decoder = Decoder::new();
    let header = envelope(1, header);
    let sum = u64::from_le_bytes(*header.last_chunk().unwrap());
    let footer = envelope(2, &[&0u64.to_le_bytes()[..], &sum.to_le_bytes(), footer].concat());
    let page_list = envelope(3, &[&sum.to_le_bytes()[..], page_list].concat());
    let anchor = Anchor {
        version: [1, 0, 0, 0],
        header: Span::new(10, header.len() as u64),
        header_len: header.len() as u64,
        footer: Span::new(20, footer.len() as u64),
        footer_len: footer.len() as u64,
        longest_blob: LONGEST_BLOB,
    };
    let footer = Footer::open(&anchor, &footer, &mut decoder)?;
    let (mut ntuple, sum) = Ntuple::open(&anchor, &header, &footer, &mut decoder)?;
    for &PageListPlace { span, .. } in footer.lists.iter().take(3) {
        let place = PageListPlace { span, len: page_list.len() as u64 };
        ntuple.add_pages(&place, &page_list, sum, &mut decoder)?;
    }
    ntuple.finish()?;
    Ok(ntuple)
}

/// Pages by their positions; others are zeros, and no large ones.
struct Known(Vec<(u64, Vec<u8>)>, Vec<u8>);

impl Pages for Known {
    fn page(&mut self, _: usize, page: &Page, size: usize, _: bool) -> Result<&[u8]> {
        if size > 1 << 20 {
            return Err(Error::unsupported("a large page"));
        }
        self.1 = vec![0; size];
        if let Some((_, bytes)) = self.0.iter().find(|(at, bytes)| *at == page.span.start && bytes.len() == size) {
            self.1.copy_from_slice(bytes);
        }
        Ok(&self.1)
    }
}

fn content() -> Known {
    let ints = |n: &[u32]| n.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>();
    let floats = |n: &[f32]| n.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>();
    let switch = |at: u64, tag: u32| [&at.to_le_bytes()[..], &tag.to_le_bytes()].concat();
    Known(
        vec![
            (100, ints(&[7, 8])),
            (108, ints(&[9])),
            (200, ints(&[1, 1, 3])),
            (300, floats(&[1.5, 2.5, 3.5])),
            (400, ints(&[2, 2, 4])),
            (500, b"abcd".to_vec()),
            (600, [switch(0, 2), switch(0, 0), switch(0, 1)].concat()),
            (700, vec![1]),
            (800, 0.25f64.to_le_bytes().to_vec()),
        ],
        Vec::new(),
    )
}

#[test]
fn fields_become_columns() {
    let ntuple = opened(&payloads()).unwrap();
    let decoded = |field: usize| {
        let layout = FieldLayout::of(&ntuple, field).unwrap();
        let cluster = &ntuple.table.clusters[0];
        let array = layout.decode(&ntuple, cluster, 0..3, &mut content()).unwrap();
        assert_eq!(array.len(), 3);
        // any of its entries alone; but the positions of variants count from the beginning of the cluster
        assert_eq!(layout.is_divisible(&ntuple, cluster), field != 5);
        for (from, to) in (0..3).flat_map(|from| (from..=3).map(move |to| (from, to))) {
            let part = layout.decode(&ntuple, cluster, from..to, &mut content());
            match layout.is_divisible(&ntuple, cluster) {
                true => assert_eq!(part.unwrap(), array.slice(from as usize, to as usize)),
                false => assert!(from == 0 || part.is_err()),
            }
        }
        assert!(layout.decode(&ntuple, cluster, 1..4, &mut content()).is_err());
        array
    };
    assert_eq!(decoded(0), Array::Flat(Values::I32(vec![7, 8, 9])));
    let floats = Array::Flat(Values::F32(vec![1.5, 2.5, 3.5]));
    let lists = Array::List { offsets: vec![0, 1, 1, 3], content: Box::new(floats) };
    assert_eq!(decoded(1), lists);
    let text = Array::Text { offsets: vec![0, 2, 2, 4], bytes: b"abcd".to_vec() };
    assert_eq!(decoded(3), Array::Record { len: 3, fields: vec![("s".to_owned(), text.clone())] });
    // a member alone
    assert_eq!(decoded(4), text);
    let one = |offsets: Vec<i64>, content: Values| Array::List { offsets, content: Box::new(Array::Flat(content)) };
    let bools = one(vec![0, 0, 0, 1], Values::Bool(vec![1]));
    let doubles = one(vec![0, 1, 1, 1], Values::F64(vec![0.25]));
    let fields = vec![("_0".to_owned(), bools), ("_1".to_owned(), doubles)];
    assert_eq!(decoded(5), Array::Record { len: 3, fields });
}

#[test]
fn as_a_tree() {
    let tree = tree_of(opened(&payloads()).unwrap());
    let names: Vec<String> = tree.in_order().into_iter().map(|b| tree.path(b)).collect();
    assert_eq!(names, ["n", "v", "r", "r.s", "w"]);
    assert_eq!((tree.entries, tree.title.as_str(), tree.zip_bytes), (3, "title", 8 + 4 + 12 * 3 + 4 + 36 + 1 + 8));
    let layout = interpret(&tree, 1, &Streamers::default()).unwrap();
    assert_eq!(layout.column_type().to_string(), "var * float32");
}

#[test]
fn parts_of_different_ntuples_are_refused() {
    let [header, footer, page_list] = payloads();
    let other = [&header[..header.len() - 1], &[header[header.len() - 1] ^ 1]].concat();
    // its schema is damaged as well, unless the last byte is unused: either way it is an error
    assert!(opened(&[other, footer, page_list]).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any bytes changed behind right checksums: an error or values, no panic, no more memory than the pages justify.
    #[test]
    fn damage_behind_right_checksums_is_refused_or_read(
        changes in prop::collection::vec((0usize..3, any::<prop::sample::Index>(), any::<u8>(), 0u8..3), 1..6),
    ) {
        let mut payloads = payloads();
        for (part, at, value, how) in changes {
            let payload = &mut payloads[part];
            let at = at.index(payload.len());
            payload[at] = match how {
                0 => value,
                1 => payload[at] ^ (1 << (value % 8)),
                _ => payload[at].wrapping_add(1),
            };
        }
        let Ok(ntuple) = opened(&payloads) else { return Ok(()) };
        for cluster in &ntuple.table.clusters {
            for field in 0..ntuple.schema.fields.len() {
                let Ok(layout) = FieldLayout::of(&ntuple, field) else { continue };
                let n = cluster.entries.end - cluster.entries.start;
                if layout.is_divisible(&ntuple, cluster) {
                    let _ = layout.decode(&ntuple, cluster, n / 3..n / 2, &mut content());
                }
                let Ok(array) = layout.decode(&ntuple, cluster, 0..n, &mut content()) else { continue };
                prop_assert_eq!(array.len() as u64, n);
                if array.len() < 1000 {
                    let mut joined = layout.column_type().empty();
                    prop_assert!(joined.append(&array).is_ok(), "{:?} {}", array, layout.column_type());
                }
            }
        }
        let tree = tree_of(ntuple);
        for b in tree.in_order() {
            let _ = (tree.path(b), interpret(&tree, b, &Streamers::default()));
        }
    }
}
