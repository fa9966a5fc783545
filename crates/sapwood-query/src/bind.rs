//! Expressions to a program: names to columns, brackets to steps, rows to spaces.

use crate::Aliases;
use crate::alias::expand;
use crate::ast::{Ast, AstKind, Expr, Index, Op, Special};
use crate::exact::mark;
use crate::function::{RANDOM, callable_names, constant, functions, nullary};
use crate::method_formula::{REAL, WHOLE};
use crate::number::to_i64;
use crate::parse::special;
use crate::program::{
    Access, Aggregate, Fold, Level, Node, NodeKind, Output, Program, Space, Step, TextNode, TextPair,
};
use crate::random::SEED;
use crate::shape::{Collection, Dim, Kind, Schema, Shape};
use crate::text::{error_at, kind_at, shortened, shown_at, some_of, suggestion};
use crate::token::name_at;
use sapwood_column::DType;
use sapwood_span::raw_text::bytes_of;
use sapwood_span::{Error, ErrorKind, Result};

/// Which instances of an entry make a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Running {
    /// All expressions and the selection run together, to the shortest: TTree::Draw.
    Together,
    /// Each expression runs by itself unless the selection has instances: TTree::Scan.
    Apart,
}

/// Binds expressions and a selection to what a tree offers.
pub(crate) fn bind<S: Schema + ?Sized>(
    exprs: &[Expr],
    cut: Option<&Expr>,
    schema: &S,
    running: Running,
) -> Result<Program> {
    let exprs = exprs.iter().map(|e| expand(e, schema)).collect::<Result<Vec<_>>>()?;
    let cut = cut.map(|e| expand(e, schema)).transpose()?;
    let mut b = Binder::new(schema);
    if running == Running::Apart {
        let bound = b.cut(cut.as_ref())?;
        // a selection with instances of its own makes everything run together
        if b.spaces.first().is_some_and(|s| s.dims == 0) {
            let mut outputs = Vec::with_capacity(exprs.len());
            let mut apart = Vec::with_capacity(exprs.len());
            for e in &exprs {
                b.begin(e);
                let space = b.new_space();
                let (kind, mut node) = b.output(&e.ast, space)?;
                // a scan asks for each row
                node.alternatives_by_row();
                outputs.push((kind, node));
                apart.push(space);
            }
            let mut program = Program {
                columns: b.columns,
                spaces: b.spaces,
                outputs,
                cut: bound,
                apart: Some(apart),
                has_blanks: true,
            };
            mark(&mut program);
            return Ok(program);
        }
        b = Binder::new(schema);
    }
    let mut outputs = Vec::with_capacity(exprs.len());
    for e in &exprs {
        b.begin(e);
        outputs.push(b.output(&e.ast, 0)?);
    }
    let cut = b.cut(cut.as_ref())?;
    let mut program = Program {
        columns: b.columns,
        spaces: b.spaces,
        outputs,
        cut,
        apart: None,
        has_blanks: running == Running::Apart,
    };
    mark(&mut program);
    Ok(program)
}

struct Binder<'a, S: ?Sized> {
    schema: &'a S,
    columns: Vec<(String, Shape)>,
    spaces: Vec<Space>,
    text: &'a str,
    /// The aliases that were given to the expression.
    given: Option<&'a Aliases>,
    /// Random numbers so far.
    randoms: u64,
}

enum Value {
    Number(Node),
    Text(TextNode, Level),
}

fn constant_node(value: f64) -> Node {
    Node { kind: NodeKind::Number(value), level: Level::Constant, integer: false }
}

impl<'a, S: Schema + ?Sized> Binder<'a, S> {
    fn new(schema: &'a S) -> Self {
        Self { schema, columns: Vec::new(), spaces: vec![Space::default()], text: "", given: None, randoms: 0 }
    }

    fn error(&self, at: usize, message: &str) -> Error {
        error_at(self.text, at, &format!("{message}{}", self.in_alias(at)))
    }

    /// An error about a name that does not exist.
    fn missing(&self, at: usize, message: &str) -> Error {
        kind_at(ErrorKind::NotFound, self.text, at, &format!("{message}{}", self.in_alias(at)))
    }

