//! What both faces say of files, as text for people and as JSON for programs: the doctor's report, the map of a file.

#![forbid(unsafe_code)]

pub mod doctor;
pub mod map;
pub mod table;
pub mod units;

/// Text from a file without anything that would steer a terminal.
pub fn clean(text: &str) -> String {
    if !text.contains(char::is_control) {
        return text.to_owned();
    }
    text.chars().flat_map(|c| if c.is_control() { c.escape_default().collect::<Vec<_>>() } else { vec![c] }).collect()
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn names_cannot_steer_the_terminal() {
        assert_eq!(clean("plain π"), "plain π");
        assert_eq!(clean("\u{1b}[31mred\n"), "\\u{1b}[31mred\\n");
    }
}
