"""Sites that share files over networks, simulated: push against pull."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .. import _core
from ..arguments.checks import string, thread_count
from ..arguments.paths import local_path
from ..arguments.paths import name as file_name
from ..arguments.sizes import whole
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
        ``sapwood simulate -o`` does. It is created if it does not exist. All files of an earlier report are replaced,
        or none: one that another process is writing there is an error."""
        files = {"report.txt": self._text, "report.json": self._data, "report.html": self.html}
        files |= {f"{name}.svg": picture for name, picture in self.pictures.items()}
        _core.save_report(local_path(directory), list(files.items()))

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

    :raises InvalidError: an argument, the scenario or the sweep is wrong; the message names the argument, or the line
        and the key.
    :raises FileMissingError: there is no such file.
    """
    policies = makers(policy)
    name = file_name(scenario)
    if not name:
        known = ", ".join(_core.shipped_scenarios())
        raise InvalidError(f"the name of the scenario is empty; give a TOML file, or one of {known}")
    if seed is not None:
        given, seed = seed, whole(seed)
        if seed is None or not 0 <= seed < 2**64:
            raise InvalidError(f"seed must be a whole number from 0 to 2**64 - 1, or None, not {given!r}")
    threads = thread_count(threads)
    if sweep is not None:
        sweep = string(sweep, "sweep")
    if name in _core.shipped_scenarios() and not os.path.exists(name):
        text, folder = _core.shipped_scenario(name), ""
    else:
        path = Path(name).expanduser()
        try:
            text, folder = path.read_text(encoding="utf-8"), str(path.parent)
        except IsADirectoryError:
            raise InvalidError(f"{name}: is a directory; give the TOML file of a scenario") from None
        except FileNotFoundError:
            known = ", ".join(_core.shipped_scenarios())
            raise FileMissingError(f"{name}: no such file; scenarios of the package are {known}") from None
        except UnicodeDecodeError:
            raise InvalidError(f"{name}: a scenario is TOML in UTF-8") from None
    return Simulation(*_core.simulate(name, text, folder, seed, sweep, threads, policies))
