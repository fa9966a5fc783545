//! The client's identity: the authentication methods that need no exchange.
//!
//! `host` (the server trusts the address), `unix` (it trusts the user name) and `ztn` (a bearer token, over TLS only).
//! `gsi`, `krb5`, `sss` and `pwd` are exchanges of several messages with keys on both sides: not supported.

use crate::request::SecretBytes;

/// An authentication method that a server offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// `unix`, `gsi`, ...
    pub name: String,
    /// The server's parameters for it.
    pub parameters: String,
}

/// Authentication methods in a login's reply at most, and letters in the name of one: the protocol has four.
const MOST_OFFERS: usize = 32;
const LONGEST_NAME: usize = 16;

/// Parses a login reply's list: `&P=gsi,v:10600,...&P=unix`. Each name counts once: a refused method is not tried
/// again.
pub fn offers(security: &str) -> Vec<Offer> {
    let offer = |text: &str| {
        let (name, parameters) = text.split_once(',').unwrap_or((text, ""));
        let name = name.trim_matches(|c: char| c == '\0' || c.is_whitespace()).to_owned();
        let fits = (1..=LONGEST_NAME).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric());
        fits.then(|| Offer { name, parameters: parameters.to_owned() })
    };
    let mut out: Vec<Offer> = Vec::new();
    for offer in security.split("&P=").skip(1).filter_map(offer) {
        if out.len() < MOST_OFFERS && out.iter().all(|o| o.name != offer.name) {
            out.push(offer);
        }
    }
    out
}

/// The credentials of a client.
#[derive(Clone, Debug, Default)]
pub struct Identity {
    /// Name of the user.
    pub user: String,
    /// Name of the user's group.
    pub group: String,
    /// A bearer token, where there is one for this server.
    pub token: Option<SecretBytes>,
}

impl Identity {
    /// The credential for this authentication method; none where it is not supported, or not here: tokens are sent over
    /// TLS only.
    pub fn credential(&self, name: &str, tls: bool) -> Option<SecretBytes> {
        let bytes = match name {
            "host" => b"host\0".to_vec(),
            "unix" => format!("unix\0{} {}\0", self.user, self.group).into_bytes(),
            "ztn" if tls => ztn(&self.token.as_ref()?.0)?,
            _ => return None,
        };
        Some(SecretBytes(bytes))
    }
}

/// Name, version 0, 'T' for a token, two reserved bytes, the token's length with its final zero, the token.
fn ztn(token: &[u8]) -> Option<Vec<u8>> {
    let len = u16::try_from(token.len() + 1).ok()?;
    let mut out = b"ztn\0\0T\0\0".to_vec();
    out.extend(len.to_be_bytes());
    out.extend(token);
    out.push(0);
    Some(out)
}

/// The offer of a server that wants a token, and accepts a user name from a client without one.
pub const TOKEN_OR_USER: &str = "&P=ztn,0:16384:&P=unix";

/// The token in a credential sent by a client; none in one of another kind.
pub fn token_of(credential: &[u8]) -> Option<SecretBytes> {
    let rest = credential.strip_prefix(b"ztn\0\0T")?;
    let (len, token) = rest.get(2..)?.split_first_chunk::<2>()?;
    let token = token.get(..usize::from(u16::from_be_bytes(*len)))?;
    let token = token.strip_suffix(b"\0").unwrap_or(token);
    (!token.is_empty() && token.iter().all(u8::is_ascii_graphic)).then(|| SecretBytes(token.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_offers() {
        let list = offers("&P=gsi,v:10600,c:ssl,ca:5168735f.0&P=unix&P=ztn,0:4096:\0");
        let names: Vec<&str> = list.iter().map(|o| o.name.as_str()).collect();
        assert_eq!(names, ["gsi", "unix", "ztn"]);
        assert_eq!(list[2].parameters, "0:4096:\0");
        let endless = offers(&"&P=unix,a&P=host".repeat(50_000));
        assert_eq!(endless.iter().map(|o| o.name.as_str()).collect::<Vec<_>>(), ["unix", "host"]);
        let many: String = (0..50_000).map(|i| format!("&P=way{i}")).collect();
        assert_eq!(offers(&many).len(), MOST_OFFERS);
        assert!(offers("").is_empty() && offers("nonsense").is_empty());
    }

    #[test]
    fn tokens_go_over_tls_only() {
        let who = Identity { user: "u".into(), group: "g".into(), token: Some("abc".into()) };
        assert_eq!(who.credential("unix", false).unwrap().0, b"unix\0u g\0");
        assert_eq!(who.credential("ztn", false), None);
        assert_eq!(who.credential("ztn", true).unwrap().0, b"ztn\0\0T\0\0\0\x04abc\0");
        assert_eq!(who.credential("gsi", true), None);
        assert_eq!(token_of(b"ztn\0\0T\0\0\0\x04abc\0").unwrap().0, b"abc");
        for other in [&b"unix\0u g\0"[..], b"ztn\0\0T\0\0\0\x05abc\0", b"ztn\0\0T\0\0", b"ztn\0\0T\0\0\0\x03a\nb", b""]
        {
            assert_eq!(token_of(other), None);
        }
        let none = Identity { token: None, ..who };
        assert_eq!(none.credential("ztn", true), None);
    }
}
