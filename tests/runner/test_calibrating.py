"""The script of a calibration: closed loads to saturation, rates as the chooser says, then large reads that fit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from iocast import load, runner
from iocast.jobs import parse_target
from iocast.model.calibration_request import CalibrationRequest
from iocast.model.plan import Plan, WorkFiles
from iocast.model.run import PhaseRecord
from iocast.runner.scripts.calibrating import Bench, Calibrating, bench_of, first_phases
from iocast.sessions.listener import QuietProgress

ASKED = CalibrationRequest(max_latency_ns=5_000_000, row_seconds=1.0)
FOUR_AT_ONCE = "sim:nvme,service=constant:1ms,servers=4,bandwidth=none"


class Rates:
    """Two rates, and what the chooser was shown."""

    def __init__(self) -> None:
        self.loads: list[int] = []

    def __call__(self, closed: Sequence[PhaseRecord], at_rates: Sequence[PhaseRecord]) -> float | None:
        self.loads = [record.measurement.asked_depth for record in closed]
        return (500.0, 3000.0, None)[len(at_rates)]


def performed(tmp_path: Path, size: str, rates: Rates, asked: CalibrationRequest = ASKED) -> list[str]:
    target = parse_target(f"{FOUR_AT_ONCE},size={size}")
    size_bytes = target.size_bytes or 0
    bench = Bench(direct=True, data_bytes=size_bytes, virtual=True)
    made = Plan(
        name="calibrate",
        target=target,
        phases=first_phases(asked, bench),
        files=WorkFiles(1, size_bytes),
        engine="sim",
        calibration=asked,
    )
    assert bench_of(made, size_bytes) == bench
    script = Calibrating(asked, bench, rates)
    done = runner.run(
        runner.Work(made, load.lay_out(made), str(tmp_path), script=script), QuietProgress(), lambda: False
    )
    assert (done.error, done.run.status) == (None, "done")
    assert done.run.plan.phases == tuple(record.phase for record in done.run.phases), "what was asked, and no more"
    return [record.phase.name for record in done.run.phases]


def test_the_parts_follow_each_other_in_one_run(tmp_path: Path) -> None:
    rates = Rates()
    names = performed(tmp_path, "1GiB", rates)
    assert rates.loads == [1, 2, 4, 8, 16], "four times N* of 4, and one doubling that brought nothing"
    assert names[:5] == [f"randread 8k 1x{load}" for load in (1, 2, 4, 8)] + ["randread 8k 1x16"]
    assert names[5:7] == ["open 8k 25%", "open 8k 50%"]
    assert names[7:] == ["stream 1M 1x1", "stream 1M 1x2", "stream 1M 1x4", "stream 1M 1x8", "stream 1M 2x4"]


def test_disks_lengthen_the_ladder_and_change_no_rung(tmp_path: Path) -> None:
    rates = Rates()
    performed(tmp_path, "1GiB", rates, CalibrationRequest(max_latency_ns=1, row_seconds=1.0, disks=20))
    assert rates.loads == [1, 2, 4, 8, 16, 32, 64]


@pytest.mark.parametrize(
    ("size", "streams"),
    [("4MiB", ["stream 1M 1x1", "stream 1M 1x2", "stream 1M 1x4"]), ("1MiB", ["stream 1M 1x1"])],
)
def test_only_large_reads_that_fit_are_made(tmp_path: Path, size: str, streams: list[str]) -> None:
    assert [name for name in performed(tmp_path, size, Rates()) if name.startswith("stream")] == streams


def test_a_plan_is_announced_before_any_rate_is_known() -> None:
    bench = Bench(direct=False, data_bytes=1 << 30, virtual=False)
    phases = first_phases(CalibrationRequest(max_latency_ns=1), bench)
    names = [phase.name for phase in phases]
    assert len(set(names)) == len(names)
    assert not any(phase.workload.direct or phase.workload.writes for phase in phases)
    assert {phase.test for phase in phases} == {"randread", "open", "stream"}
