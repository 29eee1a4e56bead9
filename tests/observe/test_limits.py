"""Limits of our control group: both versions, the lowest of all groups above, only disks below the target."""

from __future__ import annotations

from pathlib import Path

import pytest

from iocast.model.target import Layer, Target
from iocast.observe import limits

TARGET = Target(path="/mnt/db", kind="directory", layers=(Layer(name="sdb", kind="disk", major=8, minor=16),))


def _seen(root: Path) -> dict[tuple[str, str], float]:
    with limits.Observer(TARGET, (), str(root)) as observer:
        return {(each.subject, each.metric): each.value for each in observer.sample()}


def _group(root: Path, cgroup: str) -> None:
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(cgroup)


def test_the_lowest_of_all_groups_above(tmp_path: Path) -> None:
    _group(tmp_path, "0::/system.slice/db.service\n")
    outer = tmp_path / "sys/fs/cgroup/system.slice"
    (outer / "db.service").mkdir(parents=True)
    (outer / "io.max").write_text("8:16 rbps=max wbps=max riops=500 wiops=max\n8:0 rbps=1 wbps=1 riops=1 wiops=1\n")
    (outer / "db.service/io.max").write_text("8:16 rbps=2097152 wbps=max riops=900 wiops=max\n")
    assert _seen(tmp_path) == {("sdb", "read_bytes_per_s"): 2097152.0, ("sdb", "read_ios_per_s"): 500.0}


def test_the_throttle_of_version_one(tmp_path: Path) -> None:
    _group(tmp_path, "5:blkio:/lab\n1:name=systemd:/x\n")
    folder = tmp_path / "sys/fs/cgroup/blkio/lab"
    folder.mkdir(parents=True)
    (folder / "blkio.throttle.write_iops_device").write_text("8:16 1000\n")
    assert _seen(tmp_path) == {("sdb", "write_ios_per_s"): 1000.0}


def test_no_group_is_blind_and_no_limit_is_nothing(tmp_path: Path) -> None:
    with pytest.raises(limits.BlindError):
        limits.Observer(TARGET, (), str(tmp_path)).__enter__()
    _group(tmp_path, "0::/\n")
    (tmp_path / "sys/fs/cgroup").mkdir(parents=True)
    assert _seen(tmp_path) == {}


def test_version_two_beside_version_one_is_in_a_tree_of_its_own(tmp_path: Path) -> None:
    _group(tmp_path, "5:blkio:/\n0::/db\n")
    (tmp_path / "sys/fs/cgroup/blkio").mkdir(parents=True)
    folder = tmp_path / "sys/fs/cgroup/unified/db"
    folder.mkdir(parents=True)
    (folder / "io.max").write_text("8:16 rbps=max wbps=max riops=500 wiops=max\n")
    assert _seen(tmp_path) == {("sdb", "read_ios_per_s"): 500.0}


def test_a_quota_of_the_cpu_is_counted_of_each_group(tmp_path: Path) -> None:
    _group(tmp_path, "5:blkio:/\n3:cpu:/db\n")
    (tmp_path / "sys/fs/cgroup/blkio").mkdir(parents=True)
    folder = tmp_path / "sys/fs/cgroup/cpu/db"
    folder.mkdir(parents=True)
    (folder / "cpu.stat").write_text("nr_periods 40\nnr_throttled 30\nthrottled_time 2000000\n")
    (folder.parent / "cpu.stat").write_text("nr_periods 0\nnr_throttled 0\nthrottled_time 0\n")
    assert _seen(tmp_path) == {
        ("cgroup /cpu/db", "periods"): 40.0,
        ("cgroup /cpu/db", "throttled_periods"): 30.0,
        ("cgroup /cpu/db", "throttled_ns"): 2e6,
    }
