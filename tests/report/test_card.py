"""What a card says: its verdict, its rows, its reasons, for runs of every kind."""

from __future__ import annotations

import io
from typing import Any

import card_runs
import msgspec
import pytest

from iocast.diagnose import examine
from iocast.model.report import Report, Row, Table
from iocast.model.run import PhaseRecord, Run
from iocast.report import machine, terminal
from iocast.report.card import card
from iocast.report.rows import published, results

replace = msgspec.structs.replace


def _card(run: Run) -> Report:
    return card(run, examine(run), "runs/x")


def _tables(report: Report) -> dict[str, Table]:
    return {table.key: table for section in report.sections for table in section.tables}


def _rows(run: Run) -> list[Row]:
    return list(results(run, examine(run)).rows)


def test_the_verdict_is_first_and_speaks_of_reads_scans_and_commits() -> None:
    verdict = _card(card_runs.quick_card()).verdict
    assert verdict == (
        "A random 8k read takes 240 µs (99 in 100 within 482 µs); 4 users at depth 16 get 39.9k of them a"
        " second. Scans run at 997 MB/s with 4 users. A 4k commit takes 828 µs (99 in 100 within 1.5 ms)."
        " Trust is B on every row: some answers may come from a cache of unknown size inside the drive or"
        " the array."
    )


def test_the_verdict_leaves_out_what_cannot_be_used_and_says_so() -> None:
    verdict = _card(card_runs.troubled_card()).verdict
    assert verdict.startswith("A random 8k read takes 240 µs")
    assert "Scans" not in verdict
    assert "commit" not in verdict
    assert "1 row is void: the device delivered only 12%" in verdict
    assert verdict.endswith("3 more rows are not to be used either.")


def test_the_verdict_of_nothing() -> None:
    assert _card(card_runs.run()).verdict == "Nothing was measured."
    only_void = card_runs.run(card_runs.reads(times=card_runs.histogram()))
    assert _card(only_void).verdict == "Every row is void: not one I/O was completed."


def test_the_verdict_of_other_tests_points_at_the_rows() -> None:
    assert _card(card_runs.run(card_runs.fill(), card_runs.mixed())).verdict.startswith("No plain random reads")


def test_an_a_everywhere_needs_no_reasons() -> None:
    run = card_runs.run(card_runs.reads(), target=card_runs.SIMULATED)
    report = _card(run)
    assert report.verdict.endswith("Every row has earned an A for trust.")
    assert "trust" not in _tables(report)
    assert "simulated device" in report.sections[0].paragraphs[0]


def test_a_mix_has_a_row_for_each_operation_under_its_own() -> None:
    rows = _rows(card_runs.run(card_runs.mixed()))
    assert [(row.cells["test"], row.part) for row in rows] == [
        ("mixed", False),
        ("read", True),
        ("write", True),
        ("fsync", True),
    ]
    assert "response_p99" not in rows[0].cells
    assert rows[0].cells["load"] == (4, 16)
    assert rows[0].cells["trust"] is not None
    assert sum(float(str(row.cells["rate"])) for row in rows[1:]) == pytest.approx(rows[0].cells["rate"])
    assert rows[3].cells["response_p99"] is None  # 9 flushes beyond it: too few to say


def test_an_open_loop_shows_service_only_where_it_differs() -> None:
    rows = _rows(card_runs.run(card_runs.paced()))
    assert [row.cells["test"] for row in rows] == ["paced", "service"]
    assert rows[0].note == "3.00k I/Os a second asked for, 2.88k done"
    late, service = rows[0].cells["response_p99"], rows[1].cells["response_p99"]
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
    shares = row.cells["latency"]
    assert isinstance(shares, tuple)
    assert len(shares) == 10
    assert sum(float(share) for share in shares) == pytest.approx(1)


def test_columns_that_nobody_filled_are_left_out() -> None:
    run = card_runs.run(card_runs.reads(samples=()))
    keys = [column.key for column in results(run, examine(run)).columns]
    assert "device_size" not in keys
    assert "device_queue" not in keys
    assert "latency" in keys


def test_rows_with_the_same_reason_stand_together() -> None:
    table = _tables(_card(card_runs.quick_card()))["trust"]
    first = table.rows[0].cells
    assert first["tests"] == ("all rows",)
    assert len(first["phases"] or ()) == 8  # type: ignore[arg-type]
    grades = [row.cells["trust"] for row in _tables(_card(card_runs.troubled_card()))["trust"].rows]
    assert grades == sorted(grades, reverse=True)  # type: ignore[type-var]


def test_errors_and_far_outliers_are_listed() -> None:
    tables = _tables(_card(card_runs.troubled_card()))
    assert tables["errors"].rows[0].cells["first_offset"] == 5_368_709_120
    assert [row.cells["response"] for row in tables["slowest"].rows] == [2_140_000_000]
    assert "slowest" not in _tables(_card(card_runs.quick_card()))


def test_next_steps_start_with_the_remedy_and_end_with_the_folder() -> None:
    steps = _card(card_runs.troubled_card()).next_steps
    assert steps[0].startswith("Check that the file is written in full")
    assert steps[-1].endswith("iocast report runs/x")
    stopped = card_runs.run(card_runs.reads(), status="interrupted")
    assert "did not reach its end" in card(stopped, examine(stopped)).next_steps[0]


def test_what_was_blind_is_said() -> None:
    section = next(each for each in _card(card_runs.troubled_card()).sections if "mind" in each.title)
    assert section.paragraphs == (
        "Another resync may start: md127 is due to be checked on Sunday.",
        "Not seen, pressure: the kernel has no /proc/pressure (CONFIG_PSI).",
    )


def test_json_has_units_in_its_keys_and_null_for_what_is_blank() -> None:
    out = io.StringIO()
    machine.render(_card(card_runs.quick_card()), out)
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
