"""coffea's NanoEventsFactory on files that Sapwood opens."""

from __future__ import annotations

from typing import Any

from coffea.nanoevents import NanoEventsFactory as _NanoEventsFactory
from coffea.nanoevents import factory as _factory

from ..errors import InvalidError
from ..reading.directory import Directory
from ..reading.tree import Tree
from . import uproot_on_sapwood
from .files import as_events
from .mapping import Opener, SourceMapping
from .rebound import function, functions

_names = {"uproot": uproot_on_sapwood, "UprootSourceMapping": SourceMapping, "TrivialUprootOpener": Opener}
_from_root = function(
    _NanoEventsFactory.from_root.__func__, {**functions(_factory, _names, __name__), **_names}, __name__, "_from_root"
)


class NanoEventsFactory(_NanoEventsFactory):  # type: ignore[misc]
    """coffea's factory of events; :meth:`from_root` opens and reads with Sapwood.

    Everything else is coffea's: schemas, methods, ``preload``, ``buffer_cache``, ``access_log``. With Sapwood, a column
    that is used is read together with those that were used with it in earlier chunks of the same tree and schema, and
    each column is read once.
    """

    @classmethod
    def from_root(cls, file: Any, **options: Any) -> NanoEventsFactory:
        """Make a factory from a ROOT file.

        Args:
            file: a path or URL (``"file.root:Events"``, ``{"file.root": "Events"}``), or a file, directory or tree that
                Sapwood has opened; in dask mode also several files, as in ``uproot.dask``.
            options: those of coffea's ``NanoEventsFactory.from_root``. ``uproot_options`` are those of
                :func:`sapwood.open`; options that set how uproot's sources read have no effect. ``use_ak_forth`` and
                executors have no effect.

        Raises:
            InvalidError: a directory without ``treepath``.
        """
        if isinstance(file, Directory):
            treepath = options.pop("treepath", None)
            if not isinstance(treepath, str):
                raise InvalidError("a file or directory needs treepath, the name of the tree in it")
            file = file[treepath]
        if isinstance(file, Tree):
            file = as_events(file)
        return _from_root(cls, file, **options)

    @classmethod
    def _from_mapping(
        cls, mapping: Any, partition_key: Any, base_form: Any, schemaclass: Any, *args: Any, **options: Any
    ) -> NanoEventsFactory:
        if isinstance(mapping, SourceMapping):
            schema = getattr(schemaclass, "__qualname__", repr(schemaclass))
            mapping.columns.model = f"{partition_key[1]} {schema}"
        return super()._from_mapping(mapping, partition_key, base_form, schemaclass, *args, **options)

    def events(self) -> Any:
        """Return the events, as coffea does; in eager mode all columns are read in one scan."""
        eager = self._mode == "eager" and isinstance(self._mapping, SourceMapping)
        if not eager or self._events() is not None:
            return super().events()
        self._mapping.fetch_loaded(self._schema.form)
        try:
            return super().events()
        finally:
            self._mapping.columns.release()
