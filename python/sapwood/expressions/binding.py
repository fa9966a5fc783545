"""Names in expressions tied to branches, aliases and constants of a tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import InvalidError, KeyInFileError
from . import functions
from .expression import Expression, field

if TYPE_CHECKING:
    from ..reading.branches import HasBranches

#: Aliases that are put in for one expression, and aliases of aliases inside each other, at most: those of a hostile
#: file can ask for more than any memory holds.
_MOST_ALIASES, _DEEPEST_ALIASES = 1000, 50


class Meaning(NamedTuple):
    """What a name in an expression stands for: the value of the target, and fields to take of it one by one."""

    #: A branch's number, another expression, or a constant in a tuple of its own.
    target: int | Bound | tuple[float]
    fields: tuple[str, ...] = ()


@dataclass(frozen=True)
class Bound:
    """An expression whose names have a meaning."""

    expression: Expression
    names: Mapping[str, Meaning]

    def branches(self) -> Iterator[int]:
        """The branches it needs, with repetitions."""
        for target, _ in self.names.values():
            if isinstance(target, int):
                yield target
            elif isinstance(target, Bound):
                yield from target.branches()

    def works_by_entry(self) -> bool:
        """Whether its value for an entry depends on that entry alone."""
        inner = (target for target, _ in self.names.values() if isinstance(target, Bound))
        return self.expression.works_by_entry() and all(b.works_by_entry() for b in inner)

    def evaluate(self, operand: Callable[[int], Any]) -> Any:
        """Its value, where ``operand(branch)`` is that of a branch."""
        made: dict[str, Any] = {}

        def value(name: str) -> Any:
            # once for each name: with aliases of aliases the work would double at each of them
            if name not in made:
                made[name] = found(name)
            return made[name]

        def found(name: str) -> Any:
            target, fields = self.names[name]
            if isinstance(target, int):
                array = operand(target)
            elif isinstance(target, Bound):
                array = target.evaluate(operand)
            else:
                array = target[0]
            for f in fields:
                array = field(array, f, self.expression.text)
            return array

        return self.expression.evaluate(value)


class Binder:
    """Ties names to branches and aliases of one tree."""

    def __init__(self, owner: HasBranches, aliases: Mapping[str, str] | None) -> None:
        self.owner = owner
        self.user = dict(aliases or {})
        self.stored = owner.tree.aliases
        #: Aliases in the expression that is being bound.
        self.put_in = 0

    def _alias(self, name: str, text: str, inside: tuple[str, ...]) -> Bound:
        """What an alias stands for."""
        self.put_in += 1
        if self.put_in > _MOST_ALIASES or len(inside) >= _DEEPEST_ALIASES:
            raise InvalidError(f"aliases of aliases make the expression too long: {(inside or (name,))[0]!r}")
        return self.bind(text, (*inside, name))

    def bind(self, text: str, inside: tuple[str, ...] = ()) -> Bound:
        """An expression with all of its names found; ``inside`` are the aliases on the way to it."""
        if not inside:
            self.put_in = 0
        expression = Expression(text)
        names = {}
        for name in expression.names():
            if name not in names:
                names[name] = self._find(name, expression.text, inside)
        return Bound(expression, names)

    def output(self, text: str) -> int | Bound:
        """A branch's number where the text is its name, else the expression bound."""
        if text not in self.user:
            branch = self.owner.branch_number(text)
            if branch is not None:
                return branch
            leaf = self.owner.leaf(text) if "/" in text else None
            if leaf is not None:
                # a division of two branches would have a space or fewer branches of such names
                return Bound(Expression("leaf"), {"leaf": Meaning(leaf.branch.number, (leaf.name,))})
        try:
            return self.bind(text)
        except InvalidError as e:
            if text not in self.user and text.isprintable() and not any(c in text for c in "()+-*=<>&|[ ?"):
                raise self.owner.missing(text) from e
            raise

    def _find(self, name: str, text: str, inside: tuple[str, ...]) -> Meaning:
        parts = name.split(".")
        for n in range(len(parts), 0, -1):
            front, fields = ".".join(parts[:n]), tuple(parts[n:])
            # inside an alias its own name is that of the branch
            if front in self.user and front not in inside:
                return Meaning(self._alias(front, self.user[front], inside), fields)
            branch = self.owner.branch_number(front)
            if branch is None and n > 1:
                branch = self.owner.branch_number("/".join(parts[:n]))
            if branch is not None:
                return Meaning(branch, fields)
            leaf = self.owner.leaf(front)
            if leaf is not None:
                return Meaning(leaf.branch.number, (leaf.name, *fields))
            if front in self.stored and front not in inside:
                return Meaning(self._alias(front, self.stored[front], inside), fields)
            if front in inside:
                raise InvalidError(f"the alias {front!r} refers to itself: {' -> '.join((*inside, front))}")
        if name in functions.CONSTANTS:
            return Meaning((functions.CONSTANTS[name],))
        raise self.owner.missing(name, f" (in {text!r})" if text != name else "")


def unknown(name: str, known: Iterable[str], where: str, file: str, context: str = "") -> KeyInFileError:
    """The error for a name that is not there, with near misses."""
    import difflib

    near = difflib.get_close_matches(name, list(known), 3)
    remedy = f"; did you mean {' or '.join(repr(n) for n in near)}?" if near else ""
    return KeyInFileError(f"{file}: {where} has no branch {name!r}{context}{remedy}", file=file)