    /// What the alias at this place stands for: the error arose in it, and the text does not show it.
    fn in_alias(&self, at: usize) -> String {
        let name = self.text.get(at..).map(name_at).unwrap_or_default();
        if name.is_empty() || self.schema.is_plain(name) {
            return String::new();
        }
        let ends = std::iter::once(name.len()).chain(name.rmatch_indices('.').map(|(dot, _)| dot));
        let found = ends.filter_map(|end| name.get(..end)).find_map(|front| {
            let given = self.given.and_then(|given| given.get(front)).map(str::to_owned);
            given.or_else(|| self.schema.alias(front)).map(|text| (front, text))
        });
        found.map_or_else(String::new, |(front, text)| format!(", in the alias {front} = {}", shortened(&text)))
    }

    /// Errors are about this expression from now on.
    fn begin(&mut self, e: &'a Expr) {
        (self.text, self.given) = (&e.text, Some(&e.aliases));
    }

    fn cut(&mut self, cut: Option<&'a Expr>) -> Result<Option<Node>> {
        let Some(e) = cut else { return Ok(None) };
        self.begin(e);
        self.formula(&e.ast, 0).map(Some)
    }

    fn output(&mut self, ast: &Ast, space: usize) -> Result<(Output, Node)> {
        let whole = self.without_spare_brackets(ast);
        let ast = whole.as_ref().unwrap_or(ast);
        Ok(match self.value(ast, space)? {
            Value::Text(t, level) => {
                (Output::Text(t), Node { kind: NodeKind::Number(f64::NAN), level, integer: false })
            }
            Value::Number(node) => match node.kind {
                NodeKind::Access(a) if !self.spaces[space].accesses[a].is_computed() => (Output::Plain(a), node),
                _ => (Output::Computed, node.with_alternatives_by_row(&self.spaces[space].accesses)),
            },
        })
    }

    /// As in ROOT, brackets behind a string that is drawn mean nothing. Anywhere else they are refused: what is compared with
    /// `tag[0]` would be the whole string.
    fn without_spare_brackets(&self, ast: &Ast) -> Option<Ast> {
        let AstKind::Name { name, indices, plain } = &ast.kind else { return None };
        let shape = self.schema.shape(name).filter(|s| s.kind == Kind::Text && indices.len() > s.dims.len())?;
        if self.schema.characters(name).is_some() {
            return None;
        }
        let indices = indices.get(..shape.dims.len())?.to_vec();
        Some(Ast { kind: AstKind::Name { name: name.clone(), indices, plain: *plain }, at: ast.at, depth: ast.depth })
    }

    /// A number by itself, as an output, a selection or what stands in `Sum$`.
    fn formula(&mut self, ast: &Ast, space: usize) -> Result<Node> {
        let node = self.number(ast, space)?;
        Ok(node.with_alternatives_by_row(&self.spaces[space].accesses))
    }

    fn number(&mut self, ast: &Ast, space: usize) -> Result<Node> {
        match self.value(ast, space)? {
            Value::Number(n) => Ok(n),
            Value::Text(..) => {
                let message =
                    "a string is not a number; compare it with == or !=, or search it with strstr(text, part)";
                Err(self.error(ast.at, message))
            }
        }
    }

    fn value(&mut self, ast: &Ast, space: usize) -> Result<Value> {
        let node = match &ast.kind {
            AstKind::Number(x) => constant_node(*x),
            AstKind::Whole(x) => Node { kind: NodeKind::Whole(*x), level: Level::Constant, integer: false },
            AstKind::Text(s) => {
                return Ok(Value::Text(TextNode::Literal(bytes_of(s).into_owned()), Level::Constant));
            }
            AstKind::Name { name, indices, plain } => return self.name(ast, name, indices, *plain, space),
            AstKind::Size { name, container } => self.size(ast, name, *container, space)?,
            AstKind::Method { method, .. } => {
                return Err(self.error(ast.at, &format!("{method}() cannot be called here")));
            }
            AstKind::Special(Special::LocalEntries) => self.local_entries(ast)?,
            AstKind::Special(s) => special_node(*s),
            AstKind::Negate(a) => {
                let a = self.number(a, space)?;
                Node { level: a.level, integer: false, kind: NodeKind::Negate(Box::new(a)) }
            }
            AstKind::Not(a) => {
                let a = self.number(a, space)?;
                Node { level: a.level, integer: false, kind: NodeKind::Not(Box::new(a)) }
            }
            AstKind::Binary(op, a, b) => self.binary(ast, *op, a, b, space)?,
            AstKind::Select(c, a, b) => {
                let (c, a, b) = (self.number(c, space)?, self.number(a, space)?, self.number(b, space)?);
                Node {
                    level: c.level.max(a.level).max(b.level),
                    integer: false,
                    kind: NodeKind::Select(Box::new(c), Box::new(a), Box::new(b)),
                }
            }
            AstKind::Call(name, args) => self.call(ast, name, args, space)?,
        };
        Ok(Value::Number(node))
    }

