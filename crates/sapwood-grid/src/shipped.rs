//! The scenarios that come with the program.

use crate::scenario::Scenario;
use sapwood_span::similar::near_misses;
use sapwood_span::{Error, Result};
use std::path::Path;

/// A scenario that comes with the program.
#[derive(Clone, Copy, Debug)]
pub struct Shipped {
    /// Its name.
    pub name: &'static str,
    /// Its text, to be copied and changed.
    pub text: &'static str,
}

/// All of them.
pub const SHIPPED: &[Shipped] = &[
    Shipped { name: "home", text: include_str!("scenarios/home.toml") },
    Shipped { name: "tier3", text: include_str!("scenarios/tier3.toml") },
    Shipped { name: "tree", text: include_str!("scenarios/tree.toml") },
    Shipped { name: "facility", text: include_str!("scenarios/facility.toml") },
    Shipped { name: "training", text: include_str!("scenarios/training.toml") },
    Shipped { name: "outage", text: include_str!("scenarios/outage.toml") },
];

impl Shipped {
    /// The scenario of this name.
    ///
    /// # Errors
    /// `NotFound` with the names that exist.
    pub fn find(name: &str) -> Result<&'static Self> {
        SHIPPED.iter().find(|s| s.name == name).ok_or_else(|| {
            let names = SHIPPED.iter().map(|s| s.name);
            let like = near_misses(name, names.clone());
            let list = if like.is_empty() { names.collect() } else { like };
            Error::not_found(format!("no scenario has the name {name}; there are {}", list.join(", ")))
        })
    }

    /// The scenario itself.
    ///
    /// # Errors
    /// As [`Scenario::parse`].
    pub fn scenario(&self) -> Result<Scenario> {
        Scenario::parse(self.name, self.text, Path::new(""))
    }
}
