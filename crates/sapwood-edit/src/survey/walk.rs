//! The walk through an object along its file's class descriptions.

use super::emit::FIRST_REFERENCE;
use super::steps::{Names, Op, Plan, Step, bare_array, is_essential};
use super::{Field, Mark, Name, Node, Survey};
use sapwood_format::cursor::{Cursor, VersionHeader};
use sapwood_format::streamer::{Streamers, code};
use sapwood_format::tree::width;
use sapwood_format::{Pointed, read_base_object, read_pointer};
use sapwood_span::{Error, Result};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Maximum nesting of objects: deeper is damage.
const DEEPEST: usize = 200;
/// Members visited, in any object and per byte: one that takes no bytes (an array without items) is rare.
const ANY_STEPS: usize = 1 << 20;
const STEPS_PER_BYTE: usize = 4;
/// Objects within any object, and bytes of one for each additional object: each uses some hundred bytes of memory here.
/// A branch with its leaf and its tables has 700 bytes in a tree's header.
const ANY_NODES: usize = 1 << 18;
const BYTES_PER_NODE: usize = 100;

/// Surveys an object of `class` in the decompressed payload of its key; `base` is the length of the key's label.
///
/// # Errors
/// `Corrupt` when the bytes do not follow the class descriptions, `Unsupported` when a class is not described.
pub fn survey<'a>(data: &'a [u8], base: usize, class: &str, streamers: &Streamers) -> Result<Survey<'a>> {
    let survey = Survey { data, base, marks: Vec::new(), nodes: Vec::new(), unknown: Vec::new() };
    let mut walk = Walk {
        survey,
        streamers,
        plans: HashMap::new(),
        names: Names::default(),
        counts: HashMap::new(),
        depth: 0,
        steps: ANY_STEPS + STEPS_PER_BYTE * data.len(),
    };
    let class = walk.name(class);
    let node = walk.node(class.clone(), None, 0, 0)?;
    let mut c = Cursor::new(data, base);
    walk.content(&mut c, &class, node)?;
    walk.survey.nodes[node].at.end = data.len();
    Ok(walk.survey)
}

/// The address of a name kept by [`Names`]: the same for equal names.
fn place(name: &Arc<str>) -> usize {
    name.as_ptr().addr()
}

pub(super) struct Walk<'a, 's> {
    pub(super) survey: Survey<'a>,
    streamers: &'s Streamers,
    /// Prepared classes, by the address of their name (each is stored once: the cost of names is paid once), by version
    /// and the checksum in place of one.
    plans: HashMap<(usize, i16, Option<u32>), Option<Arc<Plan>>>,
    names: Names,
    /// Members that count arrays: their values by object and the address of their name.
    counts: HashMap<(usize, usize), i64>,
    depth: usize,
    /// Members that may still be visited.
    steps: usize,
}

/// How much had been found at some time.
struct Checkpoint {
    marks: usize,
    nodes: usize,
    unknown: usize,
    depth: usize,
}

impl Walk<'_, '_> {
    fn checkpoint(&self) -> Checkpoint {
        let Survey { marks, nodes, unknown, .. } = &self.survey;
        Checkpoint { marks: marks.len(), nodes: nodes.len(), unknown: unknown.len(), depth: self.depth }
    }

    /// Discards what was found since, for an object that cannot be walked.
    fn forget_since(&mut self, then: &Checkpoint) {
        self.survey.marks.truncate(then.marks);
        self.survey.nodes.truncate(then.nodes);
        self.survey.unknown.truncate(then.unknown);
        self.depth = then.depth;
    }

    pub(super) fn name(&mut self, text: &str) -> Arc<str> {
        self.names.get(text)
    }

    fn node(&mut self, class: Arc<str>, via: Option<Name>, parent: usize, start: usize) -> Result<usize> {
        let n = self.survey.nodes.len();
        if n >= ANY_NODES + self.survey.data.len() / BYTES_PER_NODE {
            return Err(Error::unsupported(format!("contains more than {n} other objects, too many to process")));
        }
        self.survey.nodes.push(Node { class, via, parent, at: start..start, body: start, fields: Vec::new() });
        Ok(n)
    }

