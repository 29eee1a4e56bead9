"""A trace is replayed at its times, with its pauses or as fast as possible; the device's answers are known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from makers.msr_traces import every, msr

import iocast
from iocast.errors import SourceError, SpecError, TargetError
from iocast.model.measurement import Measurement
from iocast.model.workload import RecordedPlaces, RecordedTimes
from iocast.sessions.card import Card

MS = 1_000_000
ONE_SERVER = "sim:nvme,service=constant:1ms,servers=1"
SERVED_NS = 1_001_171  # 1 ms, and the transfer of 4 KiB


def _replayed(trace: str, path: str, folder: Path, **how: Any) -> tuple[Card, Measurement]:
    card = iocast.replay(trace, path, out=str(folder / "runs"), **how)
    (record,) = card.run.measured
    return card, record.measurement


def test_at_its_times_each_io_is_issued_when_the_trace_did(tmp_path: Path) -> None:
    card, did = _replayed(msr(tmp_path, every(2.0, 500, 1.5)), ONE_SERVER, tmp_path)
    assert (did.ios, did.issue_error.max_ns) == (500, 0)
    assert did.response().max_ns == SERVED_NS
    assert did.elapsed_ns == pytest.approx(998 * MS + SERVED_NS, abs=1)
    facts = did.replay
    assert facts is not None
    assert (facts.events, facts.replayed, facts.left_out, facts.recorded_ns) == (500, 500, {}, 998 * MS)
    assert facts.due_ios == (500,)
    (reads,) = facts.latency
    assert (reads.op, reads.service.total, reads.service.max_ns) == ("read", 500, 1_500_000)
    (phase,) = card.run.plan.phases
    assert (phase.workload.locality, phase.length.ios) == (RecordedPlaces(), 500)
    assert isinstance(phase.workload.arrival, RecordedTimes)


def test_twice_as_fast_takes_half_the_time(tmp_path: Path) -> None:
    _, did = _replayed(msr(tmp_path, every(4.0, 500, 1.5)), ONE_SERVER, tmp_path, speed=2.0)
    assert did.issue_error.max_ns == 0
    assert did.elapsed_ns == pytest.approx(499 * 2 * MS + SERVED_NS, abs=1)


def test_a_storage_that_is_too_slow_is_said_to_be(tmp_path: Path) -> None:
    card, did = _replayed(msr(tmp_path, every(0.5, 1000, 0.4)), ONE_SERVER, tmp_path)
    assert did.elapsed_ns == pytest.approx(1000 * SERVED_NS, rel=1e-6), "a thousand I/Os of 1 ms, one at a time"
    assert did.issue_error.max_ns > 400 * MS
    (section,) = (each for each in card.report().sections if each.code == "replay")
    assert "Issue times were not kept" in section.paragraphs[0]
    assert "the storage was slower than the trace" in section.paragraphs[0]


def test_pauses_are_kept_and_the_time_of_the_storage_is_its_own(tmp_path: Path) -> None:
    trace = msr(tmp_path, every(2.0, 500, 1.5))  # a pause of 0.5 ms after each
    _, did = _replayed(trace, ONE_SERVER, tmp_path, mode="dependent")
    assert (did.ios, did.elapsed_ns) == (500, did.service().sum_ns + 499 * MS // 2)
    assert did.asked_rate_per_s is None
    assert did.replay is not None
    assert did.replay.independent == 1, "only the first waits for no other"
    _, faster = _replayed(trace, ONE_SERVER, tmp_path, mode="dependent", speed=5.0)
    assert faster.elapsed_ns == faster.service().sum_ns + 499 * MS // 10


def test_as_fast_as_possible_keeps_all_servers_busy(tmp_path: Path) -> None:
    device = "sim:nvme,service=constant:1ms,servers=4"
    _, did = _replayed(msr(tmp_path, every(2.0, 400, 1.5)), device, tmp_path, mode="fast")
    assert (did.ios, did.asked_rate_per_s) == (400, None)
    assert did.elapsed_ns == pytest.approx(100 * SERVED_NS, rel=0.001)


def test_without_service_times_dependence_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "iolog").write_text("fio version 3 iolog\n13 /a b add\n91 /a b read 0 4096\n268 /a b read 4096 4096\n")
    with pytest.raises(SourceError, match="does not say when its I/Os ended"):
        _replayed(str(tmp_path / "iolog"), ONE_SERVER, tmp_path, mode="dependent")


@pytest.mark.parametrize(("opened", "share"), [("O_RDONLY", 1.0), ("O_RDONLY|O_DIRECT", 0.0)])
def test_calls_that_the_page_cache_may_have_answered_are_known(tmp_path: Path, opened: str, share: float) -> None:
    lines = [f'7 100.000000 openat(AT_FDCWD, "/d/f", {opened}) = 3 <0.000009>']
    lines += [f'7 100.{at:03d}100 pread64(3, "x"..., 8192, {at * 8192}) = 8192 <0.000014>' for at in range(200)]
    (tmp_path / "calls.strace").write_text("\n".join([*lines, ""]))
    card, did = _replayed(str(tmp_path / "calls.strace"), ONE_SERVER, tmp_path)
    assert did.replay is not None
    assert [each.may_be_cached for each in did.replay.latency] == [200 * share]
    (section,) = (each for each in card.report().sections if each.code == "replay")
    assert ("Reads are not compared" in section.paragraphs[0]) == bool(share)


def test_what_lies_outside_is_refused_wrapped_or_scaled(tmp_path: Path) -> None:
    trace = msr(tmp_path, [(number, "Read", number << 20, 4096, 0.1) for number in range(16)])
    small = f"{ONE_SERVER},size=4MiB"
    with pytest.raises(TargetError, match="the trace reaches to 15,732,736 bytes"):
        _replayed(trace, small, tmp_path)
    for remap, offsets in (
        ("wrap", [n % 4 << 20 for n in range(16)]),
        ("scale", [min((n << 20) * (4 << 20) // 15_732_736, (4 << 20) - 4096) for n in range(16)]),
    ):
        _, did = _replayed(trace, small, tmp_path, remap=remap)
        assert [slow.offset_bytes for slow in sorted(did.slow, key=lambda slow: slow.time_ns)] == offsets
        assert did.replay is not None
        assert did.replay.moved == sum(n << 20 != to for n, to in enumerate(offsets))


def test_only_the_targets_that_are_named_and_only_reads(tmp_path: Path) -> None:
    ios = [(0.0, "Read", 0, 4096, 0.1), (1.0, "Write", 8192, 4096, 0.1)]
    traces = tmp_path / "traces"
    traces.mkdir()
    for disk in (0, 1):
        msr(traces, ios, f"{disk}.csv", disk)
    _, did = _replayed(str(traces), ONE_SERVER, tmp_path)
    assert did.ios == 4
    assert {slow.offset_bytes for slow in did.slow} == {0, 8192, 1 << 20, (1 << 20) + 8192}, "one after the other"
    _, did = _replayed(str(traces), ONE_SERVER, tmp_path, targets=("host,1",), reads_only=True)
    assert did.replay is not None
    assert (did.ios, did.replay.left_out) == (1, {"other_target": 2, "not_a_read": 1})
    with pytest.raises(SourceError, match="the trace has no target sdx: it has host,0, host,1"):
        _replayed(str(traces), ONE_SERVER, tmp_path, targets=("sdx",))


def test_many_sizes_are_counted_with_the_next_power_of_two(tmp_path: Path) -> None:
    ios = [(number * 1.0, "Read", 0, 512 * (number + 1), 0.1) for number in range(100)]
    _, did = _replayed(msr(tmp_path, ios), ONE_SERVER, tmp_path)
    assert did.bytes == sum(512 * (number + 1) for number in range(100)), "I/Os keep their size"
    assert len(did.classes) <= 64


def test_a_speed_that_means_nothing_is_refused(tmp_path: Path) -> None:
    trace = msr(tmp_path, every(1.0, 3, 0.1))
    for how in ({"speed": 0.0}, {"speed": 2.0, "mode": "fast"}):
        with pytest.raises(SpecError, match="--speed"):
            _replayed(trace, ONE_SERVER, tmp_path, **how)


def test_a_work_file_is_laid_out_and_unaligned_ios_are_rounded(tmp_path: Path) -> None:
    ios = [(number * 0.2, ("Read", "Write")[number % 2], 700 + number * 4096, 1000, 0.1) for number in range(50)]
    place = tmp_path / "place"
    place.mkdir()
    card, did = _replayed(msr(tmp_path, ios), str(place), tmp_path, mode="fast")
    assert (did.ios, did.error_count) == (50, 0)
    assert (place / "iocast-work.0.dat").stat().st_size == 1 << 20
    assert did.replay is not None
    if card.run.measured[0].plan.direct:
        block = card.run.measured[0].plan.replay
        assert block is not None
        assert did.replay.rounded == 50
        assert all(slow.offset_bytes % block.block_bytes == 0 for slow in did.slow)


def test_writes_to_a_file_of_others_are_left_out_and_said(tmp_path: Path) -> None:
    foreign = tmp_path / "database.dat"
    foreign.write_bytes(bytes(range(256)) * 4096)
    ios = [(number * 0.2, ("Read", "Write")[number % 2], number * 4096, 4096, 0.1) for number in range(50)]
    card, did = _replayed(msr(tmp_path, ios), str(foreign), tmp_path, mode="fast", buffered=True)
    assert foreign.read_bytes() == bytes(range(256)) * 4096
    assert did.replay is not None
    assert (did.ios, did.replay.left_out) == (25, {"not_a_read": 25})
    (section,) = (each for each in card.report().sections if each.code == "replay")
    changes = next(table for table in section.tables if table.key == "changes")
    assert [row.cells["ios"] for row in changes.rows] == [25]


def test_a_replay_with_threads_that_wait_for_each_other(tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    trace = msr(tmp_path, [(number * 0.5, "Read", number * 4096, 4096, 0.8) for number in range(200)])
    _, did = _replayed(trace, str(place), tmp_path, mode="dependent", buffered=True)
    assert (did.ios, did.error_count, did.stopped) == (200, 0, "finished")


def test_two_replays_are_compared(tmp_path: Path) -> None:
    trace = msr(tmp_path, every(2.0, 500, 1.5))
    one, _ = _replayed(trace, ONE_SERVER, tmp_path)
    other, _ = _replayed(trace, "sim:nvme,service=constant:500us,servers=1", tmp_path)
    compared = iocast.compare(one.folder, other.folder)
    assert compared is not None
    assert iocast.open(one.folder).run.measured[0].measurement.replay == one.run.measured[0].measurement.replay
