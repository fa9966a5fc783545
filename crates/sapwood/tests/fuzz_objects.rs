//! Damage at random to objects that are no trees, and to files whose directories it destroys: no panic, no hang, no
//! memory that the input does not justify. Options as for the `fuzz` tests.

#[path = "fuzz/cases.rs"]
mod cases;
mod common;
#[path = "fuzz/memory.rs"]
mod memory;
#[path = "fuzz/random.rs"]
mod random;

use random::{Random, damage};
use sapwood::{ExamineOptions, File, Object, Objects, OpenOptions, Value, examine};
use sapwood_format::Streamers;
use sapwood_format::object::read_class;
use std::sync::{Arc, LazyLock};

#[global_allocator]
static MEMORY: memory::Counting = memory::Counting;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data");

/// An object of a small file, inflated.
struct Seed {
    class: String,
    key_len: usize,
    data: Vec<u8>,
    streamers: Arc<Streamers>,
}

static SEEDS: LazyLock<Vec<Seed>> = LazyLock::new(|| {
    let file = File::open(&format!("{FOLDER}/objects.root"), &OpenOptions::default()).unwrap();
    let objects = file.list("", true).unwrap().into_iter().map(|l| {
        let at = file.object(&format!("{};{}", l.path, l.key.cycle)).unwrap();
        Seed { class: at.key.class, key_len: at.key.key_len as usize, data: at.data, streamers: at.streamers }
    });
    objects.collect()
});

/// Goes over everything that an object holds, each pointer once; how many values there are.
fn look(objects: &Objects) -> usize {
    let mut met = vec![false; objects.all().len()];
    let mut open: Vec<&Object> = vec![objects.root()];
    let mut count = 0;
    while let Some(object) = open.pop() {
        assert_eq!(object.values.len(), object.class.elements.len());
        let mut values: Vec<&Value> = object.values.iter().chain([&object.content]).collect();
        while let Some(value) = values.pop() {
            count += 1;
            match value {
                Value::List(items) => values.extend(items),
                Value::Map(pairs) => values.extend(pairs.iter().flat_map(|(k, v)| [k, v])),
                Value::Object(o) => open.push(o),
                Value::Pointer(i) => {
                    let target = objects.get(*i).expect("a pointer leads to an object");
                    if !std::mem::replace(&mut met[*i], true) {
                        open.push(target);
                    }
                }
                Value::Refused(i) => assert!(*i < objects.refused().len()),
                Value::Numbers(n) => assert_eq!(n.shape.iter().product::<usize>(), n.data.len()),
                _ => {}
            }
        }
    }
    count
}

#[test]
fn objects() {
    let mut values = 0;
    for seed in SEEDS.iter() {
        let read = read_class(&seed.data, seed.key_len, &seed.class, &seed.streamers);
        let read = read.unwrap_or_else(|e| panic!("{}: {e}", seed.class));
        assert!(read.refused().is_empty(), "{}: {:?}", seed.class, read.refused());
        values += look(&read);
    }
    assert!(values > 2000, "{values} values are read of the undamaged objects");
    cases::run("objects", 60_000, |r| {
        let seed = r.pick(&SEEDS);
        let mut data = seed.data.clone();
        damage(&mut data, &r.pick(&SEEDS).data, r);
        let class = if r.below(20) == 0 { &r.pick(&SEEDS).class } else { &seed.class };
        if let Ok(read) = read_class(&data, seed.key_len, class, &seed.streamers) {
            look(&read);
        }
        data.len()
    });
}

#[test]
fn descriptions_of_objects() {
    let bytes = std::fs::read(format!("{FOLDER}/objects.root")).unwrap();
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let record = &bytes[number(37)..][..number(41)];
    let key = sapwood_format::Key::read(&mut sapwood_format::cursor::Cursor::new(record, 0)).unwrap();
    let key_len = key.key_len as usize;
    let info = sapwood_format::inflate(&key, &record[key_len..], &mut sapwood_codec::Decoder::new()).unwrap();
    cases::run("descriptions of objects", 6000, |r| {
        let mut info = info.clone();
        damage(&mut info, &SEEDS[0].data, r);
        let seed = r.pick(&SEEDS);
        if let Ok(streamers) = Streamers::parse(&info, key_len)
            && let Ok(read) = read_class(&seed.data, seed.key_len, &seed.class, &streamers)
        {
            look(&read);
        }
        info.len() + seed.data.len()
    });
}

/// Opens a damaged file as a user would: recovered where it has to be, examined, all its objects read.
fn open_and_examine(path: &str, r: &mut Random) {
    let options = OpenOptions::default().threads(1);
    if let Ok(file) = File::open(path, &options)
        && let Ok(keys) = file.list("", true)
    {
        for l in keys.iter().take(60) {
            let name = format!("{};{}", l.path, l.key.cycle);
            if l.key.is_tree() {
                let _ = file.tree(&name);
            } else if !l.key.is_directory()
                && let Ok(objects) = file.read_object(&name)
            {
                look(&objects);
            }
        }
        let _ = file.recovered().map(sapwood::Recovered::lost);
    }
    let _ = examine(path, &options, &ExamineOptions::default().deep(r.below(4) == 0));
}

#[test]
fn files_without_an_end() {
    let folder = common::Folder::new();
    let path = folder.file("damaged.root");
    let names = ["objects", "leaves", "split", "codecs"];
    let files: Vec<Vec<u8>> = names.iter().map(|n| std::fs::read(format!("{FOLDER}/{n}.root")).unwrap()).collect();
    cases::run("files without an end", 700, |r| {
        let mut bytes = r.pick::<Vec<u8>>(&files).clone();
        match r.below(3) {
            0 => bytes.truncate(r.below(bytes.len())),
            // its directory is gone
            1 => bytes[12..20].fill(0xff),
            _ => {}
        }
        let other = r.pick::<Vec<u8>>(&files);
        damage(&mut bytes, other, r);
        std::fs::write(&path, &bytes).unwrap();
        open_and_examine(&path, r);
        bytes.len()
    });
}

#[test]
fn whole_files_are_healthy() {
    let names = ["objects", "leaves", "split", "codecs", "collections", "whole", "types"];
    cases::all("whole files", &names, ToString::to_string, |name| {
        let path = format!("{FOLDER}/{name}.root");
        let found = examine(&path, &OpenOptions::default(), &ExamineOptions::default().deep(true)).unwrap();
        assert!(found.is_healthy() && found.keys > 0, "{name}: {:?}", found.findings);
        assert!(File::open(&path, &OpenOptions::default()).unwrap().recovered().is_none());
        std::fs::metadata(&path).map_or(0, |m| m.len() as usize)
    });
}
