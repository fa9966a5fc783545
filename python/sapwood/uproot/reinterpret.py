"""Values of a branch through another interpretation than its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..errors import InvalidError, UnsupportedError
from .interpretations import AsDtype, AsDtypeInPlace, AsJagged, Interpretation, interpretation_of

if TYPE_CHECKING:
    from ..reading.branch import Branch


def read(
    branch: Branch, wanted: Interpretation, start: int | None, stop: int | None, library: str, **options: Any
) -> Any:
    """Entries of a branch: the bytes of its numbers as numbers of another type, or into an array of the caller.

    Raises:
        UnsupportedError: the branch does not hold numbers, or its entries do not have the size of the other type.
    """
    own = interpretation_of(branch)
    if own == wanted:
        return branch.array(None, start, stop, library=library, **options)
    if isinstance(wanted, AsDtype) and isinstance(own, AsDtype):
        made = _as_dtype(branch.array(None, start, stop, library="np", **options), own, wanted, branch)
        if isinstance(wanted, AsDtypeInPlace):
            return _filled(wanted.to_fill, made, branch)
    elif isinstance(wanted, AsJagged) and isinstance(own, AsJagged) and _of_numbers(wanted) and _of_numbers(own):
        lists = branch.array(None, start, stop, library="np", **options)
        made = np.empty(len(lists), dtype=object)
        for i, items in enumerate(lists):
            made[i] = _as_dtype(items, cast(AsDtype, own.content), cast(AsDtype, wanted.content), branch)
    else:
        raise UnsupportedError(
            f"{branch.file_path}: branch {branch.path!r} is read with {own!r}; only numbers can be read as numbers of "
            f"another type, not with {wanted!r}",
            branch=branch.path,
        )
    return _in_library(made, library, branch)


def _of_numbers(jagged: AsJagged) -> bool:
    return isinstance(jagged.content, AsDtype)


def _as_dtype(values: np.ndarray, own: AsDtype, wanted: AsDtype, branch: Branch) -> np.ndarray:
    """Numbers as they are in the file, read as another type."""
    entries = len(values)
    stored = np.ascontiguousarray(values, dtype=own.from_dtype.base)
    if entries and stored.nbytes != entries * wanted.from_dtype.itemsize:
        raise UnsupportedError(
            f"{branch.file_path}: an entry of branch {branch.path!r} has {stored.nbytes // entries} bytes, "
            f"{wanted!r} has {wanted.from_dtype.itemsize}",
            branch=branch.path,
        )
    bare = np.frombuffer(stored.tobytes(), wanted.from_dtype.base).reshape(entries, *wanted.from_dtype.shape)
    return bare.astype(wanted.to_dtype.base).reshape(entries, *wanted.to_dtype.shape)


def _filled(target: np.ndarray, values: np.ndarray, branch: Branch) -> np.ndarray:
    if len(target) < len(values) or target.shape[1:] != values.shape[1:]:
        raise InvalidError(
            f"branch {branch.path!r} has {values.shape} values, the array to fill has room for {target.shape}",
            branch=branch.path,
        )
    view = target[: len(values)]
    view[...] = values
    return view


def _in_library(made: np.ndarray, library: str, branch: Branch) -> Any:
    from ..columns.libraries import library as library_of

    lib = library_of(library)
    if lib.name == "np":
        return made
    import awkward as ak

    from ..columns.conversion import from_computed

    array: Any = made if made.dtype != object else ak.Array([list(items) for items in made])
    if made.dtype == object and len(made):
        counts = [len(items) for items in made]
        array = ak.unflatten(np.concatenate(list(made)), counts)
    return lib.array(from_computed(array, branch.name), branch.name)


def arrays(tree: Any, names: list[str], chosen: dict[str, Interpretation], cut: str | None, **options: Any) -> Any:
    """Several branches, some of them through other interpretations than their own."""
    from ..columns.libraries import group_name
    from ..columns.libraries import library as library_of

    how, library = group_name(options.pop("how", None)), options.pop("library", "ak")
    kept = {name: options.pop(name) for name in ("entry_start", "entry_stop", "progress", "entries") if name in options}
    given = [name for name, value in {"cut": cut, **options}.items() if value]
    if given:
        raise InvalidError(f"{', '.join(given)} cannot be combined with interpretations: leave these out")
    start, stop = kept.pop("entry_start", None), kept.pop("entry_stop", None)
    parts = [tree[name].array(chosen.get(name), start, stop, library=library, **kept) for name in names]
    count = len(parts[0]) if parts else 0
    return library_of(library).group(names, parts, how, count)


def expressions_and_interpretations(given: Any) -> tuple[Any, dict[str, Interpretation]]:
    """Names of branches, and the interpretations that were given for some of them: ``{name: interpretation}`` or pairs
    of these."""
    if isinstance(given, dict):
        pairs = list(given.items())
    elif isinstance(given, (list, tuple)) and any(isinstance(one, tuple) for one in given):
        pairs = [one if isinstance(one, tuple) else (one, None) for one in given]
    else:
        return given, {}
    for name, of in pairs:
        if of is not None and not isinstance(of, Interpretation):
            raise InvalidError(f"the interpretation of {name!r} must be one of sapwood.uproot, or None, not {of!r}")
    return [name for name, _ in pairs], {name: of for name, of in pairs if of is not None}
