use crate::text::error_at;
use sapwood_span::Result;
use sapwood_span::raw_text::raw_byte;

/// One word of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    /// A number.
    Number(f64),
    /// A whole number beyond those that every double holds.
    Whole(i128),
    /// A string in single or double quotes.
    Text(String),
    /// A name as written: letters, digits, `_`, `.`, `::`, `$`, `@`.
    Name(String),
    /// A name in backquotes: a branch, whatever it is called.
    Quoted(String),
    /// `.name` behind a closing bracket or parenthesis, with its dot.
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
    c.is_alphanumeric() || matches!(c, '_' | '.' | '$' | '#') || raw_byte(c).is_some()
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
        if c == ';' && !out.is_empty() && rest[1..].trim().is_empty() {
            // as at the end of a line in C++; ROOT reads over it
            break;
        }
        let after_bracket = matches!(out.last(), Some((Token::Sign("]" | ")"), _)));
        let (token, len) = if after_bracket && let Some(dot) = member_dot(rest) {
            let len = dot + name_length(&rest[dot..]);
            (Token::Member(format!(".{}", &rest[dot..len])), len)
        } else if let Some(len) = name_with_digits(rest) {
            (Token::Name(rest[..len].to_string()), len)
        } else if c.is_ascii_digit() || (c == '.' && rest[1..].starts_with(|d: char| d.is_ascii_digit())) {
            number(text, at)?
        } else if starts_name(c) || (c == '.' && rest[1..].starts_with(starts_name)) {
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
            let instead = match rest.as_bytes().get(1) {
                Some(b'>') => "; write >= for 'greater than or equal'",
                Some(b'<') => "; write <= for 'less than or equal'",
                _ => "",
            };
            return Err(error_at(text, at, &format!("an expression compares with == and cannot assign{instead}")));
        } else {
            return Err(error_at(text, at, &format!("unexpected character {c:?}")));
        };
        out.push((token, at));
        at += len;
    }
    out.push((Token::End, text.len()));
    Ok(out)
}

/// The name that a text begins with; empty where it begins with something else. A name in backquotes is none.
pub(crate) fn name_at(text: &str) -> &str {
    let starts = text.starts_with(starts_name) || name_with_digits(text).is_some();
    text.get(..if starts { name_length(text) } else { 0 }).unwrap_or_default()
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
        } else if (tail.starts_with("::") || tail.starts_with("->")) && tail[2..].starts_with(starts_name) {
            len += 2;
        } else {
            return len;
        }
    }
}

/// Bytes of the `.` or `->` between a bracket and the name of a member.
fn member_dot(rest: &str) -> Option<usize> {
    let len = ["->", "."].iter().find(|dot| rest.starts_with(**dot))?.len();
    rest[len..].starts_with(starts_name).then_some(len)
}

/// Bytes of a name that begins with digits, as in `3DMUON` and `2x3Mat`. `1e5` and `0xff` are numbers.
fn name_with_digits(rest: &str) -> Option<usize> {
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let named = |tail: &str| tail.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let is_hexadecimal = rest.starts_with("0x") || rest.starts_with("0X");
    let is_name = digits > 0 && !is_hexadecimal && named(&rest[digits..]) && named(&rest[decimal_length(rest)..]);
    is_name.then(|| name_length(rest))
}

/// Bytes of the decimal number that `rest` begins with.
fn decimal_length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
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
    len
}

fn number(text: &str, at: usize) -> Result<(Token, usize)> {
    let rest = &text[at..];
    let (value, len) = if rest.starts_with("0x") || rest.starts_with("0X") {
        let len = 2 + rest[2..].bytes().take_while(u8::is_ascii_hexdigit).count();
        let Ok(value) = u64::from_str_radix(&rest[2..len], 16) else {
            return Err(error_at(text, at, "a hexadecimal number has 1 to 16 digits after 0x"));
        };
        (whole(value.into()), len)
    } else {
        let len = decimal_length(rest);
        let Ok(value) = rest[..len].parse::<f64>() else {
            return Err(error_at(text, at, "this is not a number"));
        };
        // as many digits as fit
        let digits = rest[..len].parse::<i128>().ok().filter(|x| *x < 1 << 100);
        (digits.map_or(Token::Number(value), whole), len)
    };
    if rest[len..].starts_with(|c| starts_name(c) || in_name(c)) {
        return Err(error_at(text, at + len, "a number cannot be followed by letters"));
    }
    Ok((value, len))
}

/// A number without fraction: exact where a double may not be.
fn whole(value: i128) -> Token {
    if value <= 1 << 53 { Token::Number(value as f64) } else { Token::Whole(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<Token> {
        tokens(text).unwrap().into_iter().map(|(t, _)| t).collect()
    }

    #[test]
    fn a_semicolon_ends_the_text() {
        assert_eq!(words("x ; "), [Token::Name("x".into()), Token::End]);
        assert!(tokens("x;y").is_err() && tokens(";").is_err());
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
        assert_eq!(words("9007199254740993")[0], Token::Whole((1 << 53) + 1));
        assert_eq!(words("0xffffffffffffffff")[0], Token::Whole(u64::MAX.into()));
        assert_eq!(words("9007199254740993.")[0], Token::Number(9007199254740992.0));
        assert!(matches!(words(&"9".repeat(300))[0], Token::Number(_)));
        assert_eq!(words("1e3")[0], Token::Number(1000.0));
        assert_eq!(words("2x3Mat*1")[0], Token::Name("2x3Mat".into()));
        assert_eq!(words("3DMUON.x")[0], Token::Name("3DMUON.x".into()));
        assert_eq!(words("a#0.x")[0], Token::Name("a#0.x".into()));
        assert_eq!(words("a->b")[0], Token::Name("a->b".into()));
        assert_eq!(words("a[0]->b")[4], Token::Member(".b".into()));
        assert_eq!(words("a->0")[1], Token::Sign("-"));
        assert_eq!(words(".lead")[0], Token::Name(".lead".into()));
        assert!(tokens("1.f").is_err());
        assert!(tokens("0x").is_err());
    }
}
