"""Sites that share files over networks, simulated: push against pull."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .. import _core
from ..errors import FileMissingError, InvalidError
from ..public import public
from .json_text import loads
from .policy import makers


@public
class Simulation:
    """What :func:`simulate` found. ``print(simulation)`` is the report of ``sapwood simulate``."""

    def __init__(self, data: str, text: str, html: str, pictures: list[tuple[str, str]]) -> None:
        self._text = text
        self._data = data
        #: everything, as ``sapwood simulate --json`` prints it
        self.data: dict[str, Any] = loads(data)
        #: the report as one HTML page without links to other files
        self.html = html
        #: the pictures of the report as SVG, by name
        self.pictures: dict[str, str] = dict(pictures)

    def save(self, directory: str | os.PathLike[str]) -> None:
        """Writes ``report.txt``, ``report.json``, ``report.html`` and the pictures into a directory, as
        ``sapwood simulate -o`` does. It is created if it does not exist."""
        folder = Path(directory)
        folder.mkdir(parents=True, exist_ok=True)
        files = {"report.txt": self._text, "report.json": self._data, "report.html": self.html}
        files |= {f"{name}.svg": picture for name, picture in self.pictures.items()}
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")

    def __str__(self) -> str:
        return self._text.removesuffix("\n")

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(str(self))}</pre>"


@public
def simulate(
    scenario: str | os.PathLike[str],
    *,
    seed: int | None = None,
    sweep: str | None = None,
    threads: int = 0,
    policy: object = None,
) -> Simulation:
    """Simulates sites that share files over networks, with the planner and the cache that read real files.

    scenario: a TOML file, or the name of a scenario that comes with the package (``home``, ``tier3``, ``tree``,
    ``facility``, ``training``, ``outage``). seed: replaces that of the scenario; the same seed gives the same report.
    sweep: values to run over, such as ``"proxy=100GB..2TB,rtt=5ms..100ms/4"``. threads: 0 for one per core. policy: one
    of your own, or a list, simulated beside those of the scenario: an object of a subclass of :class:`GridPolicy`. What
    it raises ends the simulation.

    :raises InvalidError: the scenario or the sweep is wrong; the message names the line and the key.
    :raises FileMissingError: there is no such file.
    """
    policies = makers(policy)
    name = os.fspath(scenario)
    if not isinstance(name, str):
        raise InvalidError("the name of a scenario is text")
    if threads < 0 or (seed is not None and not 0 <= seed < 2**64):
        raise InvalidError("threads and seed are whole numbers, 0 or more")
    if name in _core.shipped_scenarios() and not os.path.exists(name):
        text, folder = _core.shipped_scenario(name), ""
    else:
        path = Path(name).expanduser()
        try:
            text, folder = path.read_text(encoding="utf-8"), str(path.parent)
        except FileNotFoundError:
            known = ", ".join(_core.shipped_scenarios())
            raise FileMissingError(f"{name}: no such file; scenarios of the package are {known}") from None
        except UnicodeDecodeError:
            raise InvalidError(f"{name}: a scenario is TOML in UTF-8") from None
    return Simulation(*_core.simulate(name, text, folder, seed, sweep, threads, policies))
