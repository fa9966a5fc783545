//! `sapwood show` of an object that is no tree: its bases and members, as text or JSON.

use crate::output::{self, clean, io_report};
use crate::units;
use sapwood::raw_text::text_of;
use sapwood::{Data, File, Key, Listing, Numbers, Object, Objects, Result, Value};
use serde_json::{Map, Value as Json, json};
use std::io::{self, Write};

/// Numbers of an array that a line shows.
const NUMBERS: usize = 8;

/// Items of a list that are shown.
const ITEMS: usize = 30;

/// Letters of a text that a line shows.
const LETTERS: usize = 200;

/// Shows one object.
///
/// # Errors
/// What reading it says, or stdout when it cannot be written.
pub(crate) fn show(file: &File, listing: &Listing, as_json: bool) -> Result<(), crate::failure::Failure> {
    let objects = file.read_object(&format!("{};{}", listing.path, listing.key.cycle))?;
    if as_json {
        output::json(&document(file, listing, &objects))?;
        return Ok(());
    }
    let mut out = output::stdout();
    head(&listing.key, &listing.path, &mut out)?;
    let mut printer = Printer { objects: &objects, shown: vec![None; objects.all().len()], out };
    if let Some(place) = printer.shown.first_mut() {
        *place = Some("the object itself".to_owned());
    }
    printer.object(objects.root(), 0, "")?;
    let mut out = printer.out;
    if !objects.refused().is_empty() {
        writeln!(out, "\nnot read:")?;
    }
    for r in objects.refused() {
        writeln!(out, "  {} ({} of the object): {}", clean(&r.class), r.span.in_words(), clean(&r.why))?;
    }
    out.flush()?;
    Ok(())
}

fn head(key: &Key, path: &str, out: &mut impl Write) -> io::Result<()> {
    let title = if key.title.is_empty() { String::new() } else { format!(": {}", clean(&key.title)) };
    writeln!(out, "{} {};{}{title}", clean(&key.class), clean(path), key.cycle)?;
    let inflated = u64::from(key.object_len);
    writeln!(out, "{} in the file, {} uncompressed\n", units::bytes(key.span.len), units::bytes(inflated))
}

struct Printer<'o, W> {
    objects: &'o Objects,
    /// Where each object that is pointed to was shown first.
    shown: Vec<Option<String>>,
    out: W,
}

