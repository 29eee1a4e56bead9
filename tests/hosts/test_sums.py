"""Sums: what several hosts did, added up within the time that they share."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from makers.card_runs import (
    HOST,
    SECOND_NS,
    VDA,
    VDA1,
    diskstats,
    histogram,
    lognormal,
    measurement,
    paced,
    part,
    reads,
)
from msgspec.structs import replace

from iocast import metrics
from iocast.analyse.fairness import jain_index
from iocast.hosts.sums import HostPhase, Window, host_row, summed, summed_host, windows
from iocast.model.histogram import merge
from iocast.model.run import PhaseRecord, Sample


def on(host: str, record: PhaseRecord, started_ns: int = 0, machine: str = "", **changes: Any) -> HostPhase:
    """What a host did, on a machine of its own."""
    return HostPhase(host, machine or f"machine of {host}", (VDA1, VDA), replace(record, **changes), started_ns)


def lasting(record: PhaseRecord, issuing_ns: int) -> PhaseRecord:
    """The record with another end of its load."""
    did = replace(record.measurement, issuing_ns=issuing_ns, elapsed_ns=issuing_ns)
    return replace(record, measurement=did)


@given(st.lists(st.lists(st.integers(1, 10**9), min_size=1, max_size=20), min_size=1, max_size=8))
def test_counts_and_histograms_of_the_sum_are_those_of_the_hosts_to_the_last_one(times_ns: list[list[int]]) -> None:
    every = [reads(times=histogram(*((value, 1) for value in each)), users=2) for each in times_ns]
    record = summed([on(f"db{number}", each) for number, each in enumerate(every)])
    did = record.measurement
    assert did.ios == sum(map(len, times_ns))
    assert did.bytes == 8192 * did.ios
    assert did.response() == merge(each.measurement.response() for each in every)
    assert did.asked_depth == 2 * len(every) == record.phase.workload.users
    assert len(record.plan.files) == len(every)


def test_the_rate_of_an_open_loop_is_that_of_all_hosts() -> None:
    record = summed([on("a", paced()), on("b", paced())])
    assert record.measurement.asked_rate_per_s == 6000
    assert record.phase.workload.arrival.rate_per_s == 6000  # type: ignore[union-attr]


def test_hosts_that_begin_and_end_together_are_not_cut() -> None:
    row = lasting(reads(), 10 * SECOND_NS)
    assert windows([on("a", row, 0), on("b", row, 4_000_000)]) == [Window(0, None), Window(0, None)]


def test_what_lies_outside_the_common_time_is_cut_in_whole_intervals() -> None:
    ten, seven = lasting(reads(), 10 * SECOND_NS), lasting(reads(), 7 * SECOND_NS)
    early, late = windows([on("early", ten, 0), on("late", ten, round(2.3 * SECOND_NS))])
    assert early == Window(3 * SECOND_NS, None)  # from 3 s on its clock: the late one has begun
    assert late.from_ns == 0
    long, short = windows([on("long", ten, 0), on("short", seven, 0)])
    assert (long, short) == (Window(0, 7 * SECOND_NS), Window(0, None))


def test_disks_are_added_by_their_place_in_the_stack_and_shared_ones_counted_once() -> None:
    one = on("a", reads(), samples=diskstats(SECOND_NS, layer="vda1", reads=100))
    two = replace(
        on("b", reads(), samples=diskstats(SECOND_NS, layer="sdc1", reads=30)),
        layers=(replace(VDA1, name="sdc1"), replace(VDA, name="sdc")),
    )
    assert _reads(summed([one, two])) == {"vda1": 130}
    assert _reads(summed([one, replace(two, layers=())])) == {}  # stacks that differ are not added up
    alike = on("c", reads(), machine="one", samples=diskstats(SECOND_NS, layer="vda1", reads=100))
    assert _reads(summed([alike, replace(alike, host="d")])) == {"vda1": 100}


def _reads(record: PhaseRecord) -> dict[str, float]:
    """How far the counter of reads went, by device."""
    counters: dict[str, list[Sample]] = {}
    for sample in record.samples:
        assert sample.observer == metrics.DISKSTATS
        counters.setdefault(sample.subject, []).append(sample)
    return {name: each[-1].value - each[0].value for name, each in counters.items()}


def test_the_slowest_of_all_name_the_file_of_their_host() -> None:
    from iocast.model.measurement import SlowIo

    slow = [SlowIo(0, "read", 0, 0, 8192, response_ns, response_ns) for response_ns in (10, 30)]
    rows = [replace(reads(), measurement=replace(reads().measurement, slow=(each,))) for each in slow]
    record = summed([on("a", rows[0]), on("b", rows[1])])
    first = record.measurement.slow[0]
    assert (first.response_ns, record.plan.files[first.file].path) == (30, "b:/mnt/db/iocast.0")


def test_a_machine_with_two_ranks_has_its_processors_once() -> None:
    other = replace(HOST, name="db02", kernel="Linux 6.2.0")
    assert summed_host([HOST, HOST, other], ["m1", "m1", "m2"], "db[1-2]").cpus == 16
    assert summed_host([HOST, other], ["m1", "m2"], "x").kernel == "Linux 6.1.0, Linux 6.2.0"


def test_a_host_says_what_lies_outside() -> None:
    whole = measurement((part("read", 8192, lognormal(1000, 240_000, 0.3)),))
    inside = reads(times=lognormal(900, 240_000, 0.3))
    row = host_row(on("a", inside, 5_000_000), whole, 1_000_000)
    assert (row.ios, row.outside_ios, row.started_ns) == (900, 100, 4_000_000)


def test_fairness_is_one_for_equals_and_one_in_n_for_one_that_has_all() -> None:
    assert jain_index([5, 5, 5]) == 1
    assert jain_index([5, 0, 0, 0]) == 0.25
    assert jain_index([0, 0]) is None
