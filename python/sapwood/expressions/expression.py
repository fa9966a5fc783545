"""Expressions of branches in Python's syntax: parsed, checked against a list of allowed constructs, and computed with
numpy or awkward. ``eval`` is never used."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator

import numpy as np

from ..columns.strings import equal, is_utf8, unequal
from ..errors import InvalidError, KeyInFileError
from . import functions

_BINARY = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_, ast.BitXor: operator.xor, ast.LShift: operator.lshift, ast.RShift: operator.rshift,
}  # fmt: skip
_UNARY = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert, ast.Not: np.logical_not}
_COMPARE = {
    ast.Eq: equal, ast.NotEq: unequal, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip

#: What is refused, as people call it.
_REFUSED: dict[type[ast.AST], str] = {
    ast.IfExp: "`a if b else c` (use where(b, a, c))",
    ast.Lambda: "lambda",
    ast.ListComp: "a comprehension",
    ast.SetComp: "a comprehension",
    ast.DictComp: "a comprehension",
    ast.GeneratorExp: "a comprehension",
    ast.Dict: "a dictionary",
    ast.Set: "a set",
    ast.JoinedStr: "an f-string",
    ast.NamedExpr: ":=",
    ast.Starred: "*",
}
#: Operators on bits and conditions, which C++ and Python rank differently among comparisons.
_BITS: dict[type, str] = {ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}

_LONGEST = 10_000

#: Bits of the constants that are raised or shifted exactly.
_MOST_BITS = 64

#: Bytes that are not UTF-8 as escapes, which Python's parser accepts in strings.
_BYTES = {code: f"\\u{code:04x}" for code in range(0xDC80, 0xDD00)}


class Expression:
    """A parsed expression.

    Raises:
        InvalidError: not an expression, or part of it is not allowed.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        if len(text) > _LONGEST:
            raise InvalidError(f"the expression has {len(text)} characters; the limit is {_LONGEST}")
        try:
            # ROOT's users put spaces and line ends anywhere
            self._tree = ast.parse(" ".join(text.split()).translate(_BYTES), mode="eval").body
        except UnicodeEncodeError:
            raise InvalidError(f"{text!r} is not valid Unicode: it contains a lone surrogate") from None
        except SyntaxError as e:
            why = f"invalid Python expression {text!r}: {e.msg}{_hint(text)}"
            raise InvalidError(why + _caret(text, (e.offset or 1) - 1)) from e
        except (ValueError, RecursionError, MemoryError) as e:
            raise InvalidError(f"invalid Python expression {text!r}: {e}{_hint(text)}") from e
        self._check(self._tree, 0)

    def names(self) -> Iterator[str]:
        """All dotted names of branches, aliases and constants, in the order of the text."""
        yield from self._names(self._tree)

    def works_by_entry(self) -> bool:
        """Whether its value for an entry is known to depend on that entry alone."""
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Call):
                name = _dotted(node.func) or ""
                plain = functions.works_by_entry(name) and not node.keywords
                # a second argument of a reduction is its axis
                if name != "get" and not (plain and (len(node.args) == 1 or not functions.reduces(name))):
                    return False
            elif isinstance(node, ast.Subscript) and not (
                isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)
            ):
                return False
        return True

    def evaluate(self, value: Callable[[str], object]) -> object:
        """Its value; ``value(name)`` returns the value of a name from :meth:`names`."""
        try:
            return self._value(self._tree, value)
        except (TypeError, ValueError, IndexError, ArithmeticError, AttributeError) as e:
            if isinstance(e, (InvalidError, KeyInFileError)):
                raise
            raise InvalidError(f"{self.text!r} cannot be computed: {e}") from e
        except RecursionError:
            # nested aliases of deep expressions
            raise InvalidError(f"{self.text!r} is nested too deeply") from None

    def _refuse(self, node: ast.AST, why: str) -> InvalidError:
        part = ast.unparse(node)
        message = f"{why}: {part!r} in {self.text!r}" if part != self.text else f"{why}: {part!r}"
        return InvalidError(message + self._place(node))

    def _place(self, node: ast.AST) -> str:
        """The expression with a caret below a part."""
        offset = getattr(node, "col_offset", 0)
        # Python counts bytes
        shown = " ".join(self.text.split())
        return _caret(shown, len(shown.encode("utf-8", "replace")[:offset].decode("utf-8", "replace")))

    def _check(self, node: ast.AST, depth: int) -> None:
        if depth > 100:
            raise InvalidError(f"{self.text!r} is nested more than 100 levels deep")
        if isinstance(node, ast.Call):
            self._check_call(node, depth)
            return
        if isinstance(node, ast.Attribute):
            if _dotted(node) is None:
                self._check(node.value, depth + 1)
            if node.attr.startswith("__"):
                raise self._refuse(node, "names must not start with two underscores")
            return
        if isinstance(node, ast.Constant):
            if not (node.value is None or isinstance(node.value, (bool, int, float, str))):
                raise self._refuse(node, "only numbers, booleans and strings are allowed")
            return
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY and not _is_text(node):
            parts: list[ast.AST] = [node.left, node.right]
        elif isinstance(node, ast.UnaryOp):
            parts = [node.operand]
        elif isinstance(node, ast.BoolOp):
            parts = list(node.values)
        elif isinstance(node, ast.Compare) and all(type(op) in _COMPARE for op in node.ops):
            parts = [node.left, *node.comparators]
            for part in parts:
                if isinstance(part, ast.BinOp) and type(part.op) in _BITS and not self._in_parentheses(part):
                    sign = _BITS[type(part.op)]
                    raise self._refuse(
                        node,
                        f"{sign} binds tighter than comparisons in Python, more loosely in ROOT; use parentheses, "
                        f"(a > 0) {sign} (b > 0)",
                    )
        elif isinstance(node, ast.Subscript):
            parts = [node.value, node.slice]
        elif isinstance(node, ast.Slice):
            parts = [p for p in (node.lower, node.upper, node.step) if p is not None]
        elif isinstance(node, (ast.Tuple, ast.List)):
            parts = list(node.elts)
        elif isinstance(node, ast.Name):
            return
        else:
            raise self._refuse(node, f"{_REFUSED.get(type(node), 'this')} is not allowed in an expression")
        for part in parts:
            self._check(part, depth + 1)

    def _in_parentheses(self, node: ast.expr) -> bool:
        """Whether a part is in parentheses of its own."""
        text = " ".join(self.text.split()).translate(_BYTES).encode("utf-8")
        before = text[: node.col_offset].rstrip()
        after = text[node.end_col_offset :].lstrip()
        return before.endswith(b"(") and after.startswith(b")")

    def _check_call(self, node: ast.Call, depth: int) -> None:
        name = _dotted(node.func)
        if name == "get":
            if len(node.args) != 1 or node.keywords or not _is_text(node.args[0]):
                raise self._refuse(node, 'get takes the name of a branch as a string, get("a/b.c")')
            return
        if name is None or functions.lookup(name) is None:
            import difflib

            near = difflib.get_close_matches(name or "", functions.names(), 3)
            remedy = f"; did you mean {' or '.join(near)}?" if near else "; functions have the names of numpy"
            raise InvalidError(f"unknown function {ast.unparse(node.func)!r}{remedy}{self._place(node)}")
        for argument in node.args:
            self._check(argument, depth + 1)
        for keyword in node.keywords:
            if keyword.arg is None:
                raise self._refuse(node, "** is not allowed in an expression")
            self._check(keyword.value, depth + 1)

    def _names(self, node: ast.AST) -> Iterator[str]:
        dotted = _dotted(node)
        if dotted is not None:
            yield dotted
        elif isinstance(node, ast.Call):
            if _dotted(node.func) == "get":
                yield node.args[0].value  # type: ignore[attr-defined]
                return
            for part in (*node.args, *(k.value for k in node.keywords)):
                yield from self._names(part)
        else:
            for child in ast.iter_child_nodes(node):
                yield from self._names(child)

    def _value(self, node, value):
        dotted = _dotted(node)
        if dotted is not None:
            return value(dotted)
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.BinOp):
            return self._binary(node, value)
        if isinstance(node, ast.UnaryOp):
            return _UNARY[type(node.op)](self._value(node.operand, value))
        if isinstance(node, ast.BoolOp):
            # `and` and `or` work entry by entry, as & and | do
            join = np.logical_and if isinstance(node.op, ast.And) else np.logical_or
            return _fold(join, (self._value(v, value) for v in node.values))
        if isinstance(node, ast.Compare):
            sides = [self._value(v, value) for v in (node.left, *node.comparators)]
            steps = (_COMPARE[type(op)](a, b) for op, a, b in zip(node.ops, sides[:-1], sides[1:], strict=True))
            return _fold(np.logical_and, steps)
        if isinstance(node, ast.Call):
            if _dotted(node.func) == "get":
                return value(node.args[0].value)
            function = functions.lookup(_dotted(node.func) or "")
            keywords = {k.arg: self._value(k.value, value) for k in node.keywords}
            return function(*(self._value(a, value) for a in node.args), **keywords)
        if isinstance(node, ast.Attribute):
            return field(self._value(node.value, value), node.attr, self.text)
        if isinstance(node, ast.Subscript):
            return self._subscript(node, value)
        if isinstance(node, ast.Slice):
            parts = (node.lower, node.upper, node.step)
            return slice(*(None if p is None else self._value(p, value) for p in parts))
        items = [self._value(e, value) for e in node.elts]
        return tuple(items) if isinstance(node, ast.Tuple) else items

    def _binary(self, node, value):
        left, right = self._value(node.left, value), self._value(node.right, value)
        if isinstance(node.op, (ast.Pow, ast.LShift)) and isinstance(left, int) and isinstance(right, int):
            # Python's integers have no bound; numpy's have: what 64 bits hold is exact, as 2**53+1 and 1<<63 are
            if 0 <= right <= _MOST_BITS and left.bit_length() <= _MOST_BITS:
                exact = _BINARY[type(node.op)](left, right)
                if -(2**63) <= exact < 2**64:
                    return exact
            left = float(left) if isinstance(node.op, ast.Pow) else np.int64(left)
        return _BINARY[type(node.op)](left, right)

    def _subscript(self, node, value):
        """``x[:, i]`` is item i of each entry, ``x["name"]`` a field, ``x[mask]`` the items where the mask is true."""
        array, index = self._value(node.value, value), self._value(node.slice, value)
        if isinstance(index, str):
            return field(array, index, self.text)
        first = index[0] if isinstance(index, tuple) and index else index
        if isinstance(first, int) or (isinstance(first, slice) and first != slice(None)):
            # ROOT's x[0] is an item of every entry, numpy's the first entry: neither is guessed
            raise self._refuse(node, "the first index is over entries; write x[:, i] for item i of each entry")
        return array[index]


