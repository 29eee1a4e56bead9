"""Recording a machine whose processes all change takes no more memory after a day than after an hour."""

from __future__ import annotations

import json
import subprocess
from itertools import islice
from pathlib import Path

import pytest
from makers.changing_population import Population, real_processes, recorded, resident_bytes
from makers.command_line import IOCAST

from iocast.archive.tapes.reels import reel_samples

MB = 1 << 20
S = 1_000_000_000


@pytest.mark.long
@pytest.mark.slow
def test_two_thousand_processes_at_100_ms_take_300_mb(tmp_path: Path) -> None:
    """4 million samples: as objects they would take 440 MB, as lists for a database ten times that."""
    looks = recorded(tmp_path, 2000, S // 10, 200, 10)
    assert max(looks) < 300 * MB, looks
    (folder,) = tmp_path.iterdir()
    assert sum(1 for _ in reel_samples(folder)) == 200 * (2000 * 10 + 1)


@pytest.mark.long
@pytest.mark.slow
def test_a_day_takes_no_more_than_an_hour(tmp_path: Path) -> None:
    """24 hours accelerated, with 288 reels."""
    every_ns = 60 * S
    looks = recorded(tmp_path, 200, every_ns, 24 * 60, 24)
    first, rest = looks[2], looks[3:-1]
    assert max(rest) - first < 12 * MB, [each // MB for each in looks]
    assert looks[-1] < 300 * MB


def test_what_was_recorded_of_a_changing_population_plays_as_it_was(tmp_path: Path) -> None:
    population = Population(200, S, 20)
    recorded(tmp_path, 200, S, 20, 1)
    (folder,) = tmp_path.iterdir()
    samples = reel_samples(folder)
    for moment in population.moments(lambda: False):
        assert tuple(islice(samples, len(moment.samples))) == moment.samples
    assert next(samples, None) is None


def _after(watch: subprocess.Popen[str], intervals: int) -> int:
    """The memory of a watch after it has printed so many intervals more."""
    assert watch.stdout is not None
    ends: set[int] = set()
    while len(ends) <= intervals:
        ends.add(json.loads(watch.stdout.readline())["time_ns"])
    return resident_bytes(watch.pid)


@pytest.mark.long
@pytest.mark.slow
def test_a_hundred_intervals_of_real_processes_leave_the_watch_as_it_was(tmp_path: Path) -> None:
    command = [*IOCAST, "watch", "iostat", "--json", "--interval", "100ms", "--record", "."]
    with (
        real_processes(300),
        subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as watch,
    ):
        try:
            before, after = _after(watch, 30), _after(watch, 100)
        finally:
            watch.terminate()
    assert after - before < 8 * MB, (before, after)  # 100 times 3,000 samples are 33 MB as objects
