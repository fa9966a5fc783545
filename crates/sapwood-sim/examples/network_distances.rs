//! Prints what reading 15.9 MB costs from each place, with the tree cache off, on, and in the best case.

use sapwood_plan::{Basket, CacheSize, Request};
use sapwood_sim::{Client, Faults, Oracle, layout, run, scenario};

fn main() -> sapwood_span::Result<()> {
    let scattered = layout::scattered(37, 100, 4300, 36_000, 1000);
    println!("3700 baskets scattered over 150 MB");
    table(&scattered, Vec::new())?;
    let (clustered, clusters) = layout::clustered(10, (37, 37), 10, 4300, 10_000);
    println!("3700 baskets in 10 clusters, all branches");
    table(&clustered, clusters)?;
    let (sparse, clusters) = layout::clustered(10, (37, 370), 1, 43_000, 10_000);
    println!("370 baskets in 10 clusters, one branch of ten");
    table(&sparse, clusters)
}

fn table(baskets: &[Basket], clusters: Vec<u64>) -> sapwood_span::Result<()> {
    println!("place    off s  req |  on s  req   MB asked  first s  max held MB | oracle s  req | on/oracle");
    for place in scenario::places() {
        let client = Client::sequential(layout::entries(baskets), 10_000);
        let request = |cache| Request { cache, limits: place.link.limits(), clusters: clusters.clone(), hold: 0 };
        let off = run(baskets, request(CacheSize::Off), &place.link, &client, &Faults::default())?;
        let on = run(baskets, request(CacheSize::Auto), &place.link, &client, &Faults::default())?;
        let best = Oracle::new(baskets, &place.link.limits(), &place.link);
        println!(
            "{:5} {:8.2} {:4} | {:5.2} {:4} {:10.2} {:8.3} {:12.2} | {:8.2} {:4} | {:8.2}",
            place.name,
            off.time.as_secs_f64(),
            off.stats.requests,
            on.time.as_secs_f64(),
            on.stats.requests,
            on.stats.asked_bytes as f64 / 1e6,
            on.first_basket.as_secs_f64(),
            on.stats.max_held_bytes as f64 / 1e6,
            best.time.as_secs_f64(),
            best.requests,
            on.time.as_secs_f64() / best.time.as_secs_f64()
        );
    }
    Ok(())
}
