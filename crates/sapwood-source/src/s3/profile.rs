//! The AWS configuration files: `~/.aws/config` and `~/.aws/credentials`.

use sapwood_span::{Error, Result};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Longest configuration file that is read.
const LONGEST: u64 = 1 << 20;

/// The settings of one profile, by name; those of a nested section as `s3.addressing_style`.
pub(super) type Profile = HashMap<String, String>;

/// A profile as both files describe it: the credentials file goes first. None where neither has it.
///
/// # Errors
/// `Io` for a file that exists and cannot be read.
pub(super) fn read(name: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<Option<Profile>> {
    let file = |set: &str, usual: &str| {
        let home = || variable("HOME").map(|home| Path::new(&home).join(".aws").join(usual));
        variable(set).filter(|path| !path.is_empty()).map(|path| expand(&path, variable)).or_else(home)
    };
    let of_config = |section: &str| {
        section == name && name == "default" || section.strip_prefix("profile ").is_some_and(|s| s.trim() == name)
    };
    let config = file("AWS_CONFIG_FILE", "config").map(|path| text(&path)).transpose()?.flatten();
    let secrets = file("AWS_SHARED_CREDENTIALS_FILE", "credentials").map(|path| text(&path)).transpose()?.flatten();
    let mut found = config.and_then(|text| section(&text, of_config));
    if let Some(more) = secrets.and_then(|text| section(&text, |section| section == name)) {
        found.get_or_insert_default().extend(more);
    }
    Ok(found)
}

fn expand(path: &str, variable: &dyn Fn(&str) -> Option<String>) -> PathBuf {
    match (path.strip_prefix("~/"), variable("HOME")) {
        (Some(rest), Some(home)) => Path::new(&home).join(rest),
        _ => PathBuf::from(path),
    }
}

/// The text of a file; none where it does not exist.
fn text(path: &Path) -> Result<Option<String>> {
    let failed = |e| Error::io("the AWS configuration cannot be read", e).in_file(path.display().to_string());
    match std::fs::metadata(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(failed(e)),
        Ok(facts) if facts.len() > LONGEST => {
            return Err(
                Error::invalid("the AWS configuration is larger than 1 MiB").in_file(path.display().to_string())
            );
        }
        Ok(_) => {}
    }
    std::fs::read_to_string(path).map(Some).map_err(failed)
}

/// The settings of the sections that fit; none where no section does.
fn section(text: &str, fits: impl Fn(&str) -> bool) -> Option<Profile> {
    let (mut found, mut inside, mut nested) = (None::<Profile>, false, String::new());
    for line in text.lines() {
        let is_indented = line.starts_with([' ', '\t']);
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            inside = fits(name.trim());
            if inside {
                found.get_or_insert_default();
            }
            continue;
        }
        let (true, Some((name, value))) = (inside, line.split_once('=')) else { continue };
        // a comment behind a value begins with a blank and a sign
        let value = value.split(" #").next().unwrap_or_default().split(" ;").next().unwrap_or_default().trim();
        let name = name.trim().to_ascii_lowercase();
        if !is_indented {
            nested = if value.is_empty() { name.clone() } else { String::new() };
        }
        let name = if is_indented && !nested.is_empty() { format!("{nested}.{name}") } else { name };
        found.get_or_insert_default().insert(name, value.to_owned());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_and_nested_settings() {
        let text = "# x\n[default]\nregion=a\n[profile other]\nregion = b # said so\ns3 =\n  addressing_style = path\n\
                    output=json\n[profile otherwise]\nregion=c\n";
        let of = |name: &str| section(text, |s| s == name);
        assert_eq!(of("default").unwrap()["region"], "a");
        let other = of("profile other").unwrap();
        assert_eq!((other["region"].as_str(), other["s3.addressing_style"].as_str()), ("b", "path"));
        assert_eq!(other["output"], "json");
        assert!(of("absent").is_none());
    }

    #[test]
    fn the_credentials_file_goes_first() {
        let folder = std::env::temp_dir().join(format!("sapwood-aws-{}", std::process::id()));
        std::fs::create_dir_all(folder.join(".aws")).unwrap();
        std::fs::write(folder.join(".aws/config"), "[profile p]\nregion=r\naws_access_key_id=OLD\n").unwrap();
        std::fs::write(folder.join(".aws/credentials"), "[p]\naws_access_key_id=NEW\n").unwrap();
        let home = |name: &str| (name == "HOME").then(|| folder.to_str().unwrap().to_owned());
        let found = read("p", &home).unwrap().unwrap();
        assert_eq!((found["region"].as_str(), found["aws_access_key_id"].as_str()), ("r", "NEW"));
        assert!(read("q", &home).unwrap().is_none());
        let elsewhere = |name: &str| (name == "AWS_CONFIG_FILE").then(|| "/nowhere/config".to_owned());
        assert!(read("p", &elsewhere).unwrap().is_none());
        std::fs::remove_dir_all(folder).unwrap();
    }
}
