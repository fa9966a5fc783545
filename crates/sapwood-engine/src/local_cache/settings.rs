//! Which directory the local cache is in, and how large it may grow.

use super::user_configuration::{UserConfiguration, folder};
use sapwood_span::sync::lock;
use sapwood_span::units::{bytes, parse_bytes};
use sapwood_span::{Error, Result};
use sapwood_store::StoreOptions;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Mutex;

/// The size of the local cache where nothing else is said: 20 GB.
pub const DEFAULT_MAX_BYTES: u64 = 20_000_000_000;

/// A local cache of fewer bytes keeps next to nothing: a unit was forgotten, most likely.
pub const LEAST_BYTES: u64 = 1_000_000;

/// The variable that names the directory.
const DIRECTORY: &str = "SAPWOOD_CACHE_DIR";
/// The variable that says how large it may grow.
const MAX: &str = "SAPWOOD_CACHE_MAX";

/// Which local cache is used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LocalCache {
    /// What the process, the environment or the user's configuration says; none where nothing does.
    #[default]
    Configured,
    /// None.
    Off,
    /// The one in this directory.
    In {
        /// The directory; it is made if it is not there.
        directory: PathBuf,
        /// Bytes that it may hold; none: what is configured, or [`DEFAULT_MAX_BYTES`].
        max_bytes: Option<u64>,
    },
}

/// The settings of the process.
static PROCESS: Mutex<LocalCache> = Mutex::new(LocalCache::Configured);

/// Sets the local cache of this process, for files that are opened from now on.
pub fn configure(cache: LocalCache) {
    *lock(&PROCESS) = cache;
}

/// Directory and size of the local cache; none where it is off. The argument goes before the process, this before the
/// environment, and this before the user's configuration.
///
/// # Errors
/// `Invalid` for a size that makes no sense. A configuration that cannot be read is a warning.
pub fn resolve(asked: &LocalCache) -> Result<Option<StoreOptions>> {
    let process = lock(&PROCESS).clone();
    resolved(
        asked,
        &process,
        |name| std::env::var_os(name),
        || {
            UserConfiguration::load().unwrap_or_else(|e| {
                let path = UserConfiguration::path().unwrap_or_default();
                super::warnings::add(path, format!("the local cache is off: its configuration cannot be used: {e}"));
                UserConfiguration::default()
            })
        },
    )
}

/// The directory where nothing else is said: `$XDG_CACHE_HOME/sapwood`, else `~/.cache/sapwood`.
///
/// # Errors
/// `Invalid` where neither variable is set.
pub fn default_directory() -> Result<PathBuf> {
    folder("XDG_CACHE_HOME", ".cache", |name| std::env::var_os(name))
}

/// Refuses a size that no local cache has.
///
/// # Errors
/// `Invalid` for less than [`LEAST_BYTES`].
pub fn check_size(max_bytes: u64) -> Result<()> {
    if max_bytes >= LEAST_BYTES {
        return Ok(());
    }
    let what = format!("a local cache of {} is too small: it needs at least {}", bytes(max_bytes), bytes(LEAST_BYTES));
    Err(Error::invalid(what).with_remedy("specify the size with a unit, such as 20GB"))
}

