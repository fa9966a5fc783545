//! Who this client is: user, group, token.

use crate::open::SourceOptions;
use sapwood_xrd::SecretBytes;
use sapwood_xrd::auth::Identity;
use std::path::PathBuf;

/// The user of this process, and a bearer token where one is found (WLCG bearer token discovery): the one given,
/// `BEARER_TOKEN`, the file that `BEARER_TOKEN_FILE` names, `bt_u<uid>` in `XDG_RUNTIME_DIR`, then in `/tmp`. Files
/// that cannot be read count as absent: most servers want no token.
pub(crate) fn identity(options: &SourceOptions, user: Option<&str>) -> Identity {
    let (uid, gid) = ids().unwrap_or_default();
    let by_env = || ["USER", "LOGNAME"].iter().find_map(|v| std::env::var(v).ok()).filter(|u| !u.is_empty());
    let fits = |name: &String| !name.is_empty() && name.bytes().all(|b| b.is_ascii_graphic());
    let name = user.map(str::to_owned).or_else(|| entry("/etc/passwd", uid)).or_else(by_env);
    let user = name.filter(fits).unwrap_or_else(|| "nobody".to_owned());
    let group = entry("/etc/group", gid).filter(fits).unwrap_or_else(|| user.clone());
    let token = match &options.token {
        Some(token) => token_in(token),
        None => discovered(uid),
    };
    Identity { user, group, token: token.map(|t| SecretBytes(t.into_bytes())) }
}

fn discovered(uid: u32) -> Option<String> {
    if let Some(token) = std::env::var("BEARER_TOKEN").ok().and_then(|t| token_in(&t)) {
        return Some(token);
    }
    let folder = |dir: PathBuf| dir.join(format!("bt_u{uid}"));
    let named = std::env::var_os("BEARER_TOKEN_FILE").map(PathBuf::from);
    let session = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).map(folder);
    let files = [named, session, Some(folder(PathBuf::from("/tmp")))];
    files.into_iter().flatten().find_map(|file| token_in(&std::fs::read_to_string(file).ok()?))
}

/// A token without the blanks around it; none where it holds what no token has.
fn token_in(text: &str) -> Option<String> {
    let token = text.trim();
    (!token.is_empty() && token.bytes().all(|b| b.is_ascii_graphic())).then(|| token.to_owned())
}

/// Effective user and group of this process: what the other end of a socket pair would see.
fn ids() -> Option<(u32, u32)> {
    let (here, _there) = tokio::net::UnixStream::pair().ok()?;
    let credentials = here.peer_cred().ok()?;
    Some((credentials.uid(), credentials.gid()))
}

/// The name with this number in a file of `name:x:number:...` lines.
fn entry(file: &str, number: u32) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    let number = number.to_string();
    let mut lines = text.lines().map(|line| line.split(':'));
    lines.find_map(|mut words| {
        let name = words.next()?;
        (words.nth(1)? == number).then(|| name.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_one_word() {
        assert_eq!(token_in(" abc.def\n").as_deref(), Some("abc.def"));
        assert!(token_in("a b").is_none() && token_in("\n").is_none());
    }

    #[test]
    fn this_process_has_a_user() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let _guard = runtime.enter();
        let who = identity(&SourceOptions { token: Some("T".into()), ..SourceOptions::default() }, None);
        assert!(!who.user.is_empty() && !who.group.is_empty() && who.token.is_some());
        assert_eq!(identity(&SourceOptions::default(), Some("someone")).user, "someone");
    }
}
