"""Objects other than trees, where uproot gives something else than Sapwood."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..objects.factory import Factory as NativeFactory
from ..objects.matrix import Matrix
from ..objects.object import Object
from ..objects.profile import Profile


class Factory(NativeFactory):
    """Builds objects for the core."""

    def make(self, classname: str, bases: list[str]) -> Object:
        """An empty object."""
        made = super().make(classname, bases)
        if isinstance(made, Profile):
            made._weighted_storage = True
        if isinstance(made, Matrix) and classname.startswith("TMatrixTSym"):
            symmetric = SymmetricMatrix()
            symmetric.classname, symmetric._members = made.classname, made._members
            return symmetric
        return made


class SymmetricMatrix(Matrix):
    """A TMatrixTSym: its member ``fElements`` is the upper half, row by row, as it is in the file."""

    def _fill(self, version: int, bases: list[Any], members: dict[str, Any], content: Any) -> None:
        super()._fill(version, bases, members, content)
        whole = members.get("fElements")
        size = bases[0].member("fNrows", none_if_missing=True) if bases else members.get("fNrows")
        if isinstance(whole, np.ndarray) and isinstance(size, (int, np.integer)) and len(whole) == size * size:
            self._whole = whole.reshape(size, size)
            self._members = {**members, "fElements": self._whole[np.triu_indices(int(size))]}

    def to_numpy(self) -> np.ndarray:
        """The numbers of both halves, row by row."""
        return self._whole
