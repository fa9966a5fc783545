//! Friends that are given on the command line.

use crate::args::FriendArgs;
use crate::failure::Failure;
use crate::target::several;
use sapwood::query::with_index;
use sapwood::raw_text::path_of;
use sapwood::{Error, FriendTree, OpenOptions};

/// The friends that the options name.
///
/// # Errors
/// Texts that make no sense; patterns of files that nothing fits; local files that do not exist.
pub(crate) fn given(args: &FriendArgs, options: &OpenOptions) -> sapwood::Result<Vec<FriendTree>> {
    let index = args.index.as_deref().map(split_index).transpose()?;
    let friend = |text: &String| {
        let (alias, tree, file) = split(text)?;
        let targets = several(std::iter::once(file), options)?;
        // otherwise it would be noticed only where one of its branches is used
        if let Some(t) = targets.iter().find(|t| !t.url.contains("://") && !path_of(&t.url).exists()) {
            return Err(Error::no_such_file("no such file (given with --friend)").in_file(&t.url));
        }
        let files = targets.into_iter().map(|t| (t.url, Some(t.object.unwrap_or_else(|| tree.to_owned())))).collect();
        let friend = FriendTree::new(alias, files, options.clone());
        match &index {
            Some((major, minor)) => with_index(friend, major, minor).map_err(|e| {
                let text = args.index.as_deref().unwrap_or_default();
                let what = format!("--index {text}: {}", e.what());
                e.worded(what)
            }),
            None => Ok(friend),
        }
    };
    args.friends.iter().map(friend).collect()
}

/// Refuses options that make no sense, as wrong use of the command.
///
/// # Errors
/// `Usage`.
pub(crate) fn check(args: &FriendArgs) -> Result<(), Failure> {
    let usage = |e: Error| Failure::Usage(e.to_string());
    args.friends.iter().try_for_each(|text| split(text).map(drop)).map_err(usage)?;
    args.index.as_deref().map_or(Ok(()), |text| split_index(text).map(drop)).map_err(usage)
}

/// `[ALIAS=]TREE@FILE`.
pub(crate) fn split(text: &str) -> sapwood::Result<(Option<&str>, &str, &str)> {
    let wrong = || {
        Error::invalid(format!(
            "--friend {text}: write TREE@FILE, or ALIAS=TREE@FILE, as in calib=Calibration@calib.root"
        ))
    };
    let (front, file) = text.split_once('@').ok_or_else(wrong)?;
    let (alias, tree) = match front.split_once('=') {
        Some((alias, tree)) => (Some(alias.trim()), tree.trim()),
        None => (None, front.trim()),
    };
    if tree.is_empty() || file.is_empty() || alias.is_some_and(|a| a.is_empty() || a.contains('.')) {
        return Err(wrong());
    }
    Ok((alias, tree, file))
}

/// `MAJOR[,MINOR]`; commas in parentheses belong to functions.
pub(crate) fn split_index(text: &str) -> sapwood::Result<(String, String)> {
    let mut depth = 0i32;
    let parts: Vec<&str> = text
        .split(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            c == ',' && depth == 0
        })
        .map(str::trim)
        .collect();
    match parts[..] {
        [major] if !major.is_empty() => Ok((major.to_owned(), "0".to_owned())),
        [major, minor] if !major.is_empty() && !minor.is_empty() => Ok((major.to_owned(), minor.to_owned())),
        _ => Err(Error::invalid(format!("--index {text}: write one or two expressions, as in run,event"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn friends_are_taken_apart() {
        assert_eq!(split("T@f.root").unwrap(), (None, "T", "f.root"));
        assert_eq!(split("a=T@http://u:p@h/f.root?x=1").unwrap(), (Some("a"), "T", "http://u:p@h/f.root?x=1"));
        assert_eq!(split("dir/T@@list.txt").unwrap(), (None, "dir/T", "@list.txt"));
        for wrong in ["f.root", "@f.root", "T@", "=T@f.root", "a.b=T@f.root"] {
            assert!(split(wrong).is_err(), "{wrong}");
        }
        assert_eq!(split_index("run,event").unwrap(), ("run".to_owned(), "event".to_owned()));
        assert_eq!(split_index("max(a,b)").unwrap(), ("max(a,b)".to_owned(), "0".to_owned()));
        for wrong in ["run,", ",event", "", "a,b,c"] {
            assert!(split_index(wrong).is_err(), "{wrong}");
        }
    }
}