    fn binary(&mut self, ast: &Ast, op: Op, a: &Ast, b: &Ast, space: usize) -> Result<Node> {
        let (a_at, b_at) = (a.at, b.at);
        let (a, b) = match (self.value(a, space)?, self.value(b, space)?) {
            (Value::Number(a), Value::Number(b)) => (a, b),
            (Value::Text(left, l), Value::Text(right, r)) if matches!(op, Op::Equal | Op::NotEqual) => {
                let kind = NodeKind::TextEqual { equal: op == Op::Equal, left, right };
                return Ok(Node { kind, level: l.max(r).max(Level::Entry), integer: false });
            }
            (Value::Text(..), Value::Text(..)) => {
                return Err(self.error(ast.at, "strings can only be compared with == and !="));
            }
            (Value::Text(..), Value::Number(_)) => return Err(self.mixed(op, a_at, "left", "right")),
            (Value::Number(_), Value::Text(..)) => return Err(self.mixed(op, b_at, "right", "left")),
        };
        Ok(Node { level: a.level.max(b.level), integer: false, kind: NodeKind::Binary(op, Box::new(a), Box::new(b)) })
    }

    /// Why an operator cannot have a string on one side and a number on the other.
    fn mixed(&self, op: Op, at: usize, text: &str, number: &str) -> Error {
        let takes = match op {
            Op::Equal | Op::NotEqual => "compares two numbers or two strings",
            _ => "takes two numbers",
        };
        let message = format!("{} {takes}: the {text} side is a string, the {number} side is a number", op.sign());
        self.error(at, &message)
    }

    /// The number of the column with this name and shape.
    fn column(&mut self, name: &str, shape: Shape) -> usize {
        self.columns.iter().position(|(n, s)| n == name && *s == shape).unwrap_or_else(|| {
            self.columns.push((name.to_string(), shape));
            self.columns.len() - 1
        })
    }

    fn unknown(&self, at: usize, name: &str) -> Error {
        if let Some(e) = self.schema.refusal(name) {
            let what = shown_at(self.text, at, e.what());
            return e.worded(what);
        }
        let names = self.schema.names();
        let near = suggestion(name, names.iter().map(String::as_str));
        let file = name.trim_end_matches('+');
        let is_macro = [".C", ".cxx", ".cpp", ".cc"].iter().any(|ending| file.ends_with(ending));
        let is_macro = is_macro.then(|| "C++ macros cannot be run".to_owned());
        let elsewhere = self.schema.elsewhere(name).or(is_macro).map(|place| format!("; {place}"));
        let instead = if near.is_empty() && elsewhere.is_none() { some_of(&names) } else { near };
        let elsewhere = elsewhere.unwrap_or_default();
        let message = format!("the tree has no branch {name} that an expression can read{instead}{elsewhere}");
        self.missing(at, &message)
    }

    fn name(&mut self, ast: &Ast, name: &str, indices: &[Index], plain: bool, space: usize) -> Result<Value> {
        let Some(mut shape) = self.schema.shape(name) else {
            return match constant(name) {
                Some(value) if plain && indices.is_empty() => Ok(Value::Number(constant_node(value))),
                None if plain && indices.is_empty() && name == RANDOM => Ok(Value::Number(self.random(SEED))),
                _ => Err(self.unknown(ast.at, name)),
            };
        };
        if let Some(collection) = self.schema.collection(name) {
            return Err(self.objects(ast, name, &collection));
        }
        if shape.kind == Kind::Text
            && indices.len() > shape.dims.len()
            && let Some(characters) = self.schema.characters(name)
        {
            shape = characters;
        }
        let column = self.column(name, shape.clone());
        let (steps, level) = self.steps(ast, name, &shape, indices, space)?;
        let free = steps.iter().filter(|s| matches!(s, Step::Free(_))).count();
        let target = &mut self.spaces[space];
        target.dims = target.dims.max(free);
        let access = Access { column, steps, level };
        // a branch that is mentioned again is the same one
        let access = target.accesses.iter().position(|a| a.is_same(&access)).unwrap_or_else(|| {
            target.accesses.push(access);
            target.accesses.len() - 1
        });
        Ok(match shape.kind {
            Kind::Text => Value::Text(TextNode::Access(access), level),
            Kind::Number(dtype) => Value::Number(Node {
                kind: NodeKind::Access(access),
                level,
                integer: !matches!(dtype, DType::F32 | DType::F64) && self.schema.has_whole_bins(name),
            }),
            Kind::Record => return Err(self.objects(ast, name, &Collection::default())),
        })
    }

