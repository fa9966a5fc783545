//! What the user's configuration says of the local cache: a section of `$XDG_CONFIG_HOME/sapwood/config.toml`.

use sapwood_span::raw_text::text_of_path;
use sapwood_span::{Error, Result};
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The section that is ours.
const SECTION: &str = "cache";

const REPAIR: &str = "run `sapwood cache on` or `sapwood cache off` to replace it";

/// A configuration is no larger.
const MOST: u64 = 1 << 20;

/// What the user has said once for all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserConfiguration {
    /// Whether there is a local cache where nothing else is said.
    pub enabled: bool,
    /// Its directory; none: the default.
    pub directory: Option<PathBuf>,
    /// Bytes that it may hold; none: the default.
    pub max_bytes: Option<u64>,
}

impl UserConfiguration {
    /// The file: `$XDG_CONFIG_HOME/sapwood/config.toml`, else `~/.config/sapwood/config.toml`.
    ///
    /// # Errors
    /// `Invalid` where neither variable is set.
    pub fn path() -> Result<PathBuf> {
        Ok(folder("XDG_CONFIG_HOME", ".config", |name| std::env::var_os(name))?.join("config.toml"))
    }

    /// What the file says; nothing where there is none.
    ///
    /// # Errors
    /// A file that cannot be read or understood.
    pub fn load() -> Result<Self> {
        // where there is no home there is no configuration
        Self::path().map_or_else(|_| Ok(Self::default()), |path| Self::load_from(&path))
    }

    /// Writes the file, and leaves its other sections as they are.
    ///
    /// # Errors
    /// A file that cannot be read or written.
    pub fn save(&self) -> Result<PathBuf> {
        let path = Self::path()?;
        self.save_to(&path)?;
        Ok(path)
    }

    fn load_from(path: &Path) -> Result<Self> {
        let mut out = Self::default();
        let mut ours = false;
        for (i, line) in read(path)?.lines().enumerate() {
            let line = line.trim();
            let understood = match section(line) {
                Some(Some(name)) => {
                    ours = name == SECTION;
                    true
                }
                Some(None) => false,
                None => !ours || line.is_empty() || line.starts_with('#') || out.set(line).is_some(),
            };
            if !understood {
                let what = format!("line {} is invalid: {line}", i + 1);
                return Err(Error::invalid(what).in_file(text_of_path(path)).with_remedy(REPAIR));
            }
        }
        Ok(out)
    }

    fn set(&mut self, line: &str) -> Option<()> {
        let (key, value) = line.split_once('=')?;
        let value = value.trim();
        match key.trim() {
            "enabled" => self.enabled = without_comment(value).parse().ok()?,
            "directory" => self.directory = Some(PathBuf::from(unquoted(value)?)),
            "max_bytes" => self.max_bytes = Some(without_comment(value).parse().ok()?),
            _ => return None,
        }
        Some(())
    }

    fn save_to(&self, path: &Path) -> Result<()> {
        let failed = |e| Error::io("cannot write", e).in_file(text_of_path(path));
        let mut text = String::new();
        let mut ours = false;
        let before = read(path).unwrap_or_else(|_| {
            // what cannot be read is put aside, in case somebody wants it; renaming the new one fails where this does
            let _ = fs::rename(path, path.with_extension("toml.unreadable"));
            String::new()
        });
        for line in before.lines() {
            if let Some(name) = section(line.trim()) {
                // what stands behind a header that cannot be understood is in no section
                ours = name.is_none_or(|name| name == SECTION);
            }
            if !ours {
                text.push_str(line);
                text.push('\n');
            }
        }
        text.push_str(&format!("[{SECTION}]\nenabled = {}\n", self.enabled));
        if let Some(directory) = &self.directory {
            let quoted = directory.to_str().and_then(quoted).ok_or_else(|| {
                let what = "the configuration cannot contain this directory: its name is not UTF-8 text of one line";
                Error::unsupported(what).in_file(text_of_path(directory)).with_remedy("choose another directory")
            })?;
            text.push_str(&format!("directory = {quoted}\n"));
        }
        if let Some(bytes) = self.max_bytes {
            text.push_str(&format!("max_bytes = {bytes}\n"));
        }
        let folder = path.parent().unwrap_or(Path::new("."));
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
        let new = folder.join(format!("config.toml.{}.new", std::process::id()));
        let written = (|| {
            let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&new, path)
        })();
        written.map_err(|e| {
            // it may not even be there
            let _ = fs::remove_file(&new);
            failed(e)
        })
    }
}

/// The text of a file; none where it is not there.
fn read(path: &Path) -> Result<String> {
    let failed = |e| Error::io("cannot read", e).in_file(text_of_path(path)).with_remedy(REPAIR);
    match fs::metadata(path) {
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(String::new()),
        Err(e) => return Err(failed(e)),
        // opening a pipe would wait for a writer
        Ok(meta) if !meta.is_file() => return Err(failed(std::io::Error::other("it is not a regular file"))),
        Ok(meta) if meta.len() > MOST => return Err(failed(std::io::Error::other("it is too large"))),
        Ok(_) => {}
    }
    let mut text = String::new();
    let file = File::open(path).map_err(failed)?;
    file.take(MOST).read_to_string(&mut text).map_err(failed)?;
    Ok(text)
}

