"""TMatrixT, TMatrixTSym and TVectorT as numpy arrays."""

from __future__ import annotations

import numpy as np

from .object import Object


class _Numbers(Object):
    def to_numpy(self) -> np.ndarray:
        """The numbers."""
        raise NotImplementedError

    def __array__(self, dtype=None, copy=None):
        numbers = self.to_numpy()
        return np.array(numbers, dtype=dtype) if copy else np.asarray(numbers, dtype=dtype)

    def __len__(self) -> int:
        return len(self.to_numpy())

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, where):
        return self.to_numpy()[where]

    def __iter__(self):
        return iter(self.to_numpy())

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows, and columns."""
        return self.to_numpy().shape


class Matrix(_Numbers):
    """A matrix; a symmetric one is whole."""

    def to_numpy(self) -> np.ndarray:
        """The numbers, row by row."""
        return np.asarray(self.member("fElements")).reshape(self.member("fNrows"), self.member("fNcols"))


class Vector(_Numbers):
    """A vector."""

    def to_numpy(self) -> np.ndarray:
        """The numbers."""
        return np.asarray(self.member("fElements"))
