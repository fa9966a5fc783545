//! Puts the files of the page, as `npm run build` left them in `web/dist`, into the library: compressed, as a table.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../../web/dist");
    // one that is not there is looked for at each build
    println!("cargo::rerun-if-changed={}", folder.display());
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let mut table = String::from("&[\n");
    for (number, path) in files(&folder)?.iter().enumerate() {
        let name = path.strip_prefix(&folder)?.to_str().ok_or("a file name is not UTF-8")?.replace('\\', "/");
        let packed = out.join(format!("page{number}.gz"));
        let mut gz = GzEncoder::new(fs::File::create(&packed)?, Compression::best());
        gz.write_all(&fs::read(path)?)?;
        gz.finish()?;
        writeln!(table, "    ({name:?}, include_bytes!({:?})),", packed)?;
    }
    table.push_str("]\n");
    fs::write(out.join("page.rs"), table)?;
    Ok(())
}

/// All files below a directory, sorted; none where it is missing.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut out = Vec::new();
    let Ok(entries) = fs::read_dir(folder) else { return Ok(out) };
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            out.extend(files(&path)?);
        } else {
            out.push(path);
        }
    }
    out.sort();
    Ok(out)
}