    pub(super) fn field(&mut self, node: usize, name: Option<Name>, code: i32, at: Range<usize>, version: i16) {
        if let (Some(name), Some(n)) = (name, self.survey.nodes.get_mut(node)) {
            n.fields.push(Field { name, code, at, version });
        }
    }

    pub(super) fn count(&mut self, v: &VersionHeader) {
        if let Some(end) = v.end {
            self.survey.marks.push((v.start, Mark::Count { end }));
        }
    }

    fn plan(&mut self, class: &Arc<str>, v: &VersionHeader, c: &mut Cursor) -> Result<Option<Arc<Plan>>> {
        // a class without versions has its checksum instead, unless its declared version is 0
        let said =
            if v.number <= 0 && v.end.is_some_and(|end| end >= c.pos() + 4) { c.clone().u32().ok() } else { None };
        if said.is_some()
            && let Some(plan) = self.planned(class, v.number, said)?
        {
            c.skip(4)?;
            return Ok(Some(plan));
        }
        self.planned(class, v.number, None)
    }

    /// A class in one version, or with a checksum; none if the file does not describe it.
    fn planned(&mut self, class: &Arc<str>, version: i16, checksum: Option<u32>) -> Result<Option<Arc<Plan>>> {
        let key = (place(class), version, checksum);
        if let Some(known) = self.plans.get(&key) {
            return Ok(known.clone());
        }
        let info = match checksum {
            Some(checksum) => self.streamers.find_checksum(class, checksum),
            None => self.streamers.find(class, i32::from(version)),
        };
        let info = info.cloned();
        self.steps(info.as_ref().map_or(0, |i| i.elements.len()))?;
        let plan = info.map(|i| Arc::new(Plan::new(&i, version, &mut self.names)));
        self.plans.insert(key, plan.clone());
        Ok(plan)
    }

