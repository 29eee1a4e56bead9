"""The judges of named experiments on runs made by hand: the published figures, and what the device counted."""

from __future__ import annotations

import pytest
from makers import card_runs
from makers.card_runs import histogram, measurement, part
from msgspec.structs import replace

from iocast.analyse.device_io import DeviceIo
from iocast.diagnose.experiments.named import (
    arm,
    cache,
    concurrent_readers,
    dio_matrix,
    lost_writes,
    request_size,
    zones,
)
from iocast.diagnose.experiments.named.trial_setup import TrialSetup
from iocast.model.results.experiments import DirectWritesRow
from iocast.model.run import PhaseRecord, Run
from iocast.model.verification import Verification
from iocast.model.workload import MixItem, Op, Workload
from iocast.report.cells import cell_text
from iocast.report.result_tables import shown_fields

SECOND = 1_000_000_000
USUAL = {"seconds": 1.0, "rounds": 1, "block_bytes": 8192, "depth": 1, "streams": 2}
MS = 1_000_000


def _test(name: str, at: int, did: object, users: int = 1, samples: object = None) -> PhaseRecord:
    op: Op = did.classes[0].op
    load = Workload(mix=(MixItem(op, did.classes[0].size_bytes),), users=users)
    return card_runs.record(f"{name} ({at})", load, did, samples, test=name)


def _pairs(*seconds: tuple[str, float]) -> Run:
    """Two processes of 1000 reads each, that took so long together, three times."""
    records = []
    for at in (1, 2, 3):
        for name, took in seconds:
            took *= 1 + 0.001 * at
            times = histogram((took * SECOND / 1000, 2000))
            did = measurement([part("read", 8192, times)], users=2, elapsed_ns=round(took * SECOND))
            records.append(_test(name, at, did, users=2))
    return card_runs.run(*records)


def test_zones_of_the_published_disk() -> None:
    found = zones.judge((_pairs((zones.FIRST, 11.5), (zones.LAST, 17.5)),))
    assert found.verdict == "confirmed"
    first, last = found.rows
    assert (first.each_ns / MS, last.each_ns / MS) == (pytest.approx(5.75, rel=0.003), pytest.approx(8.75, rel=0.003))
    assert (first.waited_ns / MS, last.waited_ns / MS) == (pytest.approx(11.5, rel=0.01), pytest.approx(17.5, rel=0.01))
    assert last.slower_share == pytest.approx(0.522, abs=0.005)
    assert "52% longer" in found.says


def test_the_arm_of_the_published_disk() -> None:
    found = arm.judge((_pairs((arm.SAME[0], 11.5), (arm.APART[0], 32.5)),))
    assert found.verdict == "confirmed"
    assert found.rows[-1].slower_share == pytest.approx(1.826, abs=0.01)
    assert "2.83 times as long" in found.says


def _readers(*rates: tuple[str, int, float], device_share: float = 1.0) -> Run:
    records = []
    for at in (1, 2, 3):
        for name, users, mb_per_s in rates:
            ios = round(mb_per_s * (1 + 0.001 * at))
            did = measurement(
                [part("read", 1_000_000, histogram((users * SECOND / ios, ios)))], users=users, elapsed_ns=SECOND
            )
            moved = round(device_share * ios * 1_000_000)
            samples = card_runs.diskstats(
                SECOND, reads=ios, read_bytes=moved, writes=0, written_bytes=0, read_ns=1, write_ns=0, queue_ns=1
            )
            records.append(_test(name, at, did, users, samples))
    return card_runs.run(*records)


def test_the_published_concurrent_copies() -> None:
    rates = (("1 reader", 1, 815), ("2 readers", 2, 1460), ("6 readers", 6, 2900))
    found = concurrent_readers.judge((_readers(*rates),))
    assert found.verdict == "confirmed"
    scaling = [row.scaling for row in found.rows]
    assert scaling == [1.0, pytest.approx(1.79, abs=0.005), pytest.approx(3.56, abs=0.005)]
    assert found.rows[2].efficiency_share == pytest.approx(3.56 / 6, abs=0.002)
    assert "memory" not in found.says
    cached = concurrent_readers.judge((_readers(*rates, device_share=0.0),))
    assert "The page cache answered" in cached.says


def _direct(where: str, device: float) -> DirectWritesRow:
    return DirectWritesRow(
        where=where, test="overwrite", by="ring", requested=8, device=device, rate_per_s=1000.0, mean_ns=MS,
        verdict="not_seen", kernel="",
    )  # fmt: skip


