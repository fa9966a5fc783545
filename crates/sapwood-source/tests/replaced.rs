//! Local files that are written to while they are open.

use sapwood_source::open_local;
use sapwood_span::ErrorKind;
use std::io::{Seek, Write};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

struct Written(PathBuf);

impl Written {
    /// A file of this many bytes, last written to this long ago.
    fn new(name: &str, byte: u8, age: Duration) -> Self {
        let path = std::env::temp_dir().join(format!("sapwood-replaced-{}-{name}", std::process::id()));
        std::fs::write(&path, [byte; 10_000]).unwrap();
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::now() - age).unwrap();
        Self(path)
    }

    fn rewrite(&self, from: u64, bytes: &[u8]) {
        let mut file = std::fs::File::options().write(true).open(&self.0).unwrap();
        file.seek(std::io::SeekFrom::Start(from)).unwrap();
        file.write_all(bytes).unwrap();
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

const LONG_AGO: Duration = Duration::from_secs(10_000);

fn local(path: &PathBuf) -> std::sync::Arc<dyn sapwood_source::Source> {
    open_local(path, 1000, 1000).unwrap().source
}

fn read(source: &std::sync::Arc<dyn sapwood_source::Source>) -> Result<(), String> {
    let result = source.read_at_once(5000, &mut [0; 10]);
    if let Err(e) = &result {
        assert_eq!(e.kind(), ErrorKind::Corrupt);
    }
    result.map(|_| ()).map_err(|e| e.to_string())
}

#[test]
fn the_same_size_and_other_bytes() {
    let file = Written::new("same", 1, LONG_AGO);
    let source = local(&file.0);
    read(&source).unwrap();
    file.rewrite(6000, &[2; 10]);
    let error = read(&source).unwrap_err();
    assert!(error.contains("changed while it was being read") && error.contains("open it again"), "{error}");
}

#[test]
fn within_one_tick_of_the_clock() {
    // a file written to just before it was opened is compared by its first bytes, too
    let file = Written::new("tick", 1, Duration::ZERO);
    let modified = std::fs::metadata(&file.0).unwrap().modified().unwrap();
    let source = local(&file.0);
    read(&source).unwrap();
    file.rewrite(0, &[2; 10]);
    std::fs::File::options().write(true).open(&file.0).unwrap().set_modified(modified).unwrap();
    let error = read(&source).unwrap_err();
    assert!(error.contains("first bytes") || error.contains("its inode changed"), "{error}");
}

#[test]
fn files_that_are_being_written_may_grow_and_nothing_else() {
    let file = Written::new("grow", 1, LONG_AGO);
    let source = local(&file.0);
    source.allow_growth();
    file.rewrite(10_000, &[2; 10]);
    read(&source).unwrap();
    let other = Written::new("grow-same", 1, LONG_AGO);
    let source = local(&other.0);
    source.allow_growth();
    other.rewrite(6000, &[2; 10]);
    assert!(read(&source).unwrap_err().contains("it was written to"));
}

#[test]
fn a_time_of_change_set_back_is_seen_by_that_of_the_inode() {
    let file = Written::new("back", 1, LONG_AGO);
    let modified = std::fs::metadata(&file.0).unwrap().modified().unwrap();
    let source = local(&file.0);
    read(&source).unwrap();
    file.rewrite(6000, &[2; 10]);
    std::fs::File::options().write(true).open(&file.0).unwrap().set_modified(modified).unwrap();
    assert!(read(&source).unwrap_err().contains("its inode changed"));
}

#[test]
fn other_names_and_permissions_are_no_change() {
    use std::os::unix::fs::PermissionsExt;
    let file = Written::new("renamed", 1, LONG_AGO);
    let source = local(&file.0);
    std::fs::set_permissions(&file.0, std::fs::Permissions::from_mode(0o600)).unwrap();
    read(&source).unwrap();
    let other = Written::new("new-name", 1, LONG_AGO);
    std::fs::rename(&file.0, &other.0).unwrap();
    read(&source).unwrap();
    std::fs::remove_file(&other.0).unwrap();
    read(&source).unwrap();
}
