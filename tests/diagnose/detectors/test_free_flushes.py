"""Flushes that take no time, or never arrive, are told with both explanations; those that cost something are not."""

from __future__ import annotations

import random

import pytest
from makers import card_runs
from msgspec.structs import replace

from iocast.analyse.facts import Facts
from iocast.diagnose.detectors.shortcuts import free_flushes
from iocast.model.run import PhaseRecord
from iocast.model.workload import MixItem, Sequential, Workload


def _commits(flushes: int, each_ns: float, *, fsync: bool, write_ns: float = 800_000) -> PhaseRecord:
    load = Workload(
        mix=(MixItem("write", 4096),), locality=Sequential(), sync="none" if fsync else "dsync", fsync_every=int(fsync)
    )
    parts = [card_runs.part("write", 4096, card_runs.histogram((80_000, 5_000)))]
    parts += [card_runs.part("fsync", 0, card_runs.histogram((80_000, 5_000)))] if fsync else []
    did = card_runs.measurement(parts)
    seen = card_runs.diskstats(
        did.elapsed_ns,
        writes=5_000,
        written_bytes=did.bytes,
        flushes=flushes,
        flush_ns=flushes * each_ns,
        write_ns=5_000 * write_ns,
    )
    return card_runs.record("commit 4k 1x1", load, did, seen)


VOLATILE = replace(
    card_runs.TARGET, layers=tuple(replace(each, write_cache="write back") for each in card_runs.TARGET.layers)
)


@pytest.mark.parametrize(
    ("flushes", "each_ns", "fsync", "cache", "said"),
    [
        (5_000, 12_000, False, "write back", "5,000 flushes took 12 µs each at vda1"),
        (5_000, 900_000, False, "write back", ""),
        (5_000, 190_000, False, "write back", "5,000 flushes took 190 µs each at vda1"),  # writes take 800
        (5_000, 12_000, False, "write through", ""),
        (0, 0, False, "write back", ""),  # O_DSYNC may go without: the write itself says that it must be durable
        (0, 0, True, "write back", "5,000 flushes were asked for, and 0 reached vda1"),
    ],
)
def test_what_free_flushes_can_mean(flushes: int, each_ns: float, fsync: bool, cache: str, said: str) -> None:
    layers = tuple(replace(each, write_cache=cache) for each in card_runs.TARGET.layers)
    run = card_runs.run(_commits(flushes, each_ns, fsync=fsync), target=replace(card_runs.TARGET, layers=layers))
    found = list(free_flushes.detect(Facts(run)))
    assert len(found) == bool(said)
    for each in found:
        assert each.says.startswith(said)
        assert "protected against power failure or holds no writes, or commits may be at risk" in each.says
        assert each.severity == "note"


def _told(flush_ns: float, write_ns: float, *, fsync: bool) -> bool:
    run = card_runs.run(_commits(5_000, flush_ns, fsync=fsync, write_ns=write_ns), target=VOLATILE)
    return bool(list(free_flushes.detect(Facts(run))))


def test_flushes_of_any_drawn_device_are_told_when_they_are_free_and_only_then() -> None:
    """Free: in no time, or far quicker than the writes of a slow medium. Honest: as long as what they write."""
    draw = random.Random(4711)
    for _ in range(24):
        fsync = draw.random() < 0.5
        write_ns = draw.uniform(30_000, 6_000_000)
        assert _told(draw.uniform(1_000, 90_000), write_ns, fsync=fsync)
        slow_ns = draw.uniform(800_000, 6_000_000)
        assert _told(draw.uniform(100_000, min(950_000, 0.3 * slow_ns)), slow_ns, fsync=fsync)
        cached_ns = draw.uniform(15_000, 400_000)
        assert not _told(draw.uniform(max(150_000, cached_ns), 15_000_000), cached_ns, fsync=fsync)
        assert not _told(draw.uniform(0.5, 4.0) * slow_ns, slow_ns, fsync=fsync)
