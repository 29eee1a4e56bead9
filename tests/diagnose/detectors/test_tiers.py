"""A tier: a row that becomes faster step by step, or under more load; maintenance that ends is none."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers import card_runs, planted
from msgspec.structs import replace

from iocast.analyse.facts import Facts
from iocast.diagnose.detectors.shortcuts import tiers
from iocast.diagnose.examination import examine
from iocast.diagnose.grades import grade
from iocast.model.run import PhaseRecord, Series
from iocast.report.card.verdict import verdict

MS = 1_000_000
SECOND_NS = card_runs.SECOND_NS


def _course(times_ms: list[float]) -> PhaseRecord:
    record = card_runs.reads(times=card_runs.histogram((sum(times_ms) / len(times_ms) * MS, 5_000)))
    series = Series(
        interval_ns=SECOND_NS,
        ios=(100,) * len(times_ms),
        bytes=(819_200,) * len(times_ms),
        response_ns=tuple(round(100 * each * MS) for each in times_ms),
    )
    return replace(record, series=series)


@pytest.mark.parametrize(
    ("times_ms", "said"),
    [
        ([20 - 14 * at / 39 for at in range(40)], 1),
        ([20 - 4 * at / 39 for at in range(40)], 0),  # less than a tier makes of it
        ([20.0] * 10 + [30.0, 28.0] * 5 + [12.0, 6.0] * 10, 0),  # up and down
        ([20 - 14 * at / 9 for at in range(10)], 0),  # too short
        ([20.0, 19.5] * 10 + [7.0, 7.1] * 10, 0),  # one step: something ended
        ([20.0, 19.5] * 10 + [12.0] + [7.0, 7.1] * 9, 0),  # within an interval
        ([20.0, 19.5] * 4 + [7.0, 7.1] * 16, 0),  # early in the row
    ],
)
def test_a_ramp_inside_a_row_suggests_a_tier(times_ms: list[float], said: int) -> None:
    run = card_runs.run(_course(times_ms))
    found = list(tiers.detect(Facts(run)))
    assert len(found) == said
    if said:
        assert "19 ms on average in its first fifth, 7.2 ms in its last" in found[0].says
        assert tiers.confirm(run, found[0]) is not None


def test_a_slow_time_that_ends_within_a_row_is_no_tier(tmp_path: Path) -> None:
    """Twice as slow until t=30 s of a minute: its fifths fall from one to the next, but in one step."""
    found = planted.suspected(planted.measured("sim:hdd,slow=0s..30s:2", planted.long(60, users=2), tmp_path))
    assert tiers.CODE not in found


@pytest.mark.long
def test_reads_that_become_faster_under_more_load_moved_to_a_tier(tmp_path: Path) -> None:
    """10 ms at 1x1 and 1 ms at 32x1 were "Queue-bound … 2.15x per doubling", a B, and no finding."""
    target = "sim:sata-ssd,size=512MiB,service=lognormal:10ms:0.2,tier=100GiB:1ms:3,servers=4"
    run = planted.card(target, tmp_path)
    facts, found = Facts(run), examine(run)
    tier = next(each for each in found.findings if each.code == "tier_migration")
    assert tier.says == (
        "Random reads became faster while the load rose: 10 ms on average at 1x1, 1 ms at 32x1; more load makes no"
        " storage faster."
    )
    assert "; 32x1 reaches 31.2k IOPS, each in 1 ms: the storage had become faster by then." in verdict(facts, found)
    reads = next(each for each in grade(facts, found).parts if each.code == "random_read")
    assert reads.letter is None
    assert "more load cannot make storage faster" in reads.says
    assert found.bounds["randread 8k 1x1"].by == "unknown"
    assert "tier_migration" in planted.confirmed(run, tmp_path)


def test_maintenance_that_ends_is_no_tier(tmp_path: Path) -> None:
    assert "tier_migration" not in planted.suspected(planted.card("sim:sata-ssd,slow=0s..3s:4", tmp_path))
