//! Removes directories of killed mergers. The temporary directory may be shared by several machines, from each of which the
//! others' sockets look dead: so directory names include the machine.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// The socket in a merger's directory.
pub(super) const SOCKET: &str = "merger";

/// Identifies this machine since its boot; empty where unknown.
pub(super) fn machine() -> String {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.chars().filter(char::is_ascii_hexdigit).take(12).collect()
}

/// The prefix of the directory names of a machine's mergers; the numbers of the process and of the merger follow.
pub(super) fn prefix(machine: &str) -> String {
    if machine.is_empty() { "sapwood-".to_owned() } else { format!("sapwood-{machine}-") }
}

/// Removes the directories next to `own` whose sockets have no listener any more: only those created by mergers of the same
/// user on the same machine, and older than `age`: a new one may be about to listen.
pub(super) fn sweep(own: &Path, machine: &str, age: Duration) {
    if machine.is_empty() {
        return;
    }
    let prefix = prefix(machine);
    let (Some(around), Ok(mine)) = (own.parent(), fs::symlink_metadata(own)) else { return };
    for entry in fs::read_dir(around).into_iter().flatten().flatten() {
        let folder = entry.path();
        let of_merger = entry.file_name().to_str().is_some_and(|name| is_name(name, &prefix)) && folder != own;
        let Ok(meta) = fs::symlink_metadata(&folder) else { continue };
        let old = meta.modified().is_ok_and(|at| at.elapsed().is_ok_and(|since| since >= age));
        if !of_merger || !meta.is_dir() || meta.uid() != mine.uid() || !old {
            continue;
        }
        let socket = folder.join(SOCKET);
        if fs::symlink_metadata(&socket).is_ok_and(|meta| !meta.file_type().is_socket()) {
            continue;
        }
        let gone = |e: std::io::Error| matches!(e.kind(), ErrorKind::ConnectionRefused | ErrorKind::NotFound);
        if UnixStream::connect(&socket).is_err_and(gone) {
            // another cleanup at the same time may be first
            let _ = fs::remove_file(&socket);
            let _ = fs::remove_dir(&folder);
        }
    }
}

/// Whether a directory has the name of a merger's: the numbers of its process and of the merger in it.
fn is_name(name: &str, prefix: &str) -> bool {
    let numbers = name.strip_prefix(prefix).and_then(|n| n.split_once('-'));
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
        let (own, dead, empty) = (made("sapwood-ab-3-0"), made("sapwood-ab-1-0"), made("sapwood-ab-1-1"));
        let (alive, kept, other) = (made("sapwood-ab-2-0"), made("sapwood-ab-4-0"), made("sapwood-part-5"));
        let (elsewhere, file) = (made("sapwood-cd-1-0"), made("sapwood-ab-5-0"));
        for folder in [&dead, &other, &elsewhere] {
            drop(UnixListener::bind(folder.join(SOCKET)).unwrap());
        }
        fs::write(file.join(SOCKET), "no socket").unwrap();
        let listener = UnixListener::bind(alive.join(SOCKET)).unwrap();
        fs::write(kept.join("note"), "of somebody else").unwrap();

        sweep(&own, "ab", Duration::from_secs(3600));
        assert!(dead.exists() && empty.exists(), "too new");
        sweep(&own, "", Duration::ZERO);
        assert!(dead.exists() && empty.exists(), "of whatever machine");
        sweep(&own, "ab", Duration::ZERO);
        assert!(!dead.exists() && !empty.exists());
        assert!(own.exists() && alive.exists() && kept.join("note").exists() && other.exists());
        assert!(elsewhere.join(SOCKET).exists() && file.join(SOCKET).exists());
        drop(listener);
        fs::remove_dir_all(&temporary).unwrap();
    }
}
