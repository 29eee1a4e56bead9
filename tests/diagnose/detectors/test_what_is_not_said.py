"""Suspicions that their own arithmetic cannot carry are not said: noise, busy processors, caches of this machine."""

from __future__ import annotations

import math
import random

import pytest
from makers import card_runs
from msgspec.structs import replace

from iocast.analyse.facts import Facts
from iocast.diagnose.detectors.limits import serialised
from iocast.diagnose.detectors.shortcuts import reduction, storage_cache
from iocast.model.measurement import Generator
from iocast.model.run import PhaseRecord, Sample, Series
from iocast.model.workload import MixItem, Payload, Unique, Workload, Zeros

MS = 1_000_000
SECOND_NS = card_runs.SECOND_NS


def _waiting(queue: float, users: int = 8, name: str = "randread 8k 8x1", service_ms: float = 8.0) -> PhaseRecord:
    """Reads of 8 ms that were at the device for one, of which it has `queue` on average."""
    record = card_runs.reads(name, times=card_runs.histogram((service_ms * MS, 20_000)), users=users)
    did = record.measurement
    seen = card_runs.diskstats(
        did.elapsed_ns,
        reads=20_000,
        read_bytes=did.bytes,
        read_ns=round(queue * did.elapsed_ns),
        queue_ns=queue * did.elapsed_ns,
    )
    return replace(record, samples=seen)


def _said(*records: PhaseRecord) -> int:
    return len(list(serialised.detect(Facts(card_runs.run(*records)))))


@pytest.mark.parametrize(("queue", "said"), [(0.1, 0), (0.4, 0), (0.9, 1), (1.2, 1), (2.5, 0)])
def test_a_lock_keeps_one_io_at_the_device(queue: float, said: int) -> None:
    assert _said(_waiting(queue)) == said


def test_what_gains_from_more_is_not_serialised() -> None:
    flat = card_runs.reads("randread 8k 1x1", times=card_runs.histogram((1.1 * MS, 9000)))
    gains = card_runs.reads("randread 8k 1x1", times=card_runs.histogram((2.1 * MS, 9000)))
    assert _said(flat, _waiting(1.0)) == 1
    assert _said(gains, _waiting(1.0)) == 0


def test_who_waits_for_a_processor_is_not_serialised() -> None:
    record = _waiting(1.0)
    did = record.measurement
    starved = Generator(threads=1, queued_ns=did.elapsed_ns // 5)
    assert _said(replace(record, measurement=replace(did, generator=starved))) == 0
    busy = tuple(
        Sample(card_runs.START_UNIX_NS + at * did.elapsed_ns, "cpu", "", metric, at * share * did.elapsed_ns)
        for at in (0, 1)
        for metric, share in (("user_ns", 1.0), ("system_ns", 0.9), ("idle_ns", 0.1), ("iowait_ns", 0.0))
    )
    assert _said(replace(record, samples=(*record.samples, *busy))) == 0


def _cache(*pairs: tuple[float, int]) -> int:
    record = card_runs.reads(times=card_runs.histogram(*((ms * MS, n) for ms, n in pairs)))
    return len(list(storage_cache.detect(Facts(card_runs.run(record)))))


def test_one_wide_group_is_no_cache() -> None:
    """Exponential times: nine tenths below the floor of a disk, and no valley anywhere."""
    step = 0.0002
    ends = [0.2 * -math.log(1 - at * step) for at in range(round(1 / step) - 1)]
    assert _cache(*((ms, 1) for ms in ends if ms)) == 0


def test_a_few_slow_reads_are_no_misses() -> None:
    assert _cache((0.2, 9_700), (8.0, 300)) == 0
    assert _cache((0.2, 9_000), (8.0, 1_000)) == 1


def _rows(factor: float, noise: float, *, seed: int) -> tuple[PhaseRecord, PhaseRecord]:
    """Writes of unique data and of zeros, these `factor` times as fast, each second of each off by `noise`."""
    draw = random.Random(seed)

    def row(name: str, payload: Payload, times: float) -> PhaseRecord:
        load = Workload(mix=(MixItem("write", 128 << 10),), depth=4, payload=payload)
        rates = [times * 100 * draw.lognormvariate(0, noise) for _ in range(6)]
        took_ns = 4 * SECOND_NS * len(rates) / sum(rates)
        did = card_runs.measurement(
            [card_runs.part("write", 128 << 10, card_runs.histogram((took_ns, round(sum(rates)))))], depth=4
        )
        ios = tuple(round(each) for each in rates)
        series = Series(
            interval_ns=SECOND_NS,
            ios=ios,
            bytes=tuple(each * (128 << 10) for each in ios),
            response_ns=(4 * SECOND_NS,) * len(ios),
        )
        return card_runs.record(name, load, did, series=series)

    return row("payload 128k 1x4", Unique(), 1.0), row("payload 128k 1x4 zeros", Zeros(), factor)


def _reduced(factor: float, noise: float) -> int:
    found = 0
    for seed in range(40):
        run = card_runs.run(*_rows(factor, noise, seed=seed))
        found += bool(list(reduction.detect(Facts(run))))
    return found


def test_compression_is_not_said_of_noise() -> None:
    assert _reduced(1.5, 0.05) == 40
    assert _reduced(1.0, 0.5) <= 2


def test_a_small_region_without_the_stall_of_the_whole_is_no_cache() -> None:
    def row(name: str, size: int, times_ms: list[float]) -> PhaseRecord:
        mean = sum(times_ms) / len(times_ms)
        record = card_runs.reads(name, times=card_runs.histogram((mean * MS, 5_000)))
        series = Series(
            interval_ns=SECOND_NS,
            ios=(1_000,) * len(times_ms),
            bytes=(8_192_000,) * len(times_ms),
            response_ns=tuple(round(1_000 * each * MS) for each in times_ms),
        )
        files = tuple(replace(each, size_bytes=size) for each in record.plan.files)
        return replace(record, plan=replace(record.plan, files=files), series=series)

    small = row("held 8k", 64 << 20, [0.4, 0.41, 0.39, 0.4])
    stalled = row("randread 8k", 8 << 30, [0.4, 0.41, 3.2, 0.4])
    slower = row("randread 8k", 8 << 30, [1.6, 1.7, 1.55, 1.6])
    assert list(storage_cache.detect(Facts(card_runs.run(stalled, small)))) == []
    assert len(list(storage_cache.detect(Facts(card_runs.run(slower, small))))) == 1


def test_reads_that_waited_for_a_processor_are_no_misses_of_a_cache() -> None:
    record = card_runs.reads(times=card_runs.histogram((0.09 * MS, 9_400), (3.6 * MS, 600)))
    did = record.measurement
    assert len(list(storage_cache.detect(Facts(card_runs.run(record))))) == 1
    starved = Generator(threads=1, queued_ns=did.elapsed_ns // 2)
    waited = replace(record, measurement=replace(did, generator=starved))
    assert list(storage_cache.detect(Facts(card_runs.run(waited)))) == []


def test_compression_is_not_said_of_rows_that_waited_for_a_processor() -> None:
    unique, zeros = _rows(1.5, 0.05, seed=1)
    starved = Generator(threads=1, queued_ns=unique.measurement.elapsed_ns // 2)
    waited = replace(unique, measurement=replace(unique.measurement, generator=starved))
    assert len(list(reduction.detect(Facts(card_runs.run(unique, zeros))))) == 1
    assert list(reduction.detect(Facts(card_runs.run(waited, zeros)))) == []
