//! `sapwood map`: where everything is in a file.

use crate::args::{Global, MapArgs};
use crate::failure::Failure;
use crate::output;
use crate::output::picture::{Kind, SCALE};
use crate::target::Target;
use sapwood::OpenOptions;
use sapwood::map::FileMap;
use std::io::Write;

/// Runs the command.
pub(crate) fn run(args: &MapArgs, options: &OpenOptions, global: &Global) -> Result<(), Failure> {
    for path in &args.outputs {
        Kind::of(path).map_err(Failure::Usage)?;
    }
    let target = Target::one(&args.target, options)?;
    let file = target.open(options)?;
    let tree = target.object.as_ref().map(|_| target.tree(&file)).transpose()?;
    let map = FileMap::new(&file, tree.as_ref(), &args.branches)?;
    for path in &args.outputs {
        let bytes = match Kind::of(path).map_err(Failure::Usage)? {
            Kind::Svg => map.picture().to_svg().into_bytes(),
            Kind::Png => map.picture().to_png(SCALE)?,
            Kind::Json => map.to_json().to_string().into_bytes(),
        };
        output::write_file(path, &bytes)?;
    }
    if global.json {
        output::json(&map.to_json())?;
        return Ok(());
    }
    let mut out = output::stdout();
    map.write(&mut out)?;
    out.flush()?;
    Ok(())
}
