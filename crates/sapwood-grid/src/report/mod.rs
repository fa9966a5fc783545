//! What a simulation tells: text, JSON, pictures, and one HTML page with all of it.

mod chart;
mod html;
mod json;
mod pictures;
mod text;

pub use pictures::PICTURE_FILES;

use crate::outcome::Outcome;
use crate::scenario::Scenario;
use crate::simulate::{CustomPolicy, simulate_also};
use crate::sweep::{Axis, Point, points};
use sapwood_query::picture::Canvas;
use sapwood_span::Result;
use serde_json::Value;
use std::io::{self, Write};

/// A scenario that was simulated, or many in which some values were changed.
#[derive(Clone, Debug)]
pub struct Report {
    scenario: Scenario,
    outcomes: Vec<Outcome>,
    axes: Vec<Axis>,
    points: Vec<Point>,
}

impl Report {
    /// Simulates a scenario, and again for all combinations of the values of `axes`, on `threads` threads.
    ///
    /// # Errors
    /// As [`crate::simulate`]; that a combination is no scenario.
    pub fn new(scenario: Scenario, axes: Vec<Axis>, threads: usize) -> Result<Self> {
        Self::with_policies(scenario, axes, threads, &[])
    }

    /// The same, with policies of the caller beside those of the scenario.
    ///
    /// # Errors
    /// As [`Self::new`]; that a policy has failed.
    pub fn with_policies(
        scenario: Scenario,
        axes: Vec<Axis>,
        threads: usize,
        others: &[CustomPolicy<'_>],
    ) -> Result<Self> {
        let outcomes = simulate_also(&scenario, others)?;
        let points = if axes.is_empty() { Vec::new() } else { points(&scenario, &axes, threads, others)? };
        Ok(Self { scenario, outcomes, axes, points })
    }

    /// A report of outcomes that the caller has.
    pub fn of(scenario: Scenario, outcomes: Vec<Outcome>) -> Self {
        Self { scenario, outcomes, axes: Vec::new(), points: Vec::new() }
    }

    /// The outcome of each policy for the scenario itself.
    pub fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }

    /// The outcomes for changed values.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// As text.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        text::write(self, out)
    }

    /// As JSON.
    pub fn to_json(&self) -> Value {
        json::report(self)
    }

    /// Pictures, with a name for the file of each.
    pub fn pictures(&self) -> Vec<(&'static str, Canvas)> {
        pictures::all(self)
    }

    /// One page that needs nothing else.
    pub fn to_html(&self) -> String {
        html::page(self)
    }
}
