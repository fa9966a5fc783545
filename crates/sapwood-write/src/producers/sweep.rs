//! Folders of mergers whose processes were killed, which could not clean up.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// The socket in a merger's folder.
pub(super) const SOCKET: &str = "merger";

/// Removes the folders beside `own` at whose sockets nobody listens any more. Only such as mergers of the same user
/// make, and that are older than `age`: a new one may be about to listen.
pub(super) fn sweep(own: &Path, age: Duration) {
    let (Some(around), Ok(mine)) = (own.parent(), fs::symlink_metadata(own)) else { return };
    for entry in fs::read_dir(around).into_iter().flatten().flatten() {
        let folder = entry.path();
        let of_merger = entry.file_name().to_str().is_some_and(is_name) && folder != own;
        let Ok(meta) = fs::symlink_metadata(&folder) else { continue };
        let old = meta.modified().is_ok_and(|at| at.elapsed().is_ok_and(|since| since >= age));
        if !of_merger || !meta.is_dir() || meta.uid() != mine.uid() || !old {
            continue;
        }
        let socket = folder.join(SOCKET);
        let gone = |e: std::io::Error| matches!(e.kind(), ErrorKind::ConnectionRefused | ErrorKind::NotFound);
        if UnixStream::connect(&socket).is_err_and(gone) {
            // whoever else cleans up at the same time may be first
            let _ = fs::remove_file(&socket);
            let _ = fs::remove_dir(&folder);
        }
    }
}

/// Whether a folder is called as a merger's: the numbers of its process and of the merger in it.
fn is_name(name: &str) -> bool {
    let numbers = name.strip_prefix("sapwood-").and_then(|n| n.split_once('-'));
    let is_number = |n: &str| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit());
    numbers.is_some_and(|(process, n)| is_number(process) && is_number(n))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    #[test]
    fn only_folders_where_nobody_listens_go() {
        let temporary = std::env::temp_dir().join(format!("sapwood-sweep-{}", std::process::id()));
        let made = |name: &str| {
            let folder = temporary.join(name);
            fs::create_dir_all(&folder).unwrap();
            folder
        };
        let (own, dead, empty) = (made("sapwood-3-0"), made("sapwood-1-0"), made("sapwood-1-1"));
        let (alive, kept, other) = (made("sapwood-2-0"), made("sapwood-4-0"), made("sapwood-part-5"));
        drop(UnixListener::bind(dead.join(SOCKET)).unwrap());
        drop(UnixListener::bind(other.join(SOCKET)).unwrap());
        let listener = UnixListener::bind(alive.join(SOCKET)).unwrap();
        fs::write(kept.join("note"), "of somebody else").unwrap();

        sweep(&own, Duration::from_secs(3600));
        assert!(dead.exists() && empty.exists(), "too new");
        sweep(&own, Duration::ZERO);
        assert!(!dead.exists() && !empty.exists());
        assert!(own.exists() && alive.exists() && kept.join("note").exists() && other.exists());
        drop(listener);
        fs::remove_dir_all(&temporary).unwrap();
    }
}
