"""Partitions whose form is not that of the branches: uproot's protocol of form mappings, which coffea uses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import awkward as ak
from dask_awkward.lib.utils import buffer_keys_required_to_compute_shapes, trace_form_structure

from .awkward_reader import AwkwardReader


class MappedReader(AwkwardReader):
    """Reads partitions through a form mapping, which loads the buffers of its own form from the tree."""

    def __init__(self, form: Any, mapping: Any, options: Mapping[str, Any], environment: Any, **others: Any) -> None:
        mapped, self._info = mapping(form)
        super().__init__(mapped, options, environment, **others)
        self.behavior = self._info.behavior
        #: Branches to read; None for all.
        self._keys: frozenset[str] | None = None
        self._all = frozenset(form.fields)

    def prepare_for_projection(self) -> Any:
        """The array without data that notes which buffers are used."""
        key = self._info.buffer_key
        meta, report = ak.typetracer.typetracer_with_report(
            self.form, highlevel=True, behavior=self.behavior, buffer_key=key
        )
        return meta, report, trace_form_structure(self.form, buffer_key=key)

    def necessary_columns(self, report: Any, state: Any) -> frozenset[str]:
        """The branches that hold the buffers that were used."""
        shapes = buffer_keys_required_to_compute_shapes(
            self._info.parse_buffer_key, report.shape_touched, state["form_key_to_parent_form_key"],
            state["form_key_to_buffer_keys"],
        )  # fmt: skip
        return self._info.keys_for_buffer_keys(frozenset({*report.data_touched, *shapes}))

    def project_columns(self, columns: frozenset[str]) -> MappedReader:
        """The same for the branches that are used."""
        made: MappedReader = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made._keys = frozenset(columns)
        return made

    def _arrays(self, tree: Any, start: int, stop: int) -> Any:
        keys = self._all if self._keys is None else self._keys
        options = {"ak_add_doc": self._doc}
        buffers = self._info.load_buffers(tree, keys, start, stop, None, None, options)
        needed = self.form.expected_from_buffers(buffer_key=self._info.buffer_key, recursive=True)
        container = {key: buffers[key] if key in buffers else _unread(key) for key in needed}
        return ak.from_buffers(
            self.form, stop - start, container, buffer_key=self._info.buffer_key, behavior=self.behavior
        )


class _Unread:
    """In place of a buffer that was not projected."""

    def __init__(self, key: str) -> None:
        self._key = key

    def __call__(self) -> Any:
        raise RuntimeError(f"the buffer {self._key} is used, but the form mapping did not load it")


def _unread(key: str) -> Any:
    return _Unread(key)
