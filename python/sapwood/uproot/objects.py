"""Objects other than trees, where uproot gives something else than Sapwood."""

from __future__ import annotations

from ..objects.factory import Factory as NativeFactory
from ..objects.object import Object
from ..objects.profile import Profile


class Factory(NativeFactory):
    """Builds objects for the core."""

    def make(self, classname: str, bases: list[str]) -> Object:
        """An empty object."""
        made = super().make(classname, bases)
        if isinstance(made, Profile):
            made._weighted_storage = True
        return made
