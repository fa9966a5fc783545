"""Aliases given at run time, besides those stored in a tree."""

from __future__ import annotations

from collections.abc import Mapping

from ..arguments.checks import string
from ..errors import InvalidError

#: Names, each with its expression, as the core takes them.
GivenAliases = list[tuple[str, str]]


class HasGivenAliases:
    """What :meth:`set_alias` gives expressions names for: a tree, or a chain."""

    _given_aliases: dict[str, str]

    def set_alias(self, name: str, expression: str) -> None:
        """Give an expression a name for later draws, queries and arrays, like ``TTree::SetAlias``.

        The file does not change. Branches of that name come first; an alias that is stored in the tree is replaced.
        Aliases can use each other.

        Args:
            name: letters, digits and underscores.
            expression: such as ``"sqrt(px**2+py**2)"``.
        """
        (pair,) = checked({name: expression})
        self._given_aliases = {**self._given_aliases, pair[0]: pair[1]}

    def _aliases_with(self, aliases: Mapping[str, str] | None) -> GivenAliases:
        """The aliases of :meth:`set_alias` and these, which replace those of the same name."""
        return list({**self._given_aliases, **dict(checked(aliases))}.items())


def checked(aliases: Mapping[str, str] | None) -> GivenAliases:
    """The aliases of an argument; names and expressions that cannot be are refused."""
    from .. import _core

    if aliases is None:
        return []
    if not isinstance(aliases, Mapping):
        raise InvalidError(f"aliases must be a mapping from names to expressions, not {aliases!r}")
    pairs = [(string(name, "the name of an alias"), string(text, "an alias")) for name, text in aliases.items()]
    return _core.checked_aliases(pairs)
