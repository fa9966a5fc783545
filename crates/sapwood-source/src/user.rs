//! The user of this process, and the bearer token that the user left for programs to find.

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Effective user and group of this process, as the other end of a socket pair sees them. None outside a runtime.
pub(crate) fn ids() -> Option<(u32, u32)> {
    let (here, _there) = tokio::net::UnixStream::pair().ok()?;
    let credentials = here.peer_cred().ok()?;
    Some((credentials.uid(), credentials.gid()))
}

/// A token without surrounding blanks; none where it holds invalid characters.
pub(crate) fn token_in(text: &str) -> Option<String> {
    let token = text.trim();
    (!token.is_empty() && token.bytes().all(|b| b.is_ascii_graphic())).then(|| token.to_owned())
}

/// The token that WLCG bearer token discovery finds: in `BEARER_TOKEN`, in the file that `BEARER_TOKEN_FILE` names, in
/// `bt_u<uid>` in `XDG_RUNTIME_DIR`, then in `/tmp`. An unreadable file counts as absent: most servers want no token.
pub(crate) fn discovered() -> Option<String> {
    found(|name| std::env::var_os(name), ids().map(|(uid, _)| uid), Path::new("/tmp"))
}

/// The same with these variables, for this user, and with this directory instead of `/tmp`.
fn found(variable: impl Fn(&str) -> Option<OsString>, uid: Option<u32>, temporary: &Path) -> Option<String> {
    let read = |file: PathBuf| token_in(&std::fs::read_to_string(file).ok()?);
    let path = |name: &str| variable(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let named = || path("BEARER_TOKEN_FILE").and_then(read);
    let left = |folder: PathBuf| {
        let (uid, file) = (uid?, folder.join(format!("bt_u{}", uid?)));
        // any user may leave a file in /tmp
        std::fs::metadata(&file).is_ok_and(|m| m.uid() == uid).then(|| read(file)).flatten()
    };
    let given = variable("BEARER_TOKEN").and_then(|t| token_in(t.to_str()?));
    given.or_else(named).or_else(|| left(path("XDG_RUNTIME_DIR")?)).or_else(|| left(temporary.to_owned()))
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
    fn tokens_are_looked_for_in_the_order_of_the_standard() {
        let folder = std::env::temp_dir().join(format!("sapwood-token-{}", std::process::id()));
        let (session, temporary) = (folder.join("session"), folder.join("tmp"));
        for d in [&session, &temporary] {
            std::fs::create_dir_all(d).unwrap();
        }
        let uid = std::fs::metadata(&folder).unwrap().uid();
        let of_user = format!("bt_u{uid}");
        let files = [folder.join("named"), session.join(&of_user), temporary.join(&of_user)];
        for (file, token) in files.iter().zip(["NAMED\n", "SESSION", "TEMPORARY"]) {
            std::fs::write(file, token).unwrap();
        }
        let all = [
            ("BEARER_TOKEN", OsString::from("GIVEN")),
            ("BEARER_TOKEN_FILE", files[0].clone().into()),
            ("XDG_RUNTIME_DIR", session.clone().into()),
        ];
        let look = |from: usize, uid| {
            let variables = &all[from..];
            let get = |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, v)| v.clone());
            found(get, uid, &temporary)
        };
        for (from, token) in ["GIVEN", "NAMED", "SESSION", "TEMPORARY"].into_iter().enumerate() {
            assert_eq!(look(from, Some(uid)).as_deref(), Some(token));
        }
        assert_eq!(look(2, None), None, "whose it would be is not known");
        // empty, absent or nonsensical files are skipped
        std::fs::write(&files[0], "\n").unwrap();
        std::fs::remove_file(&files[1]).unwrap();
        assert_eq!(look(1, Some(uid)).as_deref(), Some("TEMPORARY"));
        std::fs::write(&files[2], "two words").unwrap();
        assert_eq!(look(1, Some(uid)), None);
        // a file that another user left in a shared directory
        let other = uid + 1;
        std::fs::write(temporary.join(format!("bt_u{other}")), "PLANTED").unwrap();
        assert_eq!(look(3, Some(other)), None);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
