//! Expressions in the language of TTree::Draw: parsed ([`Expr`]), bound to a tree ([`Query`]), run
//! over typed columns ([`Batch`]) to rows ([`Rows`]), histograms ([`Histogram`], filled by [`Plot`]) and pictures ([`picture`]).
//!
//! No I/O, no threads of its own; everything is `Send + Sync`, and histograms of several workers merge. [`Binding`] ties a query to
//! a tree: which branches to scan, and which members of their records are meant.
//!
//! Where ROOT 6.40's results are deterministic they are reproduced, odd ones included (the modules
//! say which). Where ROOT crashes, reads beyond an array or reads another entry's values, the
//! result here is the logical one:
//! - lists of different counters run together to the shortest (`x+z`), also several levels deep;
//! - a computed index outside its array is NaN (`m[0][k]` is clamped in ROOT), and so passes no comparison but `!=`, of
//!   strings too (ROOT's whole expression becomes NaN, which passes as a cut; of strings it crashes);
//! - every branch is read in every entry (ROOT reads one that the first instance of `c?a:b`, `&&` or `||` does not need
//!   with the entry in which the first instance needs it again);
//! - an array of which an item is taken (`m[0]`) counts its instances from the first free index;
//! - `%` by zero is NaN (ROOT ends with a floating point exception);
//! - `a<b<c` is refused.
//!
//! [`Query::scan`] gives the rows of TTree::Scan, where expressions run apart; strings are repeated in them like numbers.

#![forbid(unsafe_code)]
#![warn(unreachable_pub, unnameable_types)]

mod alias;
mod ast;
mod auto;
mod batch;
mod bind;
mod binding;
mod binning;
mod bins;
mod block;
mod characters;
mod collector;
mod dense;
mod derived_names;
mod draw_option;
mod entry_list_draw;
mod eval;
mod exact;
mod friend_index;
mod friends;
mod function;
mod given_aliases;
mod grid;
mod hist;
mod hist_nd;
mod histogram;
mod histogram_json;
mod independent_rows;
mod kernel;
mod known;
mod label_sums;
mod layout;
mod leaves;
mod links;
mod mathcore;
mod method;
mod method_formula;
mod method_genvector;
mod method_objects;
mod method_table;
mod missing;
mod moments;
mod names;
mod number;
mod parse;
mod part;
mod part_bytes;
pub mod picture;
mod plot;
mod plot_labels;
mod printf;
mod profile;
mod program;
mod query;
mod random;
mod reader;
mod rounding;
mod rows;
mod scan_cut;
mod scan_option;
mod shape;
mod special;
mod target;
mod text;
mod text_hist;
mod tmath;
mod token;
mod uhi;
mod view;

pub use ast::Expr;
pub use auto::{AutoHist, BinCount, ESTIMATE, rows_that_decide};
pub use batch::Batch;
pub use binding::Binding;
pub use binning::{automatic_axis, automatic_axis_near, automatic_axis_of};
pub use bins::{AxisBins, Bins};
pub use draw_option::{Chart, DrawOption};
pub use entry_list_draw::{DrawnList, EntryListDraw};
pub use friend_index::with_index;
pub use friends::{FriendBranch, friend_branch, friend_columns};
pub use function::function_names;
pub use given_aliases::Aliases;
pub use hist::{Axis, Hist1D};
pub use hist_nd::HistND;
pub use histogram::{ChartRows, Histogram};
pub use histogram_json::histogram_json;
pub use leaves::Leaves;
pub use plot::{Plot, axes_of_ranges};
pub use profile::{Profile, ProfileError};
pub use query::{Query, Selected};
pub use reader::{Bind, Bound, Entries, Reader, bind_all, bind_each};
pub use rows::{Cell, Rows};
pub use scan_cut::ScanCut;
pub use scan_option::ScanOption;
pub use shape::{Collection, Dim, Kind, Schema, Shape};
pub use target::{Target, parse_target};
pub use text_hist::TextHist;
