"""Objects that are arrays of numbers."""

from __future__ import annotations

import numpy as np

from .object import Object


class Numbers(Object):
    """An object that is a numpy array and has members as well."""

    def to_numpy(self) -> np.ndarray:
        """The numbers."""
        raise NotImplementedError

    def __array__(self, dtype=None, copy=None):
        numbers = self.to_numpy()
        return np.array(numbers, dtype=dtype) if copy else np.asarray(numbers, dtype=dtype)

    def __len__(self) -> int:
        return len(self.to_numpy())

    def __getitem__(self, where):
        return self.to_numpy()[where]

    def __iter__(self):
        return iter(self.to_numpy())

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows, and columns."""
        return self.to_numpy().shape