fn resolved(
    asked: &LocalCache,
    process: &LocalCache,
    variable: impl Fn(&str) -> Option<OsString>,
    user: impl FnOnce() -> UserConfiguration,
) -> Result<Option<StoreOptions>> {
    let set = |name: &str| variable(name).filter(|v| !v.is_empty());
    let told = match (asked, process) {
        (LocalCache::Configured, told) | (told, _) => told,
    };
    let (directory, mut max_bytes, mut kept) = match told {
        LocalCache::Off => return Ok(None),
        LocalCache::In { directory, max_bytes } => (directory.clone(), *max_bytes, None),
        LocalCache::Configured => match set(DIRECTORY) {
            Some(off) if off == "off" => return Ok(None),
            Some(directory) => (PathBuf::from(directory), None, None),
            None => {
                let kept = user();
                if !kept.enabled {
                    return Ok(None);
                }
                let directory = match &kept.directory {
                    Some(directory) => directory.clone(),
                    None => folder("XDG_CACHE_HOME", ".cache", &variable)?,
                };
                (directory, None, Some(kept.max_bytes))
            }
        },
    };
    if max_bytes.is_none()
        && let LocalCache::In { max_bytes: of_process, .. } = process
    {
        max_bytes = *of_process;
    }
    if max_bytes.is_none()
        && let Some(text) = set(MAX)
    {
        let wrong = |why: String| Error::invalid(format!("{MAX}: {why}"));
        let bytes = text
            .to_str()
            .ok_or_else(|| wrong("it is not UTF-8 text".to_owned()))
            .and_then(|text| parse_bytes(text).map_err(|e| wrong(e.to_string())))?;
        max_bytes = Some(bytes);
    }
    if let Some(bytes) = max_bytes {
        check_size(bytes)?;
    }
    // one that was remembered is no reason to refuse reading: the store says that there is no room
    let max_bytes = max_bytes.or_else(|| kept.take().flatten()).unwrap_or(DEFAULT_MAX_BYTES);
    Ok(Some(StoreOptions { directory, max_bytes }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use LocalCache::{Configured, Off};

    fn dir(path: &str, max_bytes: Option<u64>) -> LocalCache {
        LocalCache::In { directory: path.into(), max_bytes }
    }

    fn kept(enabled: bool) -> UserConfiguration {
        UserConfiguration { enabled, directory: Some("/user".into()), max_bytes: Some(7_000_000) }
    }

    fn ask(
        asked: &LocalCache,
        process: &LocalCache,
        variables: &[(&str, &str)],
        user: UserConfiguration,
    ) -> Result<Option<(String, u64)>, String> {
        let variable = |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, v)| OsString::from(v));
        resolved(asked, process, variable, || user)
            .map(|o| o.map(|o| (o.directory.to_str().unwrap().to_owned(), o.max_bytes)))
            .map_err(|e| e.to_string())
    }

    #[test]
    fn the_argument_goes_before_the_process_before_the_environment_before_the_user() {
        let some = |path: &str, max| Ok(Some((path.to_owned(), max)));
        let both = [("SAPWOOD_CACHE_DIR", "/env"), ("SAPWOOD_CACHE_MAX", "2MB")];
        let process = dir("/process", Some(5_000_000));
        assert_eq!(ask(&dir("/argument", None), &process, &both, kept(true)), some("/argument", 5_000_000));
        assert_eq!(ask(&dir("/argument", Some(9_000_000)), &process, &both, kept(true)), some("/argument", 9_000_000));
        assert_eq!(ask(&Configured, &process, &both, kept(true)), some("/process", 5_000_000));
        assert_eq!(ask(&Configured, &Configured, &both, kept(true)), some("/env", 2_000_000));
        assert_eq!(ask(&Configured, &Configured, &both[..1], kept(true)), some("/env", DEFAULT_MAX_BYTES));
        assert_eq!(ask(&Configured, &Configured, &[], kept(true)), some("/user", 7_000_000));
        assert_eq!(ask(&Configured, &Configured, &both[1..], kept(true)), some("/user", 2_000_000));
        let home = [("HOME", "/home/u")];
        let bare = UserConfiguration { enabled: true, ..UserConfiguration::default() };
        assert_eq!(ask(&Configured, &Configured, &home, bare), some("/home/u/.cache/sapwood", DEFAULT_MAX_BYTES));
    }

    #[test]
    fn it_is_off_unless_asked_for() {
        let both = [("SAPWOOD_CACHE_DIR", "/env"), ("SAPWOOD_CACHE_MAX", "not a size")];
        assert_eq!(ask(&Configured, &Configured, &[], kept(false)), Ok(None));
        assert_eq!(ask(&Off, &dir("/process", None), &both, kept(true)), Ok(None));
        assert_eq!(ask(&Configured, &Off, &both, kept(true)), Ok(None));
        assert_eq!(ask(&Configured, &Configured, &[("SAPWOOD_CACHE_DIR", "off")], kept(true)), Ok(None));
    }

    #[test]
    fn a_size_that_makes_no_sense_is_named() {
        let both = [("SAPWOOD_CACHE_DIR", "/env"), ("SAPWOOD_CACHE_MAX", "20 parsecs")];
        let error = ask(&Configured, &Configured, &both, kept(false)).unwrap_err();
        assert!(error.contains("SAPWOOD_CACHE_MAX") && error.contains("20 parsecs"), "{error}");
        for small in [0, 10, LEAST_BYTES - 1] {
            let error = ask(&dir("/a", Some(small)), &Configured, &[], kept(false)).unwrap_err();
            assert!(error.contains("too small") && error.contains("20GB"), "{error}");
        }
        let ten = [("SAPWOOD_CACHE_DIR", "/env"), ("SAPWOOD_CACHE_MAX", "10")];
        assert!(ask(&Configured, &Configured, &ten, kept(false)).unwrap_err().contains("too small"));
        // what was remembered does not keep files from being read
        let tiny = UserConfiguration { max_bytes: Some(10), ..kept(true) };
        assert_eq!(ask(&Configured, &Configured, &[], tiny), Ok(Some(("/user".to_owned(), 10))));
    }
}
