"""A fleet of simulated devices, each a black box that runs its own load: the slow one is found, the busy one is not."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from makers.command_line import iocast

from iocast.model.results.fleet import Fleet
from iocast.sessions.fleet import FleetRequest, fleet

pytestmark = [pytest.mark.long, pytest.mark.slow]

JOB = """\
name = "steady load"
[[phase]]
test = "reads"
size = "8k"
time = "20s"
rate = "{rate:.0f}/s"
arrival = "poisson"
users = 256
[[phase]]
test = "alone"
size = "8k"
time = "10s"
users = 1
"""
DEVICE = "sim:nvme,service=lognormal:2ms:0.5,servers=4"
FULL_PER_S = 2000  # four servers of 2 ms
SLOW, BUSY = 4, 6


def _measured(place: Path, host: int, seed: int, *, slow: bool, busy: bool) -> None:
    """A run of a host at a load of its own, in a folder whose summary bears the host's name."""
    share = 0.95 if busy else random.Random(100 * seed + host).uniform(0.2, 0.7)
    job = place / f"{host}-{seed}.toml"
    job.write_text(JOB.format(rate=share * FULL_PER_S))
    device = f"{DEVICE},slow=0s..100000s:1.5" if slow else DEVICE
    out = place / f"runs/db{host}"
    done = iocast("run", job, device, "--seed", str(1000 * host + seed), "--out", out, cwd=place)
    assert done.returncode == 0, done.stderr
    for line in out.glob("*/summary.json"):
        text = line.read_text()
        own = text.partition('"host":"')[2].partition('"')[0]
        line.write_text(text.replace(f'"host":"{own}"', f'"host":"db{host}"'))


@pytest.mark.parametrize("slow", [True, False])
def test_only_the_slow_device_is_slow(tmp_path: Path, slow: bool) -> None:
    for host in range(8):
        for seed in range(2):
            _measured(tmp_path, host, seed, slow=slow and host == SLOW, busy=host == BUSY)
    result = fleet(FleetRequest(directories=(str(tmp_path / "runs"),))).result
    assert isinstance(result, Fleet)
    standings = {each.host: each.standing for each in result.slow}
    assert {host for host, standing in standings.items() if standing == "slow"} == ({f"db{SLOW}"} if slow else set())
    assert standings.get(f"db{BUSY}") == "busy"
    if slow:
        assert {row.phase for row in result.rows if row.host == f"db{SLOW}"} == {"reads 8k 256x1", "alone 8k 1x1"}
