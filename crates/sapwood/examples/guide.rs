//! The Rust of the user guide (`docs/guide/rust.md`) and of the README: `tests/test_documentation.py` compares them and
//! runs this program in a directory of sample files.

fn read() -> sapwood::Result<()> {
    let file = sapwood::read::open("events.root")?;
    let tree = file.tree("Events")?;
    let mut entries = 0;
    for batch in tree.scan().branches(["Muon_pt", "MET_pt"]).build()? {
        let batch = batch?;
        entries += batch.entries.end - batch.entries.start;
    }
    println!("{entries} entries");
    Ok(())
}

fn cut() -> sapwood::Result<()> {
    use sapwood::query::ScanCut as _;
    use sapwood::read::{OpenOptions, StepSize};

    let file = OpenOptions::new().timeout(std::time::Duration::from_secs(10)).open("events.root")?;
    let scan = file.tree("Events")?.scan().branches(["Muon_*"]).cut("MET_pt > 20").entries(0..5000);
    let mut passed = 0;
    for batch in scan.step(StepSize::Entries(1000)).build()? {
        passed += batch?.columns[0].len();
    }
    assert!(passed < 5000);
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
    let mut file = sapwood::write::FileOptions::new().title("from structs").create("records.root")?;
    let mut tree = file.records::<Event>("events", "", sapwood::write::TreeOptions::new().basket_bytes(64_000))?;
    tree.fill(&Event { run: 1, pt: vec![20.0], hits: vec![Hit { x: 0.5, channel: 3 }] })?;
    tree.finish()?;
    file.finish()?;
    let tree = sapwood::read::open("records.root")?.tree("events")?;
    println!("{} entry, {} branches", tree.entries(), tree.header().branches.len());
    Ok(())
}

fn fail() {
    let Err(error) = sapwood::read::open("missing.root") else { return };
    match error.kind() {
        sapwood::ErrorKind::NotFound => println!("not found: {error}"),
        _ => println!("{error}"),
    }
}

/// The README's example: only compiled, as it prints every batch.
#[expect(dead_code)]
fn readme() -> sapwood::Result<()> {
    let file = sapwood::read::open("events.root")?;
    let tree = file.tree("Events")?;
    for batch in tree.scan().branches(["Muon_pt"]).build()? {
        println!("{:?}", batch?.columns[0].len());
    }
    Ok(())
}

fn main() -> sapwood::Result<()> {
    read()?;
    cut()?;
    write()?;
    fail();
    Ok(())
}
