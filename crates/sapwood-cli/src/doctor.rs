//! `sapwood doctor`: what is wrong with a file, and how well it lies.

mod damage;
mod layout;

use crate::args::DoctorArgs;
use crate::failure::Failure;
use crate::output;
use sapwood::OpenOptions;
use serde_json::json;
use std::io::Write;

/// Runs the verb: one section after another.
pub fn run(args: &DoctorArgs, options: &OpenOptions, as_json: bool) -> Result<(), Failure> {
    let damage = damage::examine(args, options)?;
    let layout = layout::examine(args, options);
    if as_json {
        output::json(
            &json!({ "file": args.file, "damage": damage::to_json(&damage), "layout": layout::to_json(&layout) }),
        )?;
    } else {
        let mut out = output::stdout();
        damage::print(args, &damage, &mut out)?;
        layout::print(&layout, &mut out)?;
        out.flush()?;
    }
    if damage.is_healthy() { Ok(()) } else { Err(Failure::Found) }
}
