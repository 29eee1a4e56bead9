"""Which rows of two sides belong together: those of one name, and those of other tools that do the same I/O."""

from __future__ import annotations

import pytest
from makers import card_runs
from msgspec.structs import replace

from iocast.diagnose.comparable import Side, pairs, unlike
from iocast.diagnose.comparable import side as comparable_side
from iocast.model.measurement import ErrorCount
from iocast.model.run import PhaseRecord, Run, Source
from iocast.model.workload import MixItem
from iocast.report.comparison_report import compare


def side(label: str, *rows: PhaseRecord, source: Source | None = None) -> Side:
    run = replace(card_runs.run(*rows), source=source)
    return Side(label, (run,), {row.phase.name: "A" for row in rows})


def weighted(row: PhaseRecord, weight: float) -> PhaseRecord:
    workload = replace(row.phase.workload, mix=(MixItem("read", 8192, weight),))
    return replace(row, phase=replace(row.phase, workload=workload))


FIO = side("fio", weighted(card_runs.reads("rd"), 1), card_runs.reads("deep", depth=8), source=Source(tool="fio"))

FAILED = replace(card_runs.reads("rd").measurement, errors=(ErrorCount("read", 5, "EIO", 3, ()),))


def partners(first: Side, other: Side) -> dict[str, str]:
    return {pair.name: pair.other[0].phase.name for pair in pairs(first, other) if not pair.why_not}


def test_rows_that_do_the_same_are_compared_under_whatever_name() -> None:
    own = side("own", card_runs.reads("deep 8k 1x8", depth=8), weighted(card_runs.reads("rd 8k 1x1"), 100))
    assert partners(FIO, own) == {"rd": "rd 8k 1x1", "deep": "deep 8k 1x8"}
    told = {each.code: (each.first, each.other) for each in unlike(FIO, own, pairs(FIO, own))}
    assert told["row_names"] == ("rd, deep", "rd 8k 1x1, deep 8k 1x8")
    assert "rows_alone" not in told


def test_a_name_goes_before_the_same_work() -> None:
    own = side("own", card_runs.reads("rd"), card_runs.reads("again"))
    assert partners(FIO, own) == {"rd": "rd"}
    told = {each.code: (each.first, each.other) for each in unlike(FIO, own, pairs(FIO, own))}
    assert told["rows_alone"] == ("deep", "again")


def test_what_could_be_either_is_left_alone() -> None:
    own = side("own", card_runs.reads("one"), card_runs.reads("two"))
    assert partners(FIO, own) == partners(own, FIO) == {}


def test_names_of_one_tool_mean_what_they_say() -> None:
    """Two tests that do the same may do it at two places."""
    assert partners(side("own", card_runs.reads("outer")), side("own, too", card_runs.reads("inner"))) == {}


def test_what_does_not_say_what_it_did_is_not_taken_for_the_same() -> None:
    silent = side("log", replace(card_runs.reads("log"), unstated=("users", "depth")), source=Source(tool="fio"))
    assert partners(side("own", card_runs.reads("rd 8k 1x1")), silent) == {}


def test_what_the_figures_of_another_tool_count_stands_beside() -> None:
    note = "percentiles are its clat"
    fio = side("fio", card_runs.reads("rd"), source=Source(tool="fio", notes=(note,)))

    def notes(other: Side) -> list[str]:
        sections = {section.title: section for section in compare([fio, other]).sections}
        return [told for table in sections["Other differences"].tables for told in table.notes]

    assert notes(side("own", card_runs.reads("rd 8k 1x1"))) == [f"fio: {note}"]
    assert notes(side("fio again", card_runs.reads("rd"), card_runs.reads("x"), source=Source(tool="fio"))) == []


def repeated(label: str, starts: tuple[int, ...], seeds: tuple[int, ...]) -> Side:
    def one(start: int, seed: int) -> Run:
        made = card_runs.run(card_runs.reads("rd"), started_unix_ns=start)
        return replace(made, plan=replace(made.plan, seed=seed))

    return Side(label, tuple(map(one, starts, seeds)), {"rd": "A"})


def test_rounds_belong_together() -> None:
    (pair,) = pairs(repeated("a", (10, 31, 50), (1, 2, 3)), repeated("b", (21, 30, 61), (7, 8, 9)))
    assert pair.matched


def test_runs_of_the_same_offsets_belong_together_whenever_they_ran() -> None:
    first, other = repeated("a", (1, 2, 3), (1, 2, 3)), repeated("b", (11, 12, 13), (2, 3, 1))
    (pair,) = pairs(first, other)
    assert pair.matched
    order = [next(run.plan.seed for run in other.runs if run.phases[0] is record) for record in pair.other]
    assert order == [1, 2, 3]


@pytest.mark.parametrize(
    ("starts", "seeds"), [((11, 12, 13), (4, 5, 6)), ((11, 12, 13), (1, 1, 1)), ((11, 12), (1, 2))]
)
def test_other_runs_do_not(starts: tuple[int, ...], seeds: tuple[int, ...]) -> None:
    (pair,) = pairs(repeated("a", (1, 2, 3), (1, 2, 3)), repeated("b", starts, seeds))
    assert not pair.matched


def test_repeats_make_up_for_rows_that_are_short_alone() -> None:
    """Each run alone has too few I/Os for a percentile: three of them are compared, one is not."""
    short = card_runs.run(card_runs.reads("rd", times=card_runs.histogram((250_000, 15))))
    assert comparable_side("one", (short,)).trust["rd"] in ("D", "F")
    assert comparable_side("three", (short,) * 3).trust["rd"] in ("A", "B", "C")
    failed = replace(short, phases=(replace(short.phases[0], measurement=FAILED),))
    assert comparable_side("failed", (failed,) * 3).trust["rd"] == "F"


def test_a_note_that_may_be_all_of_a_difference_is_told() -> None:
    """A suspected cap on one side was of weight "note", and left out."""
    rows = [
        card_runs.reads(f"r {n}x1", users=n, size_bytes=1 << 20, times=card_runs.histogram((n * 1e6, 10_000)))
        for n in (1, 4, 16)
    ]
    capped = comparable_side("capped", (card_runs.run(*rows),))
    assert "throttle" in capped.findings
    free = comparable_side("free", (card_runs.run(card_runs.reads("r 1x1", size_bytes=1 << 20)),))
    report = compare((capped, free))
    (table,) = (each for section in report.sections for each in section.tables if each.key == "differences")
    (found,) = (row.cells for row in table.rows if row.cells["code"] == "findings")
    assert "rate limit" in str(found["first"]) or "throttling" in str(found["first"])


def test_rows_that_are_only_an_indication_are_named() -> None:
    first = side("a", card_runs.reads("one"), card_runs.reads("two"))
    weak = Side("b", first.runs, {"one": "C", "two": "A"})
    report = compare((first, weak))
    (table,) = (each for section in report.sections for each in section.tables if each.key == "rows")
    assert [note for note in table.notes if "Trust C" in note] == ["Trust C, indicative only: one of b."]
