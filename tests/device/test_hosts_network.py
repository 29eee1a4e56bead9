"""Hosts on a network of their own: network namespaces with an sshd each, reached by ssh as any other host."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from makers.host_network import HostNetwork, host_network, rank_processes

from iocast import archive

pytest.importorskip("mpi4py", reason="the extra `hosts` is not installed")
pytestmark = [pytest.mark.long, pytest.mark.device]

JOB = """name = "reads"
[files]
size = "64MiB"
[[phase]]
test = "reads"
read = 100
size = "8k"
depth = 4
time = "{time}"
"""
COUNT = 4


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostNetwork]:
    """Four hosts."""
    if os.geteuid() or not all(map(shutil.which, ("ip", "ssh-keygen"))) or not Path("/usr/sbin/sshd").exists():
        pytest.skip("needs root, ip, ssh and sshd")
    with host_network(tmp_path_factory.mktemp("network"), COUNT) as made:
        yield made


def _start(network: HostNetwork, room: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "iocast", *words],
        cwd=room,
        env=network.environment | {"PYTHONPATH": os.pathsep.join(sys.path)},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def _places(network: HostNetwork, room: Path, time_of_row: str) -> str:
    (room / "job.toml").write_text(JOB.format(time=time_of_row))
    for number in range(COUNT):
        (room / str(number)).mkdir()
    return ",".join(f"{name}:{room / str(number)}" for number, name in enumerate(network.names))


def test_four_hosts_by_ssh_are_one_run(network: HostNetwork, tmp_path: Path) -> None:
    nodes = _places(network, tmp_path, "3s")
    checked = _start(network, tmp_path, "hosts", "check", nodes, "--json")
    rows = msgspec.json.decode(checked.communicate(timeout=60)[0])["hosts"]
    assert [row["problem"] for row in rows] == [None] * COUNT
    assert [row["storage"] for row in rows] == ["its own"] * COUNT
    process = _start(network, tmp_path, "run", "job.toml", "--hosts", nodes, "--no-page")
    _, said = process.communicate(timeout=90)
    assert process.returncode == 0, said
    (folder,) = (tmp_path / "iocast-runs").iterdir()
    run = archive.load(str(folder))
    assert [part.name for part in run.hosts] == list(network.names)
    assert {archive.load(str(folder / "hosts" / part.name)).host.name for part in run.hosts} == {
        f"db{number}" for number in range(1, COUNT + 1)
    }
    assert run.phases[0].measurement.ios == sum(row.ios for part in run.hosts for row in part.rows)


def test_a_host_without_sshd_and_one_without_iocast_are_named_with_the_way_out(
    network: HostNetwork, tmp_path: Path
) -> None:
    process = _start(network, tmp_path, "hosts", "check", f"{network.names[0]},10.99.7.77", str(tmp_path), "--json")
    rows = msgspec.json.decode(process.communicate(timeout=60)[0])["hosts"]
    assert rows[0]["problem"] is None
    assert rows[1]["problem"] == "it does not answer ssh"
    assert "runs sshd" in rows[1]["mend"]


def test_behind_a_cut_cable_no_load_goes_on(network: HostNetwork, tmp_path: Path) -> None:
    nodes, last = _places(network, tmp_path, "60s"), COUNT - 1
    process = _start(network, tmp_path, "run", "job.toml", "--hosts", nodes, "--no-page")
    until_s = time.monotonic() + 40
    while len(ranks := [rank for rank in rank_processes() if _reads(rank)]) < COUNT and time.monotonic() < until_s:
        time.sleep(0.3)
    network.cut(last)
    began_s = time.monotonic()
    _, said = process.communicate(timeout=60)
    took_s = time.monotonic() - began_s
    while any(Path(f"/proc/{rank}/io").exists() for rank in ranks) and time.monotonic() < began_s + 20:
        time.sleep(0.1)
    gone_s = time.monotonic() - began_s
    network.mend(last)
    assert process.returncode == 2
    assert f"{network.names[last]} was lost" in said
    assert "3 of 4 hosts were left" in said
    (folder,) = (tmp_path / "iocast-runs").iterdir()
    run = archive.load(str(folder))
    assert [len(part.rows) for part in run.hosts] == [1, 1, 1, 0]
    assert took_s < 20
    assert gone_s < 20


def _reads(rank: int) -> bool:
    """Whether a process reads from storage."""
    try:
        lines = Path(f"/proc/{rank}/io").read_text().splitlines()
    except OSError:
        return False
    return any(line.startswith("read_bytes") and int(line.split()[1]) > 64 << 20 for line in lines)
