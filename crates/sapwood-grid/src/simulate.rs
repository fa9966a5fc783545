//! A scenario under its policies.

use crate::check::check;
use crate::outcome::Outcome;
use crate::policy::{self, Policy};
use crate::scenario::{Kind, PolicySpec, Scenario};
use crate::world::World;
use sapwood_span::{Error, Result};

/// Simulates a scenario under each of its policies.
///
/// # Errors
/// That a site cannot be reached, or that files cannot be read as a workload wants to.
pub fn simulate(scenario: &Scenario) -> Result<Vec<Outcome>> {
    scenario.policies.iter().map(|spec| one(scenario, spec, policy::shipped(spec))).collect()
}

/// Simulates a scenario under a policy of the caller.
///
/// # Errors
/// As [`simulate`].
pub fn simulate_with(scenario: &Scenario, name: &str, policy: &mut dyn Policy) -> Result<Outcome> {
    let spec = scenario.policies.iter().find(|s| s.kind == Kind::Push);
    let spec =
        PolicySpec { kind: Kind::Custom, ..spec.cloned().unwrap_or_else(|| PolicySpec::new(name, Kind::Custom)) };
    one(scenario, &PolicySpec { name: name.to_owned(), ..spec }, Box::new(Borrowed(policy)))
}

/// A policy of the caller, made again for each simulation.
pub struct CustomPolicy<'a> {
    /// Its name in the report.
    pub name: String,
    /// Makes it.
    pub make: &'a (dyn Fn() -> Box<dyn Policy> + Sync),
}

/// Simulates a scenario under each of its policies, and under others.
pub(crate) fn simulate_also(scenario: &Scenario, others: &[CustomPolicy<'_>]) -> Result<Vec<Outcome>> {
    let names = scenario.policies.iter().map(|spec| spec.name.as_str());
    if let Some(twice) = others.iter().find(|other| names.clone().any(|name| name == other.name)) {
        let what = format!("the scenario has a policy with the name {} already; give yours another name", twice.name);
        return Err(Error::invalid(what).in_file(&scenario.name));
    }
    let mut out = simulate(scenario)?;
    for other in others {
        out.push(simulate_with(scenario, &other.name, &mut *(other.make)())?);
    }
    Ok(out)
}

fn one(scenario: &Scenario, spec: &PolicySpec, policy: Box<dyn Policy + '_>) -> Result<Outcome> {
    let world = World::new(scenario, spec, policy)?;
    let (tally, kinds) = world.run()?;
    let kinds: Vec<_> = kinds.iter().map(|k| (&*k.profile, &k.parts)).collect();
    let checked = check(scenario, &kinds, &tally.samples)?;
    Ok(Outcome::new(scenario, &spec.name, tally, checked))
}

struct Borrowed<'a>(&'a mut dyn Policy);

impl Policy for Borrowed<'_> {
    fn place(&mut self, job: &policy::Job<'_>, grid: &dyn policy::Grid) -> policy::Placement {
        self.0.place(job, grid)
    }

    fn replicate(&mut self, dataset: &policy::NewDataset<'_>, grid: &dyn policy::Grid) -> Vec<policy::Copy> {
        self.0.replicate(dataset, grid)
    }

    fn delete(&mut self, site: usize, needed: u64, copies: &[policy::Replica<'_>]) -> Option<Vec<usize>> {
        self.0.delete(site, needed, copies)
    }

    fn failure(&self) -> Option<sapwood_span::Error> {
        self.0.failure()
    }
}
