//! What a method computes, as a formula in the language of expressions.
//!
//! A name in a formula is a member, a call without arguments another method of the same object. Arguments stand behind the
//! method's name, separated by commas. A formula that begins with `int:` is a whole number in C++, one with `object:` is a
//! member whose own methods can be called.

/// Methods and their formulas.
pub(crate) type Methods = &'static [(&'static str, &'static str)];

/// A method with its formula.
pub(crate) struct Method {
    pub name: &'static str,
    pub parameters: Vec<&'static str>,
    pub formula: &'static str,
    /// Whether it returns a whole number.
    pub whole: bool,
}

impl Method {
    pub(crate) fn new(signature: &'static str, meaning: &'static str) -> Self {
        let (name, parameters) = signature.split_once('(').unwrap_or((signature, ")"));
        let parameters = parameters.trim_end_matches(')').split(',').filter(|p| !p.is_empty()).collect();
        let formula = meaning.strip_prefix("int: ").or_else(|| meaning.strip_prefix("object: ")).unwrap_or(meaning);
        Self { name, parameters, formula, whole: meaning.starts_with("int: ") }
    }
}
