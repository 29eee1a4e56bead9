"""What a card says: its verdict, its rows, its reasons, for runs of every kind."""

from __future__ import annotations

import io
import shlex
from typing import Any

import msgspec
import pytest
from makers import card_runs

from iocast.analyse.facts import facts_of
from iocast.analyse.statistics import published
from iocast.diagnose.examination import examine
from iocast.diagnose.grades import grade
from iocast.model.measurement import EngineReport
from iocast.model.report import Report, Row, Table
from iocast.model.results.trust import TrustReason
from iocast.model.run import PhaseRecord, Run, SteadyEnd
from iocast.model.workload import MixItem, Poisson, Workload
from iocast.report.card import target_section
from iocast.report.card.card_report import card, graded_section
from iocast.report.card.results_table import results
from iocast.report.card.row_labels import labels
from iocast.report.renderers import json_report, screen, terminal
from iocast.results.card import card_result
from iocast.results.measured_rows import measured_rows

replace = msgspec.structs.replace


def _card(run: Run) -> Report:
    return card(run, examine(run), "runs/x")


def _tables(report: Report) -> dict[str, Table]:
    return {table.key: table for section in report.sections for table in section.tables}


def _rows(run: Run) -> list[Row]:
    return list(results(facts_of(run), measured_rows(facts_of(run), examine(run))).rows)


def test_a_mix_has_a_row_for_each_operation_under_its_own() -> None:
    rows = _rows(card_runs.run(card_runs.mixed()))
    assert [(row.cells["test"], row.part) for row in rows] == [
        ("mixed", False),
        ("read", True),
        ("write", True),
        ("fsync", True),
    ]
    assert rows[0].cells["response_p99_ns"] is None
    assert rows[0].cells["users"] == (4, 16)
    assert rows[0].cells["trust"] is not None
    data = [float(str(row.cells["rate_per_s"])) for row in rows[1:3]]
    assert sum(data) == pytest.approx(rows[0].cells["rate_per_s"]), "flushes are no IOPS"
    assert rows[3].cells["response_p99_ns"] is None  # 9 flushes beyond it: too few to say


def test_rows_of_one_test_at_one_load_are_told_apart() -> None:
    def named(*names: str) -> list[object]:
        records = [card_runs.reads(name) for name in names]
        same = [replace(each, phase=replace(each.phase, test="pass")) for each in records]
        return [row.cells["test"] for row in _rows(card_runs.run(*same))]

    assert named("pass 8k 1x1") == ["pass"]
    assert named("pass 8k 1x1", "pass 8k 1x1 #2") == ["pass 8k 1x1", "pass 8k 1x1 #2"]


def test_what_went_on_until_it_was_steady_shows_its_pair_whatever_its_letter() -> None:
    """Its precision is worse, and decides; yet that a later change is not excluded is the point of such a row."""
    end = SteadyEnd(rule="b3", reached=True, judged=1, from_ns=0, before=990.0, after=1010.0)
    few = card_runs.reads(times=card_runs.histogram((1_000_000, 90)))
    few = replace(few, series=card_runs.steady_series(few.measurement, 120))
    trust = _tables(_card(card_runs.run(replace(few, steady=end))))["trust"]
    reasons = [str(row.cells["reason"]) for row in trust.rows]
    assert any("990 IOPS until" in each for each in reasons), reasons
    assert len(reasons) >= 2


def test_an_open_loop_shows_service_only_where_it_differs() -> None:
    rows = _rows(card_runs.run(card_runs.paced()))
    assert [row.cells["test"] for row in rows] == ["paced", "service"]
    assert rows[0].note == "3.00k IOPS requested, 2.88k achieved"
    late, service = rows[0].cells["response_p99_ns"], rows[1].cells["response_p99_ns"]
    assert isinstance(late, float)
    assert isinstance(service, float)
    assert late > service
    base = card_runs.paced()
    same = replace(base.measurement.classes[0], response=base.measurement.classes[0].service)
    on_time = replace(base, measurement=replace(base.measurement, classes=(same,)))
    assert len(_rows(card_runs.run(on_time))) == 1


@pytest.mark.parametrize(("total", "shown"), [(999, False), (1000, True)])
def test_a_percentile_needs_ten_ios_beyond_it(total: int, shown: bool) -> None:
    histogram = card_runs.histogram((1_000_000, total))
    assert (published(histogram, 0.99) is not None) == shown


def test_the_strip_keeps_all_of_the_mass() -> None:
    (row,) = _rows(card_runs.run(card_runs.reads()))
    shares = row.cells["latency_shares"]
    assert isinstance(shares, tuple)
    assert len(shares) == 13
    assert sum(float(share) for share in shares) == pytest.approx(1)


def test_columns_that_nobody_filled_are_left_out() -> None:
    run = card_runs.run(card_runs.reads(samples=()))
    keys = [column.key for column in results(facts_of(run), measured_rows(facts_of(run), examine(run))).columns]
    assert "device_size_bytes" not in keys
    assert "device_queue" not in keys
    assert "latency_shares" in keys


