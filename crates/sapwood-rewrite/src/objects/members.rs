//! The common members of histograms of all kinds: axes and statistics.

use sapwood_edit::survey::Name;

/// The axes.
pub(super) const AXES: [Name; 3] = [Name::XAxis, Name::YAxis, Name::ZAxis];

/// The statistics that grow with every fill.
pub(super) const SUMS: [Name; 14] = [
    Name::Entries,
    Name::SumW,
    Name::SumW2,
    Name::SumWX,
    Name::SumWX2,
    Name::SumWY,
    Name::SumWY2,
    Name::SumWXY,
    Name::SumWZ,
    Name::SumWZ2,
    Name::SumWXZ,
    Name::SumWYZ,
    Name::SumWT,
    Name::SumWT2,
];

/// Dimensions of a histogram or profile of a class.
pub(super) fn dimensions(class: &str) -> usize {
    let digit = class.trim_start_matches("TH").trim_start_matches("TProfile").as_bytes().first();
    digit.filter(|d| d.is_ascii_digit()).map_or(1, |d| usize::from(d - b'0'))
}
