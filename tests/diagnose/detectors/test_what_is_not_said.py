"""Suspicions that their own arithmetic cannot carry are not said: noise, busy processors, caches of this machine."""

from __future__ import annotations

import math
import random

import pytest
from makers import card_runs
from msgspec.structs import replace

from iocast.analyse.facts import Facts
from iocast.diagnose.detectors.interference import stalls
from iocast.diagnose.detectors.limits import serialised, throttle
from iocast.diagnose.detectors.measurement import bimodal, coarse_clock, generator_bound
from iocast.diagnose.detectors.shortcuts import reduction, storage_cache
from iocast.diagnose.examination import examine
from iocast.diagnose.relations import not_suppressed
from iocast.model.codes import FindingCode
from iocast.model.finding import Finding
from iocast.model.measurement import Absence, Generator, SlowIo
from iocast.model.run import PhaseRecord, Sample, Series
from iocast.model.target import Target
from iocast.model.workload import MixItem, Payload, Sequential, Unique, Workload, Zeros

MS = 1_000_000
BANDWIDTH = "as behind a rate limit or a link, or as at the full bandwidth of the device."
ONE_AT_A_TIME = "as behind a rate limit, or as of a device that serves one at a time, each in 2 ms."
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


@pytest.mark.parametrize(
    ("factor", "scatter", "said"), [(1.15, 0.02, 1), (1.15, 0.2, 0), (1.05, 0.001, 0), (1.3, 0.2, 1)]
)
def test_a_small_gain_is_told_where_the_times_do_not_overlap(factor: float, scatter: float, said: int) -> None:
    """Of two rows of half a second the ratio has no interval; what lies between the rows can be seen in their times."""

    def row(name: str, payload: Payload, mean_ms: float) -> PhaseRecord:
        load = Workload(mix=(MixItem("write", 128 << 10),), depth=4, payload=payload)
        times = card_runs.lognormal(3_400, mean_ms * MS, scatter)
        did = card_runs.measurement([card_runs.part("write", 128 << 10, times)], depth=4)
        return card_runs.record(name, load, did, series=Series())

    rows = row("payload", Unique(), 0.58), row("payload zeros", Zeros(), 0.58 / factor)
    assert len(list(reduction.detect(Facts(card_runs.run(*rows))))) == said


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


def test_peaks_of_a_machine_short_of_cpu_are_not_called_the_devices() -> None:
    """Slices of 4 ms of the scheduler look like a second kind of answer."""
    record = card_runs.reads(times=card_runs.histogram((0.09 * MS, 9_000), (4.1 * MS, 1_000)))
    (plain,) = bimodal.detect(Facts(card_runs.run(record)))
    (busy,) = bimodal.detect(Facts(card_runs.run(_starved(record))))
    assert busy.says == (
        f"{plain.says} This machine was short of CPU: the test's threads waited for a CPU 20% of the time; the slower"
        " I/Os may have waited for a CPU."
    )
    assert (plain.evidence["short_of_cpu"], busy.evidence["short_of_cpu"]) == (0, 1)
    assert busy.remedy.startswith("Measure again with CPUs to spare")


def _starved(record: PhaseRecord, share: float = 0.2) -> PhaseRecord:
    """The row, whose threads waited for a processor for so much of the time."""
    did = record.measurement
    waited = Generator(threads=1, queued_ns=round(share * did.elapsed_ns))
    return replace(record, measurement=replace(did, generator=waited))


SLOW = card_runs.reads(times=card_runs.histogram((4 * MS, 5_000)))  # a thread that got a slice in four milliseconds
SPINNING = replace(card_runs.TARGET, layers=tuple(replace(each, rotational=True) for each in card_runs.TARGET.layers))


def _suspected(*records: PhaseRecord, target: Target = card_runs.TARGET) -> list[str]:
    found = examine(card_runs.run(*records, target=target)).findings
    return [each.code for each in found if each.state == "suggested"]


def test_a_virtual_disk_of_a_busy_machine_has_no_arm() -> None:
    """Guests are told of rotating disks; reads that wait for a processor take as long as an arm does."""
    assert "short_stroke" in _suspected(SLOW, target=SPINNING)
    assert "short_stroke" not in _suspected(_starved(SLOW), target=SPINNING)
    quick = card_runs.reads("randread 8k 2x1", users=2, times=card_runs.histogram((0.3 * MS, 9_000)))
    assert "short_stroke" not in _suspected(_starved(SLOW), quick, target=SPINNING)


@pytest.mark.parametrize(("share", "said"), [(0.0, True), (0.2, False)])
def test_no_suspicion_is_raised_by_a_row_that_waited_for_a_processor(share: float, said: bool) -> None:
    alone = card_runs.reads("held 8k", times=card_runs.histogram((0.2 * MS, 5_000)))
    load = Workload(mix=(MixItem("write", 128 << 10),), locality=Sequential())
    writes = card_runs.record(
        "load", load, card_runs.measurement([card_runs.part("write", 128 << 10, card_runs.histogram((1e6, 9_000)))])
    )
    after = card_runs.reads("held 8k #2", times=card_runs.histogram((0.2 * MS, 2_000), (4 * MS, 3_000)))
    found = _suspected(alone, writes, _starved(after, share))
    assert ("cache_pollution" in found) == said


