//! What is read of XML responses: elements with text, without attributes that matter.
//!
//! S3 and STS write their responses by machine, without comments, CDATA or entities of their own. A response with any of
//! these is refused.

/// A position in a document.
pub(super) struct Document<'a>(&'a str);

impl<'a> Document<'a> {
    /// A document, or a part of it; none where it holds what is not read here.
    pub(super) fn new(text: &'a str) -> Option<Self> {
        (!text.contains("<!")).then_some(Self(text))
    }

    /// The elements of this name, one after the other. An element does not contain another one of its own name.
    pub(super) fn all(&self, name: &'a str) -> impl Iterator<Item = Document<'a>> + use<'a> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let (inside, after) = element(rest, name)?;
            rest = after;
            Some(Document(inside))
        })
    }

    /// The text of the first element of this name.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        unescaped(element(self.0, name)?.0)
    }
}

/// What is inside the first element of this name, and what follows it.
fn element<'a>(text: &'a str, name: &str) -> Option<(&'a str, &'a str)> {
    let mut rest = text;
    loop {
        let (_, tag) = rest.split_once('<')?;
        let (head, inside) = tag.split_once('>')?;
        rest = inside;
        let (head, is_empty) = head.strip_suffix('/').map_or((head, false), |head| (head, true));
        if head.split_ascii_whitespace().next() != Some(name) {
            continue;
        }
        if is_empty {
            return Some(("", inside));
        }
        let end = format!("</{name}>");
        return inside.split_once(end.as_str());
    }
}

/// Text with its entities resolved; none for elements in it or unknown entities.
fn unescaped(text: &str) -> Option<String> {
    if text.contains('<') {
        return None;
    }
    let mut parts = text.split('&');
    let mut out = parts.next()?.to_owned();
    for part in parts {
        let (entity, rest) = part.split_once(';')?;
        out.push(match entity {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "apos" => '\'',
            _ => {
                let number = entity.strip_prefix('#')?;
                let number = match number.strip_prefix('x') {
                    Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16).ok()?,
                    None => number.parse().ok()?,
                };
                char::from_u32(number)?
            }
        });
        out.push_str(rest);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_and_entities() {
        let text = "<?xml version=\"1.0\"?><R xmlns=\"x\"><Keys>n</Keys><C><Key>a&amp;&#x42;&#67;</Key><E/></C><C ><Key></Key></C></R>";
        let document = Document::new(text).unwrap();
        let keys: Vec<_> = document.all("C").map(|c| c.text("Key")).collect();
        assert_eq!(keys, [Some("a&BC".to_owned()), Some(String::new())]);
        assert_eq!(document.all("C").next().unwrap().text("E").as_deref(), Some(""));
        assert_eq!(document.text("Absent"), None);
        assert_eq!(document.text("C"), None, "it has elements");
        for bad in ["<C>", "<C", "<", "<C>&bad;</C>", "<C>&#xD800;</C>", "<C>&#;</C>", "<C>a&b</C>"] {
            assert_eq!(Document::new(bad).unwrap().text("C"), None, "{bad}");
        }
        assert!(Document::new("<!DOCTYPE x><C>1</C>").is_none());
    }
}