def test_rows_with_the_same_reason_stand_together() -> None:
    table = _tables(_card(card_runs.quick_card()))["trust"]
    first = table.rows[0]
    assert first.cells["phases"] == ("all rows",)
    assert isinstance(first.record, TrustReason)
    assert len(first.record.phases) == 8
    grades = [row.cells["trust"] for row in _tables(_card(card_runs.troubled_card()))["trust"].rows]
    assert grades == sorted(grades, reverse=True)  # type: ignore[type-var]


def test_a_void_row_has_no_bottleneck() -> None:
    ladder = [card_runs.reads(f"r {n}x1", size_bytes=4096, users=n) for n in (1, 2)]
    run = card_runs.run(*card_runs.troubled_card().phases, *ladder)
    void = {name for name, trust in examine(run).trust.items() if trust.void}
    told = {name for row in card_result(facts_of(run), examine(run)).bounds for name in row.phases}
    assert void
    assert told
    assert not void & told


def test_errors_and_far_outliers_are_listed() -> None:
    tables = _tables(_card(card_runs.troubled_card()))
    assert tables["errors"].rows[0].cells["first_offset_bytes"] == 5_368_709_120
    assert [row.cells["response_ns"] for row in tables["slowest"].rows] == [2_140_000_000]
    assert "slowest" not in _tables(_card(card_runs.quick_card()))


def test_next_steps_start_with_the_remedy() -> None:
    steps = _card(card_runs.troubled_card()).next_steps
    assert steps[0].startswith("Check that the file is fully written")
    assert not any("iocast report" in step for step in steps), "all figures are in the card"
    stopped = card_runs.run(card_runs.reads(), status="interrupted")
    assert "The run is incomplete" in card(stopped, examine(stopped)).next_steps[0]


def test_a_run_with_all_its_rows_says_which_were_cut_short() -> None:
    """A full pool ends the rows that write; the others follow, and none is missing."""
    whole, cut = card_runs.reads("a"), card_runs.reads("b")
    cut = replace(cut, measurement=replace(cut.measurement, stopped="errors"))
    run = card_runs.run(whole, cut, status="failed")
    assert "The run is incomplete: errors cut 1 row short." in card(run, examine(run)).next_steps


def test_a_row_that_was_interrupted_is_not_called_finished() -> None:
    whole, cut = card_runs.reads("first 8k"), card_runs.reads("second 8k")
    cut = replace(cut, measurement=replace(cut.measurement, stopped="interrupted"))
    run = replace(card_runs.run(whole, cut), status="interrupted")
    assert "The run is incomplete: second 8k was cut short." in card(run, examine(run), "").next_steps


@pytest.mark.parametrize(
    ("whole", "kind", "said"), [(True, "directory", True), (True, "sim", False), (False, "file", False)]
)
def test_whose_files_are_kept_is_told_how_to_remove_them(whole: bool, kind: str, said: bool) -> None:
    target = replace(card_runs.TARGET, kind=kind)
    steps = _card(card_runs.run(card_runs.reads(), target=target, files_whole=whole)).next_steps
    kept = "The work file is kept for the next run (8.0 GiB). To remove it: iocast clean /mnt/db"
    assert (kept in steps) == said


def test_a_command_that_is_shown_can_be_copied() -> None:
    run, out = card_runs.quick_card(), io.StringIO()
    screen.render(card(run, examine(run), "runs of May/it's one"), out, colour=False, width=100)
    shown = next(line for line in out.getvalue().splitlines() if "iocast report" in line)
    assert shlex.split(shown)[-3:] == ["iocast", "report", "runs of May/it's one"]


def test_what_was_blind_is_said() -> None:
    section = next(each for each in _card(card_runs.troubled_card()).sections if each.code == "remarks")
    assert section.paragraphs == (
        "Another resync may start: md127 is due to be checked on Sunday.",
        "Not observed by pressure: the kernel has no /proc/pressure (CONFIG_PSI).",
    )


def test_json_has_units_in_its_keys_and_null_for_what_is_blank() -> None:
    out = io.StringIO()
    json_report.render(_card(card_runs.quick_card()), out)
    found: dict[str, Any] = msgspec.json.decode(out.getvalue())
    row = found["rows"][0]
    assert (row["users"], row["depth"], row["size_bytes"]) == (1, 1, 8192)
    assert row["response_p50_ns"] == pytest.approx(240_000, rel=0.01)
    assert row["throughput_bytes_per_s"] == pytest.approx(32.6e6, rel=0.01)
    assert row["rate_per_s"] == pytest.approx(3980, rel=0.01)
    assert sum(row["latency_shares"]) == pytest.approx(1)
    assert found["rows"][3]["response_p99_9_ns"] is None
    assert found["trust"][0]["component"] == "representative"
    assert found["findings"] == []


def test_part_rows_in_json_are_to_be_trusted_as_their_row() -> None:
    out = io.StringIO()
    json_report.render(_card(card_runs.run(card_runs.mixed(), card_runs.paced())), out)
    rows = msgspec.json.decode(out.getvalue())["rows"]
    assert [(row["test"], row["trust"]) for row in rows] == [
        ("mixed", "B"),
        ("read", "B"),
        ("write", "B"),
        ("fsync", "B"),
        ("paced", "B"),
        ("service", "B"),
    ]


