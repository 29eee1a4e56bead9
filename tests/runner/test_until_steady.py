"""Until steady: what the ticks make of a phase, when the judge is asked, how virtual time is judged afterwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from makers.work_files import phase
from msgspec.structs import replace

from iocast import load, runner
from iocast.analyse.steady import accepts
from iocast.jobs import parse_job, parse_target
from iocast.jobs import plan as make_plan
from iocast.load.loaders.simulator import enough_after
from iocast.model.plan import Until
from iocast.model.run import Series
from iocast.model.workload import Constant
from iocast.runner.scripts.until_steady import Judge, Watching

SECOND_NS = 1_000_000_000


def heard(
    until: Until, judge: Judge, rate: Callable[[int], int], seconds: int, **changes: object
) -> tuple[int, Watching]:
    """Ticks ten times a second; the second in which it was enough (0: never)."""
    watching = Watching(phase(**changes), until, judge, SECOND_NS)
    ios = 0
    for tick in range(1, 10 * seconds + 1):
        ios += rate(tick // 10) // 10
        if watching.enough(tick * SECOND_NS // 10, ios, ios * 1_000_000):
            return tick // 10, watching
    return 0, watching


def test_what_is_steady_at_once_ends_at_its_first_time() -> None:
    at, watching = heard(Until("b3", 60.0), accepts, lambda _: 1000, 300)
    assert (at, watching.end.reached, watching.end.judged, watching.end.from_ns) == (60, True, 1, 0)


def test_what_settles_is_judged_again_after_twice_as_long() -> None:
    """The first 40 seconds are more than half of 60 and less than half of 120."""
    at, watching = heard(Until("b3", 60.0), accepts, lambda second: 500 if second < 40 else 1000, 300)
    assert (at, watching.end.judged) == (120, 2)
    assert watching.end.from_ns == pytest.approx(40 * SECOND_NS, abs=5 * SECOND_NS)


def test_what_never_settles_never_is_enough() -> None:
    at, watching = heard(Until("b3", 60.0), accepts, lambda second: 1000 + 20 * second, 300)
    assert (at, watching.end.reached, watching.end.judged, watching.end.from_ns) == (0, False, 3, None)


def test_five_rounds_slide_on() -> None:
    at, watching = heard(Until("snia", 50.0), accepts, lambda second: 500 if second < 40 else 1000, 300)
    assert at == 90
    assert watching.end.from_ns == 40 * SECOND_NS


def test_an_open_loop_is_judged_by_its_response() -> None:
    asked: list[Sequence[float]] = []
    heard(Until("b3", 60.0), lambda _, values: asked.append(list(values)), lambda _: 1000, 61, arrival=Constant(1000.0))
    assert asked == [[1_000_000.0] * 60]


def test_a_tick_that_comes_late_stands_for_the_seconds_since() -> None:
    asked: list[Sequence[float]] = []
    watching = Watching(phase(), Until("b3", 5.0), lambda _, values: asked.append(list(values)), SECOND_NS)
    watching.enough(1 * SECOND_NS, 1000, 0)
    watching.enough(5 * SECOND_NS, 1400, 0)
    assert asked == [[1000.0, 100.0, 100.0, 100.0, 100.0]]


def test_what_was_saved_is_judged_as_it_would_have_been() -> None:
    ios = tuple(500 if second < 40 else 1000 for second in range(240))
    series = Series(interval_ns=SECOND_NS, ios=ios, bytes=ios, response_ns=ios)
    watching = Watching(phase(), Until("b3", 60.0), accepts, SECOND_NS)
    assert enough_after(series, watching) == 120.0
    assert (watching.end.reached, watching.end.judged) == (True, 2)
    too_short = replace(series, ios=ios[:70], response_ns=ios[:70])
    assert enough_after(too_short, Watching(phase(), Until("b3", 60.0), accepts, SECOND_NS)) is None


class _Quiet:
    def begin(self, *_: object) -> None: ...
    def tick(self, *_: object) -> None: ...
    def end(self, *_: object) -> None: ...
    def close(self) -> None: ...


JOB = """
name = "settles"
[[phase]]
size = "8k"
until = "steady"
at_least = "60s"
at_most = "240s"
"""


def test_a_simulated_phase_lasts_exactly_as_long_as_it_takes(tmp_path: Path) -> None:
    target = parse_target("sim:nvme,service=lognormal:5ms:0.3")
    made, _ = make_plan(parse_job(JOB, "settles.toml"), target, seed=1, memory_bytes=1 << 30)
    never = runner.perform(made, load.lay_out(made), str(tmp_path), _Quiet(), lambda: False, lambda *_: None)
    (longest,) = never.run.measured
    assert longest.steady is not None
    assert (longest.steady.reached, longest.steady.judged, len(longest.series.ios)) == (False, 3, 240)
    done = runner.perform(made, load.lay_out(made), str(tmp_path), _Quiet(), lambda: False, accepts)
    (record,) = done.run.measured
    assert record.steady is not None
    assert record.steady.reached
    assert (record.plan.length.seconds, len(record.series.ios)) == (60.0, 60)
    assert record.series.ios == longest.series.ios[:60], "the same I/Os, only fewer"
