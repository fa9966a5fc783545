//! A table of the scenario file: values by key, every complaint with line and key.

use crate::clock::{Time, bytes_of, not_too_long, seconds_of, whole};
use sapwood_span::similar::near_misses;
use sapwood_span::{Error, Result, units};
use std::cell::RefCell;
use std::collections::BTreeSet;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The text of a scenario file, for lines in errors.
pub(crate) struct Text<'a> {
    pub(crate) name: &'a str,
    pub(crate) text: &'a str,
}

impl Text<'_> {
    /// The error that `what` is wrong at this byte.
    pub(crate) fn wrong(&self, at: usize, what: impl std::fmt::Display) -> Error {
        Error::invalid(format!("line {}: {what}", self.line(at))).in_file(self.name)
    }

    fn line(&self, at: usize) -> usize {
        1 + self.text.as_bytes().iter().take(at).filter(|&&b| b == b'\n').count()
    }
}

/// A table, and which of its keys were used.
pub(crate) struct Table<'a> {
    text: &'a Text<'a>,
    path: String,
    at: usize,
    table: &'a DeTable<'a>,
    known: RefCell<BTreeSet<String>>,
}

impl<'a> Table<'a> {
    pub(crate) fn new(text: &'a Text<'a>, path: &str, at: usize, table: &'a DeTable<'a>) -> Self {
        Self { text, path: path.to_owned(), at, table, known: RefCell::default() }
    }

    /// The line where it begins.
    pub(crate) fn line(&self) -> usize {
        self.text.line(self.at)
    }

    /// An error about the table itself.
    pub(crate) fn wrong(&self, what: impl std::fmt::Display) -> Error {
        self.text.wrong(self.at, what)
    }

    /// An error about the value of a key.
    pub(crate) fn wrong_value(&self, key: &str, what: impl std::fmt::Display) -> Error {
        let at = self.table.get(key).map_or(self.at, |v| v.span().start);
        self.text.wrong(at, format!("{}: {what}", self.full(key)))
    }

    fn full(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    fn get(&self, key: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.known.borrow_mut().insert(key.to_owned());
        self.table.get(key)
    }

    fn parsed<T>(&self, key: &str, wanted: &str, read: impl Fn(&DeValue<'_>) -> Option<T>) -> Result<Option<T>> {
        let Some(value) = self.get(key) else { return Ok(None) };
        read(value.get_ref()).map(Some).ok_or_else(|| self.wrong_value(key, format!("must be {wanted}")))
    }

    /// What must be there.
    pub(crate) fn required<T>(&self, key: &str, value: Option<T>) -> Result<T> {
        value.ok_or_else(|| {
            let known = self.known.borrow();
            let others = self.table.keys().map(|k| k.get_ref().as_ref()).filter(|&k| !known.contains(k));
            match near_misses(key, others).first() {
                Some(like) => self.unknown(like, Some(key)),
                None => self.wrong(format!("{} is missing", self.full(key))),
            }
        })
    }

    /// The name of a thing, which patterns can name.
    pub(crate) fn name(&self) -> Result<Option<String>> {
        let name = self.text("name")?;
        match &name {
            Some(name) if name.trim().is_empty() => Err(self.wrong_value("name", "must not be empty")),
            Some(name) if name.contains(['*', '?']) => {
                Err(self.wrong_value("name", "must not have * or ?, which stand for other names"))
            }
            _ => Ok(name),
        }
    }

    pub(crate) fn text(&self, key: &str) -> Result<Option<String>> {
        self.parsed(key, "a text in quotes", |v| v.as_str().map(str::to_owned))
    }

    /// A text or a list of texts.
    pub(crate) fn texts(&self, key: &str) -> Result<Option<Vec<String>>> {
        self.parsed(key, "a text in quotes or a list of at least one", |v| match v {
            DeValue::String(s) => Some(vec![s.to_string()]),
            DeValue::Array(a) if a.is_empty() => None,
            DeValue::Array(a) => a.iter().map(|v| v.get_ref().as_str().map(str::to_owned)).collect(),
            _ => None,
        })
    }

    pub(crate) fn count(&self, key: &str, most: u64) -> Result<Option<u64>> {
        self.whole(key, 0, most)
    }

    /// A number of what there must be at least one of.
    pub(crate) fn positive(&self, key: &str, most: u64) -> Result<Option<u64>> {
        self.whole(key, 1, most)
    }

    fn whole(&self, key: &str, least: u64, most: u64) -> Result<Option<u64>> {
        let wanted = format!("a whole number from {least} to {}", units::count(most));
        let range = least as f64..=most as f64;
        let value = self.parsed(key, &wanted, |v| number(v).filter(|n| n.fract() == 0.0 && range.contains(n)))?;
        Ok(value.map(|n| n as u64))
    }

    pub(crate) fn number(&self, key: &str, low: f64, high: f64) -> Result<Option<f64>> {
        self.parsed(key, &format!("a number from {low} to {high}"), |v| number(v).filter(|n| (low..=high).contains(n)))
    }

    /// Bytes.
    pub(crate) fn bytes(&self, key: &str) -> Result<Option<u64>> {
        self.parsed(key, "a size with its unit, such as \"10 TB\" or \"512 B\"", |v| match v {
            DeValue::String(s) => bytes_of(s).ok(),
            // as for times: who writes 500 may mean gigabytes
            _ => number(v).filter(|n| *n == 0.0).map(|_| 0),
        })
    }

    /// Bytes of what must have some.
    pub(crate) fn positive_bytes(&self, key: &str) -> Result<Option<u64>> {
        let bytes = self.bytes(key)?;
        if bytes == Some(0) { Err(self.wrong_value(key, "must be more than 0")) } else { Ok(bytes) }
    }

    /// Bytes per second.
    pub(crate) fn rate(&self, key: &str) -> Result<Option<f64>> {
        self.parsed(key, "a bandwidth such as \"10 Gbit/s\", from 1 bit/s to 100 Tbit/s", |v| match v {
            DeValue::String(s) => units::parse_bandwidth(s).ok().map(|bits| bits as f64 / 8.0),
            _ => None,
        })
    }

    pub(crate) fn time(&self, key: &str) -> Result<Option<Time>> {
        self.timed(key, whole)
    }

    /// A time in seconds, which may be shorter than a nanosecond.
    pub(crate) fn seconds(&self, key: &str) -> Result<Option<f64>> {
        self.timed(key, not_too_long)
    }

    fn timed<T>(&self, key: &str, limited: impl Fn(&str, f64) -> Result<T>) -> Result<Option<T>> {
        let read = |v: &DeValue<'_>| time_value(v, &limited);
        let time = self.parsed(key, "a time with its unit, such as \"20ms\", \"6h\" or \"30d\"", read)?;
        time.transpose().map_err(|e| self.wrong_value(key, e))
    }

    /// A time or a list of times.
    pub(crate) fn times(&self, key: &str) -> Result<Option<Vec<Time>>> {
        let read = |v: &DeValue<'_>| match v {
            DeValue::Array(a) => a.iter().map(|v| time_value(v.get_ref(), &whole)).collect::<Option<_>>(),
            _ => time_value(v, &whole).map(|t| vec![t]),
        };
        let times: Option<Vec<Result<Time>>> =
            self.parsed(key, "a time with its unit, such as \"6h\", or a list of them", read)?;
        times.map(|times| times.into_iter().collect::<Result<_>>()).transpose().map_err(|e| self.wrong_value(key, e))
    }

    /// The tables of `[[key]]`.
    pub(crate) fn tables(&self, key: &str, most: usize) -> Result<Vec<Table<'a>>> {
        let Some(value) = self.get(key) else { return Ok(Vec::new()) };
        let wrong = || self.wrong_value(key, format!("must be written as [[{}]]", self.full(key)));
        let list = value.get_ref().as_array().ok_or_else(wrong)?;
        if list.len() > most {
            return Err(self.wrong_value(key, format!("there are {} of them; at most {most} are possible", list.len())));
        }
        let table = |v: &'a Spanned<DeValue<'a>>| {
            let table = v.get_ref().as_table().ok_or_else(wrong)?;
            Ok(Table::new(self.text, &self.full(key), v.span().start, table))
        };
        list.iter().map(table).collect()
    }

