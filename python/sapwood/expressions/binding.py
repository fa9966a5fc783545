"""Names in expressions tied to branches, aliases and constants of a tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import InvalidError
from . import functions
from .expression import Expression, field

if TYPE_CHECKING:
    from ..reading.branches import HasBranches

#: Limits on the aliases in one expression, and on their nesting: those of a hostile file could exhaust the memory.
_MOST_ALIASES, _DEEPEST_ALIASES = 1000, 50


class Meaning(NamedTuple):
    """The meaning of a name in an expression: a target, and fields to select from it one after another."""

    #: The number of a branch, another expression, or a constant in a tuple.
    target: int | Bound | tuple[float]
    fields: tuple[str, ...] = ()


@dataclass(frozen=True)
class Bound:
    """An expression with a meaning for each of its names."""

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
        """Its value; ``operand(branch)`` returns the value of a branch."""
        made: dict[str, Any] = {}

        def value(name: str) -> Any:
            # once for each name: with nested aliases the work would double at each level
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
        #: Number of aliases in the current expression.
        self.put_in = 0

    def _alias(self, name: str, text: str, inside: tuple[str, ...]) -> Bound:
        """The expression of an alias."""
        self.put_in += 1
        if self.put_in > _MOST_ALIASES or len(inside) >= _DEEPEST_ALIASES:
            raise InvalidError(f"too many nested aliases in {(inside or (name,))[0]!r}")
        return self.bind(text, (*inside, name))

    def bind(self, text: str, inside: tuple[str, ...] = ()) -> Bound:
        """An expression with its names resolved; ``inside`` are the aliases that lead to it."""
        if not inside:
            self.put_in = 0
        expression = Expression(text)
        names = {}
        for name in expression.names():
            if name not in names:
                names[name] = self._find(name, expression.text, inside)
        return Bound(expression, names)

    def output(self, text: str) -> int | Bound:
        """The number of the branch with this name, otherwise the text as an expression."""
        if text not in self.user:
            branch = self.owner.branch_number(text)
            if branch is not None:
                return branch
            leaf = self.owner.leaf(text) if "/" in text else None
            if leaf is not None:
                # a name with a slash that names a leaf is not taken as a division
                return Bound(Expression("leaf"), {"leaf": Meaning(leaf.branch.number, (leaf.name,))})
            if text not in self.stored and text.replace(".", "_").isidentifier():
                friend = self._of_friend(text)
                if friend is not None and isinstance(friend.target, int) and not friend.fields:
                    return friend.target
        try:
            return self.bind(text)
        except InvalidError as e:
            if text not in self.user and text.isprintable() and not any(c in text for c in "()+-*=<>&|[ ?"):
                raise self.owner.missing(text) from e
            raise

    def _of_friend(self, name: str) -> Meaning | None:
        """The branch of a friend with this name, if the tree itself has none."""
        core = self.owner.tree._core
        if not core.has_friends or name in functions.CONSTANTS:
            return None
        if any(self.owner.branch_number(name[:dot]) is not None for dot in _dots(name)):
            return None
        found = core.friend_branch(name)
        return None if found is None else Meaning(found[0], tuple(found[1]))

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
        friend = self._of_friend(name)
        if friend is not None:
            return friend
        raise self.owner.missing(name, f" (in {text!r})" if text != name else "")


def _dots(name: str) -> list[int]:
    """The ends of the parts of a name."""
    return [i for i, c in enumerate(name) if c == "."] + [len(name)]
