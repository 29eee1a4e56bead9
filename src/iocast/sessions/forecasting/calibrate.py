"""calibrate: the highest load within a latency limit, the most IOPS and MB/s, and the whole curve, in one run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from iocast.errors import SpecError
from iocast.model.forecasting.calibration_asked import CalibrationAsked
from iocast.model.job import FileSize, Job
from iocast.model.run import Run
from iocast.model.target import Target
from iocast.runner.scripts.calibrating import Bench, first_phases
from iocast.sessions.card import Card
from iocast.sessions.carry_out import Carried, carry_out
from iocast.sessions.events import AnswerMade
from iocast.sessions.listener import Listener
from iocast.sessions.requests import RunOptions, option_value
from iocast.sessions.run_card import keep_summary, leave_page, make_card, shown_folder
from iocast.sessions.target_finding import find_target
from iocast.units import parse_duration, parse_size

if TYPE_CHECKING:
    from iocast.forecast.calibration import Calibration
    from iocast.model.report import Report

FILE_BYTES = 4 << 30
NAME = "calibrate"
BLOCKS = (512, 1 << 20)  # the sizes of random reads that a calibration takes
INTERVALS_MS = (500, 100)  # how fine the course of a row is kept: real, virtual


class CalibrateRequest(Struct, frozen=True, kw_only=True):
    """What is searched, where, and what is changed about it."""

    path: str
    asked: CalibrationAsked
    options: RunOptions = RunOptions()
    page: bool = False  # leave the card with charts in the run folder


class Calibrated(Struct, frozen=True):
    """A run that was searched, with its card and what came of it."""

    card: Card

    @property
    def run(self) -> Run:
        """Every row with its measurement."""
        return self.card.run

    @property
    def folder(self) -> str:
        """The run folder."""
        return self.card.folder

    @property
    def found(self) -> Calibration:
        """The maxima, the curve, its knees, and what is refused. Raises SpecError for a run that was no calibration."""
        from iocast.results.calibration import calibrated

        found = calibrated(self.card.judged.facts, self.card.examination)
        if found is None:
            raise SpecError(f"{self.folder} is not a calibration", "make one with `iocast calibrate PATH`")
        return found

    def report(self, *, charts: bool = False) -> Report:
        """The maxima, the curve, the knees and what is refused."""
        from iocast.report.forecast.calibration_report import calibration_report

        return calibration_report(self.card.judged.facts, self.card.examination, self.folder, charts=charts)


def calibration_asked(
    max_latency: str, percentile: str, block: str, disks: int | None, row_seconds: float | None = None
) -> CalibrationAsked:
    """The search of options as they are written. Raises SpecError, which names the option."""
    limit_ns = option_value("--max-latency", max_latency, parse_duration)
    if limit_ns <= 0:
        raise SpecError(f"--max-latency {max_latency}: the limit must be above 0", "for example --max-latency 10ms")
    block_bytes = option_value("--block", block, parse_size)
    if not BLOCKS[0] <= block_bytes <= BLOCKS[1]:
        raise SpecError(f"--block {block}: random reads are of 512 bytes to 1MiB", "for example --block 8k")
    return CalibrationAsked(
        max_latency_ns=limit_ns,
        quantile=_quantile(percentile),
        block_bytes=block_bytes,
        disks=disks,
        row_seconds=row_seconds,
    )


def _quantile(text: str) -> float | None:
    """The percentile as a share; None for the mean. Raises SpecError."""
    if text == "mean":
        return None
    try:
        percent = float(text.removeprefix("p"))
    except ValueError:
        percent = -1.0
    if not 50 <= percent <= 99.9:
        raise SpecError(f"--percentile {text}: not a percentile from 50 to 99.9", "for example 99, 99.9, or mean")
    return round(percent / 100, 6)


def calibrate(request: CalibrateRequest, listener: Listener) -> Calibrated | None:
    """Plans, announces, searches, judges, leaves a page; None when nothing was measured. Raises IocastError."""
    target = find_target(request.path)
    done = carry_out(calibration_job(request, target), target, request.options, listener)
    found = _judged(done, request.page, listener)
    done.or_error()
    return found


def _judged(done: Carried, page: bool, listener: Listener) -> Calibrated | None:
    """Judges what was measured, and leaves the page of its card last: the answer can be read meanwhile."""
    if done.folder is None:
        return None
    card = make_card(done.run, shown_folder(done.folder))
    keep_summary(card, card.report())
    found = Calibrated(card)
    listener.tell(AnswerMade(found.report()))
    if page and done.run.status == "done":
        leave_page(card, listener)
    return found


def calibration_job(request: CalibrateRequest, target: Target) -> Job:
    """The search as a job: what it may run is checked and planned as any other; it only reads."""
    size_bytes = request.options.size_bytes or FILE_BYTES
    asked, virtual = request.asked, target.kind == "sim"
    there_bytes = size_bytes if target.size_bytes is None else target.size_bytes
    return Job(
        name=NAME,
        phases=first_phases(asked, Bench(direct=True, data_bytes=there_bytes, virtual=virtual)),
        file_size=FileSize(size_bytes=size_bytes),
        interval_ns=_interval_ns(asked, virtual=virtual),
        calibration=asked,
        fits_target=True,
    )


def _interval_ns(asked: CalibrationAsked, *, virtual: bool) -> int:
    """At least twenty in a row: fewer do not show how I/Os depend on each other, and so give no interval."""
    usual_ns = INTERVALS_MS[virtual] * 1_000_000
    if asked.row_seconds is None:
        return usual_ns
    return max(10_000_000, min(usual_ns, round(asked.row_seconds / 20 * 1000) * 1_000_000))
