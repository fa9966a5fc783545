//! `sapwood doctor`: what is wrong with a file, and how well it lies.

use crate::args::DoctorArgs;
use crate::failure::Failure;
use crate::output;
use sapwood::OpenOptions;
use sapwood::doctor::{Conditions, Doctor};
use std::io::Write;

/// Runs the verb.
pub(crate) fn run(args: &DoctorArgs, options: &OpenOptions, as_json: bool) -> Result<(), Failure> {
    let report =
        Doctor::examine(&args.file, args.deep, options, &Conditions::new(&args.if_cache, &args.if_round_trip))?;
    if as_json {
        output::json(&report.to_json())?;
    } else {
        let mut out = output::stdout();
        report.write(&mut out)?;
        out.flush()?;
    }
    if report.is_healthy() { Ok(()) } else { Err(Failure::Found) }
}
