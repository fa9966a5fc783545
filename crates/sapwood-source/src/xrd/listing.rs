//! Directories, and the servers that have a file.

use super::client::Client;
use super::query::{RetryPolicy, ask};
use crate::open::SourceOptions;
use crate::url::Location;
use sapwood_span::{Error, ErrorKind, Result};
use sapwood_xrd::{Request, SecretBytes, code, reply};
use tokio::runtime::Handle;

/// One entry of a directory on a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteEntry {
    /// Its name.
    pub name: String,
    /// Its size in bytes.
    pub size: u64,
    /// Whether it is a directory.
    pub directory: bool,
    /// Last change, in seconds since 1970.
    pub modified: i64,
}

/// The contents of a directory on an XRootD server, sorted by name.
///
/// # Errors
/// URLs of another scheme, directories that are not there, servers that fail.
pub(crate) async fn list(url: &str, options: &SourceOptions, handle: &Handle) -> Result<Vec<RemoteEntry>> {
    let ask = |path| Request::DirList { path, options: code::DIRLIST_STAT };
    let body = ask_anywhere(url, options, handle, &ask).await?;
    let entries = reply::entries(&body).map_err(|n| nonsense(n).in_file(url_for_messages(url)))?;
    if let Some(entry) = entries.iter().find(|e| !is_name(&e.name)) {
        let what = format!("the server lists {:?}, which is not a valid name in a directory", entry.name);
        return Err(Error::new(ErrorKind::Protocol, what).in_file(url_for_messages(url)));
    }
    let mut out: Vec<RemoteEntry> = entries
        .into_iter()
        .map(|e| RemoteEntry {
            size: e.stat.map_or(0, |s| s.size),
            directory: e.stat.is_some_and(|s| s.is_dir()),
            modified: e.stat.map_or(0, |s| s.modified),
            name: e.name,
        })
        .collect();
    out.sort_by(|a, b| a.name.cmp(&b.name));
    // Redirectors merge the listings of several servers; one name is one file.
    out.dedup_by(|a, b| a.name == b.name);
    Ok(out)
}

/// The servers (`host:port`) that have a file, as far as the queried one knows.
///
/// # Errors
/// URLs of another scheme, missing files, servers that fail or return an invalid server name.
pub async fn locate(url: &str, options: &SourceOptions, handle: &Handle) -> Result<Vec<String>> {
    let ask = |path| Request::Locate { path, options: 0 };
    let body = ask_anywhere(url, options, handle, &ask).await?;
    let found = reply::locations(&body).map_err(|n| nonsense(n).in_file(url_for_messages(url)))?;
    Ok(found.into_iter().map(|l| l.address).collect())
}

/// The checksum of a file, of this kind (`adler32`, `crc32c`, `md5`), as the server reports it: hexadecimal digits.
///
/// # Errors
/// URLs of another scheme, missing files, servers that fail, or that have none of this kind.
pub async fn checksum(url: &str, kind: &str, options: &SourceOptions, handle: &Handle) -> Result<String> {
    let ask = |path: SecretBytes| {
        let path = String::from_utf8_lossy(&path.0).into_owned();
        let joint = if path.contains('?') { '&' } else { '?' };
        Request::Query { kind: code::QUERY_CHECKSUM, words: format!("{path}{joint}cks.type={kind}") }
    };
    let body = ask_anywhere(url, options, handle, &ask).await?;
    let text = String::from_utf8_lossy(&body);
    let mut words = text.trim_end_matches('\0').split_ascii_whitespace();
    let told = words.next().filter(|told| told.eq_ignore_ascii_case(kind)).and(words.next());
    let digits = told.filter(|digits| digits.len() <= 128 && digits.bytes().all(|b| b.is_ascii_hexdigit()));
    digits.map(str::to_ascii_lowercase).ok_or_else(|| {
        let what = format!("the server returned no {kind} of the file");
        Error::new(ErrorKind::Protocol, what).in_file(url_for_messages(url))
    })
}

/// Whether it names an entry of the listed directory, and nothing elsewhere.
fn is_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains('/') && !name.chars().any(char::is_control)
}

fn nonsense(n: sapwood_xrd::frame::InvalidMessage) -> Error {
    Error::new(ErrorKind::Protocol, format!("the server's response is invalid: {n}"))
}

fn url_for_messages(url: &str) -> String {
    match Location::parse(url) {
        Ok(Location::Root(url)) => url.redacted(),
        _ => String::new(),
    }
}

/// Sends a query about a path, along redirects.
async fn ask_anywhere(
    url: &str,
    options: &SourceOptions,
    handle: &Handle,
    question: &(dyn Fn(SecretBytes) -> Request + Send + Sync),
) -> Result<bytes::Bytes> {
    let Location::Root(url) = Location::parse(url)? else {
        return Err(Error::invalid("not an XRootD URL")
            .in_file(crate::url::redacted(url))
            .with_remedy("use root:// or roots://"));
    };
    let name = url.redacted();
    let client = Client::new(url, options.clone(), handle.clone());
    ask(&client, options, question, RetryPolicy::Retry).await.map_err(|e: Error| e.in_file(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_does_not_lead_out_of_its_directory() {
        for name in ["a.root", "a b;c=d@e:f%2f..", "...", ".hidden"] {
            assert!(is_name(name), "{name:?}");
        }
        for name in ["", ".", "..", "../x", "a/b", "/etc/x", "a\r", "a\0b"] {
            assert!(!is_name(name), "{name:?}");
        }
    }
}