    /// Why objects cannot be computed with, and what can be.
    fn objects(&self, ast: &Ast, name: &str, collection: &Collection) -> Error {
        let mut instead = Vec::new();
        if !collection.members.is_empty() {
            instead.push(format!("specify a member ({})", collection.members.join(", ")));
        }
        if collection.is_countable {
            instead.push(format!("count them with @{name}.size()"));
        }
        let instead = if instead.is_empty() { String::new() } else { format!("; {}", instead.join(" or ")) };
        self.error(ast.at, &format!("{name} contains objects, not numbers{instead}"))
    }

    /// One step per level of nesting; levels without brackets become instances.
    fn steps(
        &mut self,
        ast: &Ast,
        name: &str,
        shape: &Shape,
        indices: &[Index],
        space: usize,
    ) -> Result<(Vec<Step>, Level)> {
        let mut level = Level::Entry;
        let mut steps = Vec::with_capacity(shape.dims.len());
        let mut free = 0;
        let mut computed = false;
        for (i, dim) in shape.dims.iter().enumerate() {
            let index = match indices.get(i) {
                None | Some(Index::All) => {
                    if computed && *dim == Dim::Jagged {
                        let message = format!("{name}: a computed index cannot be followed by all items of a list");
                        return Err(self.error(ast.at, &message));
                    }
                    level = Level::Row;
                    steps.push(Step::Free(free));
                    free += 1;
                    continue;
                }
                Some(Index::At(index)) => index,
            };
            let node = self.number(index, space)?;
            if node.level != Level::Constant {
                level = level.max(node.level);
                computed = true;
                steps.push(Step::Computed(Box::new(node)));
                continue;
            }
            let item = to_i64(crate::eval::constant_value(&node));
            let Ok(item) = usize::try_from(item) else {
                let message = format!("{name} has no item {item}; the last one is [Length$({name})-1]");
                return Err(self.error(index.at, &message));
            };
            if let Dim::Fixed(n) = dim
                && item >= *n
            {
                let message = format!("{name} has {n} items here, the last one is [{}]", n.saturating_sub(1));
                return Err(self.error(index.at, &message));
            }
            steps.push(Step::At(item));
        }
        self.check_spare(ast, name, shape, indices)?;
        Ok((steps, level))
    }

    /// As in ROOT, brackets behind the last level of nesting mean nothing: `s[3]` of one number is that number. Those of a
    /// string would be its characters.
    fn check_spare(&self, ast: &Ast, name: &str, shape: &Shape, indices: &[Index]) -> Result<()> {
        let levels = shape.dims.len();
        if shape.kind != Kind::Text || indices.len() <= levels {
            return Ok(());
        }
        let message =
            format!("{name} is a string, and an index would be one of its characters; compare the string itself");
        Err(self.error(ast.at, &message))
    }

    /// How many items a branch has in an entry, or bytes where it is a string.
    fn size(&mut self, ast: &Ast, name: &str, container: bool, space: usize) -> Result<Node> {
        let Some(shape) = self.schema.shape(name) else { return Err(self.unknown(ast.at, name)) };
        let collection = self.schema.collection(name);
        if let Some(single) = collection.as_ref().filter(|c| !c.is_countable) {
            return Err(self.objects(ast, name, single));
        }
        if collection.as_ref().is_some_and(|c| c.is_clones && !c.is_split) && shape.dims.len() > 1 {
            let message =
                format!("{name} is a collection in each object of another, which cannot be counted one by one");
            return Err(self.error(ast.at, &message));
        }
        let text = shape.kind == Kind::Text && shape.dims.is_empty();
        let integer = text || collection.as_ref().is_some_and(|c| c.is_clones);
        if collection.is_some_and(|c| c.is_split) {
            // the column itself counts
            let column = self.column(name, shape);
            let target = &mut self.spaces[space];
            target.accesses.push(Access { column, steps: Vec::new(), level: Level::Entry });
            let kind = NodeKind::Access(target.accesses.len() - 1);
            return Ok(Node { kind, level: Level::Entry, integer });
        }
        if !container && shape.kind == Kind::Text && !shape.dims.is_empty() {
            // of each string, as ROOT has it
            let Value::Text(text, level) = self.name(ast, name, &[], false, space)? else {
                return Err(self.error(ast.at, &format!("{name} contains no strings")));
            };
            return Ok(Node { kind: NodeKind::TextSize(text), level, integer: true });
        }
        if shape.dims.is_empty() && shape.kind != Kind::Text {
            return Err(self.error(ast.at, &format!("{name} has one value in each entry and no size")));
        }
        let column = self.column(name, shape);
        Ok(Node { kind: NodeKind::Size(column), level: Level::Entry, integer })
    }

