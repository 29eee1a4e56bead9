"""A coarse clock: times in steps, which are no peaks as well; waits at one server are no clock."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from makers import card_runs, planted
from makers.left_out import long_after

from iocast.analyse.facts import Facts
from iocast.diagnose.detectors.measurement import coarse_clock
from iocast.diagnose.examination import examine
from iocast.diagnose.relations import not_suppressed
from iocast.model.finding import Finding
from iocast.model.run import PhaseRecord

MS = 1_000_000


def _ticked(jitter_ns: float, top_ns: float, *, loose: float = 0.01, tick: bool = True) -> PhaseRecord:
    """Reads that complete at the next of a timer's ticks of 700 µs, and take a little on top."""
    draw = random.Random(7)
    values = []
    for _ in range(20_000):
        took = draw.expovariate(1 / 600_000)
        end = (took // 700_000 + 1) * 700_000 + top_ns + draw.gauss(0, jitter_ns) if tick else took + top_ns
        values.append((draw.uniform(300_000, 9_000_000) if draw.random() < loose else max(1.0, end), 1))
    return card_runs.reads(times=card_runs.histogram(*values))


@pytest.mark.parametrize(("jitter_ns", "top_ns"), [(1_000, 0), (15_000, 40_000), (30_000, 90_000)])
def test_times_in_steps_are_a_clock_and_no_several_peaks(jitter_ns: float, top_ns: float) -> None:
    (found,) = coarse_clock.detect(Facts(card_runs.run(_ticked(jitter_ns, top_ns))))
    assert found.evidence["step_ns"] == pytest.approx(700_000, rel=0.02)


def test_times_without_steps_have_no_clock() -> None:
    assert list(coarse_clock.detect(Facts(card_runs.run(_ticked(0, 200_000, tick=False))))) == []
    three = card_runs.histogram(
        *((at * MS * (1 + 0.002 * off), 20) for at in (0.2, 2.0, 9.0) for off in range(-20, 21))
    )
    assert list(coarse_clock.detect(Facts(card_runs.run(card_runs.reads(times=three))))) == []


def test_waits_behind_others_at_one_server_are_no_clock() -> None:
    """A neighbour that grew on a real device: each I/O took one, two or three times what one takes, give or take a
    fourteenth, and a timer was said to decide when it ends."""
    draw = random.Random(11)
    values = []
    for _ in range(20_000):
        before = draw.choices((0, 1, 2), (75, 21, 4))[0]
        values.append((sum(draw.uniform(1.6e6, 2.0e6) for _ in range(1 + before)), 1))
    run = card_runs.run(card_runs.reads(times=card_runs.histogram(*values)))
    assert list(coarse_clock.detect(Facts(run))) == []


def test_a_clock_of_a_disk_is_found_though_no_read_ends_at_its_first_tick(tmp_path: Path) -> None:
    found = planted.suspected(planted.measured("sim:hdd,tick=700us", planted.long(20), tmp_path))
    assert found["coarse_clock"].evidence["step_ns"] == pytest.approx(700_000, rel=0.01)


@pytest.mark.parametrize("tick", ["2.2ms", "3251us"])
def test_the_ticks_of_a_clock_are_no_peaks_as_well(tick: str, tmp_path: Path) -> None:
    found = {
        each.code for each in examine(planted.measured(f"sim:hdd,tick={tick}", planted.long(20), tmp_path)).findings
    }
    assert "coarse_clock" in found
    assert "several_peaks" not in found


@pytest.mark.parametrize(
    ("gap_ns", "phase", "said"),
    [(2.2 * MS, "", False), (12.0 * MS, "", True), (2.2 * MS, "randread 8k", False), (2.2 * MS, "another", True)],
)
def test_peaks_many_ticks_apart_have_another_cause_too(gap_ns: float, phase: str, said: bool) -> None:
    clock = Finding(code="coarse_clock", severity="severe", phase=phase, says="", evidence={"step_ns": 2.2 * MS})
    evidence = {"peaks": 2, "widest_gap_ns": gap_ns}
    peaks = Finding(code="several_peaks", severity="note", phase="randread 8k", says="", evidence=evidence)
    told = not_suppressed(Facts(card_runs.run(card_runs.reads())), [clock, peaks])
    assert told == ([clock, peaks] if said else [clock])


@pytest.mark.parametrize(
    ("target", "confirmed"),
    long_after(
        1,
        [
            # 500 us and 12 ms, and sums of them where I/Os wait for each other: it was severe, and "confirmed".
            ("sim:nvme,bandwidth=none,servers=4,service=bimodal:97%:500us:12ms", False),
            ("sim:nvme,tick=1ms", True),
            ("sim:sata-ssd,tick=250us", True),
        ],
    ),
)
def test_service_that_never_varies_is_no_clock(target: str, confirmed: bool, tmp_path: Path) -> None:
    """Reads at random times tell: behind a clock they wait for half a step."""
    found, _ = planted.inquired(planted.survey(target, tmp_path), tmp_path)
    assert (found["coarse_clock"].state == "confirmed") == confirmed
    assert found["coarse_clock"].severity == "warn"
