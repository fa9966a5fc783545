use crate::Span;
use std::fmt;

/// A result whose error is [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, coarsely: what a program can decide on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The bytes are not what the format allows: damage, truncation, a lying length.
    Corrupt,
    /// Valid, but this version cannot read or write it.
    Unsupported,
    /// No such file, object, tree or branch.
    NotFound,
    /// The caller's arguments make no sense.
    Invalid,
    /// The file to be created exists, and may not be replaced.
    AlreadyExists,
    /// The operating system or the network failed.
    Io,
    /// The server answered, but not with what was asked for.
    Protocol,
    /// Nothing moved for longer than the progress timeout.
    Timeout,
    /// The server refused: credentials missing or not good enough.
    Denied,
    /// The caller asked to stop.
    Interrupted,
    /// Sapwood itself is wrong: a thread of its own panicked.
    Defect,
}

/// The one error type: what failed, in which file, where, and what to do about it.
///
/// Built in layers: the place that notices says what is wrong; outer layers add the file, the
/// branch or the position they know (the innermost word wins).
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    what: String,
    file: Option<String>,
    branch: Option<String>,
    span: Option<Span>,
    remedy: Option<String>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// An error of this kind; `what` says what is wrong, without file or position.
    pub fn new(kind: ErrorKind, what: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            what: readable(what.into()),
            file: None,
            branch: None,
            span: None,
            remedy: None,
            source: None,
        }))
    }

    /// Damaged bytes.
    pub fn corrupt(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::Corrupt, what)
    }

    /// Valid bytes that this version does not read.
    pub fn unsupported(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported, what)
    }

    /// Nonsense from the caller.
    pub fn invalid(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, what)
    }

    /// Something that is not there.
    pub fn not_found(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotFound, what)
    }

    /// A failure of the operating system, with its own words kept as the source.
    pub fn io(what: impl Into<String>, error: std::io::Error) -> Self {
        let kind = match error.kind() {
            std::io::ErrorKind::NotFound => ErrorKind::NotFound,
            std::io::ErrorKind::PermissionDenied => ErrorKind::Denied,
            std::io::ErrorKind::TimedOut => ErrorKind::Timeout,
            _ => ErrorKind::Io,
        };
        Self::new(kind, what).with_source(error)
    }

    /// Names the file (or URL, without credentials), unless an inner layer did.
    pub fn in_file(mut self, file: impl Into<String>) -> Self {
        self.0.file.get_or_insert_with(|| file.into());
        self
    }

    /// The same error in other words: all else that is known of it stays.
    pub fn worded(mut self, what: impl Into<String>) -> Self {
        self.0.what = readable(what.into());
        self
    }

    /// Names the branch, unless an inner layer did.
    pub fn in_branch(mut self, branch: impl Into<String>) -> Self {
        self.0.branch.get_or_insert_with(|| readable(branch.into()));
        self
    }

    /// Names the byte range of the file, unless an inner layer did.
    pub fn at(mut self, span: Span) -> Self {
        self.0.span.get_or_insert(span);
        self
    }

    /// Says what the user can do about it.
    pub fn with_remedy(mut self, remedy: impl Into<String>) -> Self {
        self.0.remedy.get_or_insert_with(|| remedy.into());
        self
    }

    /// What the user can do about it, in the words of an interface: replaces what was said before.
    pub fn with_other_remedy(mut self, remedy: impl Into<String>) -> Self {
        self.0.remedy = Some(remedy.into());
        self
    }

    /// Keeps the underlying error.
    pub fn with_source(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.0.source = Some(Box::new(source));
        self
    }

    /// What a program can decide on.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// What is wrong, without file, branch and position.
    pub fn what(&self) -> &str {
        &self.0.what
    }

    /// The branch, where one is known.
    pub fn branch(&self) -> Option<&str> {
        self.0.branch.as_deref()
    }

    /// The file or URL, where one is known.
    pub fn file(&self) -> Option<&str> {
        self.0.file.as_deref()
    }

    /// The byte range, where one is known.
    pub fn span(&self) -> Option<Span> {
        self.0.span
    }

    /// A copy without the source error: for telling several waiters of one failure.
    pub fn duplicate(&self) -> Self {
        let i = &*self.0;
        let what = match &i.source {
            Some(s) => format!("{}: {s}", i.what),
            None => i.what.clone(),
        };
        Self(Box::new(Inner {
            kind: i.kind,
            what,
            file: i.file.clone(),
            branch: i.branch.clone(),
            span: i.span,
            remedy: i.remedy.clone(),
            source: None,
        }))
    }
}

/// Bytes of a message: more nobody reads. Names out of damaged files can be as long as these, and layers add theirs.
const LONGEST: usize = 4096;

/// A text that is too long without its middle.
fn readable(text: String) -> String {
    if text.len() <= LONGEST {
        return text;
    }
    let (head, tail) = (text.floor_char_boundary(LONGEST / 2), text.ceil_char_boundary(text.len() - LONGEST / 4));
    format!("{} … {}", text.get(..head).unwrap_or_default(), text.get(tail..).unwrap_or_default())
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let i = &*self.0;
        if let Some(file) = &i.file {
            write!(f, "{file}: ")?;
        }
        if let Some(branch) = &i.branch {
            write!(f, "branch {branch}: ")?;
        }
        f.write_str(&i.what)?;
        if let Some(s) = i.span {
            write!(f, " (bytes {}-{})", s.start, s.end())?;
        }
        if let Some(source) = &i.source {
            write!(f, ": {source}")?;
        }
        if let Some(remedy) = &i.remedy {
            write!(f, "; {remedy}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}", self.0.kind)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|e| e as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_words_win_and_all_are_said() {
        let e = Error::corrupt("basket is truncated")
            .at(Span::new(100, 20))
            .in_branch("x")
            .in_branch("outer")
            .in_file("a.root")
            .with_remedy("run `sapwood doctor a.root`");
        assert_eq!(e.to_string(), "a.root: branch x: basket is truncated (bytes 100-120); run `sapwood doctor a.root`");
        assert_eq!(e.duplicate().to_string(), e.to_string());
        assert_eq!(e.kind(), ErrorKind::Corrupt);
    }
}
