use crate::Span;
use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

/// A result whose error is [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The kind of an error, for programs to act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The bytes violate the format: damage, truncation, a wrong length.
    Corrupt,
    /// Valid, but this version cannot read or write it.
    Unsupported,
    /// No such file, object, tree or branch.
    NotFound,
    /// The file, or a part of it, existed when it was opened and is no longer available.
    Gone,
    /// The caller's arguments are invalid.
    Invalid,
    /// The file to be created exists, and may not be replaced.
    AlreadyExists,
    /// The operating system or the network failed.
    Io,
    /// The server's response is not what was requested.
    Protocol,
    /// Nothing moved for longer than the progress timeout.
    Timeout,
    /// The server denied access: credentials are missing or insufficient.
    Denied,
    /// The caller asked to stop.
    Interrupted,
    /// A bug in Sapwood: one of its threads panicked.
    Defect,
}

/// An option that allows a refused operation. Each interface has its own name for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Setting {
    /// Replace a file that exists: `FileOptions::replace` or the `force` of the other options.
    Replace,
    /// Recover a damaged file even if all of it has to be read: `OpenOptions::recover`.
    Recover,
    /// Follow redirects that lower the protection: `OpenOptions::insecure_redirects`.
    InsecureRedirects,
    /// Follow redirects to that server: the caller's `SourceOptions::redirects` refuses it.
    RedirectFilter,
    /// Keep the baskets of a branch in one piece: `OptimizeOptions::keep`.
    KeepBranch,
    /// Convert without what cannot be converted: `ConvertOptions::skip_unsupported`.
    SkipUnsupported,
    /// Say which kind is wanted: `ConvertOptions::to`.
    ConvertTo,
    /// Keep what is read of remote files: `OpenOptions::local_cache`.
    LocalCache,
    /// Ask the server: `OpenOptions::offline` is not set.
    Online,
}

/// What a [`ErrorKind::NotFound`] error did not find.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MissingItem {
    /// The file itself.
    File,
    /// An object, tree or branch in a file that exists.
    Key,
}

/// The one error type: what failed, in which file, where, and what to do about it.
///
/// Built in layers: the code that finds the fault says what is wrong; outer layers add the file, the branch or the
/// position they know. Details from an inner layer stay.
///
/// Its text is complete: it includes the underlying errors. As they must not be printed twice,
/// [`source`](std::error::Error::source) gives none; [`Error::cause`] gives the underlying error to programs.
///
/// Clones share the underlying error.
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    what: String,
    file: Option<String>,
    branch: Option<String>,
    span: Option<Span>,
    remedy: Option<String>,
    setting: Option<Setting>,
    cause: Option<Arc<dyn StdError + Send + Sync>>,
    missing: Option<MissingItem>,
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
            setting: None,
            cause: None,
            missing: None,
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

    /// Invalid arguments from the caller.
    pub fn invalid(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, what)
    }

    /// An object, tree or branch that the file does not have.
    pub fn not_found(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotFound, what).missing(MissingItem::Key)
    }

    /// A file that does not exist.
    pub fn no_such_file(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotFound, what).missing(MissingItem::File)
    }

    fn missing(mut self, item: MissingItem) -> Self {
        self.0.missing = Some(item);
        self
    }

    /// A failure of the operating system, with its own text kept as the cause.
    pub fn io(what: impl Into<String>, error: std::io::Error) -> Self {
        let kind = match error.kind() {
            std::io::ErrorKind::NotFound => ErrorKind::NotFound,
            std::io::ErrorKind::PermissionDenied => ErrorKind::Denied,
            std::io::ErrorKind::TimedOut => ErrorKind::Timeout,
            _ => ErrorKind::Io,
        };
        let missing = if kind == ErrorKind::NotFound { Some(MissingItem::File) } else { None };
        let mut error = Self::new(kind, what).with_source(error);
        error.0.missing = missing;
        error
    }

    /// Names the file (or URL, without credentials), unless an inner layer did.
    pub fn in_file(mut self, file: impl Into<String>) -> Self {
        self.0.file.get_or_insert_with(|| file.into());
        self
    }

    /// The same error with another text; all other details stay.
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

    /// Changes the kind now that more is known.
    pub fn with_kind(mut self, kind: ErrorKind) -> Self {
        self.0.kind = kind;
        self
    }

    /// Says what the user can do about it.
    pub fn with_remedy(mut self, remedy: impl Into<String>) -> Self {
        self.0.remedy.get_or_insert_with(|| remedy.into());
        self
    }

    /// What the user can do about it, as one interface words it: replaces the earlier remedy, and the setting, which it
    /// names.
    pub fn with_other_remedy(mut self, remedy: impl Into<String>) -> Self {
        (self.0.remedy, self.0.setting) = (Some(remedy.into()), None);
        self
    }

    /// Names the option that allows the operation, so that each interface can say how to set it.
    pub fn with_setting(mut self, setting: Setting) -> Self {
        self.0.setting.get_or_insert(setting);
        self
    }

    /// Keeps the underlying error, whose text follows that of this one.
    pub fn with_source(mut self, source: impl StdError + Send + Sync + 'static) -> Self {
        self.0.cause = Some(Arc::new(source));
        self
    }

    /// The kind, for programs to act on.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Whether the file itself or something in it was not found, where known.
    pub fn missing_item(&self) -> Option<MissingItem> {
        self.0.missing.filter(|_| self.0.kind == ErrorKind::NotFound)
    }

    /// What is wrong, without file, branch and position.
    pub fn what(&self) -> &str {
        &self.0.what
    }

    /// The branch, where known.
    pub fn branch(&self) -> Option<&str> {
        self.0.branch.as_deref()
    }

    /// The file or URL, where known.
    pub fn file(&self) -> Option<&str> {
        self.0.file.as_deref()
    }

    /// The byte range, where known.
    pub fn span(&self) -> Option<Span> {
        self.0.span
    }

    /// The option that allows the operation, if there is one.
    pub fn setting(&self) -> Option<Setting> {
        self.0.setting
    }

    /// The underlying error, for programs: [`std::io::Error`] where the operating system failed. Its text is part of
    /// this error's own.
    pub fn cause(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.cause.as_deref().map(|e| e as _)
    }
}

