"""A long tail, the test's own queue and five events by chance are no stalls; a stall among a long tail still is one."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from makers import card_runs, planted

from iocast.analyse.facts import Facts, RowFacts
from iocast.diagnose.detectors.interference import stalls
from iocast.model.measurement import SlowIo

SECOND_NS = card_runs.SECOND_NS
MS_NS = 1_000_000
SIXTY_FOUR = 64

LOAD = """
name = "load"
[files]
size = "64GiB"
[[phase]]
test = "load"
size = "8k"
pattern = "random"
direct = true
users = {users}
time = "12s"
"""


def _slow(at_ms: float, service_ms: float) -> SlowIo:
    service_ns = round(service_ms * MS_NS)
    return SlowIo(round(at_ms * MS_NS), "read", 0, 0, 8192, service_ns, service_ns)


def _row(slow: list[SlowIo], *, users: int, median_ms: float) -> RowFacts:
    times = card_runs.histogram((median_ms * MS_NS, 40_000), *((each.service_ns, 1) for each in slow))
    record = card_runs.reads(times=times, users=users, slow=tuple(slow))
    return Facts(card_runs.run(record)).row(record)


def _tail(every_ms: float) -> list[SlowIo]:
    """The slowest of many exponential times: 64 ms and 23 ms more each time that there are 2.7 times fewer."""
    order = [rank * 37 % SIXTY_FOUR for rank in range(SIXTY_FOUR)]
    return [_slow(at * every_ms, 64 + 23 * math.log(SIXTY_FOUR / (rank + 2))) for at, rank in enumerate(order)]


def test_long_ios_that_overlap_while_others_end_are_no_stall() -> None:
    """Two of 32 outstanding ones overlap for 321 ms, in which twenty others were submitted and ended."""
    slow = [*_tail(15), _slow(259, 150), _slow(369, 212)]
    assert stalls.stalls(_row(slow, users=32, median_ms=5.9)) == ()


def test_one_long_io_of_many_outstanding_is_the_end_of_a_tail() -> None:
    slow = [*_tail(500), _slow(10_200, 166)]
    assert stalls.stalls(_row(slow, users=8, median_ms=5.0)) == ()
    # Where it lies far beyond what the others lead to expect, it stood still.
    assert len(stalls.stalls(_row([*slow, _slow(20_200, 900)], users=8, median_ms=5.0))) == 1
    # One outstanding I/O is always all of them: there, too, the tail of the others tells.
    assert stalls.stalls(_row(slow, users=1, median_ms=5.0)) == ()
    assert len(stalls.stalls(_row([*slow, _slow(20_200, 900)], users=1, median_ms=5.0))) == 1


@pytest.mark.parametrize("users", [1, 8, 32])
def test_a_stall_among_exponential_times_is_found(users: int, tmp_path: Path) -> None:
    device = "sim:cached-array,hit=none,stall=400ms/5s,size=4TB"
    (found,) = stalls.detect(Facts(planted.measured(device, LOAD.format(users=users), tmp_path)))
    assert found.evidence["stalls"] == 2
    assert found.evidence["longest_ns"] == pytest.approx(400 * MS_NS, rel=0.2)


def test_ios_that_wait_for_the_tests_own_others_are_not_told() -> None:
    """Four appenders that meet on one arm: each waits 180 ms for the other three, 45 ms each."""
    slow = [_slow(each * 45, 180) for each in range(40)]
    assert stalls.stalls(_row(slow, users=4, median_ms=8.9)) == ()
    (told,) = stalls.stalls(_row(slow, users=4, median_ms=1.0))
    assert told.queued


def test_five_events_that_fit_a_period_by_chance_have_none() -> None:
    ends_ms = (399.5, 1044.2, 1397.4, 1717.0, 2044.1)
    slow = [_slow(end - 45, 45) for end in ends_ms]
    assert stalls.stalls(_row(slow, users=1, median_ms=2.0)) == ()
    # As many that are as regular as a clock have one, and so have twice as many that are not quite.
    regular = [_slow(each * 329 + jitter, 45) for each, jitter in enumerate((0, 5, -6, 3, 0))]
    assert len(stalls.stalls(_row(regular, users=1, median_ms=2.0))) == 5
    loose = [_slow(329 * each + 20 * (each % 2), 45) for each in range(10)]
    assert len(stalls.stalls(_row(loose, users=1, median_ms=2.0))) == 10