    fn call(&mut self, ast: &Ast, name: &str, args: &[Ast], space: usize) -> Result<Node> {
        if let ([value], WHOLE | REAL) = (args, name) {
            return self.number(value, space).map(|node| Node { integer: name == WHOLE, ..node });
        }
        if let Some(node) = self.special_call(ast, name, args, space)? {
            return Ok(node);
        }
        if let Some(value) = nullary(name)
            && args.is_empty()
        {
            return Ok(constant_node(value));
        }
        let known = functions(name);
        if known.is_empty() {
            if special(name).is_some() {
                return Err(self.error(ast.at, &format!("{name} takes no arguments: write it without parentheses")));
            }
            let hint = suggestion(name, callable_names());
            return Err(self.missing(ast.at, &format!("unknown function {name}{hint}")));
        }
        let Some(f) = known.iter().find(|f| f.kernel.arity() == args.len()).copied() else {
            let allowed: Vec<usize> = known.iter().map(|f| f.kernel.arity()).collect();
            return Err(self.wrong_arity(ast, name, args, &allowed));
        };
        let nodes = args.iter().map(|a| self.number(a, space)).collect::<Result<Vec<_>>>()?;
        Ok(Node {
            level: nodes.iter().map(|n| n.level).max().unwrap_or(Level::Constant),
            integer: false,
            kind: NodeKind::Call(f, nodes),
        })
    }

    fn arity(&self, ast: &Ast, name: &str, args: &[Ast], allowed: &[usize]) -> Result<()> {
        if allowed.contains(&args.len()) { Ok(()) } else { Err(self.wrong_arity(ast, name, args, allowed)) }
    }

    fn wrong_arity(&self, ast: &Ast, name: &str, args: &[Ast], allowed: &[usize]) -> Error {
        let counts: Vec<String> = allowed.iter().map(usize::to_string).collect();
        let plural = if allowed == [1] { "" } else { "s" };
        let message = format!("{name} takes {} argument{plural}, not {}", counts.join(" or "), args.len());
        self.error(ast.at, &message)
    }

    fn special_call(&mut self, ast: &Ast, name: &str, args: &[Ast], space: usize) -> Result<Option<Node>> {
        let (fold, conditional) = match name {
            "Sum$" => (Fold::Sum, false),
            "Max$" => (Fold::Max, false),
            "Min$" => (Fold::Min, false),
            "Length$" => (Fold::Length, false),
            "MaxIf$" => (Fold::Max, true),
            "MinIf$" => (Fold::Min, true),
            "Alt$" => return self.alternative(ast, args, space).map(Some),
            RANDOM => return self.seeded(ast, args, space).map(Some),
            _ => {
                let Some(pair) = TextPair::of(name) else { return Ok(None) };
                return self.pair(ast, name, pair, args, space).map(Some);
            }
        };
        self.arity(ast, name, args, &[if conditional { 2 } else { 1 }])?;
        if fold == Fold::Length
            && let AstKind::Name { name, indices, .. } = &args[0].kind
            && indices.is_empty()
            && let Some(collection) = self.schema.collection(name)
        {
            if !collection.is_countable && self.schema.is_single(name) {
                return Ok(Some(self.single(name)));
            }
            return self.size(&args[0], name, true, space).map(|node| Some(Node { integer: true, ..node }));
        }
        let space = self.new_space();
        let body = match (fold, self.value(&args[0], space)?) {
            (_, Value::Number(n)) => n.with_alternatives_by_row(&self.spaces[space].accesses),
            (Fold::Length, Value::Text(_, level)) => Node { level, ..constant_node(0.0) },
            (_, Value::Text(..)) => {
                return Err(self.error(args[0].at, &format!("{name} requires numbers, not strings")));
            }
        };
        let mut condition = if conditional { Some(self.formula(&args[1], space)?) } else { None };
        if let Some(condition) = condition.as_mut().filter(|_| body.level == Level::Row) {
            // it is asked for each row of the body
            condition.alternatives_by_row();
        }
        let integer = fold == Fold::Length;
        let aggregate = Aggregate { fold, space, body, condition };
        Ok(Some(Node { kind: NodeKind::Aggregate(Box::new(aggregate)), level: Level::Entry, integer }))
    }

