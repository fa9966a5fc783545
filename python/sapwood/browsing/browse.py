"""``sapwood.browse``: files in a web browser, or in a cell of a notebook."""

from __future__ import annotations

import html
import sys
import webbrowser
from typing import Any, TypeAlias

from .. import _core
from ..arguments.paths import Where, split
from ..arguments.sizes import whole
from ..errors import InvalidError
from ..public import public
from ..reading.directory import Directory
from ..reading.file import ReadOnlyFile
from ..reading.tree import Tree

#: What can be shown.
Browsable: TypeAlias = Where | Tree | Directory | ReadOnlyFile


@public
class Browsing:
    """The running server of a page; returned by :func:`sapwood.browse`. In a notebook it shows the page."""

    def __init__(self, core: Any) -> None:
        self._core = core

    @property
    def url(self) -> str:
        """The address of the page. It contains a secret: anyone on this machine who has it can read the files."""
        return str(self._core.url)

    def close(self) -> None:
        """End the server, and the draws that it is busy with."""
        self._core.close()

    def __enter__(self) -> Browsing:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Browsing at {self.url}>"

    def _repr_html_(self) -> str:
        return f'<iframe src="{html.escape(self.url)}" width="100%" height="640" title="Sapwood"></iframe>'


@public
def browse(*targets: Browsable, port: int = 0, open_browser: bool | None = None) -> Browsing:
    """Show files in a web browser: histograms, tables, maps, I/O.

    Args:
        targets: paths of files and directories, and URLs; ``"file.root:object"`` or ``{file: object}`` shows this
            object first. An open file, directory or tree does the same: its file is opened again, with the default
            options. Without any, the page asks for one.
        port: port on this machine; 0 is any free one.
        open_browser: whether to open the page in a web browser. By default it is opened, except in a notebook, which
            shows it in the cell.

    Returns:
        The server, which runs until it is closed or Python ends.

    Raises:
        FileNotFoundError: a local target does not exist.
        KeyError: the file has no such object.
        OSError: the port is in use.
    """
    number = whole(port)
    if number is None or not 0 <= number <= 65535:
        raise InvalidError(f"port must be 0 to 65535, not {port!r}")
    made = Browsing(_core.browse([_place(target) for target in targets], number))
    if open_browser is None:
        open_browser = "ipykernel" not in sys.modules
    if open_browser:
        webbrowser.open(made.url)
    return made


def _place(target: Browsable) -> tuple[str, str | None]:
    """The file, and the object in it if there is one."""
    if isinstance(target, Tree | Directory | ReadOnlyFile):
        if not isinstance(target.file._given_path, str):
            raise InvalidError(f"{target.file_path} has no path or URL to browse it at; copy it to a file first")
        return target.file_path, target.object_path.strip("/") or None
    return split(target)
