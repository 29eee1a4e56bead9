"""Until steady: what the ticks make of a phase, when the judge is asked, how virtual time is judged afterwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from makers.work_files import phase
from msgspec.structs import replace

from iocast import archive, load, runner
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


def test_what_is_steady_from_its_beginning_ends_with_its_first_doubling() -> None:
    """One result tells nothing of the next: two are compared."""
    at, watching = heard(Until("b3", 60.0), accepts, lambda _: 1000, 300)
    assert (at, watching.end.reached, watching.end.judged, watching.end.from_ns) == (120, True, 1, 0)
    assert (watching.end.before, watching.end.after) == (1000.0, 1000.0)


@pytest.mark.parametrize(("slow_s", "ends_s"), [(40, 120), (70, 240), (100, 240)])
def test_a_slow_start_is_outlasted_and_left_out(slow_s: int, ends_s: int) -> None:
    at, watching = heard(Until("b3", 60.0), accepts, lambda second: 300 if second < slow_s else 1000, 480)
    assert (at, watching.end.before, watching.end.after) == (ends_s, 1000.0, 1000.0)
    assert watching.end.warm_up_ns == pytest.approx(slow_s * SECOND_NS, abs=5 * SECOND_NS)


def test_a_change_that_comes_after_the_end_is_not_seen() -> None:
    """The limit of the rule: whoever is slow for longer than it lasts is taken for slow."""
    at, watching = heard(Until("b3", 60.0), accepts, lambda second: 300 if second < 130 else 1000, 480)
    assert (at, watching.end.after) == (120, 300.0)


def test_two_results_that_differ_are_no_pair() -> None:
    """Each half is level enough for itself, and they are 8 % apart."""
    values = [1000.0 + 20 * (-1) ** at for at in range(60)]
    assert accepts("b3", values + values) is not None
    assert accepts("b3", values + [1.08 * each for each in values]) is None


def test_what_settles_is_judged_again_after_twice_as_long() -> None:
    """The first 80 seconds are more than half of 120 and less than half of 240."""
    at, watching = heard(Until("b3", 60.0), accepts, lambda second: 500 if second < 80 else 1000, 300)
    assert (at, watching.end.judged) == (240, 2)
    assert watching.end.from_ns == pytest.approx(80 * SECOND_NS, abs=5 * SECOND_NS)


def test_what_never_settles_never_is_enough() -> None:
    at, watching = heard(Until("b3", 60.0), accepts, lambda second: 1000 + 20 * second, 300)
    assert (at, watching.end.reached, watching.end.judged, watching.end.from_ns) == (0, False, 2, None)


def test_five_rounds_slide_on() -> None:
    at, watching = heard(Until("snia", 50.0), accepts, lambda second: 500 if second < 40 else 1000, 300)
    assert at == 90
    assert watching.end.from_ns == 40 * SECOND_NS


def test_an_open_loop_is_judged_by_its_response() -> None:
    asked: list[Sequence[float]] = []
    heard(
        Until("b3", 60.0), lambda _, values: asked.append(list(values)), lambda _: 1000, 121, arrival=Constant(1000.0)
    )
    assert asked == [[1_000_000.0] * 120]


def test_a_tick_that_comes_late_stands_for_the_seconds_since() -> None:
    asked: list[Sequence[float]] = []
    watching = Watching(phase(), Until("b3", 2.5), lambda _, values: asked.append(list(values)), SECOND_NS)
    watching.enough(1 * SECOND_NS, 1000, 0)
    watching.enough(5 * SECOND_NS, 1400, 0)
    assert asked == [[1000.0, 100.0, 100.0, 100.0, 100.0]]


def test_what_was_saved_is_judged_as_it_would_have_been() -> None:
    ios = tuple(500 if second < 80 else 1000 for second in range(240))
    series = Series(interval_ns=SECOND_NS, ios=ios, bytes=ios, response_ns=ios)
    watching = Watching(phase(), Until("b3", 60.0), accepts, SECOND_NS)
    assert enough_after(series, watching) == 240.0
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
    never = runner.run(
        runner.Work(made, load.lay_out(made), str(tmp_path), judge=lambda *_: None), _Quiet(), lambda: False
    )
    (longest,) = never.run.measured
    assert longest.steady is not None
    assert (longest.steady.reached, longest.steady.judged, len(longest.series.ios)) == (False, 2, 240)
    done = runner.run(runner.Work(made, load.lay_out(made), str(tmp_path), judge=accepts), _Quiet(), lambda: False)
    (record,) = done.run.measured
    assert record.steady is not None
    assert record.steady.reached
    warm_up = record.steady.warm_up_ns // SECOND_NS
    assert record.plan.length.seconds == 120.0
    assert record.series.ios == longest.series.ios[warm_up:120], "the same I/Os, only fewer"


@pytest.mark.parametrize(
    ("device", "at_least", "truth_ms"),
    [
        ("sim:hdd,slow=0s..400s:3", "300s", (50.0, 63.2, 68.5)),
        ("sim:hdd,slow=0s..200s:3", "300s", (50.0, 63.2, 68.5)),
        ("sim:nvme,iops=2000/s,servers=1,service=lognormal:5ms:0.3,slow=0s..100s:3", "60s", (20.0, 25.6, 28.1)),
    ],
)
def test_the_slow_part_is_not_in_the_figures(
    tmp_path: Path, device: str, at_least: str, truth_ms: tuple[float, ...]
) -> None:
    job = JOB.replace("60s", at_least).replace('at_most = "240s"', "users = 4")
    made, _ = make_plan(parse_job(job, "settles.toml"), parse_target(device), seed=1, memory_bytes=1 << 30)
    done = runner.run(runner.Work(made, load.lay_out(made), str(tmp_path), judge=accepts), _Quiet(), lambda: False)
    (record,) = done.run.measured
    did = record.measurement
    times = did.response()
    found = [time / 1e6 for time in (times.mean_ns, times.quantile_ns(0.95), times.quantile_ns(0.99))]
    assert found == pytest.approx(truth_ms, rel=0.03)
    assert did.ios == times.total == did.service().total
    assert did.rate_per_s * times.mean_ns / 1e9 == pytest.approx(4, rel=0.02), "Little's law holds for what is left"
    assert len(record.series.ios) == did.issuing_ns // SECOND_NS
    assert done.folder is not None
    (again,) = archive.load(str(done.folder)).measured
    assert (again.series, again.measurement) == (record.series, record.measurement)
    (whole,) = archive.load_courses(str(done.folder)).values()
    assert whole[0].start_ns == 0, "the folder keeps the warm-up"