impl<W: Write> Printer<'_, W> {
    fn object(&mut self, object: &Object, depth: usize, path: &str) -> io::Result<()> {
        for (e, value) in object.elements() {
            let name = if e.is_base() { format!("({})", e.name) } else { e.name.clone() };
            let path = if e.is_base() { path.to_owned() } else { join(path, &e.name) };
            self.named(&name, value, depth, &path)?;
        }
        match &object.content {
            Value::Null => Ok(()),
            Value::List(items) => self.items(items, depth, path),
            other => self.named("", other, depth, path),
        }
    }

    fn items(&mut self, items: &[Value], depth: usize, path: &str) -> io::Result<()> {
        for (i, item) in items.iter().take(ITEMS).enumerate() {
            self.named(&format!("[{i}]"), item, depth, &format!("{path}[{i}]"))?;
        }
        match items.len().saturating_sub(ITEMS) {
            0 => Ok(()),
            more => self.line(depth, &format!("… and {more} more (--json shows all)")),
        }
    }

    fn line(&mut self, depth: usize, text: &str) -> io::Result<()> {
        writeln!(self.out, "{:1$}{text}", "", depth * 2)
    }

    /// A value under a name: on one line when it is short, else below.
    fn named(&mut self, name: &str, value: &Value, depth: usize, path: &str) -> io::Result<()> {
        let name = clean(name);
        let before = if name.is_empty() { String::new() } else { format!("{name} ") };
        match value {
            Value::Object(o) => {
                let class = if name.starts_with('(') { String::new() } else { clean(&o.class.name) };
                self.line(depth, format!("{before}{class}").trim_end())?;
                self.object(o, depth + 1, path)
            }
            Value::Pointer(i) => self.pointer(*i, &before, depth, path),
            Value::List(items) if !items.is_empty() => {
                self.line(depth, &format!("{before}{} items", units::count(items.len() as u64)))?;
                self.items(items, depth + 1, path)
            }
            Value::Map(pairs) => {
                self.line(depth, &format!("{before}{} pairs", units::count(pairs.len() as u64)))?;
                for (i, (key, item)) in pairs.iter().take(ITEMS).enumerate() {
                    let key = self.key(key, i);
                    self.named(&key, item, depth + 1, &join(path, &key))?;
                }
                match pairs.len().saturating_sub(ITEMS) {
                    0 => Ok(()),
                    more => self.line(depth + 1, &format!("… and {more} more (--json shows all)")),
                }
            }
            short => {
                let text = self.short(short);
                self.line(depth, &format!("{before}= {text}"))
            }
        }
    }

    fn pointer(&mut self, index: usize, before: &str, depth: usize, path: &str) -> io::Result<()> {
        let Some(object) = self.objects.get(index) else { return Ok(()) };
        let class = clean(&object.class.name);
        match self.shown.get_mut(index) {
            Some(place @ None) => {
                *place = Some(path.to_owned());
                self.line(depth, &format!("{before}-> {class}"))?;
                self.object(object, depth + 1, path)
            }
            Some(Some(place)) => {
                let text = format!("{before}-> {class} at {place}");
                self.line(depth, &text)
            }
            None => Ok(()),
        }
    }

    /// What a pair of a map is called: the text or name of its key.
    fn key(&self, key: &Value, i: usize) -> String {
        let named = self.objects.object(key);
        let name = named.and_then(|o| o.member("fName").or_else(|| o.member("fString")));
        match name.unwrap_or(key) {
            text @ Value::Text(_) => self.short(text),
            Value::Object(_) | Value::Pointer(_) | Value::List(_) | Value::Map(_) => format!("[{i}]"),
            other => self.short(other),
        }
    }

    fn short(&self, value: &Value) -> String {
        match value {
            Value::Null => "null".to_owned(),
            Value::List(_) => "no items".to_owned(),
            Value::Bool(b) => b.to_string(),
            Value::Int(i) => i.to_string(),
            Value::UInt(u) => u.to_string(),
            Value::Float(x) => plain(&format!("{x:?}")),
            Value::Double(x) => plain(&format!("{x:?}")),
            Value::Text(bytes) => {
                let text = text_of(bytes);
                let cut: String = text.chars().take(LETTERS).collect();
                let more = if cut.len() < text.len() { "…" } else { "" };
                format!("\"{}\"{more}", clean(&cut))
            }
            Value::Numbers(n) => numbers(n),
            Value::Refused(i) => match self.objects.refused().get(*i) {
                Some(r) => format!("not read: {}", clean(&r.why)),
                None => "not read".to_owned(),
            },
            Value::Object(_) | Value::Pointer(_) | Value::Map(_) => String::new(),
        }
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

fn plain(text: &str) -> String {
    text.strip_suffix(".0").unwrap_or(text).to_owned()
}

/// `float32[102] 0 1 2 … 7`
fn numbers(n: &Numbers) -> String {
    let extents: Vec<String> = n.shape.iter().map(ToString::to_string).collect();
    let mut text = format!("{}[{}]", type_name(&n.data), extents.join("]["));
    let len = n.data.len();
    let one = |i: usize| match n.data.get(i) {
        Some(Value::Float(x)) => plain(&format!("{x:?}")),
        Some(Value::Double(x)) => plain(&format!("{x:?}")),
        Some(Value::Int(x)) => x.to_string(),
        Some(Value::UInt(x)) => x.to_string(),
        Some(Value::Bool(x)) => u8::from(x).to_string(),
        _ => String::new(),
    };
    for i in 0..len.min(NUMBERS) {
        text.push(' ');
        text.push_str(&one(i));
    }
    if len > NUMBERS {
        if len > NUMBERS + 1 {
            text.push_str(" …");
        }
        text.push(' ');
        text.push_str(&one(len - 1));
    }
    text
}

fn type_name(data: &Data) -> &'static str {
    match data {
        Data::Bool(_) => "bool",
        Data::I8(_) => "int8",
        Data::U8(_) => "uint8",
        Data::I16(_) => "int16",
        Data::U16(_) => "uint16",
        Data::I32(_) => "int32",
        Data::U32(_) => "uint32",
        Data::I64(_) => "int64",
        Data::U64(_) => "uint64",
        Data::F32(_) => "float32",
        Data::F64(_) => "float64",
    }
}

