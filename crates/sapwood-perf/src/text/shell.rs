//! Words of a command line.

/// A word as a shell takes it: in quotation marks where it needs them.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:@,+=%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_are_quoted_where_they_need_it() {
        assert_eq!(quoted("a.root:t"), "a.root:t");
        assert_eq!(quoted("x > 'a'"), r"'x > '\''a'\'''");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("$(id)"), "'$(id)'");
    }
}
