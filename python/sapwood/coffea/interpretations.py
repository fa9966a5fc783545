"""How branches become arrays, as coffea asks: by uproot's classes, and by forms."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import awkward as ak
import uproot as _uproot

from ..errors import UnsupportedError
from ..uproot.interpretations import AsGrouped as _AsGrouped
from ..uproot.interpretations import Interpretation
from ..uproot.interpretations import UnknownInterpretation as _Unknown
from ..uproot.interpretations import interpretation_of as _plain

if TYPE_CHECKING:
    from ..uproot.read import TBranch

#: Forms by the types of the C++ value and of the column: a tree of thousands of branches has a few dozens.
_forms: dict[tuple[str, str], Any] = {}
_FORMS = 10_000


class Unknown(_Unknown):
    """A branch that cannot be read."""

    def __init__(self, typename: str, reason: str, branch: TBranch) -> None:
        super().__init__(typename, reason)
        self.file_path, self.object_path = branch.tree.file_path, branch.object_path

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        # isinstance() tests for uproot's class, which cannot be registered with: it is no abstract class
        return _uproot.interpretation.identify.UnknownInterpretation

    def awkward_form(self, file: Any = None, **_: Any) -> Any:
        """Refuse.

        Raises:
            UnsupportedError: always.
        """
        raise UnsupportedError(self.reason)


class Grouped(_AsGrouped):
    """A branch whose sub-branches hold the values."""

    _branch: TBranch

    def __init__(self, branch: TBranch) -> None:
        super().__init__(branch, branch.typename, "")

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        # as for branches that cannot be read
        return _uproot.AsGrouped

    @cached_property
    def subbranches(self) -> dict[str, Any]:  # type: ignore[override]
        """The interpretations of the sub-branches by name."""
        return {branch.name: branch.interpretation for branch in self._branch.branches}

    def awkward_form(self, file: Any = None, **_: Any) -> Any:
        """Return the form of a record of the sub-branches; no basket is read."""
        forms = {name: of.awkward_form(file) for name, of in self.subbranches.items()}
        return ak.forms.RecordForm(list(forms.values()), list(forms))


class Column:
    """The interpretation of a branch with values of its own."""

    #: Set by coffea; Sapwood's readers are compiled already.
    _forth = True

    def __init__(self, branch: TBranch, plain: Interpretation) -> None:
        self._branch, self._plain = branch, plain

    def __getattr__(self, name: str) -> Any:
        return getattr(self._plain, name)

    def __repr__(self) -> str:
        return repr(self._plain)

    def awkward_form(self, file: Any = None, **_: Any) -> Any:
        """Return the form of the awkward array; no basket is read."""
        key = self._branch.typename, self._branch.column_type
        form = _forms.get(key)
        if form is None:
            form = self._branch.array(entry_start=0, entry_stop=0, library="ak").layout.form
            if len(_forms) < _FORMS:
                _forms[key] = form
        return form


def interpretation_of(branch: TBranch) -> Any:
    """The interpretation of a branch."""
    try:
        if branch.reads_as_group():
            return Grouped(branch)
        kind = branch.column_type
    except UnsupportedError as e:
        return Grouped(branch) if branch.branches else Unknown(branch.typename, str(e), branch)
    # uproot reads neither of these, nor the branches around them: events have the same fields on both
    if _is_base_class(branch, kind):
        return Unknown(branch.typename, "it is a base class in a branch of its own", branch)
    if ("{}" in kind and kind != "{}") or branch.typename.startswith("DataVector<"):
        return Unknown(branch.typename, "its items have their members in other branches", branch)
    return Column(branch, _plain(branch))


def _is_base_class(branch: TBranch, kind: str) -> bool:
    """Whether a branch holds a base class of the class of the branch around it, without a member's name."""
    parent = branch.parent
    if parent is branch.tree or not kind.startswith("{"):
        return False
    return branch.name == parent.name or branch.name.endswith("." + branch.typename)