/// The whole object. One that is pointed to stands where it is met first, with an `id`; later there is `{"same_as": id}`.
fn document(file: &File, listing: &Listing, objects: &Objects) -> Json {
    let mut writer = Writer { objects, met: vec![false; objects.all().len()] };
    if let Some(root) = writer.met.first_mut() {
        *root = true;
    }
    let object = writer.object(objects.root());
    let refused: Vec<Json> = objects
        .refused()
        .iter()
        .map(|r| json!({"class": r.class, "bytes": [r.span.start, r.span.end()], "reason": r.why}))
        .collect();
    json!({
        "file": file.url(),
        "path": listing.path,
        "cycle": listing.key.cycle,
        "class": listing.key.class,
        "title": listing.key.title,
        "compressed_bytes": listing.key.span.len,
        "uncompressed_bytes": listing.key.object_len,
        "object": object,
        "refused": refused,
        "io": io_report::to_json(&file.io()),
    })
}

struct Writer<'o> {
    objects: &'o Objects,
    met: Vec<bool>,
}

impl Writer<'_> {
    fn object(&mut self, object: &Object) -> Json {
        let mut bases = Vec::new();
        let mut members = Map::new();
        for (e, value) in object.elements() {
            let value = self.value(value);
            if e.is_base() {
                bases.push(value);
            } else {
                members.insert(e.name.clone(), value);
            }
        }
        let mut out = Map::new();
        out.insert("class".to_owned(), json!(object.class.name));
        out.insert("version".to_owned(), json!(object.class.version));
        if !bases.is_empty() {
            out.insert("bases".to_owned(), Json::Array(bases));
        }
        out.insert("members".to_owned(), Json::Object(members));
        if object.content != Value::Null {
            out.insert("content".to_owned(), self.value(&object.content));
        }
        Json::Object(out)
    }

    fn value(&mut self, value: &Value) -> Json {
        match value {
            Value::Null => Json::Null,
            Value::Bool(b) => json!(b),
            Value::Int(i) => json!(i),
            Value::UInt(u) => json!(u),
            // the shortest digits that give the same number again
            Value::Float(x) => json!(x.to_string().parse::<f64>().ok()),
            Value::Double(x) => json!(x),
            Value::Text(bytes) => json!(text_of(bytes)),
            Value::Numbers(n) => self.rows(n, &n.shape, &mut 0),
            Value::List(items) => Json::Array(items.iter().map(|v| self.value(v)).collect()),
            Value::Map(pairs) => {
                Json::Array(pairs.iter().map(|(k, v)| json!([self.value(k), self.value(v)])).collect())
            }
            Value::Object(o) => self.object(o),
            Value::Pointer(i) => match (self.met.get_mut(*i), self.objects.get(*i)) {
                (Some(met), Some(object)) if !*met => {
                    *met = true;
                    let mut out = self.object(object);
                    if let Json::Object(fields) = &mut out {
                        fields.insert("id".to_owned(), json!(i));
                    }
                    out
                }
                _ => json!({"same_as": i}),
            },
            Value::Refused(i) => json!({"refused": i}),
        }
    }

    fn rows(&mut self, n: &Numbers, shape: &[usize], at: &mut usize) -> Json {
        let Some((&extent, rest)) = shape.split_first() else {
            let value = n.data.get(*at).unwrap_or(Value::Null);
            *at += 1;
            return self.value(&value);
        };
        Json::Array((0..extent).map(|_| self.rows(n, rest, at)).collect())
    }
}
