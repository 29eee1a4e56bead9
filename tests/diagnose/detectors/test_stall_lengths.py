"""How long a stall is told to have lasted holds the planted length, however many I/Os were outstanding."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers import card_runs, planted

from iocast.analyse.facts import Facts, RowFacts
from iocast.diagnose.detectors.interference import stalls
from iocast.model.measurement import SlowIo

MS = 1_000_000
ROWS = """\
name = "rows"
[files]
size = "1GiB"
[defaults]
size = "8k"
pattern = "random"
time = "6s"
direct = true
[[phase]]
test = "randread"
users = [1, 8, 32]
[[phase]]
test = "commit"
write = 100
sync = "dsync"
pattern = "sequential"
"""


def _of(users: int, *ios: tuple[float, float]) -> list[stalls.Still]:
    """The stalls of a row whose slowest I/Os were submitted and took so many ms."""
    slow = tuple(
        SlowIo(round(at * MS), "read", 0, 0, 8192, round(took * MS), round(took * MS)) for at, took in sorted(ios)
    )
    times = card_runs.histogram((1 * MS, 40_000), *((each.service_ns, 1) for each in slow))
    row: RowFacts = Facts(card_runs.run(card_runs.reads(times=times, users=users, slow=slow))).rows[0]
    return [stalls.still(row, each) for each in stalls.stalls(row)]


def test_all_of_them_stood_from_the_last_submission_to_the_first_end() -> None:
    """It was told from the submission of the first to the end of the last: 409 ms."""
    (found,) = _of(4, (1000, 404), (1001, 404), (1002, 405), (1003, 406))
    assert (found.start_ns, found.end_ns) == (1003 * MS, 1404 * MS)
    assert 399 * MS <= found.least_ns <= 400 * MS


def test_some_of_them_stood_from_the_submission_of_the_first() -> None:
    """Others ended meanwhile, and each of these was submitted when one of those did."""
    (found,) = _of(16, (1000, 404), (1100, 305), (1200, 206))
    assert (found.start_ns, found.end_ns) == (1000 * MS, 1404 * MS)


def test_one_at_a_time_was_away_for_its_own_time_as_well() -> None:
    (found,) = _of(1, (1000, 401))
    assert found.most_ns == 401 * MS
    assert 395 * MS <= found.least_ns <= 400 * MS


@pytest.mark.parametrize("device", ["hdd", "hdd,stripe=8:1MiB", "sata-ssd,service=exponential:2ms"])
@pytest.mark.parametrize("seed", [1, 2])
def test_the_planted_length_is_in_the_interval(device: str, seed: int, tmp_path: Path) -> None:
    length = 400 + 333 * seed
    run = planted.measured(f"sim:{device},stall={length}ms/3100ms", ROWS, tmp_path, seed)
    found = [stalls.still(row, each) for row in Facts(run).rows for each in stalls.stalls(row) if not each.queued]
    assert len(found) >= 3
    assert all(each.least_ns <= length * MS <= each.most_ns + 1000 for each in found)
