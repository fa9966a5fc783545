//! How what a proxy fetches is divided into requests to the origin.

use sapwood_span::Span;

/// Concurrent fetches that share what is fetched ahead.
const SHARES: u64 = 8;
/// Minimum bytes of each, and maximum over HTTP: what a fresh connection brings in one round trip, and less than the
/// amount after which the file is compared before its bytes are passed on.
pub(crate) const SHORT: u64 = 14_000;
const LONG: u64 = 192 << 10;
/// The maximum over XRootD, where no comparison is waited for.
const LONGEST: u64 = 256 << 10;
/// Bytes fetched ahead and not asked for yet, at most, if nothing else is said.
pub const USUAL_AHEAD: u64 = 32_000_000;
/// Bytes of the beginning of a file that are read to open it: enough to distinguish versions of ROOT files.
pub const BEGINNING: u64 = 1024;
/// Bytes of one fetch at most: what is lost when it fails, and what a client waits for that wants a part of it.
pub const LONGEST_FETCH: u64 = 4 << 20;
/// Concurrent fetches for one open file. Spans requested meanwhile share the next one.
pub const FETCHES_AT_ONCE: usize = 12;
/// Over XRootD nothing is fetched ahead while so many of these are under way: for a client that waits there is room.
pub const AHEAD_AT_ONCE: usize = 9;

/// Splits and joins spans into fetches: urgent bytes come first. Over HTTP several connections share the rest; over
/// XRootD all of it uses one connection, as a rule, and each fetch is twice as long as the one before.
pub fn pieces(spans: &[Span], is_http: bool) -> Vec<Vec<Span>> {
    let total: u64 = spans.iter().map(|span| span.len).sum();
    let mut next = if is_http { (total / SHARES).clamp(SHORT, LONG) } else { SHORT };
    let len = || {
        let len = next;
        next = if is_http { next } else { (2 * next).min(LONGEST) };
        len
    };
    // no small remainders of a basket
    filled(spans, len, |room| room + room / 4)
}

/// Divides what a client asks for, and the proxy has not, into fetches.
pub fn divided(absent: &[Span]) -> Vec<Vec<Span>> {
    filled(absent, || LONGEST_FETCH, |room| room)
}

/// Fills fetches one after the other. `len`: the bytes of the next one; `most`: how many a last span may have where
/// there is so much room.
fn filled(spans: &[Span], mut len: impl FnMut() -> u64, most: impl Fn(u64) -> u64) -> Vec<Vec<Span>> {
    let mut out: Vec<Vec<Span>> = Vec::new();
    let mut room = 0;
    for &span in spans {
        let mut rest = span;
        while rest.len > 0 {
            if room == 0 {
                out.push(Vec::new());
                room = len();
            }
            let part = Span::new(rest.start, if rest.len < most(room) { rest.len } else { room });
            room = room.saturating_sub(part.len);
            rest = Span::new(part.end(), rest.len - part.len);
            out.last_mut().into_iter().for_each(|fetch| fetch.push(part));
        }
    }
    out
}
