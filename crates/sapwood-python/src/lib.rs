//! `sapwood._core`: the core, as the pure Python package `sapwood` sees it.
//!
//! Thin on purpose: files, trees and scans with plain arguments, columns as buffers that numpy takes without copying.
//! Every call that may wait gives the interpreter free and stays open to signals (see [`wait`]).

#![warn(unreachable_pub)]

mod browse;
mod byte_file;
mod cache_size;
mod chain;
mod column;
mod command;
mod convert;
mod convert_file;
mod draw;
mod draw_parts;
mod entries;
mod entry_list;
mod error;
mod file;
mod filler;
mod forms;
mod friends;
mod held_buffer;
mod io_report;
mod local_cache;
mod merge;
mod meter;
mod object;
mod optimize;
mod perf;
mod pieces;
mod producers;
mod query;
mod report;
mod rewriting;
mod s3;
mod scan;
mod seconds;
mod select;
mod simulate;
mod streamers;
mod sync;
mod text;
mod tree;
mod wait;
mod writing;
mod writing_ntuple;
mod written;

use pyo3::prelude::*;

/// Columns in large pages.
#[global_allocator]
static ALLOCATOR: sapwood::pages::LargePages = sapwood::pages::LargePages;

/// The core of sapwood; use the package `sapwood` instead.
// Memory is safe without the interpreter lock (held_buffer.rs). It is kept because the package's own state in Python was
// never tried without it: a free-threaded Python takes its lock again when it imports this.
#[pymodule(gil_used = true)]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<column::Buffer>()?;
    module.add_function(wrap_pyfunction!(pieces::pieces, module)?)?;
    module.add_class::<file::File>()?;
    module.add_class::<tree::Tree>()?;
    module.add_class::<filler::Filler>()?;
    module.add_class::<scan::Scan>()?;
    module.add_class::<entries::EntryReader>()?;
    module.add_class::<writing::Writer>()?;
    module.add_class::<writing::WriterTree>()?;
    module.add_class::<writing_ntuple::WriterNtuple>()?;
    module.add_class::<producers::TreeMerger>()?;
    module.add_class::<producers::TreeProducer>()?;
    module.add_function(wrap_pyfunction!(writing::write_file, module)?)?;
    module.add_function(wrap_pyfunction!(merge::merge, module)?)?;
    module.add_function(wrap_pyfunction!(convert_file::convert, module)?)?;
    module.add_function(wrap_pyfunction!(optimize::optimize, module)?)?;
    module.add_function(wrap_pyfunction!(merge::recover, module)?)?;
    module.add_class::<browse::Browser>()?;
    module.add_function(wrap_pyfunction!(browse::browse, module)?)?;
    module.add_class::<report::Map>()?;
    module.add_function(wrap_pyfunction!(report::doctor, module)?)?;
    module.add_function(wrap_pyfunction!(simulate::simulate, module)?)?;
    module.add_function(wrap_pyfunction!(simulate::save_report, module)?)?;
    module.add_function(wrap_pyfunction!(simulate::shipped_scenario, module)?)?;
    module.add_function(wrap_pyfunction!(simulate::shipped_scenarios, module)?)?;
    module.add_function(wrap_pyfunction!(chain::chain_places, module)?)?;
    module.add_function(wrap_pyfunction!(entry_list::entries_of_list, module)?)?;
    module.add_function(wrap_pyfunction!(chain::draw_chain, module)?)?;
    module.add_function(wrap_pyfunction!(draw::checked, module)?)?;
    module.add_function(wrap_pyfunction!(draw_parts::are_axes_given, module)?)?;
    module.add_function(wrap_pyfunction!(draw_parts::draw_axes, module)?)?;
    module.add_function(wrap_pyfunction!(draw_parts::add_parts, module)?)?;
    module.add_function(wrap_pyfunction!(draw_parts::drawn_part, module)?)?;
    module.add_function(wrap_pyfunction!(chain::query_chain, module)?)?;
    module.add_function(wrap_pyfunction!(chain::expand, module)?)?;
    module.add_function(wrap_pyfunction!(chain::listed, module)?)?;
    module.add_function(wrap_pyfunction!(chain::redacted, module)?)?;
    module.add_function(wrap_pyfunction!(command::run_command, module)?)?;
    module.add_class::<perf::Collector>()?;
    module.add_function(wrap_pyfunction!(perf::perf_text, module)?)?;
    module.add_class::<byte_file::ByteFile>()?;
    module.add_function(wrap_pyfunction!(byte_file::open_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(byte_file::open_reader, module)?)?;
    module.add_function(wrap_pyfunction!(byte_file::list_directory, module)?)?;
    module.add_function(wrap_pyfunction!(local_cache::cache_configure, module)?)?;
    module.add_function(wrap_pyfunction!(local_cache::cache_status, module)?)?;
    module.add_function(wrap_pyfunction!(local_cache::cache_list, module)?)?;
    module.add_function(wrap_pyfunction!(local_cache::cache_verify, module)?)?;
    module.add_function(wrap_pyfunction!(local_cache::cache_purge, module)?)?;
    let flush = wrap_pyfunction!(local_cache::cache_flush, module)?;
    // what was read is to be in the directory before the process ends
    module.py().import("atexit")?.call_method1("register", (flush.clone(),))?;
    module.add_function(flush)?;
    module.add_function(wrap_pyfunction!(file::open, module)?)
}
