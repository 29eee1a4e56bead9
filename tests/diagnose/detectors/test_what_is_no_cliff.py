"""A fall of the write rate after a few megabytes, or one that ends, is no cliff; and a cliff is no neighbour."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers import planted

from iocast.diagnose.detectors.limits import write_cliff
from iocast.diagnose.examination import examine

WRITES = """\
name = "writes"
[files]
size = "16GiB"
[defaults]
write = 100
time = "30s"
[[phase]]
test = "commit"
size = "8k"
sync = "dsync"
pattern = "sequential"
users = [1, 2]
[[phase]]
test = "randwrite"
size = "8k"
pattern = "random"
users = [1, 8]
"""


FULL_CACHE = """\
name = "fills, drains a part, fills again"
[defaults]
time = "60s"
[[phase]]
test = "randwrite"
write = 100
size = "8k"
pattern = "random"
users = 8
[[phase]]
test = "scan"
size = "128k"
pattern = "sequential"
time = "30s"
[[phase]]
test = "write"
write = 100
size = "1M"
pattern = "sequential"
"""


@pytest.mark.parametrize(
    "target", ["sim:hdd,noise=30/s:20s/45s", "sim:hdd,noise=50/s:30s/100s", "sim:hdd,noise=25/s:60s/200s"]
)
def test_neighbours_of_a_disk_make_no_write_cliff(target: str, tmp_path: Path) -> None:
    run = planted.measured(target, WRITES, tmp_path)
    assert [each.phase for each in examine(run).findings if each.code == "write_cliff"] == []


def test_a_cliff_is_no_neighbour(tmp_path: Path) -> None:
    """Both levels of a row have a middle that the scatter of the lower one crosses when it lies there."""
    run = planted.measured("sim:cached-array,dirty=4GiB:40MB/s", FULL_CACHE, tmp_path)
    found = {(each.code, each.phase) for each in examine(run).findings}
    assert ("write_cliff", "write 1M 1x1") in found
    assert not [phase for code, phase in found if code == "shared_drives"]


@pytest.mark.long
def test_a_level_that_came_back_is_told_with_its_times(tmp_path: Path) -> None:
    rows = 'name = "reads"\n[[phase]]\ntest = "randread"\nsize = "8k"\npattern = "random"\nusers = 8\ntime = "60s"\n'
    run = planted.measured("sim:sata-ssd,slow=20s..40s:3", rows, tmp_path)
    trust = examine(run).trust["randread 8k 8x1"]
    (steady,) = (part for part in trust.components if part.code == "steady")
    assert steady.clause == "not steady: the rate was 54% lower from t=20 s to t=40 s"


def test_scans_that_collapse_are_told_why(tmp_path: Path) -> None:
    rows = (
        'name = "scans"\n[[phase]]\ntest = "scan"\nsize = "128k"\npattern = "sequential"\nusers = [1, 8]\ntime = "5s"\n'
    )
    bound = examine(planted.measured("sim:hdd", rows, tmp_path)).bounds["scan 128k 8x1"]
    assert bound.says.endswith("; several sequential streams are random I/O to a disk.")


SHORT = """\
name = "short rows"
[files]
size = "4GiB"
[defaults]
time = "3s"
direct = true
[[phase]]
test = "randread"
size = "8k"
pattern = "random"
users = 8
[[phase]]
test = "commit"
write = 100
size = "8k"
sync = "dsync"
pattern = "sequential"
[[phase]]
test = "randwrite"
write = 100
size = "64k"
pattern = "random"
users = 8
[[phase]]
test = "write"
write = 100
size = "1M"
pattern = "sequential"
"""


def _cliffs(target: str, out: Path) -> list[str]:
    return [each.says for each in examine(planted.measured(target, SHORT, out)).findings if each.code == "write_cliff"]


def test_a_cliff_is_seen_where_reads_met_a_slow_time(tmp_path: Path) -> None:
    """Reads of a row were uneven, as where a neighbour took from the writes; but those of two sizes go at the same
    throughput from then on."""
    slc = "sim:qlc-ssd,slc=700MiB:40MB/s:20MB/s,service=lognormal:2ms:0.3,write=lognormal:1ms:0.3,bandwidth=500MB/s"
    (says,) = _cliffs(f"{slc},slow=1.5s..5.9s:3", tmp_path)
    assert says.startswith("At t=1.")
    assert says.endswith(" to 40 MB/s.")


def test_writes_that_came_back_fell_over_no_cliff(tmp_path: Path) -> None:
    """The slow time began within the commits, and all later writes moved more than was left to them."""
    slow = "sim:nvme,service=lognormal:2ms:0.3,write=lognormal:40us:0.3,fsync=10us,slow=4.3s..9s:4"
    assert _cliffs(slow, tmp_path) == []


def test_what_is_observed_before_a_cliff_is_a_small_part_of_the_volume(tmp_path: Path) -> None:
    """Quick flash wrote the whole volume while its rate before the cliff was observed: that of both sides."""
    run = planted.measured("sim:qlc-ssd,slc=3GB:150MB/s:50MB/s", SHORT, tmp_path)
    (found,) = planted.told(run, "write_cliff")
    experiment = write_cliff.confirm(run, found)
    assert experiment is not None
    before = [arm.bytes or 0 for arm in experiment.arms if arm.name in ("writes first", "writes before")]
    assert len(before) == 2 * write_cliff.OBSERVATIONS
    assert sum(before) == pytest.approx(0.25 * found.evidence["volume_bytes"], rel=0.01)
    (filling,) = (arm for arm in experiment.arms if arm.name == "writing")
    assert filling.bytes is None
