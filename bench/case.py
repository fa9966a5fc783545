"""Definition of a benchmark case: contenders that do the same work, a floor, and bounds on ratios."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass, field

from measure import Failed, Measured


@dataclass
class Bound:
    """A target: `value` (computed from the medians) must not exceed `limit`."""

    text: str
    limit: float
    value: Callable[[Outcome], float | None]
    unit: str = ""


@dataclass
class Case:
    """Work that several programs do in turn, several times."""

    name: str
    title: str
    contenders: dict[str, Callable[[], Measured]]
    #: (description, seconds): a lower bound on the time
    floor: tuple[str, float] | None = None
    bounds: list[Bound] = field(default_factory=list)
    #: values that must agree between all results: name and relative tolerance
    same: dict[str, float] = field(default_factory=dict)
    #: contenders whose results are not compared, for the reason given in the note
    incomparable: tuple[str, ...] = ()
    #: additional columns: title and how to get them from a run
    columns: dict[str, Callable[[Measured], float | None]] = field(default_factory=dict)
    note: str = ""
    #: whether all contenders do the same work, so that their times are comparable
    compared: bool = True
    #: the case's place in a table of many cases: the table's name and its coordinates there
    place: dict[str, str] = field(default_factory=dict)


class Outcome:
    """The runs of a case."""

    def __init__(self, case):
        self.case = case
        self.runs: dict[str, list[Measured]] = {name: [] for name in case.contenders}
        self.failures: dict[str, str] = {}

    def measure(self, repeat, say):
        """Every contender once, then every contender again: so that fluctuations of the machine affect all of them."""
        for index in range(repeat):
            for name, contender in self.case.contenders.items():
                if name in self.failures:
                    continue
                try:
                    run = contender()
                    self.runs[name].append(run)
                    say(f"  {self.case.name} {index + 1}/{repeat} {name}: {run.seconds:.3f} s")
                except (Failed, KeyError, ValueError) as error:
                    self.failures[name] = str(error)
                    say(f"  {self.case.name} {name} failed: {error}")

    def median(self, name, of=lambda run: run.seconds):
        """Median of something over a contender's runs; None where it did not run."""
        values = [of(run) for run in self.runs.get(name, [])]
        values = [value for value in values if value is not None]
        return statistics.median(values) if values else None

    def ratio(self, name, other, of=lambda run: run.seconds):
        """A contender's median relative to another's; None where one is missing."""
        mine, theirs = self.median(name, of), self.median(other, of)
        return mine / theirs if mine is not None and theirs else None

    def differences(self):
        """As text, where contenders disagree about values that must be the same."""
        found = []
        for key, tolerance in self.case.same.items():
            values = {name: runs[0].result.get(key) for name, runs in self.runs.items() if runs}
            values = {name: value for name, value in values.items() if name not in self.case.incomparable}
            known = {name: value for name, value in values.items() if value is not None}
            reference = next(iter(known.values()), None)
            for value in known.values():
                if isinstance(value, dict):
                    shared = value.keys() & reference.keys()
                    equal = all(close(float(value[k]), float(reference[k]), tolerance) for k in shared)
                else:
                    equal = close(value, reference, tolerance)
                if not equal:
                    found.append(f"{key}: {known}")
                    break
        return found

    def as_json(self):
        """Everything that report.py needs."""
        rows = {}
        for name, runs in self.runs.items():
            rows[name] = {
                "seconds": [run.seconds for run in runs],
                "median": self.median(name),
                "whole": self.median(name, lambda run: run.whole),
                "cpu": self.median(name, lambda run: run.cpu),
                "peak_mb": self.median(name, lambda run: run.peak_mb),
                "columns": {title: self.median(name, get) for title, get in self.case.columns.items()},
                "command": runs[0].words if runs else None,
                "failure": self.failures.get(name),
            }
        bounds = [
            {"text": bound.text, "limit": bound.limit, "value": bound.value(self), "unit": bound.unit}
            for bound in self.case.bounds
        ]
        return {
            "name": self.case.name,
            "title": self.case.title,
            "note": self.case.note,
            "floor": self.case.floor,
            "rows": rows,
            "bounds": bounds,
            "differences": self.differences(),
            "compared": self.case.compared,
            "place": self.case.place,
        }


def close(value, reference, tolerance):
    return abs(value - reference) <= tolerance * max(abs(value), abs(reference))
