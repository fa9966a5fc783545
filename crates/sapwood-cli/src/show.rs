//! `sapwood show`: what a tree is made of, or any other object.

use crate::args::ShowArgs;
use crate::failure::Failure;
use crate::object;
use crate::output::table::{Align, Table};
use crate::output::{self, clean, io_report};
use crate::target::Target;
use crate::units;
use sapwood::text::branch::{compression, is_split, parts, parts_noun};
use sapwood::{OpenOptions, Result, Tree};
use serde_json::{Value, json};
use std::io::{self, Write};

/// Runs the command.
pub(crate) fn run(args: &ShowArgs, options: &OpenOptions, as_json: bool) -> Result<(), Failure> {
    let target = Target::one(&args.target, options)?;
    let file = target.open(options)?;
    if let Some(path) = &target.object
        && let Ok(listing) = file.find(path)
        && !listing.key.is_tree()
        && !listing.key.is_ntuple()
        && !listing.key.is_directory()
    {
        return object::show(&file, &listing, as_json);
    }
    let (tree, branch) = target.tree_or_branch(&file)?;
    let shown: Vec<usize> =
        tree.order().iter().copied().filter(|&i| branch.is_none_or(|top| is_below(&tree, i, top))).collect();
    if as_json {
        output::json(&to_json(&tree, &shown))?;
        return Ok(());
    }
    let mut out = output::stdout();
    head(&tree, &mut out)?;
    branches(&tree, &shown).write(&mut out)?;
    let aliases = &tree.header().aliases;
    if branch.is_none() && !aliases.is_empty() {
        let mut table = Table::new([("alias", Align::Left), ("expression", Align::Left)]);
        aliases.iter().for_each(|(name, text)| table.row([name.clone(), text.clone()]));
        writeln!(out)?;
        table.write(&mut out)?;
    }
    let friends = &tree.header().friends;
    if branch.is_none() && !friends.is_empty() {
        let mut table = Table::new([("friend", Align::Left), ("tree", Align::Left), ("file", Align::Left)]);
        friends.iter().for_each(|f| table.row([f.name.clone(), f.tree.clone(), f.file.clone()]));
        writeln!(out)?;
        table.write(&mut out)?;
    }
    out.flush()?;
    Ok(())
}

/// Whether a branch is this one or below it.
fn is_below(tree: &Tree, branch: usize, top: usize) -> bool {
    let branches = &tree.header().branches;
    std::iter::successors(Some(branch), |&i| branches.get(i).and_then(|b| b.parent)).any(|i| i == top)
}

fn head(tree: &Tree, out: &mut impl Write) -> io::Result<()> {
    let h = tree.header();
    let title = if h.title.is_empty() { String::new() } else { format!(": {}", clean(&h.title)) };
    writeln!(out, "{} {}{title}", clean(&h.class), clean(tree.path()))?;
    let ratio = ratio(h.total_bytes, h.zip_bytes);
    let inflated =
        if ratio.is_empty() { ratio } else { format!(" ({} uncompressed, {ratio})", units::bytes(h.total_bytes)) };
    writeln!(
        out,
        "{} in {}, {}, {}{inflated}\n",
        units::entries(tree.entries()),
        clusters(tree.clusters()),
        match h.ntuple {
            Some(_) => units::plural(h.branches.len() as u64, "field"),
            None => units::counted(h.branches.len() as u64, "branch", "branches"),
        },
        units::bytes(h.zip_bytes),
    )
}

/// How many clusters there are and how many entries they hold: `32 clusters of 1 000 (the last: 17)`.
fn clusters(bounds: &[u64]) -> String {
    let sizes: Vec<u64> = bounds.windows(2).map(|w| w[1].saturating_sub(w[0])).collect();
    match sizes.as_slice() {
        [] => "no cluster".to_owned(),
        [_] => "1 cluster".to_owned(),
        [first @ .., last] => {
            let least = first.iter().min().copied().unwrap_or(0);
            let most = first.iter().max().copied().unwrap_or(0);
            let n = units::count(sizes.len() as u64);
            if least < most {
                let (least, most) = (least.min(*last), most.max(*last));
                format!("{n} clusters of {} to {}", units::count(least), units::count(most))
            } else if *last == most {
                format!("{n} clusters of {}", units::count(most))
            } else {
                format!("{n} clusters of {} (the last: {})", units::count(most), units::count(*last))
            }
        }
    }
}

