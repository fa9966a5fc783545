//! The anchor, the header, page lists and the footer as bytes, in the form of ROOT 6.40.

use super::frame_writer::FrameWriter;
use super::page_list::{Cluster, PageTable};
use super::schema::{DEFERRED, HAS_CHECKSUM, HAS_RANGE, PROJECTED, REPETITIVE, Role, Schema, SchemaSize};
use super::{Anchor, Kind, PageListPlace};
use sapwood_codec::xxh3;
use std::ops::Range;

/// The version of the format that is written: epoch, major, minor, patch.
pub const WRITTEN_VERSION: [u16; 4] = [1, 0, 2, 0];

/// The first version whose footer has a list of sets of attributes.
const HAS_ATTRIBUTES: [u16; 4] = [1, 0, 1, 0];

/// The version of the class of anchors.
const ANCHOR_CLASS: u16 = 2;
/// Bytes of an anchor's members.
const ANCHOR_LEN: u32 = 4 * 2 + 7 * 8;
/// No record of an ntuple is longer: ROOT's default.
pub const LONGEST_BLOB: u64 = 1 << 30;

impl Anchor {
    /// The `ROOT::RNTuple` object, as stored in a file.
    pub fn bytes(&self) -> Vec<u8> {
        let mut members = Vec::with_capacity(ANCHOR_LEN as usize);
        for v in self.version {
            members.extend_from_slice(&v.to_be_bytes());
        }
        let places = [(self.header, self.header_len), (self.footer, self.footer_len)];
        for (span, len) in places {
            for word in [span.start, span.len, len] {
                members.extend_from_slice(&word.to_be_bytes());
            }
        }
        members.extend_from_slice(&self.longest_blob.to_be_bytes());
        let count = 0x4000_0000 | (ANCHOR_LEN + 2);
        let mut out = [&count.to_be_bytes()[..], &ANCHOR_CLASS.to_be_bytes()].concat();
        out.extend_from_slice(&members);
        out.extend_from_slice(&xxh3(&members).to_be_bytes());
        out
    }
}

/// The header envelope of an ntuple, and its checksum, which the other envelopes repeat.
pub fn header_envelope(name: &str, description: &str, writer: &str, schema: &Schema) -> (Vec<u8>, u64) {
    header_envelope_of(name, description, writer, schema, schema.size())
}

/// The header envelope where the schema continues in the footer: it describes so much of it.
pub fn header_envelope_of(
    name: &str,
    description: &str,
    writer: &str,
    schema: &Schema,
    size: SchemaSize,
) -> (Vec<u8>, u64) {
    let mut f = FrameWriter::envelope(Kind::Header);
    f.u64(0);
    [name, description, writer].into_iter().for_each(|text| f.string(text));
    put_schema(&mut f, schema, SchemaSize::default(), size);
    f.finish()
}

