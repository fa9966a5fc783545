"""Compression settings as objects, as uproot has them."""

from __future__ import annotations

from typing import Any, ClassVar

from sapwood.arguments.sizes import whole
from sapwood.errors import InvalidError


class Compression:
    """An algorithm and a level; see :class:`ZLIB`, :class:`LZMA`, :class:`LZ4` and :class:`ZSTD`."""

    #: ROOT's number of the algorithm.
    number: ClassVar[int] = 0
    #: Highest level.
    highest: ClassVar[int] = 9
    #: uproot's choice of a library; without effect.
    library: ClassVar[str] = ""

    def __init__(self, level: int) -> None:
        self.level = level

    @property
    def level(self) -> int:
        """From 0 (none) to the highest level."""
        return self._level

    @level.setter
    def level(self, value: int) -> None:
        level = whole(value)
        if level is None or not 0 <= level <= self.highest:
            raise InvalidError(f"the level of {self.name} must be from 0 to {self.highest}, not {value!r}")
        self._level = level

    @property
    def name(self) -> str:
        """Name of the algorithm."""
        return type(self).__name__

    @property
    def code(self) -> int:
        """ROOT's setting: 100 times the algorithm plus the level."""
        return 100 * self.number + self._level

    @property
    def code_pair(self) -> tuple[int, int]:
        """ROOT's numbers of the algorithm and the level."""
        return self.number, self._level

    @staticmethod
    def from_code(code: int) -> Compression | None:
        """The object for ROOT's setting; None for no compression."""
        algorithm, level = divmod(int(code), 100)
        if not level:
            return None
        kinds: dict[int, type[Compression]] = {0: ZLIB, 1: ZLIB, 2: LZMA, 4: LZ4, 5: ZSTD}
        if algorithm not in kinds:
            raise InvalidError(f"{code} is not a compression setting of ROOT")
        kind = kinds[algorithm]
        return kind(min(level, kind.highest))

    @staticmethod
    def from_code_pair(algorithm: int, level: int) -> Compression | None:
        """The object for ROOT's numbers of the algorithm and the level."""
        return Compression.from_code(100 * algorithm + level)

    def __eq__(self, other: Any) -> bool:
        return type(self) is type(other) and self.level == other.level

    def __hash__(self) -> int:
        return hash((type(self), self._level))

    def __repr__(self) -> str:
        return f"{self.name}({self._level})"


class ZLIB(Compression):
    """Deflate, ROOT's oldest algorithm."""

    number = 1
    library = "zlib"


class LZMA(Compression):
    """LZMA: small files, slow to write and to read."""

    number = 2


class LZ4(Compression):
    """LZ4: large files, fast to read."""

    number = 4
    highest = 12


class ZSTD(Compression):
    """Zstandard: small files, fast to read."""

    number = 5
    highest = 22


def compression_of(code: int) -> Compression | None:
    """The setting; None where no algorithm is named, as in uproot."""
    return Compression.from_code(code) if code >= 100 else None
