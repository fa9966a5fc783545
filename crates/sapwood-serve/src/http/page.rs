//! The page that shows a directory.

use crate::error::FilesError;
use crate::files::OpenFolder;
use sapwood_span::percent;
use std::fmt::Write;

/// Entries shown at most.
const MAX: usize = 10_000;

/// A plain page of links to the entries of a directory.
pub(crate) async fn of(folder: &dyn OpenFolder, title: &str) -> Result<String, FilesError> {
    let mut listed = folder.entries().await?;
    let mut entries: Vec<(Vec<u8>, Option<u64>)> = Vec::new();
    loop {
        let more = listed.more().await?;
        // one more than shown means that the page is truncated
        if more.is_empty() || entries.len() > MAX {
            break;
        }
        entries.extend(more.into_iter().map(|e| (e.name, (!e.info.is_folder).then_some(e.info.size))));
    }
    let is_cut = entries.len() > MAX;
    entries.truncate(MAX);
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
        let _ = write!(out, "<p>This directory contains more than {MAX} entries; the others are not shown.</p>");
    }
    out.push_str("</body></html>\n");
    Ok(out)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&#39;")
}

/// A name as a relative link: the leading `./` prevents `a:b` from being read as a scheme.
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
