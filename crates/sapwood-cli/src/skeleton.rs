//! `sapwood skeleton`: a selector in Python for a tree, as TTree::MakeSelector writes one in C++.

use crate::args::SkeletonArgs;
use crate::failure::Failure;
use crate::output::{self, clean};
use crate::target::Target;
use sapwood::{ColumnType, Error, OpenOptions, Tree};
use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::Write;

/// Runs the command.
pub(crate) fn run(args: &SkeletonArgs, options: &OpenOptions) -> Result<(), Failure> {
    let target = Target::one(&args.target, options)?;
    let file = target.open(options)?;
    let tree = target.tree(&file)?;
    let columns = columns(&tree);
    let text = if args.compiled { compiled(&tree, &columns)? } else { class(&tree, &columns) };
    match &args.output {
        Some(path) if path.exists() => {
            let e = Error::invalid("the file exists").in_file(path.display().to_string());
            Err(e.with_remedy("choose another name for the selector").into())
        }
        Some(path) => Ok(output::write_file(path, text.as_bytes())?),
        None => {
            let mut out = output::stdout();
            out.write_all(text.as_bytes())?;
            Ok(out.flush()?)
        }
    }
}

/// A column of the tree.
struct Column {
    name: String,
    /// Its type, or why it cannot be read.
    kind: Result<ColumnType, String>,
}

/// Branches with values of their own, each name once.
fn columns(tree: &Tree) -> Vec<Column> {
    let mut seen = HashSet::new();
    let is_leaf = |&b: &usize| tree.header().branches.get(b).is_some_and(|branch| branch.children.is_empty());
    let leaves = tree.order().iter().copied().filter(is_leaf);
    let kind = |b: usize| match (tree.entries_of(b), tree.entries()) {
        (own, all) if own < all => Err(format!("the branch has {own} entries, the tree {all}")),
        _ => tree.column_type(b).map_err(|e| clean(e.what()).replace('\n', " ")),
    };
    let column = |b: usize| Column { name: tree.name_of(b), kind: kind(b) };
    leaves.map(column).filter(|c| seen.insert(c.name.clone())).collect()
}

fn head(tree: &Tree) -> String {
    let (file, path) = (tree.file().url(), tree.path());
    let text = clean(&format!("A selector for the tree {path} of {file}.")).replace(['\\', '"'], "_");
    format!("\"\"\"{text}\n\nRun it: sapwood process FILE:TREE SCRIPT, or tree.process(...) in Python.\n\"\"\"\n\n")
}

/// A class whose `process` gets batches.
fn class(tree: &Tree, columns: &[Column]) -> String {
    let mut text = head(tree) + "import sapwood\n\n\nclass Analysis(sapwood.Selector):\n";
    text += "    # columns to read: keep only those that you need\n    branches = [\n";
    for Column { name, kind } in columns {
        let _ = match kind {
            Ok(kind) => writeln!(text, "        {},  # {}", literal(name), clean(&kind.to_string())),
            Err(why) => writeln!(text, "        # {}: {why}", literal(name)),
        };
    }
    text += r#"    ]
    # cut = "..."  # only entries that pass

    def begin(self):
        """Called before each batch, on a selector of its own."""
        self.entries = 0

    def process(self, batch):
        """Called with consecutive entries: batch["name"] is an awkward array with one item per entry."""
        self.entries += len(batch)

    def merge(self, other):
        """Add the selector of the entries that follow."""
        self.entries += other.entries

    def end(self):
        """Called once, when all selectors are merged; returns the result."""
        return self.entries
"#;
    text
}

/// A loop over entries of numbers, lists and arrays of numbers.
fn compiled(tree: &Tree, columns: &[Column]) -> Result<String, Error> {
    let mut text = head(tree);
    text += "import numpy as np\nimport sapwood\n\n# columns to read: keep only those that you need\nCOLUMNS = [\n";
    let mut any = false;
    for Column { name, kind } in columns {
        match kind {
            Ok(kind) if is_numeric(kind) => {
                any = true;
                let _ = writeln!(text, "    {},  # {}", literal(name), clean(&kind.to_string()));
            }
            Ok(kind) => drop(writeln!(text, "    # {}: {} is not compiled", literal(name), clean(&kind.to_string()))),
            Err(why) => drop(writeln!(text, "    # {}: {why}", literal(name))),
        }
    }
    if !any {
        let e = Error::unsupported("no branch contains numbers or lists of numbers").in_file(tree.file().url());
        return Err(e.with_remedy("omit --compiled"));
    }
    text += r#"]


@sapwood.selector(branches=COLUMNS, result=np.zeros(1))
def analysis(batch, result):
    # compiled: each entry has the columns as attributes, entry["name"] if a name is not an identifier
    for entry in batch:
        result[0] += 1
"#;
    Ok(text)
}

fn is_numeric(kind: &ColumnType) -> bool {
    match kind {
        ColumnType::Number(_) => true,
        ColumnType::Regular { item, .. } | ColumnType::List { item } => is_numeric(item),
        ColumnType::Text | ColumnType::Record { .. } => false,
    }
}

/// A string of Python.
fn literal(name: &str) -> String {
    let mut text = String::from("\"");
    for c in name.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            c if c.is_control() => drop(write!(text, "\\x{:02x}", u32::from(c))),
            c => text.push(c),
        }
    }
    text + "\""
}

#[cfg(test)]
mod tests {
    use super::literal;

    #[test]
    fn names_are_strings_of_python() {
        assert_eq!(literal("a.b"), r#""a.b""#);
        assert_eq!(literal("a\"\\\n\u{e9}"), "\"a\\\"\\\\\\x0aé\"");
    }
}