    /// Walks the content of an object: the part after its class tag, or the whole of a member.
    fn content(&mut self, c: &mut Cursor, class: &Arc<str>, node: usize) -> Result<()> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Error::corrupt("objects are too deeply nested"));
        }
        let done = match &**class {
            "TList" | "THashList" => self.list(c, node),
            "TObjArray" => self.array(c, node),
            "TObjString" => self.string(c, node),
            "TObject" => self.object(c, node),
            "TStreamerInfo" => self.info(c, node),
            "TTreeIndex" => self.index(c, node),
            // the elements of a class description hold only numbers and texts
            _ if class.starts_with("TStreamer") => {
                let v = c.version()?;
                c.finish(&v)
            }
            _ => match bare_array(class) {
                Some(item) => self.bare(c, item, node, Some(Name::Array), 0),
                None => self.class(c, class, node),
            },
        };
        self.depth -= 1;
        done
    }

    pub(super) fn class(&mut self, c: &mut Cursor, class: &Arc<str>, node: usize) -> Result<()> {
        let v = c.version()?;
        self.count(&v);
        if &**class == "TNamed" {
            self.object(c, node)?;
            for name in [Name::Identifier, Name::Title] {
                let start = c.pos();
                c.string_bytes()?;
                self.field(node, Some(name), code::TSTRING, start..c.pos(), v.number);
            }
            return c.finish(&v);
        }
        let plan = match self.plan(class, &v, c)? {
            None if &**class == "TLeaf" && v.number == 2 => Some(Arc::new(Plan::leaf(&mut self.names))),
            plan => plan,
        };
        let Some(plan) = plan else {
            // some writers describe only TLeaf, with which every kind of leaf begins
            if class.starts_with("TLeaf") && &**class != "TLeaf" && v.end.is_some() {
                let base = self.name("TLeaf");
                self.class(c, &base, node)?;
                return c.finish(&v);
            }
            if v.end.is_some() && !is_essential(class) {
                let start = c.pos();
                c.finish(&v)?;
                self.suspect(start..c.pos(), class);
                return Ok(());
            }
            return Err(Error::unsupported(format!(
                "the file does not describe version {} of its class {class}",
                v.number
            )));
        };
        self.steps(plan.steps.len())?;
        for step in &plan.steps {
            self.member(c, step, plan.version, node)?;
        }
        c.finish(&v).map_err(|e| Error::corrupt(format!("{class}: {}", e.what())))
    }

    fn member(&mut self, c: &mut Cursor, step: &Step, version: i16, node: usize) -> Result<()> {
        let start = c.pos();
        match &step.op {
            Op::Base(base) => return self.content(c, base, node),
            Op::Number => c.skip(width(step.code)?)?,
            Op::Counter(name) => {
                self.counts.insert((node, place(name)), i64::from(c.i32()?));
            }
            Op::Array(n) => c.skip(n.saturating_mul(width(step.code - code::OFFSET_L)?))?,
            Op::Counted(by) => {
                let n = self.counted(node, by);
                let flag = c.u8()?;
                if flag != 0 && n > 0 {
                    let f = Field { name: step.name.unwrap_or(Name::Title), code: step.code, at: 0..0, version };
                    let item = width(super::array_code(&f, flag))?;
                    c.skip(usize::try_from(n).unwrap_or(usize::MAX).saturating_mul(item))?;
                }
            }
            Op::Text => drop(c.string_bytes()?),
            Op::CharStar => {
                let n = c.count(1)?;
                c.skip(n)?;
            }
            Op::Object0 => drop(read_base_object(c)?),
            Op::Pointer => self.pointer(c, step.name, node)?,
            Op::Object(class) => {
                if let Some(item) = bare_array(class) {
                    return self.bare(c, item, node, step.name, version);
                }
                let inner = self.node(class.clone(), step.name, node, start)?;
                self.guarded(c, class, inner)?;
            }
            Op::Loop { class, by, pointers } => {
                let v = c.version()?;
                self.count(&v);
                for _ in 0..self.counted(node, by) {
                    if *pointers {
                        self.pointer(c, step.name, node)?;
                    } else {
                        let inner = self.node(class.clone(), step.name, node, c.pos())?;
                        self.guarded(c, class, inner)?;
                    }
                }
                c.finish(&v)?;
            }
            Op::Numbers => {
                let v = c.version()?;
                c.finish(&v)?;
            }
            Op::Other => self.opaque(c)?,
        }
        self.field(node, step.name, step.code, start..c.pos(), version);
        Ok(())
    }

    fn steps(&mut self, members: usize) -> Result<()> {
        self.steps = self
            .steps
            .checked_sub(members)
            .ok_or_else(|| Error::corrupt("an object's parts would have far more members than it has bytes"))?;
        Ok(())
    }

    /// The value of a counting member of the same object, or of one of its base classes.
    fn counted(&self, node: usize, by: &Arc<str>) -> i64 {
        self.counts.get(&(node, place(by))).copied().unwrap_or(0)
    }

    /// Skips a member of an unknown kind.
    fn opaque(&mut self, c: &mut Cursor) -> Result<()> {
        let start = c.pos();
        let v = c.version()?;
        if v.end.is_none() {
            return Err(Error::unsupported("a member of unknown type without length"));
        }
        c.finish(&v)?;
        self.suspect(start..c.pos(), "a member");
        Ok(())
    }

    /// Records unparsed bytes, if they may contain a reference.
    fn suspect(&mut self, at: Range<usize>, class: &str) {
        let bytes = self.survey.data.get(at.clone()).unwrap_or_default();
        let limit = (self.survey.base + at.end) as u32;
        let tagged = bytes.windows(4).any(|w| {
            let tag = u32::from_be_bytes([w[0], w[1], w[2], w[3]]);
            tag == u32::MAX || (tag & 0x8000_0000 != 0 && tag & 0x7fff_ffff > 2 && tag & 0x7fff_ffff < limit)
        });
        if tagged {
            let class = self.name(class);
            self.survey.unknown.push((at, class));
        }
    }

    /// Walks an object with a byte count; one that cannot be walked is left unchanged.
    fn guarded(&mut self, c: &mut Cursor, class: &Arc<str>, node: usize) -> Result<()> {
        let start = c.pos();
        let before = self.checkpoint();
        if let Some(n) = self.survey.nodes.get_mut(node) {
            n.body = start;
        }
        let done = self.content(c, class, node);
        if let Err(e) = done {
            self.forget_since(&before);
            c.seek(start)?;
            let v = c.version()?;
            if v.end.is_none() || is_essential(class) {
                return Err(e);
            }
            c.finish(&v)?;
            self.suspect(start..c.pos(), class);
            if let Some(n) = self.survey.nodes.get_mut(node) {
                n.fields.clear();
            }
        }
        if let Some(n) = self.survey.nodes.get_mut(node) {
            n.at.end = c.pos();
        }
        Ok(())
    }

    /// Walks the target of a pointer, class tag included.
    pub(super) fn pointer(&mut self, c: &mut Cursor, via: Option<Name>, parent: usize) -> Result<()> {
        let start = c.pos();
        match read_pointer(c)? {
            Pointed::Null => {}
            Pointed::Reference(reference) => {
                // the tag follows a byte count, if there is one
                let tag = c.pos() - 4;
                let target = usize::try_from(reference)
                    .ok()
                    .and_then(|r| r.checked_sub(FIRST_REFERENCE + self.survey.base))
                    .filter(|t| *t < start);
                let Some(target) = target else {
                    return Err(Error::corrupt(format!("a reference to {reference} points outside of its object")));
                };
                self.survey.marks.push((tag, Mark::Object { target }));
            }
            Pointed::Object { class, end, .. } => {
                let Some(end) = end else {
                    return Err(Error::unsupported(format!("a {class} without a length, as written by ROOT 2")));
                };
                let class = self.name(&class);
                self.survey.marks.push((start, Mark::Count { end }));
                self.survey.marks.push((start + 4, Mark::Class { len: c.pos() - start - 4, class: class.clone() }));
                let node = self.node(class.clone(), via, parent, start)?;
                if &*class == "TBasket" {
                    if let Some(n) = self.survey.nodes.get_mut(node) {
                        (n.body, n.at.end) = (c.pos(), end);
                    }
                    return c.seek(end);
                }
                let body = c.pos();
                let before = self.checkpoint();
                if let Some(n) = self.survey.nodes.get_mut(node) {
                    n.body = body;
                }
                match self.content(c, &class, node) {
                    Ok(()) if c.pos() <= end => {}
                    Ok(()) => return Err(Error::corrupt(format!("a {class} extends beyond its end"))),
                    Err(e) if is_essential(&class) => return Err(e),
                    Err(_) => {
                        self.forget_since(&before);
                        self.suspect(body..end, &class);
                        if let Some(n) = self.survey.nodes.get_mut(node) {
                            n.fields.clear();
                        }
                        // the whole object is skipped, pointer included
                        if let Some(last) = self.survey.unknown.last_mut().filter(|(at, _)| *at == (body..end)) {
                            last.0 = start..end;
                        }
                    }
                }
                c.seek(end)?;
                if let Some(n) = self.survey.nodes.get_mut(node) {
                    n.at.end = end;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sapwood_format::{ClassInfo, Element};

    /// Each object of a class identified by its checksum used to prepare the whole class: 20 000 of one with 50 000
    /// members took seconds.
    #[test]
    fn a_class_is_made_ready_once_however_it_is_told() {
        let mut streamers = Streamers::default();
        let elements = vec![Element::default(); 3];
        streamers.add(ClassInfo { name: "M".to_owned(), version: 1, checksum: 7, elements });
        let mut walk = Walk {
            survey: Survey { data: &[], base: 0, marks: Vec::new(), nodes: Vec::new(), unknown: Vec::new() },
            streamers: &streamers,
            plans: HashMap::new(),
            names: Names::default(),
            counts: HashMap::new(),
            depth: 0,
            steps: 10,
        };
        let name = walk.name("M");
        for (version, checksum) in [(0, Some(7)), (1, None)] {
            let first = walk.planned(&name, version, checksum).unwrap().unwrap();
            let again = walk.name("M");
            assert!(Arc::ptr_eq(&first, &walk.planned(&again, version, checksum).unwrap().unwrap()));
        }
        assert!(walk.planned(&name, 0, Some(8)).unwrap().is_none());
        // three members, twice
        assert_eq!(walk.steps, 4);
    }
}
