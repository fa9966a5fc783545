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
            Some((key, _)) if is_secret(key) => {
                out.push_str(key);
                out.push_str("=***");
            }
            Some((key, value)) if is_web_token(value) => {
                out.push_str(key);
                out.push_str("=***");
            }
            None if is_web_token(one) => out.push_str("***"),
            _ => out.push_str(one),
        }
    }
}

/// Whether this looks like a JSON web token: three parts, the first of which is an encoded `{"`.
fn is_web_token(text: &str) -> bool {
    text.starts_with("eyJ") && text.matches('.').count() == 2 && text.len() > 40
}

/// Whether a key of a query names something that nobody else should see.
pub fn is_secret(key: &str) -> bool {
    let key = String::from_utf8_lossy(&percent::decode(key)).to_ascii_lowercase();
    ["auth", "token", "sig", "key", "cred", "secret", "pass", "macaroon", "jwt", "bearer"]
        .iter()
        .any(|word| key.contains(word))
}
