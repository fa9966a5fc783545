use crate::{Item, Object};

/// Details that a column's type does not include and its numbers do not need: the classes of records, and which lists
/// are maps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// Numbers and strings.
    Plain,
    /// Lists and fixed arrays, of this.
    List(Box<Form>),
    /// Records.
    Record {
        /// Their C++ class, where they have one.
        class: Option<String>,
        /// Of each field.
        fields: Vec<Form>,
    },
    /// Keys and values of maps.
    Pair(Box<(Form, Form)>),
    /// The members of pairs and tuples, which have numbers instead of names.
    Tuple(Vec<Form>),
    /// Lists of one item, where there is a value, or none.
    Optional(Box<Form>),
    /// Records of such lists, of which at most one has an item: the alternatives of a `std::variant`.
    Variant(Vec<Form>),
}

impl Item {
    pub(crate) fn form(&self) -> Form {
        let record = |class: Option<String>, members: &[(String, Item)]| {
            let mut fields = Vec::new();
            add(members, &mut fields);
            Form::Record { class, fields }
        };
        let list = |item: &Item| Form::List(Box::new(item.form()));
        match self {
            Item::Fixed(_, item)
            | Item::Sequence(item)
            | Item::Records(item)
            | Item::Counted(_, item)
            | Item::Times(_, item)
            | Item::Triangle(_, item)
            | Item::Listed { item, .. } => list(item),
            Item::Headed(item) | Item::Named(item) | Item::Flagged(item) => item.form(),
            Item::Fused(f) => f.item.form(),
            Item::Object(o) | Item::Base(o) => record(Some(o.class.replace(" >", ">")), &o.members),
            Item::Members(members) => record(None, members),
            Item::Pair(pair) => Form::Pair(Box::new((pair.0.form(), pair.1.form()))),
            Item::Pointer(classes) | Item::Clones(classes) => match classes.as_slice() {
                [(_, item)] => list(item),
                many => Form::Record { class: None, fields: many.iter().map(|(_, i)| list(i)).collect() },
            },
            Item::Link(classes) if classes.len() > 1 => {
                Form::Record { class: None, fields: vec![Form::Plain, Form::Plain] }
            }
            Item::CloneLinks(classes) => list(&Item::Link(classes.clone())),
            Item::Graph { root, tables } => {
                let nothing = Form::Record { class: None, fields: Vec::new() };
                let tables =
                    tables.iter().map(|(_, i)| Form::List(Box::new(i.as_ref().map_or(nothing.clone(), Item::form))));
                Form::Record { class: None, fields: std::iter::once(root.form()).chain(tables).collect() }
            }
            Item::Absent(class) => Form::Record { class: Some(class.clone()), fields: Vec::new() },
            _ => Form::Plain,
        }
    }
}

/// The forms of the columns that members make.
fn add(members: &[(String, Item)], fields: &mut Vec<Form>) {
    for (_, item) in members {
        match item {
            Item::Skip(_) => {}
            Item::Base(Object { members, .. }) => add(members, fields),
            item => fields.push(item.form()),
        }
    }
}
