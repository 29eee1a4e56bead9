"""Whether a row met the storage: its payload, the page cache, the layout of its files."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
import pytest
from makers import card_runs

from iocast.analyse.facts import Facts
from iocast.diagnose.trust.representative import representative
from iocast.model.finding import TrustComponent
from iocast.model.run import PhaseRecord
from iocast.model.tree import TreePlan, TreeSize
from iocast.model.workload import Compressible, Dedupable, MixItem, Payload, Repeated, Unique, Workload, Zeros

replace = msgspec.structs.replace
GIB = card_runs.GIB


def _writes(name: str = "write 8k", *, total: int = 40_000, **workload: Any) -> PhaseRecord:
    did = card_runs.measurement((card_runs.part("write", 8192, card_runs.lognormal(total, 1e6, 0.2)),))
    return card_runs.record(name, Workload(mix=(MixItem("write", 8192),), **workload), did)


def test_at_best_b_on_a_real_device_and_on_a_simulated_one() -> None:
    record = card_runs.reads()
    assert representative(Facts(card_runs.run(card_runs.fill(), record)).row(record)).grade == "B"
    assert representative(Facts(card_runs.run(record, target=card_runs.SIMULATED)).row(record)).grade == "B"


@pytest.mark.parametrize(("size_bytes", "grade"), [(330 * GIB, "C"), (100 * GIB, "D"), (8 * GIB, "D")])
def test_buffered_reads_are_judged_by_data_over_memory(size_bytes: int, grade: str) -> None:
    record = card_runs.reads(direct=False)
    file = replace(record.plan.files[0], size_bytes=size_bytes)
    record = replace(record, plan=replace(record.plan, files=(file,)))
    part = representative(Facts(card_runs.run(card_runs.fill(size_bytes), record)).row(record))
    assert part.grade == grade


@pytest.mark.parametrize(("cold", "says"), [(False, "as it does in use"), (True, "dropped before the row")])
def test_names_are_cached_as_in_use_or_dropped_before(cold: bool, says: str) -> None:
    record = _writes()
    record = replace(
        record,
        phase=replace(record.phase, workload=Workload(mix=(MixItem("stat", 0),), direct=False), cold=cold),
        plan=replace(record.plan, tree=TreePlan(depth=1, width=1, files=8)),
    )
    part = representative(Facts(card_runs.run(card_runs.fill(), record)).row(record))
    assert (part.grade, says in part.reason) == ("B", True)


def test_the_data_of_a_tree_is_that_of_its_files() -> None:
    record = card_runs.reads(direct=False)
    tree = TreePlan(depth=2, width=3, files=1, sizes=(TreeSize(1 << 29),), trees=2)
    record = replace(record, plan=replace(record.plan, tree=tree))
    reason = representative(Facts(card_runs.run(card_runs.fill(), record)).row(record)).reason
    assert "of the 9.0 GiB of data fits" in reason


def test_memory_is_written_in_the_unit_of_the_rest_of_the_card() -> None:
    record = card_runs.reads(direct=False)
    reason = representative(Facts(card_runs.run(card_runs.fill(), record)).row(record)).reason
    assert "at least half of the 8.0 GiB of data fits into this machine's memory of 32.0 GiB" in reason


@pytest.mark.parametrize(
    ("limit_bytes", "said"),
    [
        (400 << 20, ""),
        (2 << 30, "8.0 GiB of data is less than ten times its control group's memory of 2.0 GiB"),
        (64 << 30, "fits into this machine's memory of 32.0 GiB"),
    ],
)
def test_a_test_in_a_control_group_is_held_against_its_memory(limit_bytes: int, said: str) -> None:
    """It said "at least half of the 8.0 GiB of data fits into this machine's memory" where 400 MiB may be used."""
    record = card_runs.reads(direct=False)
    run = card_runs.run(card_runs.fill(), record)
    limited = replace(run, host=replace(run.host, memory_limit_bytes=limit_bytes))
    reason = representative(Facts(limited).row(record)).reason
    assert said in reason
    assert ("memory of" in reason) is bool(said)


def test_direct_asked_but_not_had() -> None:
    record = card_runs.reads()
    target = replace(card_runs.TARGET, direct=False)
    part = representative(Facts(card_runs.run(card_runs.fill(), record, target=target)).row(record))
    assert part.grade == "D"
    assert part.reason.startswith("Direct I/O was requested but not available")


@pytest.mark.parametrize(
    "how",
    [
        {"sync": "sync"},
        {"sync": "dsync"},
        {"fsync_every": 1},
        {"mix": (MixItem("write", 8192), MixItem("fdatasync", 0))},
    ],
)
def test_buffered_writes_that_wait_for_the_device_are_not_the_page_cache(how: dict[str, Any]) -> None:
    record = _writes(direct=False)
    record = replace(record, phase=replace(record.phase, workload=replace(record.phase.workload, **how)))
    assert representative(Facts(card_runs.run(card_runs.fill(), record)).row(record)).grade == "B"


def test_buffered_writes_that_nobody_waits_for_are_the_page_cache() -> None:
    record = _writes(direct=False)
    assert "page cache" in representative(Facts(card_runs.run(card_runs.fill(), record)).row(record)).reason


def test_synced_writes_do_not_excuse_buffered_reads() -> None:
    workload = Workload(mix=(MixItem("read", 8192), MixItem("write", 8192)), direct=False, sync="dsync")
    record = replace(_writes(), phase=replace(_writes().phase, workload=workload))
    assert "page cache" in representative(Facts(card_runs.run(card_runs.fill(), record)).row(record)).reason


@pytest.mark.parametrize("payload", [Zeros(), Repeated(), Dedupable(40.0), Compressible(60.0)])
def test_payloads_that_storage_may_not_store(payload: Payload) -> None:
    record = _writes(payload=payload)
    assert representative(Facts(card_runs.run(card_runs.fill(), record)).row(record)).grade == "C"


@pytest.mark.parametrize(
    ("payload", "says"),
    [
        (Zeros(), "all zeros"),
        (Repeated(), "one repeated block: storage may store it once"),
        (Dedupable(80.0), "80% of the blocks are dedupable"),
        (Compressible(60.0), "60% of the data"),
    ],
)
@pytest.mark.parametrize("role", ["measure", "warm"])
def test_what_an_earlier_phase_left_is_remembered(
    payload: Payload, says: str, role: Literal["measure", "warm"]
) -> None:
    before = _writes("zeros", payload=payload)
    before = replace(before, phase=replace(before.phase, role=role))
    after = card_runs.reads("after")
    part = representative(Facts(card_runs.run(card_runs.fill(), before, after, files_whole=True)).row(after))
    assert (part.grade, says in part.reason) == ("C", True)
    first = card_runs.reads("first")
    assert representative(Facts(card_runs.run(card_runs.fill(), first, before)).row(first)).grade == "B"


def test_a_mix_reads_what_lay_there_before_it() -> None:
    mix = replace(card_runs.mixed(), samples=())
    part = representative(Facts(card_runs.run(card_runs.fill(), _writes("zeros", payload=Zeros()), mix)).row(mix))
    assert "all zeros" in part.reason


@pytest.mark.parametrize(("written_bytes", "cured"), [(8 * GIB, True), (7 * GIB, False)])
def test_unique_data_takes_the_place_of_zeros_only_when_as_much_is_written(written_bytes: int, cured: bool) -> None:
    after = card_runs.reads("after")
    times = card_runs.histogram((4e6, written_bytes >> 20))
    did = card_runs.measurement((card_runs.part("write", 1 << 20, times),))
    over = card_runs.record("over", Workload(mix=(MixItem("write", 1 << 20),), payload=Unique()), did)
    run = card_runs.run(card_runs.fill(), _writes("zeros", payload=Zeros()), over, after)
    assert (representative(Facts(run).row(after)).grade == "B") == cured
    assert ("zeros" not in representative(Facts(run).row(after)).reason) == cured


@pytest.mark.parametrize("record", [card_runs.reads(samples=()), _writes()], ids=["reads", "writes"])
def test_files_that_iocast_wrote_in_an_earlier_run_are_whole(record: PhaseRecord) -> None:
    kept = representative(Facts(card_runs.run(record, files_whole=True)).row(record))
    assert "did not see" not in kept.reason
    filled = representative(Facts(card_runs.run(card_runs.fill(), record)).row(record))
    assert filled == kept
    unknown = representative(Facts(card_runs.run(record)).row(record))
    assert unknown.code == "representative"
    assert (unknown.grade, "did not see these files written in full" in unknown.reason) == ("B", True)


def test_a_fill_of_one_file_among_many_is_no_fault() -> None:
    """The other files were whole already: only one had to be written anew."""
    record = card_runs.reads()
    part = representative(Facts(card_runs.run(card_runs.fill(4 * GIB), record, files_whole=True)).row(record))
    assert part.grade == "B"


def test_a_device_is_called_a_device() -> None:
    record = _writes()
    target = replace(card_runs.TARGET, kind="block", filesystem=None)
    assert (
        "did not see this device written in full"
        in representative(Facts(card_runs.run(record, target=target)).row(record)).reason
    )


def test_the_whole_component_names_every_fault() -> None:
    assert representative(Facts(card_runs.run(card_runs.fill(), card_runs.reads())).rows[0]) == TrustComponent(
        "representative", "B", "a cache of unknown size in the drive or the array may answer some I/Os"
    )
    record = _writes(payload=Zeros(), direct=False)
    part = representative(Facts(card_runs.run(card_runs.fill(), record)).row(record))
    assert (part.code, part.grade, part.evidence) == ("representative", "D", {"missing": 3})
    assert part.clause == (
        "the data is all zeros: storage may compress it or not store it; buffered I/O goes through the page cache; at"
        " least half of the 8.0 GiB of data fits into this machine's memory of 32.0 GiB"
    )


def test_a_row_that_only_reads_is_not_judged_by_the_payload_that_it_would_write() -> None:
    record = card_runs.reads()
    asked = replace(record.phase.workload, payload=Zeros())
    record = replace(record, phase=replace(record.phase, workload=asked))
    assert representative(Facts(card_runs.run(card_runs.fill(), record)).row(record)).grade == "B"


def test_reads_of_trimmed_blocks_do_not_reach_the_storage() -> None:
    record = card_runs.reads()
    asked = replace(record.phase.workload, mix=(MixItem("read", 8192), MixItem("trim", 8192)))
    record = replace(record, phase=replace(record.phase, workload=asked))
    part = representative(Facts(card_runs.run(card_runs.fill(), record)).row(record))
    assert (part.grade, part.clause) == ("C", "reads of trimmed blocks do not reach the storage")


@pytest.mark.parametrize(
    ("gib", "says"),
    [
        (320, ""),
        (319, "; 319.0 GiB of data is less than ten times this machine's memory of 32.0 GiB"),
        (64, "; 64.0 GiB of data is less than ten times this machine's memory of 32.0 GiB"),
        (63, "; at least half of the 63.0 GiB of data fits into this machine's memory of 32.0 GiB"),
    ],
)
def test_twice_and_ten_times_the_memory_are_enough(gib: int, says: str) -> None:
    record = card_runs.reads(direct=False)
    file = replace(record.plan.files[0], size_bytes=gib * GIB)
    record = replace(record, plan=replace(record.plan, files=(file,)))
    part = representative(Facts(card_runs.run(card_runs.fill(), record)).row(record))
    assert part.clause == f"buffered I/O goes through the page cache{says}"


@pytest.mark.parametrize(("share", "seen"), [(1.0, True), (0.95, True), (0.94, False)])
def test_what_the_device_delivered_was_written_in_full(share: float, seen: bool) -> None:
    base = card_runs.reads(times=card_runs.histogram((240_000, 40_000)))
    did = base.measurement
    moved = {"reads": did.ios, "read_bytes": round(share * did.bytes), "writes": 0, "written_bytes": 0}
    record = replace(base, samples=card_runs.diskstats(did.elapsed_ns, **moved))
    part = representative(Facts(card_runs.run(record)).row(record))
    assert ("did not see" not in part.clause) == seen
    mixed = replace(record.phase.workload, mix=(MixItem("read", 8192), MixItem("write", 8192)))
    record = replace(record, phase=replace(record.phase, workload=mixed))
    assert "did not see" in representative(Facts(card_runs.run(record)).row(record)).clause
