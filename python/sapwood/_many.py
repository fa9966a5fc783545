"""Several files, one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ._errors import InvalidError, UnsupportedError
from ._file import ReadOnlyFile, open
from ._filters import Filter
from ._paths import Where, several
from ._sizes import Size

if TYPE_CHECKING:
    from ._progress import Progress
    from ._selection import Expressions
    from ._tree import Branch, Tree


def _trees(files: Where | Iterable[Where], options: Mapping[str, Any]) -> Iterator[Tree]:
    """The trees in order, each file open only while its tree is in use."""
    pairs = several(files)
    if not pairs:
        raise InvalidError("no file given")
    for file_path, name in pairs:
        with open({file_path: None}, **options) as file:
            yield _tree(file, name)


def _tree(file: ReadOnlyFile, name: str | None) -> Tree:
    from ._tree import Tree

    if name is not None:
        found = file[name]
        if not isinstance(found, Tree):
            raise InvalidError(f"{file.file_path}: {name} is no tree but {found!r}", file=file.file_path)
        return found
    names = file.keys(cycle=False, filter_classname=["TTree", "TNtuple", "TNtupleD"])
    if len(names) == 1:
        return file[names[0]]
    what = f"trees {', '.join(names)}" if names else "no tree"
    raise InvalidError(f"{file.file_path} holds {what}; name one: file.root:tree", file=file.file_path)


def iterate(
    files: Where | Iterable[Where],
    expressions: Expressions = None,
    cut: str | None = None,
    *,
    filter_name: Filter = None,
    filter_typename: Filter = None,
    filter_branch: Callable[[Branch], object] | None = None,
    aliases: Mapping[str, str] | None = None,
    step_size: Size = "100 MB",
    library: str = "ak",
    how: object = None,
    report: bool = False,
    progress: Progress = None,
    cache_size: Size | None = None,
    timeout: float = 60,
    threads: int | None = None,
) -> Iterator[Any]:
    """As :meth:`Tree.iterate`, through several files in order; no step goes over the end of a file.

    Args:
        files: ``"file.root:tree"``, ``{file: tree}``, Paths, or lists of these; globs of local paths are filled in
            in the order of their names. A file with one tree needs no name of it.
        cache_size, timeout, threads: see :func:`sapwood.open`.
    """
    from ._libraries import group_name
    from ._libraries import library as library_of
    from ._reading import _step
    from ._reading import iterate as iterate_one

    # what is wrong with the request is said before any file is opened
    library_of(library), group_name(how), _step(step_size)
    filters = {"filter_name": filter_name, "filter_typename": filter_typename, "filter_branch": filter_branch}
    options = {"cache_size": cache_size, "timeout": timeout, "threads": threads}

    def run() -> Iterator[Any]:
        offset = 0
        for tree in _trees(files, options):
            yield from iterate_one(
                tree, expressions, cut, filters, aliases, (None, None), library, how, progress, step_size,
                report=report, offset=offset,
            )  # fmt: skip
            offset += tree.num_entries

    return run()


def concatenate(
    files: Where | Iterable[Where],
    expressions: Expressions = None,
    cut: str | None = None,
    *,
    filter_name: Filter = None,
    filter_typename: Filter = None,
    filter_branch: Callable[[Branch], object] | None = None,
    aliases: Mapping[str, str] | None = None,
    library: str = "ak",
    progress: Progress = None,
    cache_size: Size | None = None,
    timeout: float = 60,
    threads: int | None = None,
) -> Any:
    """As :meth:`Tree.arrays`, with the entries of several files one behind the other; see :func:`iterate`."""
    from ._libraries import library as library_of

    lib = library_of(library)
    options = {"cache_size": cache_size, "timeout": timeout, "threads": threads}
    parts = [
        tree.arrays(
            expressions,
            cut,
            filter_name=filter_name,
            filter_typename=filter_typename,
            filter_branch=filter_branch,
            aliases=aliases,
            library=library,
            progress=progress,
        )
        for tree in _trees(files, options)
    ]
    if len(parts) == 1:
        return parts[0]
    try:
        return lib.concatenate(parts)
    except (KeyError, ValueError, TypeError) as e:
        raise UnsupportedError(f"the files' columns do not fit together: {e}") from e
