//! What nobody else should see in names of files, paths and queries.

use crate::percent;

/// A path for messages: what may be a credential among the parameters of its parts (`/name;token=...`) is left out.
pub fn redact_path(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for (i, part) in path.split('/').enumerate() {
        if i > 0 {
            out.push('/');
        }
        redact_parameters(part, &mut out);
    }
    out
}

/// Appends text whose parameters, parted by semicolons, may be credentials.
pub fn redact_parameters(text: &str, out: &mut String) {
    for (i, one) in text.split(';').enumerate() {
        if i > 0 {
            out.push(';');
        }
        match one.split_once('=') {
            Some((key, value)) if is_secret(key) || is_credential(value) || is_random(value) => {
                out.push_str(key);
                out.push_str("=***");
            }
            // a name that is long and random is no secret, most often
            None if is_credential(one) => out.push_str("***"),
            _ => out.push_str(one),
        }
    }
}

/// Whether a key of a query names something that nobody else should see.
pub fn is_secret(key: &str) -> bool {
    let key = decoded(key).to_ascii_lowercase();
    let words = [
        "auth", "token", "sig", "key", "cred", "secret", "pass", "macaroon", "jwt", "bearer", "hmac", "pwd", "ticket",
        "session",
    ];
    words.iter().any(|word| key.contains(word))
}

/// Whether a value is a credential by its own form: `Bearer ...`, a JSON web token, a macaroon.
pub fn is_credential(value: &str) -> bool {
    let value = decoded(value);
    let scheme = value.split([' ', '+']).next().unwrap_or_default();
    let has_scheme = ["bearer", "basic", "digest"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
    (has_scheme && scheme.len() < value.len()) || is_web_token(&value) || is_macaroon(&value)
}

/// Whether this looks like a JSON web token: three parts, the first of which is an encoded `{"`.
fn is_web_token(text: &str) -> bool {
    text.starts_with("eyJ") && text.matches('.').count() == 2 && text.len() > 40
}

/// Whether this looks like a macaroon: packets that begin with their length in four hexadecimal digits, the first of
/// which is below 256 bytes, or those of the second version, encoded.
fn is_macaroon(text: &str) -> bool {
    (text.starts_with("MDA") || text.starts_with("AgE")) && text.len() > 60 && text.bytes().all(is_base64)
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/-_=".contains(&byte)
}

/// Whether this looks as if a computer had drawn it: 20 characters or more, and few of them make words or numbers.
pub fn is_random(text: &str) -> bool {
    let text = decoded(text);
    if text.len() < 20 || !text.bytes().all(is_base64) {
        return false;
    }
    if text.bytes().filter(u8::is_ascii_hexdigit).count() >= 32
        && text.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
    {
        return true;
    }
    // where one kind of character follows another, but for the first letter of a word
    let breaks = |pair: &[u8]| match *pair {
        [a, b] if a.is_ascii_digit() => b.is_ascii_alphabetic(),
        [a, b] if a.is_ascii_lowercase() => b.is_ascii_uppercase() || b.is_ascii_digit(),
        [a, b] if a.is_ascii_uppercase() => b.is_ascii_digit(),
        _ => false,
    };
    let count = text.as_bytes().windows(2).filter(|pair| breaks(pair)).count();
    count * 10 >= text.len() * 3
}

fn decoded(text: &str) -> String {
    String::from_utf8_lossy(&percent::decode(text)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_recognised_by_their_form() {
        let web_token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJlLW9mLWl0";
        let macaroon = "MDAxY2xvY2F0aW9uIE9wdGlvbmFsLmVtcHR5CjAwMThpZGVudGlmaWVyIGpqTWdFczFtCjAwMTVjaWQgaWlkOmxIYlRv";
        for secret in ["Bearer%20abc", "bearer abc", "BEARER+abc", "Basic%20dTpw", web_token, macaroon] {
            assert!(is_credential(secret), "{secret}");
        }
        for plain in ["bearer", "basic", "bearer.root", "MDA", "eyJ.root", "basics of it", "a/b.root"] {
            assert!(!is_credential(plain), "{plain}");
        }
    }

    #[test]
    fn what_is_drawn_by_chance_is_told_from_names() {
        for random in [
            "3HL4kqtJvjVBH40Nrjfkd",
            "9f8b7c6d5e4f3a2b1c0d9e8f7a6b5c4d",
            "9F8B7C6D-5E4F-3A2B-1C0D-9E8F7A6B5C4D",
            "kTq2xW9vZb4LmR7cPf1sYh6d",
            "p0Xb3kQ9%2Bz7Rt1Lw5Vn8Jc2Hs6Md4==",
        ] {
            assert!(is_random(random), "{random}");
        }
        for name in [
            "a",
            "events.root",
            "data18_13TeV_physics_Main_00358031",
            "DiMuonAnalysisRun2018BestFit",
            "20250101000000000000000",
            "the-quick-brown-fox-jumps",
            "/store/data/Run2018A/DoubleMuon/NANOAOD",
        ] {
            assert!(!is_random(name), "{name}");
        }
    }

    #[test]
    fn long_values_that_nobody_chose_are_left_out_of_queries_and_not_of_paths() {
        let random = "kTq2xW9vZb4LmR7cPf1sYh6d";
        let mut shown = String::new();
        redact_parameters(&format!("p={random}"), &mut shown);
        assert_eq!(shown, "p=***");
        assert_eq!(redact_path(&format!("/{random}/a.root")), format!("/{random}/a.root"));
    }
}
