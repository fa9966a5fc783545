//! Histograms in ROOT files: TH1F, TH2F, TH3F, TProfile and TProfile2D as TTree::Draw makes them.

use crate::draw_output::Drawn;
use crate::entry_list_output;
use sapwood::query::{Axis, DrawnList, Histogram, ProfileError};
use sapwood::write::{FileOptions, Mark, ObjectBuffer};
use sapwood::{Error, Result};
use std::path::Path;

/// What ROOT takes for "not set" as smallest or largest value (TH1::fMinimum).
const NOT_SET: f64 = -1111.0;
/// The bit that ROOT sets in objects of a directory (kMustCleanup).
const IN_DIRECTORY: u32 = 8;
/// Whole numbers up to here are exact in single precision: ROOT's `TH1F` counts no further.
const MOST_COUNTS: f64 = 16_777_216.0;

/// Writes a file with these histograms and lists of entries; one that is there is replaced.
///
/// # Errors
/// Those of the disk, and names that ROOT cannot keep.
pub(crate) fn write<'d>(path: &Path, drawn: impl Iterator<Item = &'d Drawn>, lists: &[DrawnList]) -> Result<()> {
    let mut file = FileOptions::new().replace(true).create(path)?;
    let directory = file.mkdir("")?;
    let mut written = 0;
    for drawn in drawn.filter(|d| !matches!(d.hist, Histogram::Rows(_))) {
        let class = class(&drawn.hist);
        file.describe_own(class);
        file.append_object(directory, class, &drawn.name, &drawn.title(), None, |key_len| {
            let mut b = ObjectBuffer::new(key_len);
            object(&mut b, drawn);
            b.finish()
        })?;
        written += 1;
    }
    for list in lists {
        entry_list_output::append(list, &mut file, directory)?;
        written += 1;
    }
    if written == 0 {
        return Err(Error::unsupported("para and candle make a picture, not a histogram")
            .with_remedy("write it to a .png or .svg file"));
    }
    file.finish()
}

/// The class in which ROOT keeps it; of doubles where single precision would lose counts.
fn class(hist: &Histogram) -> &'static str {
    let single = |values: &[f64]| values.iter().all(|v| v.abs() <= MOST_COUNTS || v.is_nan());
    match hist {
        Histogram::One(h) if single(h.values(true)) => "TH1F",
        Histogram::One(_) => "TH1D",
        Histogram::Many(h) => match (h.axes().len(), single(&h.values(true))) {
            (2, true) => "TH2F",
            (2, false) => "TH2D",
            (_, true) => "TH3F",
            (_, false) => "TH3D",
        },
        Histogram::Profile(p) if p.axes().len() == 1 => "TProfile",
        Histogram::Profile(_) | Histogram::Rows(_) => "TProfile2D",
    }
}

/// What a histogram keeps, in ROOT's order: the first axis runs fastest.
struct Content {
    cells: Vec<f64>,
    /// Of a profile always; of others where a weight was not 1.
    squares: Vec<f64>,
    sums: Vec<f64>,
}

fn object(b: &mut ObjectBuffer, drawn: &Drawn) {
    let shape: Vec<usize> = drawn.hist.axes().iter().map(|a| a.bins() + 2).collect();
    let turned = |cells: &[f64]| transposed(cells, &shape);
    match &drawn.hist {
        Histogram::One(h) => {
            let squares = if h.is_weighted() || drawn.errors { h.variances(true).to_vec() } else { Vec::new() };
            let content = Content { cells: h.values(true).to_vec(), squares, sums: h.sums().to_vec() };
            histogram(b, drawn, &content, class(&drawn.hist) == "TH1F");
        }
        Histogram::Many(h) => {
            let squares = if h.is_weighted() || drawn.errors { turned(&h.variances(true)) } else { Vec::new() };
            let content = Content { cells: turned(&h.values(true)), squares, sums: h.sums().to_vec() };
            histogram(b, drawn, &content, class(&drawn.hist).ends_with('F'));
        }
        Histogram::Profile(p) => {
            let dimensions = p.axes().len();
            let body = b.begin(if dimensions == 1 { 7 } else { 8 });
            let content = Content {
                cells: turned(&p.sums_of_values()),
                squares: turned(&p.sums_of_squares()),
                sums: p.sums().to_vec(),
            };
            histogram(b, drawn, &content, false);
            array(b, &turned(&p.sums_of_weights()));
            b.i32(match p.error() {
                ProfileError::Mean => 0,
                ProfileError::Spread => 1,
                ProfileError::Integer => 2,
                ProfileError::Gauss => 3,
            });
            // no limits on the values that are averaged
            b.f64(0.0);
            b.f64(0.0);
            p.sums()[if dimensions == 1 { 4 } else { 7 }..].iter().for_each(|s| b.f64(*s));
            array(b, &if p.is_weighted() { turned(&p.sums_of_squared_weights()) } else { Vec::new() });
            b.end(body);
        }
        Histogram::Rows(_) => {}
    }
}

