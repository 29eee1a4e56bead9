"""Processor times and memory: the texts of /proc, and this machine."""

from __future__ import annotations

import time

import pytest

from iocast.model.target import Target
from iocast.observe import cpu

STAT = """cpu  100 20 30 4000 50 6 7 8 90 10
cpu0 100 20 30 4000 50 6 7 8 90 10
intr 1 2 3
ctxt 266651
btime 1
"""


def test_kinds_of_time() -> None:
    assert cpu.parse_stat(STAT, 100) == {
        "user_ns": 1_200_000_000,
        "system_ns": 430_000_000,
        "idle_ns": 40_000_000_000,
        "iowait_ns": 500_000_000,
        "steal_ns": 80_000_000,
        "context_switches": 266651,
    }


def test_guests_are_not_counted_twice() -> None:
    times = cpu.parse_stat(STAT, 100)
    assert sum(ns for name, ns in times.items() if name.endswith("_ns")) == 4221 * 10_000_000


@pytest.mark.parametrize("text", ["", "cpu 1 2\nctxt 3\n", "cpu 1 2 3 4 5 6 7 8\n", "x 1 2 3 4 5\nctxt 1\n"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="/proc/stat"):
        cpu.parse_stat(text, 100)


def test_memory_in_bytes() -> None:
    text = "MemTotal: 100 kB\nMemAvailable:   80 kB\nCached:  7 kB\nSwapCached: 1 kB\n"
    text += "Dirty: 3 kB\nWriteback: 2 kB\nWritebackTmp: 9 kB\n"
    assert cpu.parse_meminfo(text) == {
        "available_bytes": 81920,
        "cached_bytes": 7168,
        "dirty_bytes": 3072,
        "writeback_bytes": 2048,
    }


def test_this_machine() -> None:
    before_ns = time.time_ns()
    with cpu.Observer(Target(path="/", kind="directory"), ()) as observer:
        first, last = observer.sample(), observer.sample()
    assert all(before_ns <= sample.time_ns <= time.time_ns() for sample in first + last)
    switches = [sample.value for sample in first + last if sample.metric == "context_switches"]
    assert switches == sorted(switches)
    assert {sample.metric for sample in first if sample.subject == "memory"} == {
        "available_bytes",
        "dirty_bytes",
        "writeback_bytes",
        "cached_bytes",
    }
