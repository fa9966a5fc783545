"""`with` around trees and branches, as in uproot."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Self

    from .. import ReadOnlyFile


class ClosesFile:
    """A context manager that closes the file at its end: ``with sapwood.open("file.root:tree") as tree``."""

    if TYPE_CHECKING:

        @property
        def file(self) -> ReadOnlyFile: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def close(self) -> None:
        """Close the file."""
        self.file.close()

    @property
    def closed(self) -> bool:
        """Whether the file is closed."""
        return self.file.closed
