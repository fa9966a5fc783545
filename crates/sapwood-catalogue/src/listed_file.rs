//! A file of a list.

/// A file that a list names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedFile {
    /// Path or URL; `URL:TREE` where `is_split` is false and the list says so.
    pub target: String,
    /// The tree, if it is named apart from the file: by the list, or for all its files behind its name.
    pub tree: Option<String>,
    /// Whether `target` is a file alone, whatever colons it has.
    pub is_split: bool,
}

impl ListedFile {
    pub(crate) fn text(target: impl Into<String>) -> Self {
        Self { target: target.into(), tree: None, is_split: false }
    }

    pub(crate) fn of(file: impl Into<String>, tree: Option<&str>) -> Self {
        Self { target: file.into(), tree: tree.map(str::to_owned), is_split: true }
    }
}

/// The files, with this tree where the list names none.
pub(crate) fn with_tree(mut files: Vec<ListedFile>, tree: Option<&str>) -> Vec<ListedFile> {
    files.iter_mut().filter(|f| f.tree.is_none()).for_each(|f| f.tree = tree.map(str::to_owned));
    files
}
