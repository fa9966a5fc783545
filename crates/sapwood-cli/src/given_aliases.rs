//! Aliases that are given on the command line: `--alias NAME=EXPR`.

use crate::failure::Failure;
use sapwood::query::Aliases;

/// The aliases that the options name.
///
/// # Errors
/// `Usage` for texts without `=`; names that no expression can use, and what is no expression.
pub(crate) fn parse(texts: &[String]) -> Result<Aliases, Failure> {
    let split = |text: &'_ String| {
        let (name, expression) = text
            .split_once('=')
            .ok_or_else(|| Failure::Usage(format!("--alias {text}: write NAME=EXPR, as in 'p=sqrt(px**2+py**2)'")))?;
        Ok((name.to_owned(), expression.to_owned()))
    };
    let given = texts.iter().map(split).collect::<Result<Vec<_>, Failure>>()?;
    Ok(Aliases::new(given.iter().map(|(name, text)| (name.as_str(), text.as_str())))?)
}