def field(array, name: str, text: str):
    """A field of a record array."""
    names = (array.dtype.names or ()) if isinstance(array, np.ndarray) else getattr(array, "fields", ())
    if name not in names:
        known = f"; the fields are {', '.join(names)}" if names else "; the value has no fields"
        raise KeyInFileError(f"no field {name!r} in {text!r}{known}")
    return array[name]


def _fold(join, values):
    values = iter(values)
    total = next(values)
    for v in values:
        total = join(total, v)
    return total


def _dotted(node: ast.AST) -> str | None:
    """The text of a dotted name; None for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        front = _dotted(node.value)
        return None if front is None else f"{front}.{node.attr}"
    return None


def _is_text(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp):
        return _is_text(node.left) or _is_text(node.right)
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _caret(text: str, column: int) -> str:
    """The text on its own line, with a caret below a column; empty if a terminal cannot show the text verbatim."""
    text = " ".join(text.split())
    if not (is_utf8(text) and text.isprintable() and 0 <= column <= len(text)):
        return ""
    start = max(0, column - 60)
    return f"\n    {text[start : start + 120]}\n    {' ' * (column - start)}^"


def _hint(text: str) -> str:
    if not is_utf8(text):
        return "; write a name that is not UTF-8 as get('name')"
    if "$" in text or "@" in text:
        return "; expressions of TTree::Draw, such as Max$(x), are for `draw` and `query`"
    if "&&" in text or "||" in text:
        return "; combine conditions with & and |, or with `and` and `or`"
    if any(c in text for c in "*?") or text.startswith("/"):
        return "; for globs and regular expressions use filter_name="
    return ""
