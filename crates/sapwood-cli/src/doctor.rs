//! `sapwood doctor`: what is wrong with a file, and how good its layout is.

use crate::args::DoctorArgs;
use crate::failure::Failure;
use crate::output;
use crate::target::one_file;
use sapwood::OpenOptions;
use sapwood::doctor::{Conditions, Doctor};
use std::io::Write;

/// Runs the command.
pub(crate) fn run(args: &DoctorArgs, options: &OpenOptions, as_json: bool) -> Result<(), Failure> {
    let file = one_file(&args.file, options)?;
    let report = Doctor::examine(&file, args.deep, options, &Conditions::new(&args.if_cache, &args.if_round_trip))?;
    if as_json {
        output::json(&report.to_json())?;
    } else {
        let mut out = output::stdout();
        report.write(&mut out)?;
        out.flush()?;
    }
    if report.is_healthy() { Ok(()) } else { Err(Failure::Found) }
}