/// TH1F, TH2D and so on.
fn histogram(b: &mut ObjectBuffer, drawn: &Drawn, content: &Content, single: bool) {
    let dimensions = drawn.hist.axes().len();
    let whole = b.begin(if dimensions == 1 { 3 } else { 4 });
    match dimensions {
        1 => base(b, drawn, content),
        n => {
            let middle = b.begin(if n == 2 { 5 } else { 6 });
            base(b, drawn, content);
            if n == 2 {
                b.f64(1.0);
            } else {
                let empty = b.begin(1);
                b.end(empty);
            }
            let rest = &content.sums[4..if n == 2 { 7 } else { 11 }];
            rest.iter().for_each(|s| b.f64(*s));
            b.end(middle);
        }
    }
    if single {
        b.i32(content.cells.len() as i32);
        content.cells.iter().for_each(|x| b.f32(*x as f32));
    } else {
        array(b, &content.cells);
    }
    b.end(whole);
}

/// TH1.
fn base(b: &mut ObjectBuffer, drawn: &Drawn, content: &Content) {
    let mark = b.begin(8);
    b.named(IN_DIRECTORY, &drawn.name, &drawn.title());
    // TAttLine, TAttFill, TAttMarker as ROOT has them
    numbers(b, 2, &[602, 1, 1]);
    numbers(b, 2, &[0, 1001]);
    let marker = b.begin(3);
    [1, 1].iter().for_each(|v| b.u16(*v));
    b.f32(1.0);
    b.end(marker);
    b.i32(content.cells.len() as i32);
    let axes = drawn.hist.axes();
    for (i, name) in ["xaxis", "yaxis", "zaxis"].into_iter().enumerate() {
        let title = drawn.variables.get(i).map_or("", String::as_str);
        axis(b, name, title, axes.get(i), drawn.hist.labels(i).unwrap_or_default());
    }
    b.u16(0);
    b.u16(1000);
    b.f64(drawn.hist.entries() as f64);
    content.sums.iter().take(4).for_each(|s| b.f64(*s));
    b.f64(NOT_SET);
    b.f64(NOT_SET);
    b.f64(0.0);
    array(b, &[]);
    array(b, &content.squares);
    b.string("");
    let list = begin_list(b, 0);
    b.end(list);
    b.i32(0);
    b.u8(0);
    b.i32(0);
    b.i32(2);
    b.end(mark);
}

/// TAxis.
fn axis(b: &mut ObjectBuffer, name: &str, title: &str, axis: Option<&Axis>, labels: &[String]) {
    let mark = b.begin(10);
    b.named(0, name, title);
    let look = b.begin(4);
    b.i32(510);
    [1, 1, 42].iter().for_each(|v| b.u16(*v));
    [0.005, 0.035, 0.03, 1.0, 0.035].iter().for_each(|v| b.f32(*v));
    [1, 42].iter().for_each(|v| b.u16(*v));
    b.end(look);
    let (bins, low, high) = axis.map_or((1, 0.0, 1.0), |a| (a.bins(), a.low(), a.high()));
    b.i32(bins as i32);
    b.f64(low);
    b.f64(high);
    array(b, axis.and_then(Axis::edges).unwrap_or_default());
    b.i32(0);
    b.i32(0);
    b.u16(0);
    b.u8(0);
    b.string("");
    if labels.is_empty() {
        b.i32(0);
    } else {
        let (object, _) = b.begin_object("THashList");
        let list = begin_list(b, labels.len());
        for (i, label) in labels.iter().enumerate() {
            let (object, _) = b.begin_object("TObjString");
            let body = b.begin(1);
            // TObject with the number of the bin
            b.u16(1);
            b.i32(i as i32 + 1);
            b.u32(0);
            b.string(label);
            b.end(body);
            b.end(object);
            b.u8(0);
        }
        b.end(list);
        b.end(object);
    }
    b.i32(0);
    b.end(mark);
}

fn begin_list(b: &mut ObjectBuffer, len: usize) -> Mark {
    let list = b.begin(5);
    b.object(0);
    b.string("");
    b.i32(len as i32);
    list
}

fn numbers(b: &mut ObjectBuffer, version: u16, values: &[u16]) {
    let mark = b.begin(version);
    values.iter().for_each(|v| b.u16(*v));
    b.end(mark);
}

/// TArrayD.
fn array(b: &mut ObjectBuffer, values: &[f64]) {
    b.i32(values.len() as i32);
    values.iter().for_each(|x| b.f64(*x));
}

/// Cells whose last axis runs fastest, in the order where the first does.
fn transposed(cells: &[f64], shape: &[usize]) -> Vec<f64> {
    let (nx, ny, nz) = match *shape {
        [nx, ny] => (nx, ny, 1),
        [nx, ny, nz] => (nx, ny, nz),
        _ => return cells.to_vec(),
    };
    let mut out = Vec::with_capacity(cells.len());
    for z in 0..nz {
        for y in 0..ny {
            out.extend((0..nx).filter_map(|x| cells.get((x * ny + y) * nz + z)));
        }
    }
    out
}
