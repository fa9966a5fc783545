//! What the name of a class alone shows.

/// Whether a class is a histogram or a profile of one to three dimensions (`TH1F`, `TProfile2D`), whatever the type of
/// its bins.
pub fn is_histogram(class: &str) -> bool {
    let dimensions = ["TH1", "TH2", "TH3"].iter().find_map(|p| class.strip_prefix(p));
    matches!(class, "TProfile" | "TProfile2D" | "TProfile3D")
        || dimensions.is_some_and(|kind| matches!(kind, "C" | "S" | "I" | "L" | "F" | "D"))
}
