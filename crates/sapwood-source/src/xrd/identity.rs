//! This client's identity: user, group, token.

use crate::open::SourceOptions;
use crate::user::{discovered, ids, token_in};
use sapwood_xrd::SecretBytes;
use sapwood_xrd::auth::Identity;

/// The user of this process, and a bearer token where one is given or found.
pub(crate) fn identity(options: &SourceOptions, user: Option<&str>) -> Identity {
    let (uid, gid) = ids().unwrap_or_default();
    let by_env = || ["USER", "LOGNAME"].iter().find_map(|v| std::env::var(v).ok()).filter(|u| !u.is_empty());
    let fits = |name: &String| !name.is_empty() && name.bytes().all(|b| b.is_ascii_graphic());
    let name = user.map(str::to_owned).or_else(|| entry("/etc/passwd", uid)).or_else(by_env);
    let user = name.filter(fits).unwrap_or_else(|| "nobody".to_owned());
    let group = entry("/etc/group", gid).filter(fits).unwrap_or_else(|| user.clone());
    let token = match &options.token {
        Some(token) => token_in(token),
        None => discovered(),
    };
    Identity { user, group, token: token.map(|t| SecretBytes(t.into_bytes())) }
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
    fn this_process_has_a_user() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let _guard = runtime.enter();
        let who = identity(&SourceOptions { token: Some("T".into()), ..SourceOptions::default() }, None);
        assert!(!who.user.is_empty() && !who.group.is_empty() && who.token.is_some());
        assert_eq!(identity(&SourceOptions::default(), Some("someone")).user, "someone");
    }
}