fn branches(tree: &Tree, shown: &[usize]) -> Table {
    let mut table = Table::new([
        (if tree.header().ntuple.is_some() { "field" } else { "branch" }, Align::Left),
        ("type", Align::Left),
        ("entries", Align::Right),
        (parts_noun(tree.header()), Align::Right),
        ("compressed", Align::Right),
        ("uncompressed", Align::Right),
        ("ratio", Align::Right),
        ("compression", Align::Left),
        ("", Align::Left),
    ]);
    for &i in shown {
        let Some(b) = tree.header().branches.get(i) else { continue };
        // a branch that is split holds no values of its own: its members are read
        let remark = match unsupported(tree, i) {
            _ if is_split(b) => "split".to_owned(),
            Some(why) => format!("not readable: {why}"),
            None => String::new(),
        };
        table.row([
            tree.name_of(i),
            tree.type_name(i),
            units::count(b.entries),
            units::count(parts(tree.header(), i)),
            units::bytes(b.zip_bytes),
            units::bytes(b.total_bytes),
            ratio(b.total_bytes, b.zip_bytes),
            compression(b),
            remark,
        ]);
    }
    table
}

fn unsupported(tree: &Tree, branch: usize) -> Option<String> {
    tree.column_type(branch).err().map(|e| e.what().to_owned())
}

fn ratio(total: u64, zip: u64) -> String {
    if zip == 0 { String::new() } else { format!("{:.2}×", total as f64 / zip as f64) }
}

fn to_json(tree: &Tree, shown: &[usize]) -> Value {
    let h = tree.header();
    let aliases: serde_json::Map<String, Value> =
        h.aliases.iter().map(|(name, text)| (name.clone(), json!(text))).collect();
    let friends: Vec<Value> =
        h.friends.iter().map(|f| json!({ "name": f.name, "tree": f.tree, "file": f.file })).collect();
    let branches: Vec<Value> = shown
        .iter()
        .filter_map(|&i| {
            let b = h.branches.get(i)?;
            let column = tree.column_type(i);
            Some(json!({
                "path": tree.name_of(i),
                "name": b.name,
                "title": b.title,
                "class": b.class,
                "type": tree.type_name(i),
                "column_type": column.as_ref().ok().map(ToString::to_string),
                "unsupported": column.as_ref().err().map(|e| e.what().to_owned()),
                "split": is_split(b),
                "entries": b.entries,
                (parts_noun(h)): parts(h, i),
                "compression": compression(b),
                "compression_settings": b.compression,
                "compressed_bytes": b.zip_bytes,
                "uncompressed_bytes": b.total_bytes,
            }))
        })
        .collect();
    json!({
        "file": tree.file().url(),
        "path": tree.path(),
        "name": h.name,
        "title": h.title,
        "class": h.class,
        "entries": tree.entries(),
        "compressed_bytes": h.zip_bytes,
        "uncompressed_bytes": h.total_bytes,
        "clusters": tree.clusters(),
        "branches": branches,
        "aliases": aliases,
        "friends": friends,
        "io": io_report::to_json(&tree.file().io()),
    })
}

#[cfg(test)]
mod tests {
    use super::clusters;

    #[test]
    fn clusters_in_words() {
        assert_eq!(clusters(&[0]), "no cluster");
        assert_eq!(clusters(&[0, 7]), "1 cluster");
        assert_eq!(clusters(&[0, 1000, 2000]), "2 clusters of 1 000");
        assert_eq!(clusters(&[0, 10, 20, 25]), "3 clusters of 10 (the last: 5)");
        assert_eq!(clusters(&[0, 3, 6, 16, 25]), "4 clusters of 3 to 10");
    }
}
