use crate::buffer::{Mark, ObjectBuffer};
use crate::classes::Described;
use sapwood_format::streamer::code;
use sapwood_format::{ClassInfo, Element};
use sapwood_span::Result;

/// `TStreamerInfo`'s bits of a class whose description was compiled by ROOT (`TVirtualStreamerInfo::kIsCompiled`).
const INFO_BITS: u32 = 0x1_0000;

/// The payload of the streamer info record: a `TList` of all classes, then the rules.
pub(crate) fn record(described: &Described, key_len: usize) -> Result<Vec<u8>> {
    let mut b = ObjectBuffer::new(key_len);
    let rules = described.rules();
    let list = begin_list(&mut b, "", described.classes().len() + usize::from(!rules.is_empty()));
    for class in described.classes() {
        info(&mut b, class);
        b.u8(0);
    }
    if !rules.is_empty() {
        let (object, _) = b.begin_object("TList");
        let list = begin_list(&mut b, "listOfRules", rules.len());
        for rule in rules {
            let (object, _) = b.begin_object("TObjString");
            let body = b.begin(1);
            b.object(0);
            b.string(rule);
            b.end(body);
            b.end(object);
            b.u8(0);
        }
        b.end(list);
        b.end(object);
        b.u8(0);
    }
    b.end(list);
    b.finish()
}

fn begin_list(b: &mut ObjectBuffer, name: &str, len: usize) -> Mark {
    let list = b.begin(5);
    b.object(0);
    b.string(name);
    b.i32(len as i32);
    list
}

fn info(b: &mut ObjectBuffer, class: &ClassInfo) {
    let (object, _) = b.begin_object("TStreamerInfo");
    let body = b.begin(10);
    b.named(INFO_BITS, &class.name, "");
    b.u32(class.checksum);
    b.i32(class.version);
    let (array_object, _) = b.begin_object("TObjArray");
    let array = b.begin_array(class.elements.len());
    for e in &class.elements {
        element(b, e);
    }
    b.end(array);
    b.end(array_object);
    b.end(body);
    b.end(object);
}

/// Writes a member in the version that ROOT 6.40 has for its kind.
fn element(b: &mut ObjectBuffer, e: &Element) {
    let (object, _) = b.begin_object(&e.kind);
    let body = b.begin(match &*e.kind {
        "TStreamerBase" | "TStreamerSTL" => 3,
        _ => 2,
    });
    // a standard library string is described as a collection within
    let nested = (e.kind == "TStreamerSTLstring").then(|| b.begin(3));
    common(b, e);
    match &*e.kind {
        "TStreamerBase" => b.i32(e.base_version),
        "TStreamerBasicPointer" | "TStreamerLoop" => {
            b.i32(e.count_version);
            b.string(&e.count_name);
            b.string(&e.count_class);
        }
        "TStreamerSTL" | "TStreamerSTLstring" => {
            b.i32(e.stl);
            b.i32(e.content);
        }
        _ => {}
    }
    if let Some(mark) = nested {
        b.end(mark);
    }
    b.end(body);
    b.end(object);
}

/// The common part of all kinds of members: `TStreamerElement` version 4.
fn common(b: &mut ObjectBuffer, e: &Element) {
    let base = b.begin(4);
    b.named(0, &e.name, &e.title);
    // collections are written as "has its own streamer", for readers older than ROOT 3
    b.i32(if matches!(e.code, code::STL | code::STL_STRING) { code::STREAMER } else { e.code });
    b.i32(e.size);
    b.i32(e.array_len);
    b.i32(e.dims.len() as i32);
    for n in e.max_index {
        b.i32(n);
    }
    b.string(&e.type_name);
    b.end(base);
}
