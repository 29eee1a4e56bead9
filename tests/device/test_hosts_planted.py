"""Hosts on devices whose limits are known: a shared cap, one slow host, and hosts with storage of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from makers.rootly import command
from making import CGROUP

pytest.importorskip("mpi4py", reason="the extra `hosts` is not installed")
pytestmark = [pytest.mark.long, pytest.mark.device]

JOB = """name = "reads"
[files]
size = "16MiB"
[[phase]]
test = "reads"
read = 100
size = "8k"
depth = 4
time = "6s"
"""
HOSTS = 4
Ran = tuple[dict[str, list[dict[str, float]]], str]


@pytest.fixture
def planted(tmp_path: Path) -> Iterator[Callable[[list[int]], Ran]]:
    """Runs a ramp over four hosts; with one figure they share a device of so many reads a second, else each has one."""
    if os.geteuid() or not (CGROUP / "cgroup.procs").exists():
        pytest.skip("needs root and the blkio controller of cgroup version 1")
    group = CGROUP / f"iocast-hosts-{os.getpid()}"
    group.mkdir()
    mounts: list[Path] = []

    def run(limits: list[int]) -> Ran:
        for number, limit in enumerate(limits):
            place = tmp_path / f"fs{number}"
            image = tmp_path / f"image{number}"
            with image.open("wb") as file:
                file.truncate(160 << 20)
            place.mkdir()
            command("mkfs.ext4", "-q", "-F", image)
            command("mount", "-o", "loop", image, place)
            mounts.append(place)
            device = os.stat(place).st_dev
            (group / "blkio.throttle.read_iops_device").write_text(f"{os.major(device)}:{os.minor(device)} {limit}")
        (tmp_path / "job.toml").write_text(JOB)
        nodes = []
        for number in range(HOSTS):
            directory = mounts[number % len(mounts)] / f"host{number}"
            directory.mkdir()
            nodes.append(f"db{number + 1}:{directory}")
        words = ("run", "job.toml", "--hosts", ",".join(nodes), "--ramp", "1,2,4", "--no-page")
        enter = f'echo $$ > {group}/cgroup.procs; exec "$@"'
        done = subprocess.run(
            ["sh", "-c", enter, "sh", sys.executable, "-m", "iocast", *words, "--json"],
            cwd=tmp_path,
            env=os.environ | {"HYDRA_LAUNCHER": "fork"},
            text=True,
            capture_output=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        (folder,) = (tmp_path / "iocast-runs").iterdir()
        said = subprocess.run(
            [sys.executable, "-m", "iocast", "report", str(folder)],
            text=True,
            capture_output=True,
            check=True,
        )
        return msgspec.json.decode(done.stdout), " ".join(said.stdout.split())

    try:
        yield run
    finally:
        for place in mounts:
            subprocess.run(["umount", str(place)], check=True)
        group.rmdir()


def _total(card: dict[str, list[dict[str, float]]]) -> list[float]:
    return [row["rate_per_s"] for row in card["rows"]]


def test_a_cap_that_all_share_is_the_limit_and_the_total_is_right(planted: Callable[[list[int]], Ran]) -> None:
    card, said = planted([1000])
    assert _total(card) == pytest.approx([1000] * 3, rel=0.03)
    assert "what the hosts share is the limit from 1 host on" in said
    assert [each for each in said.split(". ") if " less than the others" in each] == []


def test_one_slow_host_is_named(planted: Callable[[list[int]], Ran]) -> None:
    card, said = planted([500, 500, 300, 500])
    assert _total(card) == pytest.approx([500, 1000, 1800], rel=0.03)
    assert "db3 did 40% less than the others" in said
    assert said.count(" less than the others") == 1


def test_hosts_with_storage_of_their_own_are_equal_and_their_sum_grows(planted: Callable[[list[int]], Ran]) -> None:
    card, said = planted([500] * 4)
    assert _total(card) == pytest.approx([500, 1000, 2000], rel=0.03)
    assert "the sum grows with every host" in said
    assert " less than the others" not in said
    assert all(row["share"] == pytest.approx(0.25, abs=0.01) for row in card["hosts"][-4:])