/// The texts of the cause and the errors below it, each once: many errors repeat the one below them.
fn causes(cause: &(dyn StdError + 'static)) -> String {
    let mut text = cause.to_string();
    let mut next = cause.source();
    while let Some(error) = next {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        next = error.source();
    }
    without_numbers(text)
}

/// Without "(os error 28)", which the standard library appends to the words of the system.
fn without_numbers(mut text: String) -> String {
    const FRONT: &str = " (os error ";
    while let Some(at) = text.find(FRONT) {
        let rest = &text[at + FRONT.len()..];
        let Some(end) = rest.find(')').filter(|&n| rest[..n].chars().all(|c| c.is_ascii_digit())) else { break };
        text.replace_range(at..at + FRONT.len() + end + 1, "");
    }
    text
}

/// Maximum bytes of a message, more than anyone reads. Names in damaged files can be this long, and layers add theirs.
const LONGEST: usize = 4096;

/// Shortens a text that is too long in the middle.
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
        // below the first line is what the error points at
        let (first, picture) = i.what.split_at(i.what.find('\n').unwrap_or(i.what.len()));
        f.write_str(first)?;
        if let Some(s) = i.span {
            write!(f, " ({})", s.in_words())?;
        }
        if let Some(cause) = &i.cause {
            let text = causes(&**cause);
            // a layer may have included it in its own text already
            if !i.what.ends_with(&text) {
                write!(f, ": {text}")?;
            }
        }
        if let Some(remedy) = &i.remedy {
            write!(f, "; {remedy}")?;
        }
        f.write_str(picture)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}", self.0.kind)
    }
}

/// Without [`source`](StdError::source): the text is complete, and reporters print the sources after it.
impl StdError for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_speaks_in_words() {
        let e = Error::io("cannot write", std::io::Error::from_raw_os_error(28));
        assert_eq!(e.to_string(), "cannot write: No space left on device");
        assert_eq!(without_numbers("a (os error x) (os error 2)".to_owned()), "a (os error x) (os error 2)");
        assert_eq!(without_numbers("a (os error 1): b (os error 2)".to_owned()), "a: b");
    }

    #[test]
    fn inner_words_win_and_all_are_said() {
        let e = Error::corrupt("basket is truncated")
            .at(Span::new(100, 20))
            .in_branch("x")
            .in_branch("outer")
            .in_file("a.root")
            .with_remedy("run `sapwood doctor a.root`");
        assert_eq!(e.to_string(), "a.root: branch x: basket is truncated (bytes 100-119); run `sapwood doctor a.root`");
        assert_eq!(e.clone().to_string(), e.to_string());
        assert_eq!(e.kind(), ErrorKind::Corrupt);
    }
    /// What `anyhow` and others print of an error: its text, and that of all sources.
    fn report(error: &dyn StdError) -> String {
        match error.source() {
            Some(source) => format!("{error}: {}", report(source)),
            None => error.to_string(),
        }
    }

    #[derive(Debug)]
    struct Layer(&'static str, Option<Box<Layer>>);

    impl fmt::Display for Layer {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl StdError for Layer {
        fn source(&self) -> Option<&(dyn StdError + 'static)> {
            self.1.as_deref().map(|e| e as _)
        }
    }

    #[test]
    fn the_source_is_printed_once() {
        let refused = || std::io::Error::other("connection refused");
        let e = Error::io("cannot connect", refused());
        assert_eq!(report(&e), "cannot connect: connection refused");
        // reworded by a layer above
        let e = e.worded("cannot open: connection refused");
        assert_eq!(report(&e), "cannot open: connection refused");
        // an error without the text of those below it, and one that repeats them
        let below = Layer("connection reset", None);
        let e = Error::new(ErrorKind::Io, "no response").with_source(Layer("connection error", Some(Box::new(below))));
        assert_eq!(report(&e), "no response: connection error: connection reset");
        let below = Layer("connection reset", None);
        let e = Error::new(ErrorKind::Io, "no response")
            .with_source(Layer("broken: connection reset", Some(Box::new(below))));
        assert_eq!(report(&e), "no response: broken: connection reset");
    }

    #[test]
    fn a_clone_has_the_same_cause() {
        let e = Error::io("cannot read", std::io::Error::from_raw_os_error(5)).in_file("a.root").at(Span::new(1, 2));
        let copy = e.clone();
        drop(e);
        let cause = copy.cause().and_then(|c| c.downcast_ref::<std::io::Error>());
        assert_eq!(cause.and_then(std::io::Error::raw_os_error), Some(5));
        assert_eq!(copy.to_string(), Error::to_string(&copy.clone()));
        assert_eq!((copy.file(), copy.span()), (Some("a.root"), Some(Span::new(1, 2))));
    }
}
