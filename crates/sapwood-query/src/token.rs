use crate::text::error_at;
use sapwood_span::Result;
use sapwood_span::raw_text::raw_byte;

/// One word of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    /// A number.
    Number(f64),
    /// A string in single or double quotes.
    Text(String),
    /// A name as written: letters, digits, `_`, `.`, `::`, `$`, `@`.
    Name(String),
    /// A name in backquotes: a branch, whatever it is called.
    Quoted(String),
    /// `.name` behind a closing bracket, with its dot.
    Member(String),
    /// An operator or a bracket.
    Sign(&'static str),
    /// The end of the text.
    End,
}

/// Longest first, so that `<<` is not read as two `<`.
const SIGNS: [&str; 25] = [
    "**", "&&", "||", "<<", ">>", "<=", ">=", "==", "!=", "+", "-", "*", "/", "%", "^", "<", ">", "!", "&", "|", "?",
    ":", "(", ")", "[",
];
const MORE_SIGNS: [&str; 2] = ["]", ","];

fn starts_name(c: char) -> bool {
    c.is_alphabetic() || c == '_' || c == '@' || raw_byte(c).is_some()
}

fn in_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '$') || raw_byte(c).is_some()
}

/// Splits an expression into words, each with the byte where it begins.
///
/// # Errors
/// `Invalid` for a character that no expression has, an unclosed quote, or a number with letters behind it.
pub(crate) fn tokens(text: &str) -> Result<Vec<(Token, usize)>> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        }
        let after_bracket = matches!(out.last(), Some((Token::Sign("]"), _)));
        let (token, len) = if c == '.' && after_bracket && rest[1..].starts_with(starts_name) {
            let len = 1 + name_length(&rest[1..]);
            (Token::Member(rest[..len].to_string()), len)
        } else if c.is_ascii_digit() || (c == '.' && rest[1..].starts_with(|d: char| d.is_ascii_digit())) {
            number(text, at)?
        } else if starts_name(c) {
            let len = name_length(rest);
            (Token::Name(rest[..len].to_string()), len)
        } else if matches!(c, '"' | '\'' | '`') {
            let Some(end) = rest[1..].find(c) else {
                return Err(error_at(text, at, &format!("this {c} is never closed")));
            };
            let inner = rest[1..1 + end].to_string();
            (if c == '`' { Token::Quoted(inner) } else { Token::Text(inner) }, end + 2)
        } else if let Some(sign) = SIGNS.iter().chain(&MORE_SIGNS).find(|s| rest.starts_with(**s)) {
            (Token::Sign(sign), sign.len())
        } else if c == '=' {
            return Err(error_at(text, at, "an expression compares with == and cannot assign"));
        } else {
            return Err(error_at(text, at, &format!("the character {c:?} has no meaning here")));
        };
        out.push((token, at));
        at += len;
    }
    out.push((Token::End, text.len()));
    Ok(out)
}

/// Bytes of the name that `rest` begins with. `::` belongs to it when a name follows; so does `@`
/// next to a dot (`v@.size()`, `v.@size()`).
fn name_length(rest: &str) -> usize {
    let mut len = 0;
    loop {
        let tail = &rest[len..];
        let Some(c) = tail.chars().next() else { return len };
        if in_name(c) || (c == '@' && (len == 0 || tail[1..].starts_with('.') || rest[..len].ends_with('.'))) {
            len += c.len_utf8();
        } else if tail.starts_with("::") && tail[2..].starts_with(starts_name) {
            len += 2;
        } else {
            return len;
        }
    }
}

fn number(text: &str, at: usize) -> Result<(Token, usize)> {
    let rest = &text[at..];
    let bytes = rest.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let (value, len) = if rest.starts_with("0x") || rest.starts_with("0X") {
        let len = 2 + bytes[2..].iter().take_while(|b| b.is_ascii_hexdigit()).count();
        let Ok(value) = u64::from_str_radix(&rest[2..len], 16) else {
            return Err(error_at(text, at, "a hexadecimal number has 1 to 16 digits after 0x"));
        };
        (value as f64, len)
    } else {
        let mut len = digits(0);
        if bytes.get(len) == Some(&b'.') {
            len += 1 + digits(len + 1);
        }
        if matches!(bytes.get(len), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(len + 1), Some(b'+' | b'-')));
            let n = digits((len + 1 + sign).min(bytes.len()));
            if n > 0 {
                len += 1 + sign + n;
            }
        }
        let Ok(value) = rest[..len].parse::<f64>() else {
            return Err(error_at(text, at, "this is not a number"));
        };
        (value, len)
    };
    if rest[len..].starts_with(|c| starts_name(c) || in_name(c)) {
        return Err(error_at(text, at + len, "a number cannot be followed by letters"));
    }
    Ok((Token::Number(value), len))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<Token> {
        tokens(text).unwrap().into_iter().map(|(t, _)| t).collect()
    }

    #[test]
    fn names_keep_dots_colons_and_dollars() {
        let n = |s: &str| Token::Name(s.to_string());
        assert_eq!(words("a.b")[0], n("a.b"));
        assert_eq!(words("a. ")[0], n("a."));
        assert_eq!(words("TMath::Pi")[0], n("TMath::Pi"));
        assert_eq!(words("Sum$")[0], n("Sum$"));
        assert_eq!(words("v@.size")[0], n("v@.size"));
        assert_eq!(words("x:y"), [n("x"), Token::Sign(":"), n("y"), Token::End]);
        assert_eq!(words("j[0].pt")[4], Token::Member(".pt".into()));
    }

    #[test]
    fn numbers_are_read_whole_or_refused() {
        assert_eq!(words(".5")[0], Token::Number(0.5));
        assert_eq!(words("1.5e-3")[0], Token::Number(0.0015));
        assert_eq!(words("0xff")[0], Token::Number(255.0));
        assert_eq!(words("5.")[0], Token::Number(5.0));
        assert!(tokens("1L").is_err());
        assert!(tokens("1.f").is_err());
        assert!(tokens("0x").is_err());
    }
}
