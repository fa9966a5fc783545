//! Friends that are given on the command line.

use crate::args::FriendArgs;
use crate::target::several;
use sapwood::{Error, FriendTree, OpenOptions, Result};

/// The friends that the options name.
///
/// # Errors
/// Texts that make no sense; patterns of files that nothing fits.
pub(crate) fn given(args: &FriendArgs, options: &OpenOptions) -> Result<Vec<FriendTree>> {
    let index = args.index.as_deref().map(split_index).transpose()?;
    let friend = |text: &String| {
        let (alias, tree, file) = split(text)?;
        let targets = several(std::iter::once(file), options)?;
        let files = targets.into_iter().map(|t| (t.url, Some(t.object.unwrap_or_else(|| tree.to_owned())))).collect();
        let friend = FriendTree::new(alias, files, options.clone());
        Ok(match &index {
            Some((major, minor)) => friend.with_index(major, minor),
            None => friend,
        })
    };
    args.friends.iter().map(friend).collect()
}

/// `[ALIAS=]TREE@FILE`.
fn split(text: &str) -> Result<(Option<&str>, &str, &str)> {
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
fn split_index(text: &str) -> Result<(String, String)> {
    let mut depth = 0i32;
    let comma = text.char_indices().find(|(_, c)| {
        depth += i32::from(*c == '(') - i32::from(*c == ')');
        *c == ',' && depth == 0
    });
    let (major, minor) = comma.map_or((text, "0"), |(i, _)| (&text[..i], &text[i + 1..]));
    if major.trim().is_empty() || minor.trim().is_empty() {
        return Err(Error::invalid(format!("--index {text}: write one or two expressions, as in run,event")));
    }
    Ok((major.trim().to_owned(), minor.trim().to_owned()))
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
        assert!(split_index("run,").is_err());
    }
}
