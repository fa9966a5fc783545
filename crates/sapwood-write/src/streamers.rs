use crate::buffer::{Mark, ObjectBuffer};
use crate::classes::{self, CLASSES, Class, Member};
use sapwood_span::Result;

/// `TVirtualStreamerInfo::EReadWrite`'s codes of what is not a plain number.
mod code {
    pub(super) const BASE: i32 = 0;
    pub(super) const TABLE: i32 = 40;
    pub(super) const OBJECT: i32 = 61;
    pub(super) const ANY: i32 = 62;
    pub(super) const POINTER: i32 = 64;
    pub(super) const TSTRING: i32 = 65;
    pub(super) const TOBJECT: i32 = 66;
    pub(super) const TNAMED: i32 = 67;
    pub(super) const STL: i32 = 500;
}

/// `TStreamerInfo`'s mark of a class that ROOT itself compiles.
const INFO_BITS: u32 = 0x1_0000;

/// The payload of the streamer info record: a `TList` of all classes that trees are made of.
pub(crate) fn record(key_len: usize) -> Result<Vec<u8>> {
    let mut b = ObjectBuffer::new(key_len);
    let list = b.begin(5);
    b.object(0);
    b.string("");
    b.i32(CLASSES.len() as i32);
    for class in CLASSES {
        info(&mut b, class);
        b.u8(0);
    }
    b.end(list);
    b.finish()
}

fn info(b: &mut ObjectBuffer, class: &Class) {
    let (object, _) = b.begin_object("TStreamerInfo");
    let body = b.begin(10);
    b.named(INFO_BITS, class.name, "");
    b.u32(class.checksum);
    b.i32(i32::from(class.version));
    let (array_object, _) = b.begin_object("TObjArray");
    let array = b.begin_array(class.members.len());
    for m in class.members {
        member(b, class, m);
    }
    b.end(array);
    b.end(array_object);
    b.end(body);
    b.end(object);
}

fn member(b: &mut ObjectBuffer, class: &Class, member: &Member) {
    match *member {
        Member::Base(name) => {
            let (version, checksum) = classes::find(name).map_or((0, 0), |c| (c.version, c.checksum));
            let kind = match name {
                "TObject" => code::TOBJECT,
                "TNamed" => code::TNAMED,
                _ => code::BASE,
            };
            let open = element(b, "TStreamerBase", 3, &Element { name, kind, type_name: "BASE", checksum, ..PLAIN });
            b.i32(i32::from(version));
            close(b, open);
        }
        Member::Simple(name, basic) => {
            let (kind, type_name, size) = basic.facts();
            let open = element(b, "TStreamerBasicType", 2, &Element { name, kind, size, type_name, ..PLAIN });
            close(b, open);
        }
        Member::Table(name, basic, counter) => {
            let (kind, of, size) = basic.facts();
            let (type_name, title) = (&*format!("{of}*"), &*format!("[{counter}]"));
            let kind = kind + code::TABLE;
            let e = Element { name, title, kind, size, type_name, ..PLAIN };
            let open = element(b, "TStreamerBasicPointer", 2, &e);
            b.i32(i32::from(class.version));
            b.string(counter);
            b.string(class.name);
            close(b, open);
        }
        Member::Text(name) => {
            let e = Element { name, kind: code::TSTRING, size: 24, type_name: "TString", ..PLAIN };
            let open = element(b, "TStreamerString", 2, &e);
            close(b, open);
        }
        Member::Object(name, type_name, size) => {
            let e = Element { name, kind: code::OBJECT, size, type_name, ..PLAIN };
            let open = element(b, "TStreamerObject", 2, &e);
            close(b, open);
        }
        Member::Any(name, type_name, size) => {
            let e = Element { name, kind: code::ANY, size, type_name, ..PLAIN };
            let open = element(b, "TStreamerObjectAny", 2, &e);
            close(b, open);
        }
        Member::Pointer(name, type_name) => {
            let e = Element { name, kind: code::POINTER, size: 8, type_name, ..PLAIN };
            let open = element(b, "TStreamerObjectPointer", 2, &e);
            close(b, open);
        }
        Member::Strings(name) => {
            let e = Element { name, kind: code::STL, size: 24, type_name: "vector<string>", ..PLAIN };
            let open = element(b, "TStreamerSTL", 3, &e);
            // A std::vector (1) of class objects (61).
            b.i32(1);
            b.i32(code::OBJECT);
            close(b, open);
        }
    }
}

struct Element<'a> {
    name: &'a str,
    title: &'a str,
    kind: i32,
    size: i32,
    type_name: &'a str,
    /// Of a base class; it lies where other elements have the second dimension of an array.
    checksum: u32,
}

const PLAIN: Element<'static> = Element { name: "", title: "", kind: 0, size: 0, type_name: "", checksum: 0 };

fn element(b: &mut ObjectBuffer, class: &'static str, version: u16, e: &Element<'_>) -> [Mark; 2] {
    let (object, _) = b.begin_object(class);
    let body = b.begin(version);
    let base = b.begin(4);
    b.named(0, e.name, e.title);
    b.i32(e.kind);
    b.i32(e.size);
    // No array: length and dimensions.
    b.i32(0);
    b.i32(0);
    for n in [0, e.checksum, 0, 0, 0] {
        b.u32(n);
    }
    b.string(e.type_name);
    b.end(base);
    [object, body]
}

fn close(b: &mut ObjectBuffer, [object, body]: [Mark; 2]) {
    b.end(body);
    b.end(object);
}
