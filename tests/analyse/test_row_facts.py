"""Each fact of a row and of a run is what the function behind it says of that row, and of no other."""

from __future__ import annotations

from makers import block_runs, card_runs
from msgspec.structs import replace

from iocast.analyse import load_kind, statistics
from iocast.analyse.changepoint import change_points
from iocast.analyse.device_io import device_io, under_filesystem
from iocast.analyse.facts import Facts, RowFacts, point
from iocast.analyse.file_residency import Residency
from iocast.analyse.ladder import Point, kind
from iocast.analyse.modes import modes
from iocast.analyse.places import places
from iocast.analyse.rate_drops import drop, lone_dips
from iocast.analyse.row_pairs import marks
from iocast.analyse.steady import steadiness
from iocast.analyse.time_breakdown import whereabouts
from iocast.model.measurement import Generator
from iocast.model.run import OpSeries, PhaseRecord, Sample, Source
from iocast.model.workload import Poisson, Sequential

MS = 1_000_000


def facts_of_one(record: PhaseRecord) -> RowFacts:
    """The facts of a row that stands between two others."""
    return Facts(card_runs.run(card_runs.reads("before"), record, card_runs.commits("after"))).row(record)


def uneven(record: PhaseRecord) -> PhaseRecord:
    """The same row, whose rate halves after 150 of its 300 intervals, with intervals that depend on each other."""
    series = record.series
    ops = tuple(_uneven(each) for each in series.ops)
    ios = tuple(each if at < 150 else each // 2 for at, each in enumerate(series.ios))
    return replace(record, series=replace(series, ios=ios, ops=ops))


def _uneven(op: OpSeries) -> OpSeries:
    """Ten slow seconds in each minute."""
    slow = [at % 60 < 10 for at in range(len(op.ios))]
    up_to = tuple(tuple(each // 2 if now else each for each, now in zip(mark, slow, strict=True)) for mark in op.up_to)
    times = tuple(each * 3 if now else each for each, now in zip(op.response_ns, slow, strict=True))
    return replace(op, up_to=up_to, response_ns=times)


def test_a_row_has_the_name_the_work_and_the_figures_of_its_phase() -> None:
    record = card_runs.mixed("a mix")
    row = facts_of_one(record)
    assert (row.name, row.workload, row.measurement) == ("a mix", record.phase.workload, record.measurement)
    assert row.run is row.facts.run
    assert (row.kind, row.marks) == (kind(record), marks(record))
    assert (row.data_bytes, row.region) == (load_kind.data_bytes(record), load_kind.region(record))
    assert (row.data_bytes, row.region) == (8 * card_runs.GIB, (0, 8 * card_runs.GIB))
    assert not row.only_reads
    assert facts_of_one(card_runs.reads()).only_reads
    assert facts_of_one(card_runs.fill()).only_writes
    assert not facts_of_one(card_runs.reads()).only_writes
    assert facts_of_one(card_runs.commits()).waits_for_the_device
    assert not row.waits_for_the_device
    did = record.measurement
    assert (row.bytes_read, row.bytes_written) == tuple(load_kind.bytes_of(did, op) for op in ("read", "write"))
    assert row.bytes_read != row.bytes_written


def test_the_rate_that_came_by_the_clock_and_its_share_of_the_one_asked_for() -> None:
    record = card_runs.paced()
    row, did = facts_of_one(record), record.measurement
    assert row.paced_ios == load_kind.paced_ios(record) == did.ios
    assert row.paced_rate_per_s == load_kind.paced_rate_per_s(record) > 0
    assert did.asked_rate_per_s is not None
    assert row.kept_up == row.paced_rate_per_s / did.asked_rate_per_s
    assert facts_of_one(card_runs.reads()).kept_up == 0.0


def test_times_of_a_row_are_those_of_the_operations_that_are_asked_for() -> None:
    record = card_runs.mixed()
    row, did = facts_of_one(record), record.measurement
    for ops in ((), ("read",), ("write",), ("read", "write")):
        assert row.response(*ops) == did.response(*ops)  # type: ignore[arg-type]
        assert row.service(*ops) == did.service(*ops)  # type: ignore[arg-type]
    paced = card_runs.paced()
    waited = facts_of_one(paced)
    assert waited.response() == paced.measurement.response()
    assert waited.service() == paced.measurement.service() != waited.response()
    assert row.p50_ns == did.response().quantile_ns(0.5)
    assert row.mean_ns == did.response().mean_ns
    assert row.modes == modes(did.response()) != ()


def test_percentiles_and_means_have_the_intervals_of_their_own_operation() -> None:
    record = uneven(card_runs.mixed())
    row = facts_of_one(record)
    for op in ("read", "write"):
        series = next(each for each in record.series.ops if each.op == op)
        assert row.series_of(op) == series
        times = record.measurement.response(op)
        effects = statistics.design_effects(series)
        assert effects is not None
        for q in (0.5, 0.99):
            effect = statistics.design_effect(effects, q)
            assert effect is not None
            assert effect > 1, "the seconds depend on each other"
            assert row.quantile(op, q) == statistics.quantile_interval(times, q, effect)
        assert row.mean(op) == statistics.mean_interval(times.mean_ns, series)
    assert row.quantile("read", 0.5) != row.quantile("read", 0.99)
    assert row.mean("read") != row.mean("write")


def test_the_percentiles_of_a_row_are_those_of_the_operation_that_it_did_most() -> None:
    row = facts_of_one(card_runs.mixed())
    assert (row.main_op, facts_of_one(card_runs.commits()).main_op) == ("read", "write")
    assert row.percentiles == tuple(row.quantile("read", q) for q in (0.99, 0.95, 0.5))
    assert row.percentiles[0].relative_half_width is not None
    assert row.percentile_range is None, "an interval says more than the range"


def test_where_no_interval_is_known_the_range_over_the_intervals_is() -> None:
    row = facts_of_one(card_runs.mixed())
    unbounded = [replace(each, low_ns=None, high_ns=None) for each in row.percentiles]
    row.percentiles = (replace(unbounded[0], total=500), *unbounded[1:])  # 5 beyond the first: not published
    series, times = row.series_of("read"), row.response("read")
    assert series is not None
    low_ns, high_ns = statistics.interval_range(times, 0.95, series)
    assert row.percentile_range == replace(unbounded[1], low_ns=low_ns, high_ns=high_ns)


def test_an_operation_that_a_row_never_made_has_no_intervals() -> None:
    row = facts_of_one(card_runs.reads())
    assert row.series_of("write") is None
    assert row.mean("write").low_ns is None


def test_a_closed_loop_is_judged_by_its_rate_and_an_open_one_by_its_response() -> None:
    closed = uneven(card_runs.mixed())
    row = facts_of_one(closed)
    assert not row.is_open_loop
    assert row.rates_per_s == closed.series.rates_per_s
    assert row.steadiness == steadiness(closed.series.rates_per_s) != steadiness(closed.series.responses_ns)
    opened = replace(closed, phase=replace(closed.phase, workload=replace(row.workload, arrival=Poisson(1000.0))))
    waits = facts_of_one(opened)
    assert waits.is_open_loop
    assert waits.steadiness == steadiness(closed.series.responses_ns)


def test_a_rate_that_halved_has_a_change_and_a_drop() -> None:
    record = uneven(card_runs.reads())
    row = facts_of_one(record)
    found = row.change_points
    assert found == change_points(record.series.rates_per_s)
    assert found is not None
    assert [(each.at, round(each.shift, 2)) for each in found.reported] == [(150, -0.5)]
    assert row.drop == drop(record.series, found)
    assert row.drop is not None


def test_a_stall_is_no_part_of_the_level_of_a_row() -> None:
    record = card_runs.reads()
    ios = tuple(each if at != 100 else 0 for at, each in enumerate(record.series.ios))
    row = facts_of_one(replace(record, series=replace(record.series, ios=ios)))
    assert row.lone_dips == lone_dips(row.rates_per_s)
    assert row.lone_dips is not None
    assert row.steadiness_but_dips == steadiness(row.lone_dips.levelled) != row.steadiness
    steady = facts_of_one(record)
    assert steady.lone_dips is None
    assert steady.steadiness_but_dips is steady.steadiness


def test_only_the_rate_of_a_closed_loop_can_fall_before_it_is_steady() -> None:
    for record, fell in ((card_runs.reads(), True), (card_runs.paced(), False)):
        series = record.series
        ios = tuple(3 * each if at < 20 else each for at, each in enumerate(series.ios))
        row = facts_of_one(replace(record, series=replace(series, ios=ios)))
        row.steadiness = replace(row.steadiness, cut=20, mean=float(series.rates_per_s[-1]))
        assert (row.early_fall is not None) == fell
        assert row.record.series.elapsed_ns == len(ios) * series.interval_ns


def test_what_the_processors_did_while_a_row_ran() -> None:
    record = card_runs.reads()
    went = {"user_ns": (0, 30), "idle_ns": (10, 70), "steal_ns": (5, 15)}
    seen = [Sample(at, "cpu", "", name, value) for name, values in went.items() for at, value in enumerate(values)]
    memory = [Sample(at, "cpu", "memory", "available_bytes", 1e9) for at in range(2)]
    row = facts_of_one(replace(record, samples=(*record.samples, *memory, *seen)))
    assert (row.processors.idle_share, row.processors.stolen_share) == (0.6, 0.1)
    assert row.processors is row.processors
    assert facts_of_one(replace(record, samples=())).processors.idle_share is None


def test_the_share_of_the_time_that_threads_waited_for_a_processor() -> None:
    did = card_runs.reads().measurement
    two = replace(did, generator=Generator(threads=2, queued_ns=did.elapsed_ns))
    assert two.queued_share == 0.5
    assert (did.generator.threads, did.queued_share) == (0, 0.0)
    assert replace(two, elapsed_ns=0).queued_share == 0.0


def test_devices_files_and_the_time_of_a_row() -> None:
    record = card_runs.mixed()
    cache = [
        Sample(at, "pagecache", "a", metric, value)
        for at, metric, value in ((0, "file_bytes", 1000.0), (0, "cached_bytes", 100.0), (9, "cached_bytes", 400.0))
    ]
    record = replace(record, samples=(*record.samples, *cache))
    row = facts_of_one(record)
    target = row.run.plan.target
    assert set(row.device_io) == {"vda1"}
    assert row.device_io == device_io(record)
    assert row.under_filesystem == under_filesystem(device_io(record), target) == row.device_io["vda1"]
    assert row.places == places(device_io(record), target) != ()
    assert row.residency == Residency(100, 400, 1000)


def test_where_the_time_of_a_row_went_is_in_its_facts() -> None:
    made = block_runs.row(block_runs.block())
    row = Facts(card_runs.run(made)).row(made)
    (found,) = row.whereabouts
    assert (found,) == tuple(whereabouts(row.run, made))
    assert (found.op, found.requests) == ("read", 100)


def test_what_the_device_moved_for_what_the_test_did() -> None:
    """A log whose journal writes as much again and half."""
    record = card_runs.commits()
    found = facts_of_one(record).share_of_device("write")
    assert found is not None
    share, device = found
    assert (round(share, 4), device.layer) == (2.5, "vda1")
    row = facts_of_one(record)
    assert [row.share_of_device(op) for op in ("write", "read")] == [found, None], "each operation by itself"
    assert row.device_share_of_reads is None
    assert facts_of_one(replace(record, samples=())).share_of_device("write") is None


def test_of_all_layers_that_it_passed_the_one_that_moved_least_counts() -> None:
    """A partition was read in full, and its disk two fifths less."""
    record = card_runs.reads()
    moved = 6 * record.measurement.bytes // 10
    disk = card_runs.diskstats(record.measurement.elapsed_ns, layer="vda", reads=1000, writes=0, read_bytes=moved)
    found = facts_of_one(replace(record, samples=(*record.samples, *disk))).share_of_device("read")
    assert found is not None
    share, device = found
    assert (round(share, 4), device.layer) == (0.6, "vda")
    assert facts_of_one(replace(record, samples=(*record.samples, *disk))).device_share_of_reads == share


def test_all_that_ran_together_is_what_a_device_saw() -> None:
    reads, writes = (
        replace(each, phase=replace(each.phase, together="both")) for each in (card_runs.reads(), card_runs.commits())
    )
    alone = card_runs.reads("alone")
    found = Facts(card_runs.run(reads, writes, alone))
    row = found.row(writes)
    assert row.beside == (reads, writes)
    every = row.seen_by_devices
    assert (every.record.phase.name, every.facts) == (row.name, found)
    assert every.measurement.ios == reads.measurement.ios + writes.measurement.ios
    assert every.beside == (every.record,)
    assert found.row(alone).beside == (alone,)
    assert found.row(alone).seen_by_devices is found.row(alone)


def test_each_group_of_a_run_is_added_up_by_itself() -> None:
    groups = [
        [
            replace(each, phase=replace(each.phase, together=name))
            for each in (card_runs.reads(f"{name} reads", times=times), card_runs.commits(f"{name} commits"))
        ]
        for name, times in (("some", card_runs.histogram((MS, 1000))), ("others", card_runs.histogram((MS, 2000))))
    ]
    found = Facts(card_runs.run(*groups[0], *groups[1]))
    for group in groups:
        ios = sum(each.measurement.ios for each in group)
        assert [found.row(each).seen_by_devices.measurement.ios for each in group] == [ios, ios]


def test_the_page_cache_has_no_part_in_direct_io_and_in_simulated_devices() -> None:
    direct, buffered = card_runs.reads("direct"), card_runs.reads("buffered", direct=False)
    found = Facts(card_runs.run(direct, buffered))
    assert [row.is_really_direct for row in found.rows] == [True, False]
    assert [row.is_past_the_host for row in found.rows] == [True, False]
    assert not found.simulated
    virtual = Facts(card_runs.run(direct, buffered, target=card_runs.SIMULATED))
    assert virtual.simulated
    assert [row.is_past_the_host for row in virtual.rows] == [True, True]


def test_a_row_after_a_fill_is_written_before() -> None:
    record = card_runs.reads()
    assert Facts(card_runs.run(card_runs.fill(), record)).row(record).written_before
    assert not Facts(card_runs.run(record)).row(record).written_before


def test_rows_are_the_measured_phases() -> None:
    found = Facts(card_runs.run(card_runs.fill(), card_runs.reads("one"), card_runs.reads("two")))
    assert [row.name for row in found.rows] == ["one", "two"]
    assert not found.imported
    assert Facts(replace(found.run, source=Source(tool="fio"))).imported


def test_a_point_is_the_load_and_what_came_of_it() -> None:
    record = card_runs.reads(users=4, depth=2)
    did = record.measurement
    expected = Point(record, 8, did.rate_per_s, did.bytes_per_s, did.response())
    assert point(facts_of_one(record)) == expected


def test_curves_of_random_io_come_operation_by_operation() -> None:
    writes = card_runs.commits()
    writes = replace(
        writes, phase=replace(writes.phase, workload=replace(card_runs.reads().phase.workload, mix=writes.plan.mix))
    )
    ordered = card_runs.reads("ordered", sequential=True)
    found = Facts(card_runs.run(writes, ordered, card_runs.reads("one"), card_runs.reads("four", users=4)))
    names = [[row.phase.name for row in curve.rows] for curve in found.curves]
    assert names == [["commit 4k"], ["ordered"], ["one", "four"]]
    assert found.random_curves("read", "write") == (found.curves[2], found.curves[0])
    assert found.random_curves("read") == (found.curves[2],)
    assert found.rows[3].curve is found.curves[2]
    assert Facts(card_runs.run(card_runs.paced())).rows[0].curve is None


def test_pairs_and_groups_are_of_rows_in_their_order() -> None:
    one, again = card_runs.reads("one"), card_runs.reads("again")
    ordered = card_runs.reads("ordered", sequential=True)
    nothing = card_runs.reads("nothing", times=card_runs.histogram())
    found = Facts(card_runs.run(one, nothing, ordered, again))
    first, empty, in_order, last = found.rows
    assert in_order.workload.locality == Sequential()
    assert found.pairs() == ((first, last),), "a row without answers is no pair"
    assert found.pairs("locality") == ((first, in_order), (in_order, last))
    assert found.pairs("payload") == ()
    assert found.groups == ((first, empty, last), (in_order,))
