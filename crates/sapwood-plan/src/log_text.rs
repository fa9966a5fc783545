//! The planner's events and actions as lines of text.

use crate::{Action, Basket, BasketId, Event, Fetch};
use sapwood_span::units;

/// An action as text: `fetch 2: 12.1 kB in 4 ranges: Muon_pt[3..5] nMuon[3]`.
///
/// `baskets` is the list given to [`crate::Planner::new`], `name` gives the name of a branch.
pub fn describe_action<N: AsRef<str>>(action: &Action, baskets: &[Basket], name: impl Fn(u32) -> N) -> String {
    match action {
        Action::Fetch(fetch) => fetch_words(fetch, baskets, &name),
        Action::Cancel(id) => format!("cancel fetch {}", id.0),
        Action::GiveUp(ids) => format!("give up {}", basket_words(ids.iter().copied(), baskets, &name)),
    }
}

/// An event as text; see [`describe_action`].
pub fn describe_event<N: AsRef<str>>(event: &Event, baskets: &[Basket], name: impl Fn(u32) -> N) -> String {
    match event {
        Event::Want { first, last } => format!("want entries {first}..{last}"),
        Event::Arrived { fetch, basket } => {
            format!("arrived {} by fetch {}", basket_words([*basket], baskets, &name), fetch.0)
        }
        Event::Done { fetch, first_byte, total, bytes } => format!(
            "fetch {} done: {} in {:.3} ms, first byte after {:.3} ms",
            fetch.0,
            units::bytes(*bytes),
            total.as_secs_f64() * 1e3,
            first_byte.as_secs_f64() * 1e3
        ),
        Event::Failed { fetch, retry } => {
            format!("fetch {} failed{}", fetch.0, if *retry { "" } else { " for good" })
        }
        Event::Consumed { basket } => format!("consumed {}", basket_words([*basket], baskets, &name)),
        Event::Limits(l) => format!(
            "limits: {} requests of {} ranges and {}, gap {}",
            l.max_in_flight,
            l.max_ranges,
            units::bytes(l.max_request_bytes),
            units::bytes(l.range_overhead)
        ),
        Event::Withhold(ids) => format!("withhold {}", basket_words(ids.iter().copied(), baskets, &name)),
        Event::Release(ids) => format!("release {}", basket_words(ids.iter().copied(), baskets, &name)),
        Event::Skip(ids) => format!("skip {}", basket_words(ids.iter().copied(), baskets, &name)),
        Event::Budget(bytes) => format!("budget {}", units::bytes(*bytes)),
        Event::Stop => "stop".into(),
    }
}

fn fetch_words<N: AsRef<str>>(fetch: &Fetch, baskets: &[Basket], name: impl Fn(u32) -> N) -> String {
    let urgent = if fetch.urgent { " (urgent)" } else { "" };
    let ranges = fetch.ranges.len();
    let plural = if ranges == 1 { "range" } else { "ranges" };
    format!(
        "fetch {}{urgent}: {} in {ranges} {plural}: {}",
        fetch.id.0,
        units::bytes(fetch.bytes()),
        basket_words(fetch.baskets(), baskets, name)
    )
}

/// `x[3..6]` stands for baskets 3, 4 and 5 of branch x.
fn basket_words<N: AsRef<str>>(
    ids: impl IntoIterator<Item = BasketId>,
    baskets: &[Basket],
    name: impl Fn(u32) -> N,
) -> String {
    let mut list: Vec<(u32, u32)> =
        ids.into_iter().filter_map(|id| baskets.get(id.index())).map(|b| (b.branch, b.index)).collect();
    list.sort_unstable();
    let runs = list.chunk_by(|a, b| a.0 == b.0 && a.1.checked_add(1) == Some(b.1));
    let words: Vec<String> = runs
        .filter_map(|run| {
            let (&(branch, first), &(_, last)) = (run.first()?, run.last()?);
            let name = name(branch);
            let name = name.as_ref();
            Some(if first == last { format!("{name}[{first}]") } else { format!("{name}[{first}..{}]", last + 1) })
        })
        .collect();
    words.join(" ")
}
