"""Facts: each is computed once, whoever asks, and is what the functions behind it say."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from makers import card_runs
from msgspec.structs import replace

from iocast.analyse import (
    changepoint,
    combined_load,
    device_io,
    facts,
    file_residency,
    ladder,
    modes,
    places,
    rate_drops,
    row_pairs,
    statistics,
    steady,
    time_breakdown,
)
from iocast.analyse.facts import Facts, facts_of, once
from iocast.diagnose.detectors.interference import stalls
from iocast.diagnose.detectors.measurement import absent
from iocast.diagnose.examination import examine
from iocast.diagnose.limits import by_load, own_group
from iocast.diagnose.trust import isolation
from iocast.model.run import PhaseRecord, Run, Source
from iocast.report.card.judged import judge

DERIVED: tuple[Callable[..., Any], ...] = (
    device_io.device_io,
    device_io.under_filesystem,
    places.places,
    combined_load.added_up,
    combined_load.seen_by_devices,
    file_residency.residency,
    changepoint.change_points,
    changepoint.one_change,
    rate_drops.drop,
    steady.steadiness,
    modes.modes,
    statistics.design_effects,
    statistics.mean_interval,
    statistics.quantile_interval,
    time_breakdown.whereabouts,
    ladder.closed_curves,
    row_pairs.marks,
    row_pairs.pairs,
    row_pairs.groups,
)
# What other rooms derive and keep with the facts: what is wrapped by `once` runs once for each row, or run.
KEPT: tuple[Callable[..., Any], ...] = (
    isolation.isolation,
    stalls.stalls,
    absent.absences,
    own_group.limits_reached,
    by_load.bounds,
)


def twelve_rows() -> Run:
    """A card of twelve rows on a counted device, of reads, writes, commits, a mix and a rate; one that fell."""
    ladder_of_reads = [card_runs.reads(f"randread 8k {users}x1", users=users) for users in (1, 2, 4, 8, 16, 32)]
    others = [
        card_runs.commits(),
        card_runs.commits("commit 4k (2)"),
        card_runs.mixed(),
        card_runs.mixed("mixed 8k (2)"),
        card_runs.paced(),
    ]
    falling = card_runs.reads("falling")
    series = card_runs.steady_series(falling.measurement)
    fell = replace(series, ios=tuple(each if at < 150 else each // 2 for at, each in enumerate(series.ios)))
    return card_runs.run(card_runs.fill(), *ladder_of_reads, *others, replace(falling, series=fell))


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counter[tuple[str, tuple[object, ...]]]:
    """How often each derived fact was computed from the same things, wherever it was called."""
    counts: Counter[tuple[str, tuple[object, ...]]] = Counter()
    kept = []  # so that no id is used twice

    def counting(function: Callable[..., Any]) -> Callable[..., Any]:
        def called(*args: Any, **named: Any) -> Any:
            kept.append((args, named))
            own = tuple(each if isinstance(each, int | float | str) else id(each) for each in (*args, *named.values()))
            counts[function.__name__, own] += 1
            return function(*args, **named)

        return called

    for function in DERIVED:
        stand_in = counting(function)
        for module in [module for name, module in sys.modules.items() if name.startswith("iocast.")]:
            for name, value in vars(module).copy().items():
                if value is function:
                    monkeypatch.setattr(module, name, stand_in)
    for function in KEPT:
        # The same function inside what `once` made of it.
        inner = function.__closure__[0].cell_contents  # type: ignore[attr-defined]
        monkeypatch.setattr(function.__closure__[0], "cell_contents", counting(inner))  # type: ignore[attr-defined]
    return counts


def test_an_examination_of_twelve_rows_computes_each_fact_once(
    counted: Counter[tuple[str, tuple[object, ...]]],
) -> None:
    run = twelve_rows()
    assert len(run.measured) == 12
    examine(run)
    names = {name for name, _ in counted}
    assert {"device_io", "places", "steadiness", "change_points", "isolation", "bounds", "marks", "stalls"} <= names
    assert {call: count for call, count in counted.items() if count > 1} == {}
    assert sum(count for (name, _), count in counted.items() if name == "device_io") == 12


def test_a_card_shares_its_facts_with_the_examination_and_the_grades(
    counted: Counter[tuple[str, tuple[object, ...]]],
) -> None:
    run = twelve_rows()
    report = judge(run, "").report()
    assert report.sections
    assert {call: count for call, count in counted.items() if count > 1} == {}
    assert sum(count for (name, _), count in counted.items() if name == "device_io") == 12


def test_the_percentiles_of_an_operation_share_what_its_intervals_say(
    counted: Counter[tuple[str, tuple[object, ...]]],
) -> None:
    """Each percentile looked at the intervals again: ten times for four percentiles, of which five were the same."""
    row = Facts(card_runs.run(card_runs.mixed())).rows[0]
    for op in ("read", "write"):
        for q in (0.5, 0.95, 0.99, 0.999):
            row.quantile(op, q)
    calls = Counter(name for name, _ in counted.elements())
    assert (calls["design_effects"], calls["quantile_interval"]) == (2, 8)


def test_a_group_is_added_up_once(counted: Counter[tuple[str, tuple[object, ...]]]) -> None:
    """It was once for each of its rows: 1,000 jobs of one fio group took a minute."""
    group = [card_runs.reads(f"job {number}") for number in range(8)]
    run = card_runs.run(*(replace(each, phase=replace(each.phase, together="all")) for each in group))
    judge(run, "").report()
    assert sum(count for (name, _), count in counted.items() if name == "added_up") == 1


def test_phases_at_once_have_the_device_in_common(counted: Counter[tuple[str, tuple[object, ...]]]) -> None:
    def beside(record: PhaseRecord) -> PhaseRecord:
        return replace(record, phase=replace(record.phase, together="both"))

    one, other = beside(card_runs.reads("one")), beside(card_runs.mixed("other"))
    found = Facts(card_runs.run(one, other))
    row = found.row(one)
    assert row.seen_by_devices is row.seen_by_devices
    assert row.seen_by_devices.measurement.ios == one.measurement.ios + other.measurement.ios
    assert row.seen_by_devices.seen_by_devices is row.seen_by_devices
    row.share_of_device("read")
    row.share_of_device("read")
    assert max(counted.values()) == 1


def test_the_facts_of_a_row_are_made_once() -> None:
    run = twelve_rows()
    found = Facts(run)
    assert found.row(run.measured[0]) is found.rows[0]
    assert facts_of(found) is found
    assert facts_of(run) is not found
    assert found.rows[8].response() is found.rows[8].response()
    assert found.rows[0].share_of_device("read") is found.rows[0].share_of_device("read")


def test_another_room_keeps_its_own_facts_here() -> None:
    calls = []

    @once
    def name_of(row: facts.RowFacts) -> str:
        calls.append(row.name)
        return row.name.upper()

    found = Facts(twelve_rows())
    assert [name_of(row) for row in (*found.rows, *found.rows)] == 2 * [row.name.upper() for row in found.rows]
    assert len(calls) == 12
    assert name_of.__name__ == "name_of"


def test_two_facts_of_one_row_are_kept_apart() -> None:
    @once
    def users_of(row: facts.RowFacts) -> int:
        return row.workload.users

    @once
    def depth_of(row: facts.RowFacts) -> int:
        return row.workload.depth

    row = Facts(card_runs.run(card_runs.reads(users=4, depth=2))).rows[0]
    assert [(users_of(row), depth_of(row)) for _ in range(2)] == [(4, 2)] * 2


def test_what_another_tool_measured_has_no_curves_and_no_pairs() -> None:
    run = twelve_rows()
    assert len(Facts(run).curves) > 1
    assert Facts(run).pairs()
    imported = Facts(replace(run, source=Source(tool="fio")))
    assert (imported.curves, imported.pairs(), imported.groups) == ((), (), ())