/// Fields, columns, alias columns and information on types, of a part of the schema.
fn put_schema(f: &mut FrameWriter, schema: &Schema, from: SchemaSize, to: SchemaSize) {
    let fields = schema.fields.get(from.fields..to.fields).unwrap_or_default();
    f.list(fields.len(), |f| {
        for (id, field) in (from.fields..).zip(fields) {
            f.record(|f| {
                f.u32(field.version);
                f.u32(field.type_version);
                f.u32(field.parent.unwrap_or(id) as u32);
                f.u16(match field.role {
                    Role::Leaf => 0,
                    Role::Collection => 1,
                    Role::Record => 2,
                    Role::Variant => 3,
                    Role::Streamer => 4,
                    Role::Unknown(other) => other,
                });
                let flags = [
                    (field.array_size.is_some(), REPETITIVE),
                    (field.source.is_some(), PROJECTED),
                    (field.type_checksum.is_some(), HAS_CHECKSUM),
                ];
                f.u16(flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag).sum());
                let texts = [&field.name, &field.type_name, &field.type_alias, &field.description];
                texts.into_iter().for_each(|text| f.string(text));
                if let Some(n) = field.array_size {
                    f.u64(n);
                }
                let more = [field.source.map(|id| id as u32), field.type_checksum];
                more.into_iter().flatten().for_each(|n| f.u32(n));
            });
        }
    });
    let columns = schema.columns.get(from.columns..to.columns).unwrap_or_default();
    f.list(columns.len(), |f| {
        for column in columns {
            f.record(|f| {
                f.u16(column.code);
                f.u16(column.bits);
                f.u32(column.field as u32);
                let is_deferred = column.first_element > 0;
                f.u16(if is_deferred { DEFERRED } else { 0 } | if column.range.is_some() { HAS_RANGE } else { 0 });
                f.u16(column.representation);
                if is_deferred {
                    f.i64(column.first_element as i64);
                }
                if let Some((min, max)) = column.range {
                    f.f64(min);
                    f.f64(max);
                }
            });
        }
    });
    let is_here = |&(_, field): &(usize, usize)| (from.fields..to.fields).contains(&field);
    let aliases: Vec<(usize, usize)> = schema.aliases().filter(is_here).collect();
    f.list(aliases.len(), |f| {
        for (column, field) in &aliases {
            f.record(|f| {
                f.u32(*column as u32);
                f.u32(*field as u32);
            });
        }
    });
    let type_info = schema.type_info.get(from.type_info..to.type_info).unwrap_or_default();
    f.list(type_info.len(), |f| {
        for info in type_info {
            f.record(|f| {
                f.u32(info.content);
                f.u32(info.version);
                f.string(&info.type_name);
                f.text_bytes(&info.bytes);
            });
        }
    });
}

/// A column of a cluster beyond its pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnRange {
    /// Elements of the column in all clusters before.
    pub first_element: u64,
    /// ROOT's number of the compression setting.
    pub compression: u32,
}

/// The page list of clusters `group`. `ranges`: by cluster of the group, then by column.
pub fn page_list_envelope(
    header: u64,
    table: &PageTable,
    group: Range<usize>,
    ranges: &[Vec<ColumnRange>],
) -> (Vec<u8>, u64) {
    let clusters: &[Cluster] = table.clusters.get(group).unwrap_or_default();
    let mut f = FrameWriter::envelope(Kind::PageList);
    f.u64(header);
    f.list(clusters.len(), |f| {
        for cluster in clusters {
            f.record(|f| {
                f.u64(cluster.entries.start);
                f.u64(cluster.entries.end - cluster.entries.start);
            });
        }
    });
    f.list(clusters.len(), |f| {
        for (cluster, ranges) in clusters.iter().zip(ranges) {
            f.list(cluster.columns.len(), |f| {
                for (column, range) in cluster.columns.iter().zip(ranges) {
                    let pages = table.pages.get(column.pages.clone()).unwrap_or_default();
                    f.list(pages.len(), |f| {
                        for page in pages {
                            let elements = page.elements as i32;
                            f.i32(if page.has_checksum { -elements } else { elements });
                            f.locator(page.span);
                        }
                        if column.is_suppressed {
                            f.i64(i64::MIN);
                        } else {
                            f.i64(range.first_element as i64);
                            f.u32(range.compression);
                        }
                    });
                }
            });
        }
    });
    f.finish()
}

/// A group of clusters with a page list of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterGroup {
    /// Its entries.
    pub entries: Range<u64>,
    /// Its clusters.
    pub clusters: u32,
    /// Its page list.
    pub list: PageListPlace,
}

