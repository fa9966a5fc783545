//! Writing files: new ones, and more into those that are there.
//!
//! A struct is a row of a tree; each of its fields is a branch ([`Record`](macro@Record) lists the attributes):
//!
//! ```
//! use sapwood::Compression;
//! use sapwood::write::{FileOptions, Record, TreeOptions};
//!
//! #[derive(Record)]
//! struct Hit {
//!     x: f32,
//!     channel: u16,
//! }
//!
//! #[derive(Record)]
//! struct Event {
//!     run: u32,
//!     #[record(compression = "zstd:5")]
//!     weights: Vec<f64>,
//!     #[record(split = 0)]
//!     hits: Vec<Hit>,
//! }
//!
//! # fn main() -> sapwood::Result<()> {
//! # let path = std::env::temp_dir().join(format!("sapwood-record-doc-{}.root", std::process::id()));
//! let mut file = FileOptions::new().compression(Compression::default()).create(&path)?;
//! let mut tree = file.records::<Event>("events", "", TreeOptions::new())?;
//! tree.fill(&Event { run: 1, weights: vec![0.5, 1.5], hits: vec![Hit { x: 1.0, channel: 3 }] })?;
//! tree.finish()?;
//! file.finish()?;
//! # std::fs::remove_file(&path).map_err(|e| sapwood::Error::io("cannot remove", e))
//! # }
//! ```
//!
//! The compiler refuses what cannot become branches: a field of a type that is no [`Value`], type parameters, an unknown
//! attribute.
//!
//! ```compile_fail
//! #[derive(sapwood::write::Record)]
//! struct Event { when: std::time::Duration }
//! ```
//!
//! ```compile_fail
//! #[derive(sapwood::write::Record)]
//! struct Event<T> { x: T }
//! ```
//!
//! ```compile_fail
//! #[derive(sapwood::write::Record)]
//! struct Event { #[record(colour = "red")] x: f32 }
//! ```

pub use sapwood_derive::Record;
pub use sapwood_format::Streamers;
pub use sapwood_write::{
    BranchSpec, BranchType, Class, Cluster, CppType, DirectoryId, ENTRY_LIST_CLASSES, FieldSpec, FieldType,
    FileOptions, FileSet, FileWriter, Lost, Mark, Merger, NtupleOptions, NtupleWriter, ObjectBuffer, Precision,
    Producer, Record, RecordWriter, Rows, Storage, Summary, TreeEntries, TreeOptions, TreeWriter, Value, write_file,
};

#[cfg(unix)]
pub use sapwood_write::ProducerListener;

pub use sapwood_write::sample;

/// Writes an entry list as an object of this class, for ROOT and for every verb that takes `--entries`.
///
/// # Errors
/// As [`FileWriter::append_object`]; `Unsupported` for more entries than ROOT counts in a TEventList.
#[cfg(feature = "read")]
pub fn append_entry_list(
    file: &mut FileWriter,
    directory: DirectoryId,
    kind: sapwood_engine::ListKind,
    (name, title): (&str, &str),
    list: &sapwood_engine::EntryListObject,
) -> sapwood_span::Result<()> {
    use sapwood_engine::ListKind;
    ENTRY_LIST_CLASSES.iter().filter(|class| kind != ListKind::TEventList || **class == "TEventList").for_each(
        |class| {
            file.describe_own(class);
        },
    );
    let parts = list.parts().iter().map(|part| TreeEntries {
        tree: &part.tree,
        file: &part.file,
        runs: part.entries.runs(),
        instances: part.instances.iter().collect(),
    });
    let trees: Vec<TreeEntries<'_>> = parts.collect();
    file.append_object(directory, kind.class(), name, title, None, |key_len| {
        let mut b = ObjectBuffer::new(key_len);
        match kind {
            ListKind::TEventList => {
                b.event_list(name, title, trees.first().map(|tree| tree.runs).unwrap_or_default())?;
            }
            ListKind::TEntryList => b.entry_list(name, title, &trees, false),
            ListKind::TEntryListArray => b.entry_list(name, title, &trees, true),
        }
        b.finish()
    })?;
    Ok(())
}
