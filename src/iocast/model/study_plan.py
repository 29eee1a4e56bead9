"""A study: a matrix of loads, each measured several times, on one configuration after the other."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

# The figure that a cell reports. A mean never stands alone: p99 is beside it.
MetricCode = Literal["mean", "p50", "p95", "p99", "iops", "throughput"]
MORE_IS_BETTER: tuple[MetricCode, ...] = ("iops", "throughput")


class StudyCell(Struct, frozen=True, kw_only=True):
    """One load of the matrix. `values` has the name of its value on each axis, in the order of the axes."""

    values: dict[str, str]
    metric: MetricCode
    job_text: str  # a job file with the one row of this cell
    warm_text: str = ""  # a job file that reads its data before; "" for none
    seconds: float | None = None  # of its row; None where it ends by bytes or I/Os

    @property
    def name(self) -> str:
        """Its values: "cached 1 async-4 randread"."""
        return " ".join(self.values.values())

    @property
    def folder(self) -> str:
        """The name of its folder."""
        return "-".join(self.values.values())


class View(Struct, frozen=True):
    """A part of the matrix that is shown by itself: some axes fixed."""

    name: str
    fixed: dict[str, str]

    def shows(self, cell: StudyCell) -> bool:
        """Whether a cell is in this part."""
        return all(cell.values[axis] == value for axis, value in self.fixed.items())


class StudyPlan(Struct, frozen=True, kw_only=True):
    """What a study file says. `labels` are the configurations that it names, the baseline first."""

    name: str
    description: str
    repeats: int
    axes: dict[str, tuple[str, ...]]
    cells: tuple[StudyCell, ...]
    labels: tuple[str, ...] = ()
    views: tuple[View, ...] = ()
    text: str = ""

    @property
    def runs(self) -> int:
        """How many runs a configuration takes."""
        return len(self.cells) * self.repeats

    @property
    def seconds(self) -> float | None:
        """How long its rows take together; None where one has no fixed time."""
        known = [cell.seconds for cell in self.cells if cell.seconds is not None]
        return sum(known) * self.repeats if len(known) == len(self.cells) else None


class Repeat(Struct, frozen=True, kw_only=True):
    """One complete run of a cell."""

    folder: str
    started_unix_ns: int
    value: float | None  # ns of a time, else per second; None: too few I/Os for that percentile
    p99_ns: float | None
    trust: str = ""  # the letter of the run; "" where it was not judged


class CellResult(Struct, frozen=True, kw_only=True):
    """The complete runs of a cell on one configuration, in order of time, and how many were cut short."""

    cell: StudyCell
    repeats: tuple[Repeat, ...] = ()
    interrupted: int = 0


class StudySide(Struct, frozen=True):
    """What was measured of a study on one configuration, a result for each cell of the plan."""

    label: str
    results: tuple[CellResult, ...]
