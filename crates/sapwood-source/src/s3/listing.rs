//! What is below a prefix (`ListObjectsV2`).

use super::address::S3Url;
use super::bucket::Bucket;
use super::date;
use super::refusal::{Response, RetryDecision, Tried};
use super::xml::Document;
use crate::backoff::Backoff;
use crate::http::small::{Answer, SmallRequest, ask};
use crate::open::SourceOptions;
use crate::xrd::RemoteEntry;
use hyper::Method;
use sapwood_span::raw_text::text_of;
use sapwood_span::{Error, ErrorKind, Result, percent};
use std::time::{Duration, SystemTime};
use tokio::runtime::Handle;

/// Names in one listing at most: a prefix with more is a mistake, and would fill the memory.
const MOST: usize = 10_000_000;

/// Longest pause before a listing is requested again.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// The objects and prefixes right below a prefix, which is taken as a directory, sorted by name.
///
/// # Errors
/// `NotFound` where nothing is there; a store that refuses or fails.
pub(crate) async fn list(url: &S3Url, options: &SourceOptions, handle: &Handle) -> Result<Vec<RemoteEntry>> {
    let listed = all(url, options, handle).await;
    listed.map_err(|e| e.in_file(url.redacted()))
}

async fn all(url: &S3Url, options: &SourceOptions, handle: &Handle) -> Result<Vec<RemoteEntry>> {
    let bucket = options.hosts.buckets().get(url, &options.s3)?;
    let mut prefix = url.prefix();
    if !prefix.is_empty() && !prefix.ends_with(b"/") {
        prefix.push(b'/');
    }
    let Ok(prefix) = String::from_utf8(prefix) else {
        return Err(Error::invalid("the prefix is not UTF-8, as all keys in S3 are"));
    };
    let (mut out, mut token, mut is_there) = (Vec::new(), None::<String>, prefix.is_empty());
    loop {
        let mut parameters = vec![
            ("delimiter", "/".to_owned()),
            ("encoding-type", "url".to_owned()),
            ("list-type", "2".to_owned()),
            ("prefix", prefix.clone()),
        ];
        parameters.extend(token.clone().map(|token| ("continuation-token", token)));
        let answer = request(&bucket, &parameters, options, handle).await?;
        let text = answer.text();
        let page = Page::of(&text, &prefix)
            .ok_or_else(|| Error::new(ErrorKind::Protocol, "the store's listing is invalid"))?;
        is_there |= page.is_there;
        out.extend(page.entries);
        if out.len() > MOST {
            return Err(Error::unsupported(format!("more than {MOST} objects below one prefix")));
        }
        match page.next {
            None => break,
            next if next == token => return Err(Error::new(ErrorKind::Protocol, "the store's listing does not end")),
            next => token = next,
        }
    }
    if !is_there {
        return Err(Error::no_such_file("the bucket has no object below this prefix").with_remedy("check the prefix"));
    }
    out.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(out)
}

/// One request, sent again where that may help.
async fn request(
    bucket: &Bucket,
    parameters: &[(&str, String)],
    options: &SourceOptions,
    handle: &Handle,
) -> Result<Answer> {
    let (mut tried, mut backoff, mut left) = (Tried::default(), Backoff::new(options), options.retries);
    loop {
        let keys = bucket.keys(options, handle).await?;
        let mut request = SmallRequest::new(Method::GET, bucket.with_parameters(parameters.to_vec()));
        request.user = Some(bucket.user());
        bucket.sign(keys.as_deref(), "GET", &request.url, &mut request.headers)?;
        let error = match ask(request, options, handle).await {
            Ok(answer) if answer.status == 200 => return Ok(answer),
            Ok(answer) => {
                let response = Response { status: answer.status, headers: &answer.headers, body: &answer.body };
                match bucket.react(&response, keys.as_deref(), &mut tried, options, handle).await? {
                    RetryDecision::Retry => continue,
                    RetryDecision::Refuse(error) => return Err(error),
                    RetryDecision::Default => {
                        Error::new(ErrorKind::Io, format!("the store responded with {}", answer.status))
                    }
                }
            }
            Err(error) if matches!(error.kind(), ErrorKind::Io) => error,
            Err(error) => return Err(error),
        };
        backoff.failed();
        left = match left.checked_sub(1) {
            Some(left) => left,
            None => return Err(backoff.give_up(error)),
        };
        crate::trace::retry(&error, backoff.pause());
        backoff.wait(Duration::ZERO, LONGEST_PAUSE).await;
    }
}

/// One page of a listing.
struct Page {
    entries: Vec<RemoteEntry>,
    /// Something has this prefix, and be it only an object of its name.
    is_there: bool,
    next: Option<String>,
}

impl Page {
    fn of(text: &str, prefix: &str) -> Option<Self> {
        let document = Document::new(text)?;
        let result = document.all("ListBucketResult").next()?;
        let is_encoded = result.text("EncodingType").is_some_and(|kind| kind == "url");
        let decoded = |text: String| match is_encoded {
            // as in forms
            true => text_of(&percent::decode(&text.replace('+', " "))),
            false => text,
        };
        let below = |name: String| decoded(name).strip_prefix(prefix).map(str::to_owned);
        let (mut entries, mut is_there) = (Vec::new(), false);
        for object in result.all("Contents") {
            let name = below(object.text("Key")?)?;
            is_there = true;
            // consoles make an empty object of a directory's name
            if name.is_empty() {
                continue;
            }
            let size = object.text("Size")?.parse().ok()?;
            let modified = object.text("LastModified").and_then(|text| date::parse(&text));
            let seconds =
                modified.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok()).unwrap_or_default();
            let modified = i64::try_from(seconds.as_secs()).ok()?;
            entries.push(RemoteEntry { name, size, directory: false, modified });
        }
        for part in result.all("CommonPrefixes") {
            let name = below(part.text("Prefix")?)?.strip_suffix('/')?.to_owned();
            is_there = true;
            entries.push(RemoteEntry { name, size: 0, directory: true, modified: 0 });
        }
        let is_truncated = result.text("IsTruncated").is_some_and(|text| text == "true");
        let next = is_truncated.then(|| result.text("NextContinuationToken").filter(|token| !token.is_empty()));
        match next {
            // more is there, and the store does not say how to get at it
            Some(None) => None,
            next => Some(Self { entries, is_there, next: next.flatten() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_a_listing() {
        let text = "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"x\"><Name>b</Name><Prefix>d%2F</Prefix>\
            <EncodingType>url</EncodingType><IsTruncated>true</IsTruncated><NextContinuationToken>T=</NextContinuationToken>\
            <Contents><Key>d/</Key><Size>0</Size></Contents>\
            <Contents><Key>d/a+b%2B%3F.root</Key><LastModified>1970-01-01T00:00:09Z</LastModified><Size>7</Size></Contents>\
            <CommonPrefixes><Prefix>d/e/</Prefix></CommonPrefixes></ListBucketResult>";
        let page = Page::of(text, "d/").unwrap();
        let entry =
            |name: &str, size, directory, modified| RemoteEntry { name: name.into(), size, directory, modified };
        assert_eq!(page.entries, [entry("a b+?.root", 7, false, 9), entry("e", 0, true, 0)]);
        assert_eq!(page.next.as_deref(), Some("T="));
        assert!(Page::of(text, "x/").is_none(), "keys of another prefix");
        assert!(Page::of(&text.replace("NextContinuationToken", "Next"), "d/").is_none(), "it would be cut short");
        assert!(Page::of(&text.replace("<Size>7", "<Size>seven"), "d/").is_none());
        assert!(Page::of("<Error/>", "").is_none());
    }
}
