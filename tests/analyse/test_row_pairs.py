"""Rows that differ in one thing only, and which parts of the target a run has written before one of its rows."""

from __future__ import annotations

import pytest
from makers import card_runs
from msgspec.structs import replace

from iocast.analyse.row_pairs import groups, left_before, marks, pairs, written_before
from iocast.model.run import PhaseRecord
from iocast.model.workload import MixItem, Op, Sequential, Unique, Workload, Zeros

MIB = 1 << 20


def phase_of(op: Op, *, name: str = "", start: int = 0, size: int = 8 * MIB) -> PhaseRecord:
    """A phase of one operation on `size` bytes from `start` on."""
    times = card_runs.histogram((1e6, 1000))
    did = card_runs.measurement([card_runs.part(op, MIB, times)])
    record = card_runs.record(name or op, Workload(mix=(MixItem(op, MIB),)), did)
    files = (replace(record.plan.files[0], start_bytes=start, size_bytes=size),)
    return replace(
        record, phase=replace(record.phase, region_start_bytes=start), plan=replace(record.plan, files=files)
    )


@pytest.mark.parametrize(
    ("before", "written"),
    [
        ((), False),
        (("read",), False),
        (("write",), True),
        (("trim",), False),
        (("write", "trim"), False),
        (("trim", "write"), True),
        (("write", "read"), True),
    ],
)
def test_what_was_trimmed_since_is_not_written(before: tuple[Op, ...], written: bool) -> None:
    row = phase_of("read", name="row")
    assert written_before(card_runs.run(*(phase_of(op, name=f"{op} before") for op in before), row), row) == written


@pytest.mark.parametrize(
    ("start", "size", "written"),
    [
        (0, 16 * MIB, False),
        (0, 16 * MIB + 1, True),
        (24 * MIB, MIB, False),
        (24 * MIB - 1, MIB, True),
        (18 * MIB, MIB, True),
        (0, 100 * MIB, True),
    ],
)
def test_only_what_a_row_may_touch_is_asked_for(start: int, size: int, written: bool) -> None:
    """The row may touch the bytes from 16 MiB to 24 MiB."""
    row = phase_of("read", name="row", start=16 * MIB)
    assert written_before(card_runs.run(phase_of("write", start=start, size=size), row), row) == written


def test_writes_of_the_row_itself_of_its_repeats_and_of_later_rows_do_not_count() -> None:
    row = phase_of("write", name="row")
    assert not written_before(card_runs.run(row, phase_of("write")), row)
    again = phase_of("write", name="row")
    assert not written_before(card_runs.run(row, again), again), "the first of its name has asked for all of them"
    assert written_before(card_runs.run(phase_of("write"), row, again), again)


def test_other_data_stays_until_as_much_unique_data_is_written_as_may_be_read() -> None:
    row, fill = phase_of("read", name="row"), phase_of("write", name="fill", size=100 * MIB)
    zeros = replace(fill, phase=replace(fill.phase, workload=replace(fill.phase.workload, payload=Zeros())))
    assert left_before(card_runs.run(row), row) == Unique()
    assert left_before(card_runs.run(zeros, row), row) == Zeros()
    assert left_before(card_runs.run(zeros, fill, row), row) == Unique()  # 1000 writes of 1 MiB
    wide = phase_of("read", name="row", size=1001 * MIB)
    assert left_before(card_runs.run(zeros, fill, wide), wide) == Zeros()
    assert left_before(card_runs.run(row, zeros), row) == Unique(), "later phases do not count"


def test_marks_are_the_work_the_region_and_the_company_and_no_name() -> None:
    record = phase_of("read", name="one", start=MIB)
    told = marks(record)
    assert (told["region"], told["together"], told["users"]) == ((MIB, 8 * MIB), "", 1)
    assert set(told) == {*Workload.__struct_fields__, "region", "together"}
    assert marks(phase_of("read", name="other", start=MIB)) == told
    beside = replace(record, phase=replace(record.phase, together="both"))
    assert marks(beside) == {**told, "together": "both"}


def test_pairs_differ_in_the_one_field_and_in_nothing_else() -> None:
    plain = phase_of("read")
    zeros, ordered = (
        replace(plain, phase=replace(plain.phase, workload=replace(plain.phase.workload, **change)))
        for change in ({"payload": Zeros()}, {"locality": Sequential()})
    )
    both = replace(zeros, phase=replace(zeros.phase, workload=replace(ordered.phase.workload, payload=Zeros())))
    rows = [marks(each) for each in (plain, zeros, ordered, both, plain)]
    assert list(pairs(rows)) == [(0, 4)]
    assert list(pairs(rows, "payload")) == [(0, 1), (2, 3), (1, 4)]
    assert list(pairs(rows, "locality")) == [(0, 2), (1, 3), (2, 4)]
    assert list(pairs(rows, "users")) == []
    assert groups(rows) == [[0, 4], [1], [2], [3]]
    assert (list(pairs([])), groups([])) == ([], [])
