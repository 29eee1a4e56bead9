"""What the passive part costs: time in observers and detectors beside the time of a quick card."""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from unittest.mock import patch

from msgspec import Struct

from iocast import archive, observe, runner
from iocast.diagnose import examination
from iocast.jobs import load_job
from iocast.model.run import Sample
from iocast.sessions.job_run import run_job
from iocast.sessions.listener import Quiet
from iocast.sessions.requests.run_options import RunOptions
from iocast.sessions.target_finding import find_target


class Passive(Struct, frozen=True, kw_only=True):
    """Seconds of one card: all of it, in observers, in detectors."""

    job: str = ""
    run_s: float = 0.0
    observers_s: float = 0.0
    detectors_s: float = 0.0

    @property
    def share(self) -> float:
        """Of the run's time."""
        return (self.observers_s + self.detectors_s) / self.run_s if self.run_s else 0.0


class _Timed(observe.Watch):
    """Observers with a clock around everything that they do."""

    spent_s = 0.0

    def __enter__(self) -> _Timed:
        began = time.perf_counter()
        super().__enter__()
        _Timed.spent_s += time.perf_counter() - began
        return self

    def sample(self) -> list[Sample]:
        began = time.perf_counter()
        samples = super().sample()
        _Timed.spent_s += time.perf_counter() - began
        return samples

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        began = time.perf_counter()
        super().__exit__(kind, error, trace)
        _Timed.spent_s += time.perf_counter() - began


def passive_cost(base: Path, job: str = "card-quick") -> Passive:
    """Runs the card in a directory of its own and times its passive part."""
    _Timed.spent_s = 0.0
    with TemporaryDirectory(prefix="iocast-matrix-", dir=base) as place, TemporaryDirectory() as out:
        with patch.object(runner, "Watch", _Timed):
            began = time.perf_counter()
            done = run_job(load_job(job), find_target(place), RunOptions(out=out), Quiet())
            run_s = time.perf_counter() - began
        run = archive.load(str(done.folder))
        began = time.perf_counter()
        examination.examine(run)
        detectors_s = time.perf_counter() - began
    return Passive(
        job=job, run_s=round(run_s, 2), observers_s=round(_Timed.spent_s, 4), detectors_s=round(detectors_s, 4)
    )