def test_a_rate_that_stays_level_because_threads_wait_is_no_cap() -> None:
    rows = [
        card_runs.reads(f"randread 8k {users}x1", users=users, times=card_runs.histogram((users * MS, 9_000)))
        for users in (1, 8)
    ]
    assert "throttle" in _suspected(*rows)
    assert "throttle" not in _suspected(rows[0], _starved(rows[1]))


def test_reads_that_only_waited_are_no_proof_of_read_ahead_or_holes() -> None:
    ordered = card_runs.reads("scan 8k", sequential=True, times=card_runs.histogram((0.2 * MS, 5_000)))
    random = card_runs.reads("randread 8k", times=card_runs.histogram((0.6 * MS, 5_000)))
    assert "read_ahead" in _suspected(ordered, random)
    assert "read_ahead" not in _suspected(ordered, _starved(random))


def test_short_stalls_of_which_the_machine_explains_most_come_by_no_clock() -> None:
    """Six stalls of 43 ms at equal distances; during all but one of them no thread of the test ran."""
    slow = tuple(SlowIo(at * SECOND_NS, "read", 0, 0, 8192, 43 * MS, 43 * MS) for at in range(1, 7))
    record = card_runs.reads(times=card_runs.histogram((0.24 * MS, 40_000), (43 * MS, 6)), slow=slow)
    (told,) = stalls.detect(Facts(card_runs.run(record)))
    assert told.evidence["stalls"] == 6
    away = tuple(Absence(each.time_ns, each.service_ns, "queued") for each in slow[1:])
    did = replace(record.measurement, generator=Generator(threads=1, absences=away))
    assert list(stalls.detect(Facts(card_runs.run(replace(record, measurement=did))))) == []


@pytest.mark.parametrize(
    ("code", "longest_ms", "phase", "said"),
    [
        ("stalls", 96.0, "randread 8k", False),
        ("several_peaks", 0.0, "randread 8k", False),
        ("stalls", 900.0, "randread 8k", True),
        ("stalls", 96.0, "randwrite 8k", True),
    ],
)
def test_stalls_of_a_row_at_the_limit_of_its_cgroup_are_the_slices_of_that_limit(
    code: FindingCode, longest_ms: float, phase: str, said: bool
) -> None:
    limit = Finding(code="throttle", severity="warn", phase="randread 8k", says="", evidence={"limit": 4000.0})
    seen = Finding(code=code, severity="warn", phase=phase, says="", evidence={"longest_ns": longest_ms * MS})
    facts = Facts(card_runs.run(card_runs.reads()))
    assert (seen in not_suppressed(facts, [limit, seen])) == said
    guessed = replace(limit, evidence={"ratio": 1.0})
    assert seen in not_suppressed(facts, [guessed, seen]), "a suspected limit explains nothing"


def test_who_waited_for_a_cpu_is_not_told_to_use_more_users() -> None:
    record = card_runs.reads()
    did = record.measurement
    waited = Generator(threads=1, user_ns=did.elapsed_ns // 20, queued_ns=did.elapsed_ns * 9 // 10)
    worked = Generator(threads=1, user_ns=did.elapsed_ns * 19 // 20)
    for made, remedy in ((waited, "Stop other work on this machine"), (worked, "Use more users")):
        run = card_runs.run(replace(record, measurement=replace(did, generator=made)))
        (found,) = generator_bound.detect(Facts(run))
        assert found.remedy.startswith(remedy)


@pytest.mark.parametrize(("size", "says", "severity"), [(8192, ONE_AT_A_TIME, "warn"), (1 << 20, BANDWIDTH, "note")])
def test_a_level_of_large_ios_may_be_the_bandwidth_of_the_device(size: int, says: str, severity: str) -> None:
    """One 1M read already fills a SATA SSD: eight are as fast together, and as even."""
    one = card_runs.reads("read 1x1", size_bytes=size, times=card_runs.lognormal(5_000, 2 * MS, 0.02))
    deep = card_runs.reads("read 8x1", size_bytes=size, users=8, times=card_runs.histogram((15.6 * MS, 5_100)))
    found = list(throttle.detect(Facts(card_runs.run(one, deep))))
    assert {each.severity for each in found} == {severity}
    assert all(each.says.endswith(says) for each in found)
    assert all("up to the p95 the response times of the 8 are nearly equal" in each.says for each in found)


def test_ticks_of_the_scheduler_are_no_timer_of_the_storage() -> None:
    """A loop device beside builds: reads of 75 us waited for a CPU, one, two or three ticks of 4 ms at a time."""
    ticks = ((75_000, 9000), (4e6 + 75_000, 700), (8e6 + 75_000, 400), (12e6 + 75_000, 300))
    row = card_runs.reads(times=card_runs.histogram(*ticks))
    assert [each.code for each in coarse_clock.detect(Facts(card_runs.run(row)))] == ["coarse_clock"]
    assert list(coarse_clock.detect(Facts(card_runs.run(_starved(row))))) == []
