"""Imported runs in the study: graded (vector V5), compared, reported, and never given figures they do not have."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from makers import card_runs
from makers.fio_outputs import FIO_1_50
from msgspec.structs import replace

from iocast.diagnose.comparable import pairs, side
from iocast.diagnose.examination import examine
from iocast.diagnose.grades import grade
from iocast.model.finding import Examination
from iocast.model.results.comparison import Comparison
from iocast.model.run import Run, Source
from iocast.model.summary import summary_of
from iocast.report.card import card_report
from iocast.report.card.target_section import target_section
from iocast.report.comparison_report import compare
from iocast.report.renderers import RENDERERS, csv_table, json_report, terminal
from iocast.report.renderers.classic import render_run
from iocast.tools import importers

Reader = Callable[..., Run]

# Vector V5, random reads with 16 and 32 users: mean, p95, p99 in ms, and the letters for time and scaling.
V5 = {
    "colorado": ((6.940, 12.992, 18.560), (8.500, 16.192, 22.656), ("B/A-", "C-/A-", "D/A-")),
    "emc": ((26.676, 73.0, 129.0), (32.831, 80.0, 124.0), ("D/A-", "D/A+", "D/A+")),
    "ssd": ((0.239, 0.262, 2.160), (0.428, 0.876, 6.688), ("A+/B-", "A+/D", "A/D")),
    "pharos": ((0.277, 0.378, 0.498), (0.453, 0.844, 2.640), ("A+/B-", "A+/C-", "A+/D")),
}
HEAD = "system,name,users,bs,MB,lat,min,max,std,iops,p95_00,p99_00\n"


def csv_row(system: str, users: int, mean: float, p95: float, p99: float) -> str:
    rate = users / mean * 1000
    return f"{system},randread,{users},8K,{rate * 8 / 1024:.3f},{mean},0.1,{10 * p99},1,{rate:.0f},{p95},{p99}\n"


def drawn(run: Run, examination: Examination | None = None) -> str:
    out = io.StringIO()
    terminal.render(card_report.card(run, examination or examine(run)), out, colour=False, width=120)
    return out.getvalue()


@pytest.mark.parametrize("system", V5)
def test_v5_letters_of_rows_that_fioparse_printed(read_all: Reader, system: str) -> None:
    base, scaled, wanted = V5[system]
    run = read_all(("all.csv", HEAD + csv_row(system, 16, *base) + csv_row(system, 32, *scaled)))
    got = [
        re.sub(r"^(\S+)\s*/(\S+).*", r"\1/\2", part.says, flags=re.DOTALL)
        for part in grade(run, examine(run), "hailey2012").parts
        if part.code == "random_read_8k"
    ]
    assert tuple(got) == wanted


def test_a_percentile_that_is_not_stated_is_not_graded(read_all: Reader) -> None:
    run = read_all(("all.csv", HEAD + csv_row("x", 16, 5, 0, 9) + csv_row("x", 32, 6, 0, 10)))
    parts = grade(run, examine(run), "hailey2012").parts
    p95 = next(part for part in parts if (part.code, part.statistic) == ("random_read_8k", "p95"))
    assert p95.letter is None
    assert "states no p95" in p95.says


def test_a_load_that_is_not_stated_is_not_graded(fixtures: Path) -> None:
    (run,) = importers.read((str(fixtures / "fio_terse_v3.txt"),))
    assert all(part.letter is None for part in grade(run, examine(run)).parts)


def test_text_and_json_of_one_run_compare_as_equal(fixtures: Path, read_all: Reader) -> None:
    whole = (fixtures / "fio_all_formats.txt").read_text()
    text = read_all(("n.txt", whole[: whole.index("\n3;fio")] + whole[whole.index("\n}\n") + 2 :]))
    (exact,) = importers.read((str(fixtures / "fio_two_jobs.json"),))
    (again,) = importers.read((str(fixtures / "fio_two_jobs.json"),))
    report = compare([side("one", (exact,)), side("two", (again,))])
    assert isinstance(report.result, Comparison)
    assert report.result.pairs[0].overall.ratio == 1.0
    (all_formats,) = importers.read((str(fixtures / "fio_all_formats.txt"),))
    (pair,) = pairs(side("text", (text,)), side("json", (all_formats,)))
    assert "direct" not in pair.why_not  # the text does not state it: it cannot speak against


def test_what_is_not_stated_is_not_compared(read_all: Reader, fixtures: Path) -> None:
    first = read_all(("a.csv", HEAD + csv_row("x", 16, 5, 0, 9)))
    other = read_all(("b.csv", HEAD + csv_row("y", 16, 6, 0, 10)))
    report = compare([side("a", (first,)), side("b", (other,))])
    tables = {table.key: table for section in report.sections for table in section.tables}
    assert [row.cells["statistic"] for row in tables["rows"].rows] == ["throughput", "p99"]
    strips = tables["latency"].rows
    assert all(row.cells["latency_shares"] is None and row.cells["distance"] is None for row in strips)


def test_a_job_with_flushes_has_one_mix_in_either_format(fixtures: Path) -> None:
    """JSON names fsync=, the text only counts flushes: they are no part of the mix in either."""
    texts, documents = (
        importers.read((str(fixtures / f"fio_unlike.{kind}"),))[0].phases[0] for kind in ("txt", "json")
    )
    assert [each.op for each in texts.plan.mix] == [each.op for each in documents.plan.mix] == ["read", "write"]
    assert texts.plan.fsync_every == documents.plan.fsync_every == 8


def test_unlike_mixes_are_told_in_words(read_all: Reader) -> None:
    runs = [read_all((f"{size}.csv", HEAD + csv_row("x", 16, 5, 8, 9).replace("8K", size))) for size in ("8K", "16K")]
    sides = [side(run.plan.name, (rename(run),)) for run in runs]
    (pair,) = pairs(*sides)
    assert pair.why_not == "different workloads: mix is read 8.0 KiB here, read 16.0 KiB there"


def rename(run: Run) -> Run:
    (record,) = run.phases
    return replace(run, phases=(replace(record, phase=replace(record.phase, name="row")),))


def test_what_no_log_counts_is_not_called_nothing(fixtures: Path) -> None:
    sides = [side("a", importers.read((str(fixtures / "logs" / f"avg_{kind}.1.log"),))) for kind in ("bw", "iops")]
    (pair,) = pairs(*sides)
    assert pair.why_not == "the source does not state the number of I/Os"


def test_repeats_without_a_percentile_have_no_shift(read_all: Reader) -> None:
    runs = [read_all((f"{n}.csv", HEAD + csv_row("x", 16, 5 + n / 10, 0, 9 + n))) for n in range(6)]
    report = compare([side("a", tuple(runs[:3])), side("b", tuple(runs[3:]))])
    assert isinstance(report.result, Comparison)
    assert {row.quantile for row in report.result.pairs[0].percentiles} <= {0.99}


def test_trust_says_what_cannot_be_judged(fixtures: Path) -> None:
    (run,) = importers.read((str(fixtures / "fio_client.txt"),))
    (trust,) = examine(run).trust.values()
    assert {part.code for part in trust.components} == {"integrity", "precision", "representative", "anomalies"}
    assert "unknown whether the storage or a cache answered" in trust.reason


def test_a_row_of_rates_alone_is_not_called_empty(fixtures: Path) -> None:
    (run,) = importers.read((str(fixtures / "logs" / "avg_bw.1.log"),))
    (trust,) = examine(run).trust.values()
    assert not trust.void
    assert "o I/O completed" not in drawn(run)


def test_ranges_and_blanks_in_the_report(read_all: Reader) -> None:
    text = drawn(read_all(("v1.out", FIO_1_50)))
    assert "500–750µs" in text
    assert "A range gives the edges of the source's bucket" in text
    assert "Not stated: direct or buffered I/O, synchronous or asynchronous writes." in text
    assert "nan" not in text


def test_a_range_is_one_cell_of_a_csv(read_all: Reader) -> None:
    run = read_all(("v1.out", FIO_1_50))
    out = io.StringIO()
    csv_table.render(card_report.card(run, examine(run)), out)
    (row,) = csv.DictReader(io.StringIO(out.getvalue()))
    assert row["response_p50_ns"] == "500000..750000"
    assert row["trust"] == "C"
    assert None not in row


def test_devices_are_rows_of_a_csv(fixtures: Path) -> None:
    (run,) = importers.read((str(fixtures / "iostat_xdt.txt"),))
    out = io.StringIO()
    csv_table.render(card_report.card(run, examine(run)), out)
    (row,) = csv.DictReader(io.StringIO(out.getvalue()))
    assert row["device"] == "vda"


@pytest.mark.long
def test_every_fixture_reports_in_every_form(fixtures: Path) -> None:
    for path in sorted([*fixtures.glob("*.*"), *(fixtures / "logs").glob("*.log")]):
        for run in importers.read((str(path),)):
            examination = examine(run)
            report = card_report.card(run, examination)
            for renderer in RENDERERS.values():
                renderer.render(report, io.StringIO(), colour=False, width=100)
            assert "nan" not in drawn(run, examination).lower().split()
            out = io.StringIO()
            json_report.render(report, out)
            assert json.loads(out.getvalue())["title"]


def classic_cells(run: Run) -> list[list[str]]:
    """The lines of the classic table, their columns MB and IOPS."""
    out = io.StringIO()
    render_run(run, out, buckets=False, percentiles=False)
    cells = [re.split(" [rw](?= )", line)[1] for line in out.getvalue().splitlines()[1:]]
    return [[line[:9].strip(), line[45:].strip()] for line in cells]


def test_counts_of_an_unknown_time_have_no_rate(fixtures: Path) -> None:
    """The classic view showed 23,940 I/Os of unknown time as 23,940 IOPS, and bytes that no page states as 0.000 MB."""
    (run,) = importers.read((str(fixtures / "vdbench_new_histogram.html"),))
    assert classic_cells(run) == [["", ""], ["", ""]]


def test_a_stated_rate_needs_no_length(tmp_path: Path) -> None:
    path = tmp_path / "a_summary.txt"
    stated = ("Maximum Small IOPS=5000", "Minimum Small Latency=1.0")
    path.write_text("".join(f"{words} @ Small=5 and Large=0\n" for words in stated))
    (run,) = importers.read((str(path),))
    ((moved, rate),) = classic_cells(run)
    assert (float(moved), rate) == (pytest.approx(5000 * 8192 / 2**20, abs=0.001), "5000")


def rows_of(run: Run) -> list[dict[str, object]]:
    out = io.StringIO()
    json_report.render(card_report.card(run, examine(run)), out)
    rows: list[dict[str, object]] = json.loads(out.getvalue())["rows"]
    return rows


def test_percentiles_that_fioparse_states_are_shown_however_low_the_rate(read_all: Reader) -> None:
    """22 IOPS were taken for 22 I/Os, too few for a p95 or p99; how many there were is unknown."""
    (row,) = rows_of(read_all(("all.csv", HEAD + csv_row("x", 1, 44.37, 92.16, 98.816))))
    assert (row["response_p95_ns"], row["response_p99_ns"]) == (92_160_000, 98_816_000)


def test_a_histogram_of_unknown_length_has_no_rate_anywhere(read_all: Reader) -> None:
    """It was taken for one second."""
    text = (
        "<begin record>\ntimestamp,microsec,1\nlabel,reads\nlatencyunit,microsec\n 128 |@ 10\n 256 |@ 4\n<end record>\n"
    )
    run = read_all(("one.txt", text))
    (row,) = rows_of(run)
    assert (row["rate_per_s"], row["throughput_bytes_per_s"]) == (None, None)
    summary = summary_of(run)
    assert (summary.best_rate_per_s, summary.best_bytes_per_s) == (None, None)


def test_bytes_that_are_not_stated_are_no_rate_of_0(fixtures: Path) -> None:
    (run,) = importers.read((str(fixtures / "logs" / "avg_iops.1.log"),))
    assert summary_of(run).best_bytes_per_s is None
    assert summary_of(run).best_rate_per_s == pytest.approx(15_490.3, rel=1e-4)


def test_what_some_rows_leave_out_is_not_said_of_all() -> None:
    """An AWR states how long it is; only its histograms of waits do not say of which time they are."""
    left_out = {"a": ("sync",), "b": ("sync", "length")}
    rows = [replace(card_runs.reads(name), unstated=unstated) for name, unstated in left_out.items()]
    run = replace(card_runs.run(*rows), source=Source(tool="AWR", files=("awr.html",)))
    section = target_section(run, ())
    assert section.paragraphs[1:3] == (
        "Not stated: synchronous or asynchronous writes.",
        "Not stated of some rows: the duration.",
    )
