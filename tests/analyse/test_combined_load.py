"""Phases that ran at once as one load: what is added up, what is the most or the first, and what is left alone."""

from __future__ import annotations

from typing import Any

from makers import card_runs
from msgspec.structs import replace

from iocast.analyse.facts import Facts
from iocast.model.measurement import EngineReport, ErrorCount, ErrorPlace
from iocast.model.plan import FileRegion
from iocast.model.run import PhaseRecord, Run
from iocast.model.workload import Closed, MixItem, Sequential, Sync, Workload

MS = 1_000_000
OTHER = (FileRegion("/mnt/db/iocast.1", 0, card_runs.GIB),)


def at_once(record: PhaseRecord, group: str = "db", **measured: Any) -> PhaseRecord:
    phase = replace(record.phase, together=group)
    return replace(record, phase=phase, measurement=replace(record.measurement, **measured))


def reads(name: str = "lookups", ios: int = 1000, **more: Any) -> PhaseRecord:
    times = card_runs.histogram((MS, ios))
    return at_once(card_runs.reads(name, times=times, users=2, depth=4, **more))


def commits(name: str = "log", ios: int = 300, sync: Sync = "dsync", size_bytes: int = 4096) -> PhaseRecord:
    workload = Workload(mix=(MixItem("write", size_bytes),), arrival=Closed(), sync=sync)
    did = card_runs.measurement((card_runs.part("write", size_bytes, card_runs.histogram((2 * MS, ios))),))
    return at_once(card_runs.record(name, workload, did, files=OTHER))


def seen_by_devices(run: Run, record: PhaseRecord) -> PhaseRecord:
    return Facts(run).row(record).seen_by_devices.record


def test_a_phase_that_ran_alone_is_itself() -> None:
    alone, before = card_runs.reads("alone"), card_runs.reads("before")
    assert seen_by_devices(card_runs.run(before, alone), alone) is alone


def test_one_of_a_group_that_ran_later_is_not_added() -> None:
    """A run that was repeated has the group twice: at other times."""
    first, later = reads(), at_once(reads("again"), started_unix_ns=card_runs.START_UNIX_NS + 1)
    assert seen_by_devices(card_runs.run(first, later), first) is first


def test_what_was_done_at_once_is_added_up() -> None:
    lookups, log = reads(ios=1000), commits(ios=300)
    run = card_runs.run(lookups, log)
    for record in (lookups, log):
        did = seen_by_devices(run, record).measurement
        assert (did.ios, did.bytes) == (1300, 1000 * 8192 + 300 * 4096)
        assert (did.asked_depth, len(did.users)) == (8 + 1, 2 + 1)
        assert did.depth_mean == lookups.measurement.depth_mean + log.measurement.depth_mean
        assert did.in_flight_ns == lookups.measurement.in_flight_ns + log.measurement.in_flight_ns
        assert {(part.op, part.size_bytes): part.ios for part in did.classes} == {
            ("read", 8192): 1000,
            ("write", 4096): 300,
        }


def test_the_time_is_that_of_the_longest_and_the_rate_follows_from_it() -> None:
    lookups, log = reads(ios=1000), commits(ios=300)
    shorter, longer = sorted((lookups.measurement.elapsed_ns, log.measurement.elapsed_ns))
    assert shorter < longer
    did = seen_by_devices(card_runs.run(lookups, log), lookups).measurement
    assert did.elapsed_ns == longer
    assert did.rate_per_s == 1300 * 1e9 / longer


def test_one_operation_of_one_size_is_one_class_with_the_times_of_all() -> None:
    some, others = reads("some", ios=600), reads("others", ios=400)
    small = reads("small", ios=50, size_bytes=4096)
    both, few = seen_by_devices(card_runs.run(some, others, small), others).measurement.classes
    assert (both.size_bytes, both.ios, both.response.total, both.service.total) == (8192, 1000, 1000, 1000)
    assert (few.size_bytes, few.ios) == (4096, 50)


def test_what_is_asked_is_everything_that_anyone_asked() -> None:
    lookups, log, again = reads(), commits(), commits("log of another", sync="sync")
    asked = seen_by_devices(card_runs.run(lookups, log, again), lookups).phase.workload
    assert [(item.op, item.size_bytes) for item in asked.mix] == [("read", 8192), ("write", 4096)]
    assert (asked.users, asked.depth) == (2 + 1 + 1, 4)
    assert asked.sync == "dsync"  # the first that wants any
    assert asked.fsync_every == 0


def test_what_is_asked_is_the_first_load_with_all_users_and_the_most_of_the_rest() -> None:
    """As a whole: a mix beside a log that flushes after each write, beside reads at the greatest depth."""
    first = at_once(card_runs.mixed())
    log = at_once(
        card_runs.record(
            "log",
            Workload(mix=(MixItem("write", 4096),), locality=Sequential(), fsync_every=7, users=3),
            card_runs.measurement((card_runs.part("write", 4096, card_runs.histogram((MS, 300))),)),
        )
    )
    deep = at_once(card_runs.reads("deep", depth=64, direct=False))
    asked = seen_by_devices(card_runs.run(first, log, deep), log).phase.workload
    load = first.phase.workload
    mix = (*load.mix, MixItem("write", 4096))
    assert asked == replace(load, mix=mix, users=4 + 3 + 1, depth=64, direct=False, fsync_every=7)
    assert (asked.sync, asked.direct) == ("none", False)


def test_what_cannot_be_added_up_is_that_of_the_first() -> None:
    first, second = reads("first"), reads("second", engine=EngineReport("sync"))
    run = card_runs.run(first, second)
    assert [seen_by_devices(run, each).measurement.engine.name for each in (first, second)] == ["uring", "uring"]


def test_bytes_and_short_ios_of_a_class_are_added_up_too() -> None:
    def short(record: PhaseRecord, ios: int) -> PhaseRecord:
        (found,) = record.measurement.classes
        return at_once(record, classes=(replace(found, short_ios=ios),))

    some, others = short(reads("some", ios=600), 2), short(reads("others", ios=400), 5)
    (every,) = seen_by_devices(card_runs.run(some, others), some).measurement.classes
    assert (every.ios, every.bytes, every.short_ios) == (1000, 1000 * 8192, 7)


def test_it_is_direct_only_where_all_of_it_is() -> None:
    direct, cached = reads(), reads("cached", direct=False)
    for group in ((direct, cached), (cached, direct)):
        seen = seen_by_devices(card_runs.run(*group), group[0])
        assert not seen.phase.workload.direct
        assert not seen.plan.direct
    assert seen_by_devices(card_runs.run(direct, reads("more")), direct).plan.direct


def test_each_file_region_counts_once() -> None:
    lookups, more, log = reads(), reads("more"), commits()
    seen = seen_by_devices(card_runs.run(lookups, more, log), lookups)
    assert seen.plan.files == (*lookups.plan.files, *log.plan.files)


def test_errors_of_all_are_kept() -> None:
    failed = ErrorCount("read", 5, "EIO", 3, (ErrorPlace(0, 0, 4096),))
    lookups, log = (
        at_once(reads(), errors=(failed,)),
        at_once(commits(), errors=(replace(failed, op="write", count=2),)),
    )
    did = seen_by_devices(card_runs.run(lookups, log), lookups).measurement
    assert did.error_count == 5
    assert [error.op for error in did.errors] == ["read", "write"]


def test_name_and_samples_stay_those_of_the_phase_that_was_asked_for() -> None:
    lookups, log = reads(), commits()
    seen = seen_by_devices(card_runs.run(lookups, log), log)
    assert (seen.phase.name, seen.samples) == ("log", log.samples)
