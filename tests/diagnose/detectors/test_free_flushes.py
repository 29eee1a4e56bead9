"""Flushes that take no time, or never arrive, are told with both explanations; those that cost something are not."""

from __future__ import annotations

import pytest
from makers import card_runs
from msgspec.structs import replace

from iocast.analyse.facts import Facts
from iocast.diagnose.detectors.shortcuts import free_flushes
from iocast.model.run import PhaseRecord
from iocast.model.workload import MixItem, Sequential, Workload


def _commits(flushes: int, each_ns: float, *, fsync: bool) -> PhaseRecord:
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
        write_ns=5_000 * 800_000,
    )
    return card_runs.record("commit 4k 1x1", load, did, seen)


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
        assert "protected against power failure or holds no writes, or commits can be lost" in each.says
        assert each.severity == "note"
