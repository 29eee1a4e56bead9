"""A run is cut into states of the storage by what was measured; rows of two states, or of the rarer one, are apart."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers import planted
from makers.left_out import long_after

from iocast.analyse.facts import Facts
from iocast.analyse.states import Rung, apart, two_states
from iocast.diagnose.examination import examine
from iocast.diagnose.grades import grade

# Credits of bytes that run out within the third row: 600 MB/s and more for a while, then 200 MB/s.
BYTE_CREDITS = "sim:qlc-ssd,slc=3GiB:90MB/s:30MB/s,byte_credits=200MB/s:4GiB,max_io=128KiB,read_ahead=none,size=1TB"
ROWS = """\
name = "rows"
[files]
size = "64GiB"
[defaults]
size = "8k"
pattern = "random"
time = "3s"
[[phase]]
test = "randread"
users = [1, 8, 32]
[[phase]]
test = "randread"
users = 4
depth = 16
[[phase]]
test = "mixed"
write = 30
users = 8
"""


@pytest.mark.long
def test_a_row_in_which_credits_ran_out_makes_no_knee(tmp_path: Path) -> None:
    run = planted.measured(BYTE_CREDITS, ROWS, tmp_path)
    facts = Facts(run)
    fell, *_ = [row for row in facts.rows if row.measurement.asked_depth == 32]
    assert fell.rates_per_s[0] > 4 * fell.rates_per_s[-1]
    found = examine(run)
    brief = {name: each.brief for name, each in found.excluded.items()}
    assert brief == {
        "randread 8k 32x1": "the rate fell within it",
        "randread 8k 4x16": "after randread 8k 32x1",
        "mixed 8k 8x1": "after randread 8k 32x1",
    }
    assert [found.bounds[name].by for name in ("randread 8k 32x1", "randread 8k 4x16")] == ["unknown", "unknown"]
    assert "two states in one row" in found.bounds["randread 8k 32x1"].says
    assert not any("Device-bound" in each.says for each in found.bounds.values())
    mixed = next(part for part in grade(run, found).parts if part.code == "write_interference")
    assert mixed.letter is None, "reads on credits and a mix after them"


@pytest.mark.parametrize(
    "target", long_after(1, ["sim:nvme", "sim:hdd", "sim:sata-ssd,iops=2000/s", "sim:nvme,stall=120ms/5s"])
)
def test_rates_that_hold_are_no_fall(target: str, tmp_path: Path) -> None:
    assert apart(Facts(planted.measured(target, ROWS, tmp_path))) == {}


def test_of_more_rows_after_the_fall_those_before_are_left_out(tmp_path: Path) -> None:
    """Credits run out within the first row: the ladder that is left is that of the rate that lasts."""
    run = planted.measured("sim:sata-ssd,credits=2000/s:5000", ROWS, tmp_path)
    assert {name: each.how for name, each in apart(Facts(run)).items()} == {"randread 8k 1x1": "within"}


READS = """\
name = "reads"
[files]
size = "4GiB"
[[phase]]
test = "randread"
size = "8k"
pattern = "random"
users = [1, 4, 16, 32, 64]
time = "3s"
"""


@pytest.mark.parametrize(
    ("target", "how"),
    long_after(
        1,
        [
            (
                "sim:nvme,bandwidth=none,slow=6s..600s:3",
                {"1x1": "ladder", "4x1": "ladder"},
            ),  # it changed between two rows
            ("sim:nvme,slow=6s..9s:3", {"16x1": "ladder"}),
            ("sim:nvme,slow=4s..9s:3", {"4x1": "step", "16x1": "ladder"}),
            ("sim:nvme,slow=4s..10s:3", {"4x1": "step", "16x1": "slow_time", "32x1": "step"}),
        ],
    ),
)
def test_a_slow_time_is_seen_without_being_told(target: str, how: dict[str, str], tmp_path: Path) -> None:
    """Of a device that is as closed as a real one; where it ends within a row as where it ends between two."""
    found = apart(Facts(planted.measured(target, READS, tmp_path)))
    assert {name.removeprefix("randread 8k "): each.how for name, each in found.items()} == how


@pytest.mark.parametrize(
    "target",
    long_after(
        1,
        [
            pytest.param("sim:nvme", marks=pytest.mark.long),
            "sim:hdd",
            "sim:sata-ssd",
            "sim:nfs-filer",
            "sim:nvme,servers=1024,bandwidth=none,usl=0.02:0.002",
            "sim:nvme,iops=5000/s",
            pytest.param("sim:nvme,serialised=writes", marks=pytest.mark.long),
            # every row meets such a second, or two
            pytest.param("sim:nvme,noise=20000/s:1s/6s", marks=pytest.mark.long),
        ],
    ),
)
def test_a_ladder_of_one_state_is_of_one_state(target: str, tmp_path: Path) -> None:
    found = apart(Facts(planted.measured(target, READS.replace("3s", "9s"), tmp_path)))
    assert {name for name, each in found.items() if each.how == "ladder"} == set()


def _rungs(*times_us: float) -> list[Rung]:
    return [Rung(str(at), 1 << at, us) for at, us in enumerate(times_us)]


def test_a_time_in_between_a_beginning_and_an_end_of_another_state() -> None:
    for times, others in (
        ([80, 80, 80, 80, 80], ""),
        ([80, 90, 120, 240, 480, 960], ""),  # a queue
        ([80, 80, 240, 80, 80, 160], "2"),
        ([80, 80, 240, 240, 240, 240], "01"),
        ([240, 240, 80, 80, 80, 160], "01"),
        ([120, 90, 80, 80, 80, 160], ""),  # a processor that wakes up
        ([80, 80, 80, 240], ""),  # may be a queue
    ):
        kept, apart_from_it = two_states(_rungs(*times))
        assert "".join(each.name for each in apart_from_it) == others, times
        assert len(kept) + len(apart_from_it) == len(times)


@given(st.lists(st.floats(1, 100), min_size=2, max_size=10), st.floats(1, 10))
def test_no_queue_is_two_states(gains: list[float], first: float) -> None:
    """What an I/O takes grows with the load, and never more slowly than before."""
    slopes, times = sorted(gains), [first]
    for at, slope in enumerate(slopes):
        times.append(times[-1] + slope * ((2 << at) - (1 << at)))
    assert two_states(_rungs(*times)) == (tuple(_rungs(*times)), ())
