"""calibrate: the highest load within a latency limit, the most IOPS and MB/s, and the whole curve, in one run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from iocast.errors import SpecError
from iocast.model.calibration_request import CalibrationRequest
from iocast.model.job import FileSize, Job
from iocast.model.run import Run
from iocast.model.target import Target
from iocast.report.forecast.calibration_report import calibration_report
from iocast.results.calibration import calibrated
from iocast.runner.scripts.calibrating import Bench, first_phases
from iocast.sessions.card import Card
from iocast.sessions.events import AnswerReady
from iocast.sessions.in_notebook import InNotebook
from iocast.sessions.job_run import Ran, plan, run
from iocast.sessions.listener import Listener
from iocast.sessions.requests.calibrate import CalibrateRequest
from iocast.sessions.requests.run_options import RunOptions, option_value
from iocast.sessions.run_card import judge, keep_summary, leave_page, shown_folder
from iocast.sessions.target_finding import find_target
from iocast.units import parse_duration, parse_size

if TYPE_CHECKING:
    from iocast.forecast.calibration import Calibration
    from iocast.model.report import Report

FILE_BYTES = 4 << 30
NAME = "calibrate"
BLOCKS = (512, 1 << 20)  # the sizes of random reads that a calibration takes
INTERVALS_MS = (500, 100)  # how fine the course of a row is kept: real, virtual


class Calibrated(Struct, InNotebook, frozen=True):
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
    def calibration(self) -> Calibration:
        """The maxima, the curve, its knees, and what is refused. Raises SpecError for a run that was no calibration."""
        fitted = calibrated(self.card.judged.facts, self.card.examination)
        if fitted is None:
            raise SpecError(f"{self.folder} is not a calibration", "make one with `iocast calibrate PATH`")
        return fitted

    def report(self, *, charts: bool = False) -> Report:
        """The maxima, the curve, the knees and what is refused."""
        return calibration_report(self.card.judged.facts, self.card.examination, self.folder, charts=charts)


def calibration_asked(request: CalibrateRequest) -> CalibrationRequest:
    """The search that is asked for. Raises SpecError, which names the option."""
    if not request.max_latency:
        raise SpecError("--max-latency is missing: the latency limit to search for", "for example --max-latency 10ms")
    limit_ns = option_value("--max-latency", request.max_latency, parse_duration)
    if limit_ns <= 0:
        raise SpecError(
            f"--max-latency {request.max_latency}: the limit must be above 0", "for example --max-latency 10ms"
        )
    block_bytes = option_value("--block", request.block, parse_size)
    if not BLOCKS[0] <= block_bytes <= BLOCKS[1]:
        raise SpecError(f"--block {request.block}: random reads are of 512 bytes to 1MiB", "for example --block 8k")
    duration_ns = request.options.duration_ns
    return CalibrationRequest(
        max_latency_ns=limit_ns,
        quantile=_quantile(str(request.percentile)),
        block_bytes=block_bytes,
        disks=request.disks,
        row_seconds=None if duration_ns is None else duration_ns / 1e9,
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
    wanted = calibration_asked(request)
    target = find_target(request.path)
    work = plan(calibration_job(wanted, request.options, target), target, request.options, listener)
    ran = run(work, listener)
    calibrated_run = _judge(ran, request.page, listener)
    ran.or_error()
    return calibrated_run


def _judge(ran: Ran, page: bool, listener: Listener) -> Calibrated | None:
    """Judges what was measured, and leaves the page of its card last: the answer can be read meanwhile."""
    if ran.folder is None:
        return None
    card = judge(ran.run, shown_folder(ran.folder))
    report = card.report()
    keep_summary(card, report)
    judged = Calibrated(card)
    listener.tell(AnswerReady(judged.report()))
    if page and ran.run.status == "done":
        leave_page(card, report, listener)
    return judged


def calibration_job(request: CalibrationRequest, options: RunOptions, target: Target) -> Job:
    """The search as a job: what it may run is checked and planned as any other; it only reads."""
    size_bytes, virtual = options.size_bytes or FILE_BYTES, target.kind == "sim"
    there_bytes = size_bytes if target.size_bytes is None else target.size_bytes
    return Job(
        name=NAME,
        phases=first_phases(request, Bench(direct=True, data_bytes=there_bytes, virtual=virtual)),
        file_size=FileSize(size_bytes=size_bytes),
        interval_ns=_interval_ns(request, virtual=virtual),
        calibration=request,
        fits_target=True,
    )


def _interval_ns(request: CalibrationRequest, *, virtual: bool) -> int:
    """At least twenty in a row: fewer do not show how I/Os depend on each other, and so give no interval."""
    usual_ns = INTERVALS_MS[virtual] * 1_000_000
    if request.row_seconds is None:
        return usual_ns
    return max(10_000_000, min(usual_ns, round(request.row_seconds / 20 * 1000) * 1_000_000))