    /// The number of one object: behind a pointer there may be none.
    fn single(&mut self, name: &str) -> Node {
        let Some(shape) = self.schema.shape(name).filter(|s| !s.dims.is_empty()) else {
            return Node { integer: true, level: Level::Entry, ..constant_node(1.0) };
        };
        let column = self.column(name, shape);
        Node { kind: NodeKind::Size(column), level: Level::Entry, integer: true }
    }

    fn new_space(&mut self) -> usize {
        self.spaces.push(Space::default());
        self.spaces.len() - 1
    }

    fn alternative(&mut self, ast: &Ast, args: &[Ast], space: usize) -> Result<Node> {
        self.arity(ast, "Alt$", args, &[2])?;
        let inner = self.new_space();
        let body = self.formula(&args[0], inner)?;
        let dims = self.spaces[space].dims;
        let seen = self.spaces[space].accesses.len();
        let otherwise = self.number(&args[1], space)?;
        let grown = self.spaces[space].accesses[seen..].iter().any(|a| a.level == Level::Row);
        // Iteration$ is a value for each row, too
        if grown || otherwise.level == Level::Row || self.spaces[space].dims > dims {
            return Err(self.error(args[1].at, "the second argument of Alt$ cannot be an array"));
        }
        Ok(Node {
            integer: body.integer,
            level: Level::Entry,
            kind: NodeKind::Alternative { space: inner, body: Box::new(body), otherwise: Box::new(otherwise) },
        })
    }

    /// `rndm()` and `rndm(SEED)`.
    fn seeded(&mut self, ast: &Ast, args: &[Ast], space: usize) -> Result<Node> {
        self.arity(ast, RANDOM, args, &[0, 1])?;
        let Some(arg) = args.first() else { return Ok(self.random(SEED)) };
        let node = self.number(arg, space)?;
        if node.level != Level::Constant {
            return Err(self.error(arg.at, "the seed of rndm is a constant"));
        }
        Ok(self.random(crate::eval::constant_value(&node).to_bits()))
    }

    /// Another random number, different from the others of the query.
    fn random(&mut self, seed: u64) -> Node {
        self.randoms += 1;
        Node { kind: NodeKind::Random { seed, place: self.randoms }, level: Level::Row, integer: false }
    }

    fn local_entries(&self, ast: &Ast) -> Result<Node> {
        match self.schema.entries() {
            Some(entries) => Ok(Node { kind: NodeKind::Number(entries as f64), level: Level::Constant, integer: true }),
            None => Err(self.error(ast.at, "LocalEntries$ is known only for trees in files")),
        }
    }

    fn pair(&mut self, ast: &Ast, name: &str, pair: TextPair, args: &[Ast], space: usize) -> Result<Node> {
        self.arity(ast, name, args, &[2])?;
        match (self.value(&args[0], space)?, self.value(&args[1], space)?) {
            (Value::Text(a, l), Value::Text(b, r)) => {
                let level = l.max(r).max(Level::Entry);
                Ok(Node { kind: NodeKind::TextPair(pair, a, b), level, integer: false })
            }
            (Value::Number(_), _) => Err(self.two_strings(name, args[0].at)),
            (_, Value::Number(_)) => Err(self.two_strings(name, args[1].at)),
        }
    }

    fn two_strings(&self, name: &str, at: usize) -> Error {
        let whose = if name == "strstr" { "strstr requires" } else { "this method requires" };
        self.error(at, &format!("{whose} two strings: this is a number"))
    }
}

fn special_node(s: Special) -> Node {
    let (kind, level) = match s {
        Special::Entry => (NodeKind::EntryNumber, Level::Entry),
        Special::LocalEntry => (NodeKind::LocalEntry, Level::Entry),
        Special::Entries | Special::LocalEntries => (NodeKind::TotalEntries, Level::Entry),
        Special::Iteration => (NodeKind::Iteration, Level::Row),
        Special::Length => (NodeKind::RowCount, Level::Entry),
    };
    Node { kind, level, integer: true }
}
