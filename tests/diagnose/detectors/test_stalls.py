"""Stalls: I/Os that stood still together are one, slow disks do not stall, and the verdict says so."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from makers import card_runs, planted
from makers.golden import Golden

from iocast.analyse.facts import Facts, RowFacts
from iocast.diagnose.detectors.interference import stalls
from iocast.diagnose.examination import examine
from iocast.model.finding import Span
from iocast.model.measurement import Generator, SlowIo
from iocast.model.run import PhaseRecord
from iocast.report.card.card_report import card

replace = msgspec.structs.replace
SECOND_NS = card_runs.SECOND_NS
MS_NS = 1_000_000


def _slow(at_ns: float, service_ns: float, *, response_ns: float | None = None) -> SlowIo:
    response = service_ns if response_ns is None else response_ns
    anywhere = round(at_ns) * 7919 % card_runs.GIB // 8192 * 8192
    return SlowIo(round(at_ns), "read", 0, anywhere, 8192, round(response), round(service_ns))


def _phase(*slow: SlowIo, median_ns: float = 240_000, name: str = "randread 8k", users: int = 8) -> PhaseRecord:
    times = card_runs.histogram((median_ns, 40_000), *((each.service_ns, 1) for each in slow))
    return card_runs.reads(name, times=times, users=users, slow=slow)


def _row(record: PhaseRecord) -> RowFacts:
    return Facts(card_runs.run(record)).row(record)


def test_ios_that_overlap_are_one_stall() -> None:
    first = [_slow(4 * SECOND_NS + each * MS_NS, SECOND_NS - each * MS_NS) for each in range(8)]
    second = [_slow(9 * SECOND_NS, SECOND_NS) for _ in range(8)]
    found = stalls.stalls(_row(_phase(*second, *first)))
    assert [(each.start_ns, each.end_ns, each.ios) for each in found] == [
        (4 * SECOND_NS, 5 * SECOND_NS, 8),
        (9 * SECOND_NS, 10 * SECOND_NS, 8),
    ]


def test_a_stall_ends_with_the_last_of_its_ios() -> None:
    """The first ends early, the second reaches further, the third only overlaps with the second."""
    (found,) = stalls.stalls(_row(_phase(_slow(0, 3e8), _slow(1e8, 8e8), _slow(5e8, 2e8))))
    assert (found.start_ns, found.end_ns, found.ios) == (0, 900 * MS_NS, 3)


def test_the_finding_says_how_often_how_long_and_when() -> None:
    record = _phase(_slow(4 * SECOND_NS, SECOND_NS), _slow(9 * SECOND_NS, SECOND_NS))
    (found,) = stalls.detect(Facts(card_runs.run(record)))
    assert (found.code, found.severity, found.phase) == ("stalls", "warn", "randread 8k")
    assert found.says == "I/O stalled: 2 stalls of 1 s, at t=4 s and t=9 s."
    assert found.evidence["stalled_ns"] == 2 * SECOND_NS
    assert found.spans == (Span(4 * SECOND_NS, 5 * SECOND_NS), Span(9 * SECOND_NS, 10 * SECOND_NS))
    assert found.remedy


@pytest.mark.parametrize(
    ("durations_ms", "says"),
    [
        ((400,), "1 stall of 400 ms, at t=0 s"),
        ((400, 1000), "2 stalls of 400 ms to 1 s, at t=0 s and t=2 s"),
        ((400,) * 7, "7 stalls of 400 ms, at t=0 s, t=2 s, t=4 s, t=6 s, t=8 s and 2 more"),
    ],
)
def test_many_stalls_in_one_sentence(durations_ms: tuple[int, ...], says: str) -> None:
    slow = [_slow(index * 2 * SECOND_NS, each * MS_NS) for index, each in enumerate(durations_ms)]
    (found,) = stalls.detect(Facts(card_runs.run(_phase(*slow))))
    assert says in found.says


@pytest.mark.parametrize(
    ("service_ns", "median_ns", "stalled"),
    [(99e6, 240_000, False), (100e6, 240_000, True), (190e6, 10e6, False), (210e6, 10e6, True)],
)
def test_a_stall_is_long_for_a_person_and_for_its_row(service_ns: float, median_ns: float, stalled: bool) -> None:
    assert bool(stalls.stalls(_row(_phase(_slow(0, service_ns), median_ns=median_ns)))) == stalled


def test_waiting_for_ones_turn_is_no_stall() -> None:
    """In an open loop behind its schedule responses grow without end while each I/O is served at once."""
    assert not stalls.stalls(_row(_phase(_slow(0, 300_000, response_ns=5 * SECOND_NS))))


def test_a_list_full_of_stalled_ios_is_said_to_be_bounded() -> None:
    full = [_slow(0, SECOND_NS) for _ in range(64)]
    (found,) = stalls.detect(Facts(card_runs.run(_phase(*full))))
    assert "Only the 64 slowest I/Os are recorded one by one" in found.says
    # Where the list goes on with quick ones, no stall can be missing from it.
    (found,) = stalls.detect(Facts(card_runs.run(_phase(*full[1:], _slow(0, 300_000)))))
    assert "recorded one by one" not in found.says


def test_a_simulated_device_stalls_too_and_every_row_is_a_c() -> None:
    rows = [_phase(_slow(4 * SECOND_NS, SECOND_NS), name=name) for name in ("one", "two")]
    examination = examine(card_runs.run(*rows, target=card_runs.SIMULATED))
    assert {trust.grade for trust in examination.trust.values()} == {"C"}


OPEN = """\
name = "open"
[[phase]]
size = "4k"
depth = 1024
rate = "500/s"
arrival = "constant"
time = "10s"
"""


def test_many_that_wait_through_a_stall_do_not_hide_it(tmp_path: Path) -> None:
    """500 wait through each second of stall, of which few are recorded: the others lift the mean to 0.1 s."""
    run = planted.measured("sim:nvme,stall=1s/5s", OPEN, tmp_path)
    (found,) = planted.told(run, stalls.CODE)
    assert found.says.startswith("I/O stalled: 2 stalls of 1 s, at t=4 s and t=9 s.")


def test_waits_one_behind_another_are_no_stall(golden: Golden) -> None:
    """One user behind a neighbour: each of ten I/Os takes 300 ms, and the next one begins when it ends."""
    waits = [_slow(each * 3e8, 3e8) for each in range(10)]
    record = _phase(*waits, users=1)
    (found,) = stalls.detect(Facts(card_runs.run(record)))
    golden(found.says)
    assert found.remedy.startswith("Look for other users of the device")
    assert (found.evidence["stalls"], found.evidence["longest_ns"]) == (0, 3e8)
    assert found.spans == (Span(0, 3 * SECOND_NS),)
    run = card_runs.run(record, card_runs.reads("other"), target=card_runs.SIMULATED)
    golden(card(run, examine(run)).verdict)


def test_waits_that_grow_are_waits_all_the_same(golden: Golden) -> None:
    waits = [_slow(3.75e8, 3.75e8), _slow(7.5e8, 7.5e8), _slow(1.5e9, 1.5e9)]
    (found,) = stalls.detect(Facts(card_runs.run(_phase(*waits, users=1))))
    golden(found.clause)


def test_several_users_behind_a_neighbour_do_not_stall_either(golden: Golden) -> None:
    """Eight at once, of which one ends each 100 ms and the next one takes its place: nothing stands still."""
    waits = [_slow(each * 1e8, 8e8) for each in range(40)]
    (found,) = stalls.detect(Facts(card_runs.run(_phase(*waits))))
    golden(found.clause)
    golden(found.remedy)


def test_a_stall_and_waits_are_told_apart(golden: Golden) -> None:
    still = [_slow(9 * SECOND_NS, SECOND_NS) for _ in range(8)]
    waits = [_slow(each * 3e8, 3e8) for each in range(10)]
    (found,) = stalls.detect(Facts(card_runs.run(_phase(*waits, *still))))
    golden(found.says)
    assert found.spans == (Span(9 * SECOND_NS, 10 * SECOND_NS),)


def test_two_stalls_close_together_are_stalls(golden: Golden) -> None:
    twice = [_slow(at, 3e8) for at in (0, 0, 3.1e8, 3.1e8)]
    (found,) = stalls.detect(Facts(card_runs.run(_phase(*twice))))
    golden(found.clause)


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (1, "I/O stalled: 1 stall of 1 s, at t=4 s."),
        (2, "I/O stalls were seen on 1 of 2 rows, row 0: 1 stall of 1 s, at t=4 s."),
    ],
)
def test_the_verdict_opens_with_the_stalls_and_does_not_repeat_them(rows: int, says: str) -> None:
    phases = [_phase(_slow(4 * SECOND_NS, SECOND_NS), name="row 0")]
    phases += [card_runs.reads(f"row {number}") for number in range(1, rows)]
    run = card_runs.run(*phases, target=card_runs.SIMULATED)
    verdict = card(run, examine(run)).verdict
    assert verdict.startswith(says)
    assert verdict.count("stall of") == 1
    assert verdict.endswith("because of it.")


def test_waits_in_turn_of_threads_that_waited_for_a_processor_are_not_the_storages(golden: Golden) -> None:
    """On a machine short of CPU the threads of a test reap in turn; an I/O that stood still is told with that."""
    in_turn = [_slow(each * 3e8, 3e8) for each in range(10)]
    assert len(list(stalls.detect(Facts(card_runs.run(_phase(*in_turn, users=1)))))) == 1
    assert list(stalls.detect(Facts(card_runs.run(_starved(_phase(*in_turn, users=1)))))) == []
    both = _starved(_phase(*in_turn, _slow(9 * SECOND_NS, SECOND_NS), users=1))
    (found,) = stalls.detect(Facts(card_runs.run(both)))
    golden(found.says)


def _starved(record: PhaseRecord) -> PhaseRecord:
    did = record.measurement
    return replace(record, measurement=replace(did, generator=Generator(threads=1, queued_ns=did.elapsed_ns // 2)))


def _short_stalls(starts_s: list[float], took_ms: float = 60.0) -> list[str]:
    slow = tuple(
        SlowIo(round(at * SECOND_NS), "read", 0, 0, 8192, round(took_ms * MS_NS), round(took_ms * MS_NS))
        for at in starts_s
    )
    times = card_runs.histogram((0.24 * MS_NS, 40_000), (took_ms * MS_NS, len(slow)))
    return [each.says for each in stalls.detect(Facts(card_runs.run(card_runs.reads(times=times, slow=slow))))]


def test_stalls_of_60_ms_in_each_second_are_stalls() -> None:
    (says,) = _short_stalls([at + 0.94 for at in (0, 1, 2, 3, 5, 6, 8)])  # the list of the slowest holds some only
    assert says.startswith("I/O stalled: 7 stalls of 60 ms, at t=940 ms, ")
    assert says.endswith(" They recur every 1 s.")


@pytest.mark.parametrize(
    ("starts_s", "took_ms"),
    [([0.3, 1.9, 2.2, 4.9, 5.6, 9.1], 60.0), ([1.0, 2.0, 3.0, 4.0], 60.0), ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 4.0)],
)
def test_slow_ios_by_no_clock_few_of_them_or_short_ones_are_no_stalls(starts_s: list[float], took_ms: float) -> None:
    assert _short_stalls(starts_s, took_ms) == []


@pytest.mark.parametrize("target", ["sim:sata-ssd,stall=60ms/1s", "sim:nvme,stall=25ms/700ms"])
def test_short_stalls_of_a_device_are_found(target: str, tmp_path: Path) -> None:
    found = planted.suspected(planted.measured(target, planted.long(20, users=4), tmp_path))
    assert "stalls" in found
    assert "They recur every" in found["stalls"].says
    assert "cache_in_the_storage" not in found
