//! Parts of C++ type names.

pub(crate) use sapwood_format::object::cpp::{bare, integer, is_map, is_sequence as is_list, template};

pub(crate) fn is_collection(name: &str) -> bool {
    template(name).is_some_and(|(t, _)| is_list(t) || is_map(t) || t == "bitset")
}

/// The name without any blanks and `std::`: two spellings of one type are the same.
pub(crate) fn plain(name: &str) -> String {
    name.replace("std::", "").split_whitespace().collect()
}

/// The class behind a pointer: `const Track*` points to `Track`.
pub(crate) fn pointee(name: &str) -> Option<&str> {
    if let Some(("unique_ptr" | "shared_ptr", arguments)) = template(name) {
        return arguments.first().copied();
    }
    let name = bare(name);
    let name = name.strip_suffix("const").unwrap_or(name).trim_end();
    let inner = name.strip_suffix('*')?.trim_end();
    (!inner.ends_with('*')).then_some(inner)
}

/// Whether it can be the name of a class: letters, digits and what templates need.
pub(crate) fn is_class(name: &str) -> bool {
    let name = name.trim();
    let known =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ':' | '<' | '>' | ',' | ' ' | '*' | '-' | '(' | ')');
    let balanced = name.matches('<').count() == name.matches('>').count();
    balanced && name.chars().all(known) && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates() {
        assert_eq!(template("map<int,vector<float> >"), Some(("map", vec!["int", "vector<float>"])));
        assert_eq!(template("std::vector<std::string>"), Some(("vector", vec!["std::string"])));
        assert_eq!(template("float"), None);
    }

    #[test]
    fn pointers() {
        assert_eq!(pointee("const Track*"), Some("Track"));
        assert_eq!(pointee("unique_ptr<Track>"), Some("Track"));
        assert_eq!(pointee("Track**"), None);
        assert_eq!(pointee("Track"), None);
    }
}
