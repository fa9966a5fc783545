//! The Rust of the user guide (`docs/guide/rust.md`) and of the README: `tests/test_documentation.py` compares them and
//! runs this program in a folder of sample files.

fn read() -> sapwood::Result<()> {
    let file = sapwood::File::open("events.root", &Default::default())?;
    let tree = file.tree("Events")?;
    let branches = vec![tree.find("Muon_pt")?, tree.find("MET_pt")?];
    let mut entries = 0;
    for batch in tree.scan_with(&sapwood::ScanOptions::default().branches(branches))? {
        let batch = batch?;
        entries += batch.entries.end - batch.entries.start;
    }
    println!("{entries} entries");
    Ok(())
}

#[derive(sapwood::write::Record)]
struct Hit {
    x: f32,
    channel: u16,
}

#[derive(sapwood::write::Record)]
struct Event {
    run: u32,
    pt: Vec<f32>,
    hits: Vec<Hit>,
}

fn write() -> sapwood::Result<()> {
    let mut file = sapwood::write::FileWriter::create("records.root", sapwood::Compression::default())?;
    let mut tree = file.records::<Event>("events", "", sapwood::write::TreeOptions::default())?;
    tree.fill(&Event { run: 1, pt: vec![20.0], hits: vec![Hit { x: 0.5, channel: 3 }] })?;
    tree.finish()?;
    file.finish()?;
    let tree = sapwood::File::open("records.root", &Default::default())?.tree("events")?;
    println!("{} entry, {} branches", tree.entries(), tree.header().branches.len());
    Ok(())
}

fn fail() {
    let Err(error) = sapwood::File::open("missing.root", &Default::default()) else { return };
    match error.kind() {
        sapwood::ErrorKind::NotFound => println!("not found: {error}"),
        _ => println!("{error}"),
    }
}

/// The README's example: only compiled, as it prints every batch.
#[expect(dead_code)]
fn readme() -> sapwood::Result<()> {
    let file = sapwood::File::open("events.root", &Default::default())?;
    let tree = file.tree("Events")?;
    let branches = vec![tree.find("Muon_pt")?];
    for batch in tree.scan_with(&sapwood::ScanOptions::default().branches(branches))? {
        println!("{:?}", batch?.columns[0].len());
    }
    Ok(())
}

fn main() -> sapwood::Result<()> {
    read()?;
    write()?;
    fail();
    Ok(())
}
