//! Files that options name and that are read as a whole: lists of files, perf stats, logs.

use sapwood::raw_text::text_of_path;
use sapwood::{Error, Result};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Bytes that such a file has at most: a device never ends.
const MOST: u64 = 1 << 30;

/// What the file holds. It may be a pipe.
///
/// # Errors
/// That it cannot be read, or is larger than `1 GiB`.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    limited(path, MOST)
}

fn limited(path: &Path, most: u64) -> Result<Vec<u8>> {
    let name = || text_of_path(path);
    let failed = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::NotFound => Error::no_such_file("no such file").in_file(name()),
        _ => Error::io("cannot read", e).in_file(name()),
    };
    let mut bytes = Vec::new();
    File::open(path).map_err(failed)?.take(most + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > most {
        return Err(Error::invalid(format!("has more than {most} bytes")).in_file(name()));
    }
    Ok(bytes)
}

/// The same of a file that holds text.
///
/// # Errors
/// As [`read`], and that it is no text.
pub(crate) fn read_text(path: &Path) -> Result<String> {
    let text = String::from_utf8(read(path)?);
    text.map_err(|_| Error::corrupt("is not UTF-8 text").in_file(text_of_path(path)))
}

#[cfg(test)]
mod tests {
    use super::limited;
    use std::path::Path;

    #[test]
    fn files_without_end_are_not_read_for_ever() {
        let e = limited(Path::new("/dev/zero"), 1 << 20).unwrap_err().to_string();
        assert!(e.contains("/dev/zero: has more than 1048576 bytes"), "{e}");
        assert_eq!(limited(Path::new("/dev/null"), 10).unwrap(), b"");
    }
}
