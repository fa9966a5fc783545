//! The classic places from which people read a file at CERN.

use crate::Link;
use std::time::Duration;

/// A place: its letter, and the path from there to the file.
#[derive(Clone, Debug)]
pub struct Client {
    /// One letter, A to G.
    pub name: &'static str,
    /// The path.
    pub link: Link,
}

/// A: on the same machine. B: 0.3 ms and 100 Mbit/s. C: wireless, 2 ms, 10 Mbit/s. D: 11 ms, 100 Mbit/s. E: 22 ms, 1
/// Gbit/s. F: ADSL, 72 ms, 8 Mbit/s. G: the other side of the world, 240 ms, 1 Gbit/s.
pub fn places() -> Vec<Client> {
    let far = |micros, mbits: f64| Link::new(Duration::from_micros(micros), mbits * 1e6 / 8.0);
    vec![
        Client { name: "A", link: Link::local(500e6, Duration::from_micros(80)) },
        Client { name: "B", link: far(300, 100.0) },
        Client { name: "C", link: far(2_000, 10.0) },
        Client { name: "D", link: far(11_000, 100.0) },
        Client { name: "E", link: far(22_000, 1000.0) },
        Client { name: "F", link: far(72_000, 8.0) },
        Client { name: "G", link: far(240_000, 1000.0) },
    ]
}
