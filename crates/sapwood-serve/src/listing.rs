//! The page that shows a folder.

use crate::files::Folder;
use sapwood_span::percent;
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Entries shown at most.
const MAX: usize = 10_000;

/// A plain page of links to what lies in a folder.
pub(crate) fn page(root: &Path, folder: &Folder, title: &str) -> std::io::Result<String> {
    let mut entries: Vec<(Vec<u8>, Option<u64>)> = Vec::new();
    let mut is_cut = false;
    for entry in std::fs::read_dir(folder.stable_path())? {
        let entry = entry?;
        if entries.len() == MAX {
            is_cut = true;
            break;
        }
        if entry.file_type().is_ok_and(|t| t.is_symlink()) && !is_shown(root, &folder.path, &entry.path()) {
            continue;
        }
        // Through links, as they are served; what cannot be looked at cannot be served.
        let Ok(meta) = std::fs::metadata(entry.path()) else { continue };
        // neither are pipes and devices
        if !meta.is_dir() && !meta.is_file() {
            continue;
        }
        let size = if meta.is_dir() { None } else { Some(meta.len()) };
        entries.push((entry.file_name().as_bytes().to_vec(), size));
    }
    entries.sort();
    let title = escape(title);
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title></head>\n\
         <body><h1>{title}</h1>\n<table>\n<tr><td><a href=\"../\">../</a></td><td></td></tr>\n"
    );
    for (name, size) in entries {
        let slash = if size.is_none() { "/" } else { "" };
        let text = escape(&String::from_utf8_lossy(&name));
        let size = size.map_or_else(String::new, |s| s.to_string());
        let _ = writeln!(
            out,
            "<tr><td><a href=\"{}{slash}\">{text}{slash}</a></td><td align=\"right\">{size}</td></tr>",
            encode(&name)
        );
    }
    out.push_str("</table>");
    if is_cut {
        let _ = write!(out, "<p>This folder holds more than {MAX} entries; the others are not shown.</p>");
    }
    out.push_str("</body></html>\n");
    Ok(out)
}

/// Whether a link is on the page: not where it leads out of the root, nor where it leads back to a folder that holds it,
/// for whoever follows all links would walk in circles.
fn is_shown(root: &Path, folder: &Path, link: &Path) -> bool {
    link.canonicalize().is_ok_and(|real| real.starts_with(root) && !folder.starts_with(&real))
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&#39;")
}

/// A name as a relative link: the leading `./` keeps `a:b` from being taken for a scheme.
fn encode(name: &[u8]) -> String {
    format!("./{}", percent::encode_component(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_break_the_page() {
        assert_eq!(encode(b"a b\"<ro\xffot>.root"), "./a%20b%22%3Cro%FFot%3E.root");
        assert_eq!(escape("<a&'\">"), "&lt;a&amp;&#39;&quot;&gt;");
    }
}