    /// The table of `[key]`.
    pub(crate) fn table(&self, key: &str) -> Result<Option<Table<'a>>> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let table = value.get_ref().as_table();
        let table = table.ok_or_else(|| self.wrong_value(key, format!("must be a table: [{}]", self.full(key))))?;
        Ok(Some(Table::new(self.text, &self.full(key), value.span().start, table)))
    }

    /// That there is no key that nobody knows: a typing error must not be a default.
    pub(crate) fn finished(&self) -> Result<()> {
        let known = self.known.borrow();
        let Some((key, _)) = self.table.iter().find(|(key, _)| !known.contains(key.get_ref().as_ref())) else {
            return Ok(());
        };
        let name = key.get_ref();
        Err(self.unknown(name, near_misses(name, known.iter().map(String::as_str)).first().copied()))
    }

    /// That nobody knows a key, and which one it is like.
    fn unknown(&self, name: &str, like: Option<&str>) -> Error {
        let at = self.table.get_key_value(name).map_or(self.at, |(key, _)| key.span().start);
        let hint = like.map_or_else(String::new, |like| format!("; did you mean {}?", self.full(like)));
        self.text.wrong(at, format!("{} is unknown{hint}", self.full(name)))
    }
}

fn number(value: &DeValue<'_>) -> Option<f64> {
    match value {
        DeValue::Integer(i) => i64::from_str_radix(i.as_str(), i.radix()).ok().map(|n| n as f64),
        DeValue::Float(f) => f.as_str().parse().ok().filter(|n: &f64| n.is_finite()),
        _ => None,
    }
}

/// None if it is no time; an error if it is beyond the limits.
fn time_value<T>(value: &DeValue<'_>, limited: &impl Fn(&str, f64) -> Result<T>) -> Option<Result<T>> {
    let (text, seconds) = match value {
        DeValue::String(s) => (s.as_ref(), seconds_of(s).ok()?),
        // only nothing needs no unit: who writes 30 may mean milliseconds
        _ => ("0", number(value).filter(|n| *n == 0.0)?),
    };
    Some(limited(text, seconds))
}