@pytest.mark.parametrize(("width", "missing"), [(80, "mean, p95, p99.9"), (200, "")])
def test_columns_left_out_for_want_of_room_are_named(width: int, missing: str) -> None:
    out = io.StringIO()
    terminal.render(_card(card_runs.quick_card()), out, colour=False, width=width)
    assert ("Hidden at this width" in out.getvalue()) == bool(missing)
    assert missing in out.getvalue()


def _with_engine(record: PhaseRecord, engine: EngineReport) -> PhaseRecord:
    return replace(record, measurement=replace(record.measurement, engine=engine))


def test_the_engine_that_ran_and_what_it_lacked_are_told_once() -> None:
    note = "io_uring is not available (EPERM): sync engine instead"
    flags = ("pread/pwrite, one thread per outstanding I/O",)
    sync = EngineReport("sync", flags, "4 KiB pages (small buffers)", (note,))
    rows = [_with_engine(card_runs.reads(name), sync) for name in ("one", "two")]
    run = card_runs.run(*rows, warnings=(f"Engine: {note}", "A resync may start"))
    said = [line for section in _card(run).sections for line in section.paragraphs]
    assert f"Engine: sync ({flags[0]}; buffers in 4 KiB pages); {note}." in said
    assert "A resync may start." in said
    assert sum(note in line for line in said) == 1


def test_engines_set_up_in_different_ways_are_one_line() -> None:
    small = EngineReport("uring", ("no iowait", "registered files"), "registered, 4 KiB pages (small buffers)")
    large = EngineReport("uring", ("registered files", "refilled by 2"), "registered, huge pages")
    run = card_runs.run(_with_engine(card_runs.reads("one"), small), _with_engine(card_runs.reads("two"), large))
    assert (
        target_section.engine_line(run) == "Engine: io_uring (registered files; buffers in 4 KiB pages or huge pages)."
    )


def test_an_open_loop_too_short_for_any_percentile_reads_well() -> None:
    did = card_runs.measurement(
        (card_runs.part("read", 8192, card_runs.histogram((493_000, 9), (5_100_000, 3))),),
        users=4,
        elapsed_ns=card_runs.SECOND_NS,
        asked_rate_per_s=12.0,
    )
    record = card_runs.record("open", Workload(mix=(MixItem("read", 8192),), arrival=Poisson(12.0), users=4), did)
    out = io.StringIO()
    report = _card(card_runs.run(record))
    terminal.render(report, out, colour=False, width=120)
    assert report.verdict == (
        "Do not use this row (trust F): only 12 I/Os, too few for any percentile. Run the phase for longer."
    )
    (row,) = _rows(card_runs.run(record))
    assert (row.note, row.cells["response_p50_ns"]) == ("12 IOPS requested, 12 achieved", None)


def _every_shape() -> list[PhaseRecord]:
    return [
        card_runs.reads("none", times=card_runs.histogram()),
        card_runs.reads("one", times=card_runs.histogram((1, 1))),
        card_runs.reads("long", times=card_runs.histogram((3e12, 2))),
        card_runs.reads("wide", users=1000, depth=256, times=card_runs.lognormal(9_000_000, 5e8, 1.5)),
        card_runs.reads("odd", size_bytes=513),
    ]


@pytest.mark.parametrize("width", [80, 100, 120])
def test_strange_rows_stay_inside_the_page(width: int) -> None:
    out = io.StringIO()
    terminal.render(_card(card_runs.run(*_every_shape())), out, colour=False, width=width)
    assert max(len(line) for line in out.getvalue().splitlines()) <= width
    assert "nan" not in out.getvalue()


def test_what_one_question_has_said_is_not_said_again_by_another() -> None:
    """A detector may report the very reason for which isolation has lowered the letter."""
    busy = card_runs.reads("beside")
    did = busy.measurement
    samples = card_runs.diskstats(did.elapsed_ns, reads=did.ios, read_bytes=did.bytes * 1.09, writes=0, written_bytes=0)
    table = _tables(_card(card_runs.run(card_runs.fill(), replace(busy, samples=samples))))["trust"]
    told = [row.cells["reason"] for row in table.rows]
    assert any("were other I/O" in str(reason) for reason in told)
    assert len(told) == len(set(told))


def test_a_run_without_any_letter_does_not_list_them_all() -> None:
    made = card_runs.run(card_runs.paced())
    section = graded_section(grade(made, examine(made)), ())
    assert section is not None
    assert section.paragraphs[0].startswith("No overall grade: the run has no")
    assert section.tables == ()


def test_a_reason_of_most_rows_names_the_others() -> None:
    run = card_runs.quick_card()
    names = [record.phase.name for record in run.measured]
    assert len(names) == 8
    assert labels(run, names[1:]) == (f"all but {names[0]}",)
    assert labels(run, names[:3]) == tuple(names[:3])