/// The section that a line begins, if it begins one; the inner none: it cannot be understood.
fn section(line: &str) -> Option<Option<&str>> {
    let rest = line.strip_prefix('[')?;
    let name = without_comment(rest).strip_suffix(']').map(|name| name.trim_matches(|c| "[] \t".contains(c)));
    Some(name.filter(|name| !name.is_empty()))
}

fn without_comment(text: &str) -> &str {
    text.split('#').next().unwrap_or_default().trim()
}

/// A basic string of TOML.
fn quoted(text: &str) -> Option<String> {
    let fits = !text.chars().any(char::is_control);
    fits.then(|| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")))
}

fn unquoted(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut chars = text.strip_prefix('"')?.chars();
    loop {
        match chars.next()? {
            '\\' => out.push(chars.next().filter(|c| matches!(c, '\\' | '"'))?),
            '"' => break,
            c => out.push(c),
        }
    }
    without_comment(chars.as_str()).is_empty().then_some(out)
}

/// A user's directory of ours: in the one that this variable names, else in this one of the home directory.
pub(super) fn folder(name: &str, in_home: &str, variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf> {
    // a relative path there is to be ignored, as the XDG specification says
    let path = |name: &str| variable(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let base = path(name).or_else(|| Some(path("HOME")?.join(in_home)));
    base.map(|base| base.join("sapwood")).ok_or_else(|| {
        Error::invalid(format!("neither {name} nor HOME is set to a directory"))
            .with_remedy("set HOME, or specify the directory")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn file(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("sapwood-configuration-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        folder.join("sapwood/config.toml")
    }

    fn remove(path: &Path) {
        fs::remove_dir_all(path.parent().unwrap().parent().unwrap()).unwrap();
    }

    #[test]
    fn what_is_saved_is_loaded_and_other_sections_stay() {
        let path = file("saved");
        assert_eq!(UserConfiguration::load_from(&path).unwrap(), UserConfiguration::default());
        let all = UserConfiguration { enabled: true, directory: Some("/a \"b\"\\c/ü".into()), max_bytes: Some(123) };
        all.save_to(&path).unwrap();
        assert_eq!(UserConfiguration::load_from(&path).unwrap(), all);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("# mine\n[other]\nx = [1]\n{text}\n[last]\ny = 2\n")).unwrap();
        let off = UserConfiguration { enabled: false, ..all };
        off.save_to(&path).unwrap();
        assert_eq!(UserConfiguration::load_from(&path).unwrap(), off);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("# mine\n[other]\nx = [1]\n[last]\ny = 2\n[cache]\nenabled = false\n"), "{text}");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing else is left behind");
        remove(&path);
    }

    #[test]
    fn what_cannot_be_understood_is_named() {
        let path = file("wrong");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        for wrong in [
            "enabled = perhaps",
            "max_bytes = \"many\"",
            "directory = /x",
            "directory = \"/x",
            "directory = \"/x\" y",
            "colour = 3",
            "enabled",
            "[cach",
        ] {
            fs::write(&path, format!("[cache]\n# a comment\n{wrong}\n")).unwrap();
            let error = UserConfiguration::load_from(&path).unwrap_err().to_string();
            assert!(error.contains("line 3") && error.contains(wrong) && error.contains("config.toml"), "{error}");
        }
        remove(&path);
    }

    #[test]
    fn a_comment_and_spaces_change_nothing() {
        let path = file("comments");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let text = "[ cache ] # ours\nenabled = true # yes\nmax_bytes=7#B\ndirectory = \"/a#b\" # where\n";
        fs::write(&path, text).unwrap();
        let found = UserConfiguration::load_from(&path).unwrap();
        assert_eq!(found, UserConfiguration { enabled: true, directory: Some("/a#b".into()), max_bytes: Some(7) });
        found.save_to(&path).unwrap();
        assert_eq!(UserConfiguration::load_from(&path).unwrap(), found);
        remove(&path);
    }

    #[test]
    fn what_cannot_be_read_is_an_error_and_is_written_anew() {
        let on = UserConfiguration { enabled: true, ..UserConfiguration::default() };
        type Make = fn(&Path);
        let broken: [(&str, Make); 5] = [
            ("pipe", |path| {
                let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
                assert!(made.success());
            }),
            ("folder", |path| fs::create_dir(path).unwrap()),
            ("bytes", |path| fs::write(path, b"[cache]\nenabled = true\n\xff\xfe").unwrap()),
            ("header", |path| fs::write(path, b"[cache\nenabled = true\n").unwrap()),
            ("large", |path| fs::write(path, vec![b' '; MOST as usize + 1]).unwrap()),
        ];
        for (name, make) in broken {
            let path = file(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            make(&path);
            let error = UserConfiguration::load_from(&path).unwrap_err().to_string();
            assert!(error.contains("config.toml") && error.contains("sapwood cache on"), "{name}: {error}");
            on.save_to(&path).unwrap();
            assert_eq!(UserConfiguration::load_from(&path).unwrap(), on, "{name}");
            remove(&path);
        }
    }
}
