use crate::column::Buffer;
use crate::entry_list::trees;
use crate::text::{Text, texts, told};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use sapwood::{Data, EntryListObject, Numbers, Object, Objects, Value, Values};

/// Builds the Python objects for an object of a file, with the functions that a factory offers:
///
/// - `make(class, bases)`: an empty object of this class, whose bases are called so;
/// - `fill(made, version, bases, members, content)`: what it holds, `members` a dict by name;
/// - `string(bytes, unique_id)`: a TObjString; `text(bytes)`, `array(buffer, shape)`, `pairs(list)`, `refused(class, why)`: values.
pub(crate) struct Builder<'a, 'py> {
    py: Python<'py>,
    objects: &'a Objects,
    factory: &'a Bound<'py, PyAny>,
    /// The objects that are pointed to, made before they are filled: they may point to each other in circles.
    made: Vec<Bound<'py, PyAny>>,
}

impl<'a, 'py> Builder<'a, 'py> {
    /// The key's object.
    pub(crate) fn build(
        py: Python<'py>,
        objects: &'a Objects,
        factory: &'a Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut builder = Self { py, objects, factory, made: Vec::new() };
        for object in objects.all() {
            builder.made.push(builder.make(object)?);
        }
        for (object, made) in objects.all().iter().zip(&builder.made) {
            builder.fill(object, made)?;
        }
        Ok(builder.made[0].clone())
    }

    fn make(&self, object: &Object) -> PyResult<Bound<'py, PyAny>> {
        if let Some(text) = objstring(object) {
            let id = object.member("fUniqueID").and_then(Value::as_i64).unwrap_or(0);
            return self.factory.call_method1("string", (PyBytes::new(self.py, text), id));
        }
        let mut bases = Vec::new();
        all_bases(object, &mut bases);
        self.factory.call_method1("make", (Text::from(&object.class.name), texts(bases)))
    }

    fn fill(&self, object: &Object, made: &Bound<'py, PyAny>) -> PyResult<()> {
        if objstring(object).is_some() {
            return Ok(());
        }
        let bases = object.bases().map(|b| self.value(b)).collect::<PyResult<Vec<_>>>()?;
        let members = PyDict::new(self.py);
        for (name, value) in object.members() {
            members.set_item(Text::from(name), self.value(value)?)?;
        }
        let content = match is_list_of_entries(object) {
            true => self.list_of_entries(object)?,
            false => self.value(&object.content)?,
        };
        self.factory.call_method1("fill", (made, object.class.version, bases, members, content))?;
        Ok(())
    }

    fn value(&self, value: &Value) -> PyResult<Bound<'py, PyAny>> {
        let py = self.py;
        Ok(match value {
            Value::Null => py.None().into_bound(py),
            Value::Bool(b) => b.into_pyobject(py)?.to_owned().into_any(),
            Value::Int(i) => i.into_pyobject(py)?.into_any(),
            Value::UInt(u) => u.into_pyobject(py)?.into_any(),
            Value::Float(x) => x.into_pyobject(py)?.into_any(),
            Value::Double(x) => x.into_pyobject(py)?.into_any(),
            Value::Text(bytes) => self.factory.call_method1("text", (PyBytes::new(py, bytes),))?,
            Value::Numbers(n) => self.numbers(n)?,
            Value::List(items) => {
                let list = PyList::empty(py);
                for item in items {
                    list.append(self.value(item)?)?;
                }
                list.into_any()
            }
            Value::Map(pairs) => {
                let list = PyList::empty(py);
                for (key, item) in pairs {
                    list.append((self.value(key)?, self.value(item)?))?;
                }
                self.factory.call_method1("pairs", (list,))?
            }
            Value::Object(object) => {
                let made = self.make(object)?;
                self.fill(object, &made)?;
                made
            }
            Value::Pointer(i) => match self.made.get(*i) {
                Some(made) => made.clone(),
                None => py.None().into_bound(py),
            },
            Value::Refused(i) => match self.objects.refused().get(*i) {
                Some(r) => self.factory.call_method1("refused", (Text::from(&r.class), told(&r.why)))?,
                None => py.None().into_bound(py),
            },
        })
    }

    /// The parts of an entry list: (tree, file, numbers of entries, instances).
    fn list_of_entries(&self, object: &Object) -> PyResult<Bound<'py, PyAny>> {
        match EntryListObject::of(self.objects, object) {
            Ok(list) => Ok(trees(&list).into_pyobject(self.py)?.into_any()),
            Err(why) => self.factory.call_method1("refused", (Text::from(&object.class.name), told(why.what()))),
        }
    }

    fn numbers(&self, n: &Numbers) -> PyResult<Bound<'py, PyAny>> {
        let values = match n.data.clone() {
            Data::Bool(v) => Values::Bool(v),
            Data::I8(v) => Values::I8(v),
            Data::U8(v) => Values::U8(v),
            Data::I16(v) => Values::I16(v),
            Data::U16(v) => Values::U16(v),
            Data::I32(v) => Values::I32(v),
            Data::U32(v) => Values::U32(v),
            Data::I64(v) => Values::I64(v),
            Data::U64(v) => Values::U64(v),
            Data::F32(v) => Values::F32(v),
            Data::F64(v) => Values::F64(v),
        };
        self.factory.call_method1("array", (Buffer::new(values), n.shape.clone()))
    }
}

/// The text of a TObjString, or of a string that is pointed to: it becomes a `str`, which cannot be filled later.
fn objstring(object: &Object) -> Option<&[u8]> {
    match (object.class.name.as_str(), &object.content, object.member("fString")) {
        ("TString" | "string", Value::Text(text), _) | ("TObjString", _, Some(Value::Text(text))) => Some(text),
        _ => None,
    }
}

fn is_list_of_entries(object: &Object) -> bool {
    object.is_a("TEntryList") || object.is_a("TEventList")
}

/// Names of the classes that an object derives from, nearest first.
fn all_bases<'o>(object: &'o Object, out: &mut Vec<&'o str>) {
    let bases = object.bases().filter_map(|b| match b {
        Value::Object(o) => Some(&**o),
        _ => None,
    });
    for base in bases {
        out.push(&base.class.name);
        all_bases(base, out);
    }
}
