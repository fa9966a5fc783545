//! What a method computes, as a formula in the language of expressions.
//!
//! A name in a formula is a member, a call without arguments another method of the same object. Arguments stand behind the
//! method's name, separated by commas. A formula that begins with `int:` is a whole number in C++, one with `object:` is a
//! member whose own methods can be called. `TVector2:` and the like begin the members of a new object, separated by `;`.

/// The call around what a method that returns a whole number computes; it cannot be typed.
pub(crate) const WHOLE: &str = "whole number of";

/// The call around a number whose automatic axis has no whole bins, be it one.
pub(crate) const REAL: &str = "real number of";

/// Methods and their formulas.
pub(crate) type Methods = &'static [(&'static str, &'static str)];

/// A method with its formula.
pub(crate) struct Method {
    pub name: &'static str,
    pub parameters: Vec<&'static str>,
    pub formula: &'static str,
    /// Whether it returns a whole number.
    pub whole: bool,
    /// The object that it makes.
    pub makes: Option<Made>,
}

/// An object that a method makes.
pub(crate) struct Made {
    /// Its class.
    pub class: &'static str,
    /// Its members and what each of them is.
    pub members: Vec<(&'static str, &'static str)>,
}

/// The classes of objects that methods make: how formulas name them, the class, its members.
const MADE: &[(&str, &str, &[&str])] = &[
    ("TVector2: ", "TVector2", &["fX", "fY"]),
    ("TVector3: ", "TVector3", &["fX", "fY", "fZ"]),
    ("XYZVector: ", "DisplacementVector3D<Cartesian3D<double>", &["fX", "fY", "fZ"]),
    ("PtEtaPhiM4D: ", "PtEtaPhiM4D<double>", &["fPt", "fEta", "fPhi", "fM"]),
    ("PxPyPzE4D: ", "PxPyPzE4D<double>", &["fX", "fY", "fZ", "fT"]),
];

impl Method {
    pub(crate) fn new(signature: &'static str, meaning: &'static str) -> Self {
        let (name, parameters) = signature.split_once('(').unwrap_or((signature, ")"));
        let parameters = parameters.trim_end_matches(')').split(',').filter(|p| !p.is_empty()).collect();
        let formula = meaning.strip_prefix("int: ").or_else(|| meaning.strip_prefix("object: ")).unwrap_or(meaning);
        let makes = MADE.iter().find_map(|(prefix, class, names)| {
            let members = names.iter().copied().zip(meaning.strip_prefix(prefix)?.split("; ")).collect();
            Some(Made { class, members })
        });
        Self { name, parameters, formula, whole: meaning.starts_with("int: "), makes }
    }
}
