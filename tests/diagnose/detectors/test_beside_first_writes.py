"""A lock and compression are seen beside first writes, which look like both."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers import planted
from makers.left_out import long_after

from iocast.analyse.facts import Facts
from iocast.diagnose.detectors.limits import serialised
from iocast.diagnose.examination import examine
from iocast.diagnose.relations import not_suppressed
from iocast.model.finding import Finding
from iocast.model.run import Run

ROWS = """\
name = "rows"
[files]
size = "1GiB"
[defaults]
size = "8k"
time = "1s"
direct = true
[[phase]]
test = "randread"
pattern = "random"
users = [1, 8]
[[phase]]
test = "commit"
write = 100
sync = "dsync"
pattern = "sequential"
users = [1, 4]
[[phase]]
test = "randwrite"
write = 100
pattern = "random"
users = 8
"""


def _run(options: str, out: Path, device: str = "nvme,service=lognormal:400us:0.5,servers=32,write=same") -> Run:
    return planted.measured(f"sim:{device}{options}", ROWS, out)


@pytest.mark.parametrize("options", ["", ",first_write=500us"])
def test_a_lock_is_seen_without_a_curve_of_random_writes(options: str, tmp_path: Path) -> None:
    run = _run(f",serialised=writes{options}", tmp_path)
    found, other = planted.told(run, serialised.CODE)
    assert (found.phase, other.phase) == ("randwrite 8k 8x1", "commit 8k 4x1")
    assert "or a lock above it (suspected, 50%)" in examine(run).bounds["commit 8k 1x1"].says
    assert found.says.startswith("Writes do not scale: 1 durable write at a time reached 2,")
    assert ", and 8 random writes that need not be durable " in found.says


@pytest.mark.parametrize(
    ("device", "options"),
    long_after(
        2,
        [
            ("nvme,service=lognormal:400us:0.5,servers=32,write=same", ",first_write=500us"),
            ("nvme,service=lognormal:400us:0.5,servers=32,write=same", ",fsync=5ms"),
            ("hdd,stripe=2:1MiB", ""),  # reads gain from the second arm
            ("hdd,stripe=8:1MiB", ""),
            ("nvme,service=lognormal:400us:0.5,servers=32,write=same", ",iops=3000/s"),
        ],
    ),
)
def test_no_lock_is_seen_where_there_is_none(device: str, options: str, tmp_path: Path) -> None:
    assert serialised.CODE not in planted.suspected(_run(options, tmp_path, device))


def test_a_lock_that_commits_showed_is_confirmed(tmp_path: Path) -> None:
    found, _ = planted.inquired(_run(",serialised=writes", tmp_path), tmp_path)
    assert found[serialised.CODE].state == "confirmed"


@pytest.mark.parametrize(("passes", "p50_ratio", "told"), [(8.0, 5.0, True), (0.5, 5.0, False), (8.0, 1.0, False)])
def test_most_of_the_unique_data_were_no_first_writes(
    passes: float, p50_ratio: float, told: bool, tmp_path: Path
) -> None:
    facts = Facts(_run("", tmp_path))
    first = Finding(code="first_write_penalty", severity="warn", phase="overwrite", says="", state="suggested")
    seen = Finding(
        code="compression_or_deduplication",
        severity="severe",
        phase="randwrite 8k 8x1",
        says="",
        state="suggested",
        evidence={"passes": passes, "p50_ratio": p50_ratio},
    )
    assert (seen in not_suppressed(facts, [first, seen])) == told