def test_beside_a_control_that_has_little_a_row_with_far_less_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each row said "device too fast", where one had a fifth of the control."""
    for rows, named in (((2.9, 0.6), True), ((2.9, 2.5), False), ((0.0, 0.0), False)):
        made = [_direct("raw", rows[0]), _direct("ext3", rows[1])]
        monkeypatch.setattr(dio_matrix, "_real_rows", lambda run, made=made: made)
        ruling = dio_matrix.judge((card_runs.run(card_runs.reads()),))
        assert ruling.verdict == "undecided"
        assert ("Far below it: ext3 overwrite by ring (0.6); test these with a deeper queue" in ruling.says) == named


def _cached(share: float) -> Run:
    records = []
    for at in (1, 2, 3):
        for name, us, seen in (("read buffered", 2, share), ("read direct", 90, 1.0)):
            did = measurement([part("read", 8192, histogram((us * 1000 + at, 10_000)))])
            samples = card_runs.diskstats(
                did.elapsed_ns, reads=1, read_bytes=round(seen * did.bytes), writes=0, written_bytes=0
            )
            records.append(_test(name, at, did, samples=samples))
    return card_runs.run(*records)


def test_the_page_cache_is_named_by_the_bytes_at_the_device() -> None:
    found = cache.judge((_cached(0.001),))
    assert found.verdict == "confirmed"
    assert found.says.startswith("The page cache answers buffered reads. The device moved 0.1%")


def test_without_direct_reads_nothing_is_compared() -> None:
    run = _cached(0.0)
    target = replace(run.plan.target, direct=False, direct_why_not="EINVAL")
    only = tuple(record for record in run.phases if record.phase.test == "read buffered")
    found = cache.judge((replace(run, plan=replace(run.plan, target=target), phases=only),))
    assert found.verdict == "undecided"
    assert "no direct I/O on /mnt/db (EINVAL)" in found.says


@pytest.mark.parametrize(
    ("asked", "seen", "merged", "verdict"),
    [
        (1 << 20, 131072, 0, "fragmentation"),
        (1024, 65536, 0, "consolidation"),
        (4096, 4096, 100, "consolidation"),
        (8192, 8192, 0, "as sent"),
    ],
)
def test_requests_at_both_ends(asked: int, seen: int, merged: int, verdict: str) -> None:
    io = DeviceIo(layer="sda", elapsed_ns=SECOND, reads=100, reads_merged=merged, writes=0, writes_merged=0)
    assert request_size.verdict_of(asked, seen, io) == verdict


def test_requests_that_are_cut_up_are_named() -> None:
    times = histogram((MS, 100))
    did = measurement([part("read", 1 << 20, times)])
    samples = card_runs.diskstats(
        did.elapsed_ns, reads=800, reads_merged=0, read_bytes=did.bytes, writes=0, writes_merged=0, written_bytes=0
    )
    found = request_size.judge((card_runs.run(_test("read 1.0 MiB direct", 1, did, samples=samples)),))
    assert found.verdict == "confirmed"
    assert "read 1.0 MiB direct: 1.0 MiB became 128.0 KiB" in found.says


def _verified(bad: tuple[int, int, int, int, int]) -> Run:
    did = measurement([part("write", 4096, histogram((MS, 100)))])
    found = Verification(
        files=("x",),
        block_bytes=4096,
        started_unix_ns=0,
        elapsed_ns=1,
        blocks=100,
        intact=100 - sum(bad),
        undecided=0,
        outstanding=0,
        ahead=0,
        bad=bad,
        places=(),
        direct=True,
        complete=True,
        durable_only=False,
    )
    return replace(card_runs.run(_test("write", 1, did)), verifications=(found,))


def test_what_was_read_back() -> None:
    assert lost_writes.judge((_verified((0, 0, 0, 0, 0)),)).verdict == "rejected"
    torn = lost_writes.judge((_verified((2, 1, 0, 0, 0)),))
    assert torn.verdict == "confirmed"
    assert "2 torn, 1 lost" in torn.says


def test_memory_is_named_as_memory() -> None:
    """On tmpfs direct reads are memory's too, so that the ratio of 1 says nothing of a cache."""
    run = _cached(0.0)
    target = replace(run.plan.target, filesystem="tmpfs", layers=())
    same = tuple(replace(each, samples=()) for each in run.phases)
    found = cache.judge((replace(run, plan=replace(run.plan, target=target), phases=same),))
    assert found.verdict == "confirmed"
    assert found.says.startswith("Memory answers every read, buffered or direct: tmpfs keeps its files in memory.")
    assert "No cache" not in found.says


def test_a_small_ratio_is_no_nought() -> None:
    did = measurement([part("read", 4 << 20, histogram((MS, 100)))])
    samples = card_runs.diskstats(
        did.elapsed_ns, reads=3200, reads_merged=0, read_bytes=did.bytes, writes=0, writes_merged=0, written_bytes=0
    )
    found = request_size.judge((card_runs.run(_test("read 4.0 MiB direct", 1, did, samples=samples)),))
    (row,) = found.rows
    assert cell_text(shown_fields(type(row))["times"].kind, row.times) == "0.0312"


def test_buffered_reads_are_cold() -> None:
    asked = TrialSetup(target=card_runs.TARGET, size_bytes=1 << 26, may_write=True, **USUAL)
    cold = {phase.test for phase in request_size.phases(asked) if phase.cold}
    assert cold == {phase.test for phase in request_size.phases(asked) if "read" in phase.test and "buff" in phase.test}
    assert cold