/// The footer envelope: what of the schema is not in the header, these cluster groups, no attributes. `version`: that in
/// the anchor, by which readers know whether there is a list of attributes. `schema`: all of it, and how much the header has.
pub fn footer_envelope(
    version: [u16; 4],
    header: u64,
    (schema, in_header): (&Schema, SchemaSize),
    groups: &[ClusterGroup],
) -> Vec<u8> {
    let mut f = FrameWriter::envelope(Kind::Footer);
    f.u64(0);
    f.u64(header);
    f.record(|f| put_schema(f, schema, in_header, schema.size()));
    f.list(groups.len(), |f| {
        for group in groups {
            f.record(|f| {
                f.u64(group.entries.start);
                f.u64(group.entries.end - group.entries.start);
                f.u32(group.clusters);
                f.u64(group.list.len);
                f.locator(group.list.span);
            });
        }
    });
    if version >= HAS_ATTRIBUTES {
        f.list(0, |_| ());
    }
    f.finish().0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ntuple::{ClusterColumn, Column, Field, Footer, Ntuple, Page, TypeInfo};
    use sapwood_codec::Decoder;
    use sapwood_span::Span;

    fn schema() -> Schema {
        let field = |name: &str, type_name: &str, parent, role| Field {
            name: name.to_owned(),
            type_name: type_name.to_owned(),
            parent,
            role,
            ..Field::default()
        };
        let mut array = field("a", "std::array<float,3>", None, Role::Leaf);
        array.array_size = Some(3);
        let fields = vec![
            field("v", "std::vector<double>", None, Role::Collection),
            field("_0", "double", Some(0), Role::Leaf),
            array,
            field("_0", "float", Some(2), Role::Leaf),
        ];
        let column =
            |code, bits, field, range| Column { code, bits, field, representation: 0, first_element: 0, range };
        let range = Some((-1.0, 2.5));
        let columns = vec![column(0x1b, 64, 0, None), column(0x19, 64, 1, None), column(0x1d, 12, 3, range)];
        Schema { fields, columns, ..Schema::default() }
    }

    #[test]
    fn what_is_written_is_read() {
        let mut decoder = Decoder::new();
        let (header, checksum) = header_envelope("n", "two\nlines", "Sapwood", &schema());
        let page = |start, len| Page { elements: 7, has_checksum: start % 2 == 0, span: Span::new(start, len) };
        let pages = vec![page(100, 1 << 20), page(101, 3 << 30), page(1 << 40, 5)];
        let column = |pages| ClusterColumn { pages, is_suppressed: false, compression: 505 };
        let cluster = |entries, columns| Cluster { entries, columns };
        let table = PageTable {
            clusters: vec![
                cluster(0..4, vec![column(0..1), column(1..1), column(1..2)]),
                cluster(4..9, vec![column(2..2), column(2..3), column(3..3)]),
            ],
            pages,
        };
        let ranges = vec![vec![ColumnRange { first_element: 3, compression: 505 }; 3]; 2];
        let (list, _) = page_list_envelope(checksum, &table, 0..2, &ranges);
        let place = PageListPlace { span: Span::new(5000, list.len() as u64), len: list.len() as u64 };
        let all = (&schema(), schema().size());
        let footer = footer_envelope(
            WRITTEN_VERSION,
            checksum,
            all,
            &[ClusterGroup { entries: 0..9, clusters: 2, list: place }],
        );
        let anchor = Anchor {
            version: WRITTEN_VERSION,
            header: Span::new(200, header.len() as u64),
            header_len: header.len() as u64,
            footer: Span::new(9000, footer.len() as u64),
            footer_len: footer.len() as u64,
            longest_blob: LONGEST_BLOB,
        };
        assert_eq!(Anchor::parse(&anchor.bytes()).unwrap(), anchor);
        let footer = Footer::open(&anchor, &footer, &mut decoder).unwrap();
        assert_eq!(footer.lists, [place]);
        let (mut ntuple, found) = Ntuple::open(&anchor, &header, &footer, &mut decoder).unwrap();
        assert_eq!(found, checksum);
        assert_eq!((&*ntuple.name, &*ntuple.description, &*ntuple.writer), ("n", "two\nlines", "Sapwood"));
        for (field, wanted) in ntuple.schema.fields.iter().zip(&schema().fields) {
            assert_eq!((&field.name, &field.type_name), (&wanted.name, &wanted.type_name));
            assert_eq!((field.parent, field.role, field.array_size), (wanted.parent, wanted.role, wanted.array_size));
        }
        for (column, wanted) in ntuple.schema.columns.iter().zip(&schema().columns) {
            assert_eq!(format!("{column:?}"), format!("{wanted:?}"));
        }
        ntuple.add_pages(&place, &list, checksum, &mut decoder).unwrap();
        ntuple.finish().unwrap();
        assert_eq!(ntuple.entries, 9);
        assert_eq!((ntuple.table.clusters, ntuple.table.pages), (table.clusters, table.pages));
    }

    #[test]
    fn what_is_not_in_the_header_is_in_the_footer() {
        let mut decoder = Decoder::new();
        let mut all = schema();
        let in_header = all.size();
        all.fields.push(Field { name: "late".to_owned(), type_name: "float".to_owned(), ..Field::default() });
        let late = Column { code: 0x0c, bits: 32, field: 4, representation: 0, first_element: 9, range: None };
        all.columns.push(late);
        all.type_info.push(TypeInfo { content: 0, version: 1, type_name: "T".to_owned(), bytes: vec![1, 2] });
        let (header, checksum) = header_envelope_of("n", "", "Sapwood", &all, in_header);
        assert_eq!(header, header_envelope("n", "", "Sapwood", &schema()).0);
        for version in [[1, 0, 0, 0], WRITTEN_VERSION] {
            let footer = footer_envelope(version, checksum, (&all, in_header), &[]);
            let anchor = Anchor {
                version,
                header: Span::new(200, header.len() as u64),
                header_len: header.len() as u64,
                footer: Span::new(9000, footer.len() as u64),
                footer_len: footer.len() as u64,
                longest_blob: LONGEST_BLOB,
            };
            let footer = Footer::open(&anchor, &footer, &mut decoder).unwrap();
            let (ntuple, _) = Ntuple::open(&anchor, &header, &footer, &mut decoder).unwrap();
            assert_eq!(ntuple.in_header, in_header);
            assert_eq!(ntuple.schema.type_info, all.type_info);
            let fields: Vec<(&str, Option<usize>)> =
                ntuple.schema.fields.iter().map(|f| (&*f.name, f.parent)).collect();
            assert_eq!(fields, [("v", None), ("_0", Some(0)), ("a", None), ("_0", Some(2)), ("late", None)]);
            assert_eq!(format!("{:?}", ntuple.schema.columns), format!("{:?}", all.columns));
        }
    }

    /// Length and first bytes of an anchor that ROOT 6.40 wrote.
    #[test]
    fn the_anchor_is_roots() {
        let anchor = Anchor {
            version: WRITTEN_VERSION,
            header: Span::new(258, 673),
            header_len: 2401,
            footer: Span::new(1584, 83),
            footer_len: 160,
            longest_blob: LONGEST_BLOB,
        };
        let bytes = anchor.bytes();
        assert_eq!(bytes.len(), 78);
        assert_eq!(bytes[..14], [0x40, 0, 0, 66, 0, 2, 0, 1, 0, 0, 0, 2, 0, 0]);
    }

    /// The bytes of a footer that ROOT 6.40 wrote, by their checksum.
    #[test]
    fn the_footer_is_roots() {
        let list = PageListPlace { span: Span::new(1352, 190), len: 1100 };
        let none = (&Schema::default(), SchemaSize::default());
        let footer = footer_envelope(
            WRITTEN_VERSION,
            0x8e24_eadc_a359_f5c1,
            none,
            &[ClusterGroup { entries: 0..10, clusters: 1, list }],
        );
        assert_eq!(footer.len(), 160);
        assert_eq!(footer[152..], 0x2961_b6eb_7bed_98d3_u64.to_le_bytes(), "the checksum of ROOT's own footer");
    }
}
