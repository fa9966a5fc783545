"""TMatrixT, TMatrixTSym and TVectorT as numpy arrays."""

from __future__ import annotations

import numpy as np

from .numbers import Numbers


class Matrix(Numbers):
    """A TMatrixT or TMatrixTSym; a symmetric matrix has both halves."""

    def __bool__(self) -> bool:
        return True

    def to_numpy(self) -> np.ndarray:
        """The numbers, row by row."""
        return np.asarray(self.member("fElements")).reshape(self.member("fNrows"), self.member("fNcols"))


class Vector(Numbers):
    """A TVectorT."""

    def __bool__(self) -> bool:
        return True

    def to_numpy(self) -> np.ndarray:
        """The numbers."""
        return np.asarray(self.member("fElements"))
