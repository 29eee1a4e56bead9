"""Our small example of each format is imported, and every real file beside the project, or refused for its reason."""

from __future__ import annotations

import io
import math
from pathlib import Path

import pytest
from makers.left_out import long_after

from iocast.diagnose.examination import examine
from iocast.errors import SourceError
from iocast.report.card import card_report
from iocast.report.renderers import json_report
from iocast.report.renderers.classic import render_run
from iocast.tools import importers

DATA = Path(__file__).parents[3] / "shared" / "data"
KINDS = ("fio_output", "oracle_orion", "vdbench", "iostat", "latency_histogram_sources", "strace")
EXAMPLES = Path(__file__).parent / "examples"  # by hand, in the documented form
LEFT = ("proc", "reports")  # of machines; inputs that are still read wrongly
FILES = [path for kind in (EXAMPLES, *(DATA / kind for kind in KINDS)) for path in sorted(kind.glob("*"))]

# Histograms among the traces and reports of a folder: they are read, or refused for what they do not say.
COUNTED: dict[str, int | str] = {
    "awr_12201_a.html": 25,
    "awr_12201_slob.html": 12,
    "sp_11204_part1.txt": 11,
    "awrminer_11203_small.out": 3,
    "bcc_biolatency_example.txt": 12,  # two of them as JSON
    "bcc_ext4dist_example.txt": 12,
    "bpftrace_biolatency_example.txt": 1,
}

# What each becomes: how many rows, or what the refusal says.
REFUSED = {
    "R10PG1_oltp_32hreads_curve__parmfile.html": "no page of results",  # a job, not a result
}
ROWS = {
    "fio_2.16_normal_1.out": 4,
    "fio_2.16_normal_3.out": 4,
    "fio_2.17.json": 2,
    "fio_3.7_normal_nfs.log": 4,
    "fio_pbench_b.txt": 8,
    "vdbench_flatfile.csv": 2,
    "vdbench_flatfile.html": 2,
    "vdbench_histogram.html": 2,
    "vdbench_summary.html": 2,
    "vdbench_totals.html": 2,
    "fioparse.txt": 4,
    "orion_iops.csv": 4,
    "orion_summary.txt": 2,
    "orion_11107_summaries.txt": 8,
    "R10PG1_oltp_32hreads_curve__flatfile.csv": 16,
    "R10PG1_oltp_32hreads_curve__flatfile.html": 16,
    "R10PG1_oltp_32hreads_curve__histogram.html": 16,
    "R10PG1_oltp_32hreads_curve__summary.html": 16,
    "R10PG1_oltp_32hreads_curve__totals.html": 16,
    "flatfile_older.html": 8,
    "arastoob__multithread_strace1.log": 7,
    "local__strace_pg_tt_y.txt": 7,
    "pg_ttt_T_yy_tail.txt": 8,
    "sqlite_wal_part.txt": 10,
}

REFUSALS = r"no format that iocast knows|not a text file|is (a|the) (report|output|copy) of"

# Folder and beginning of the names of one run's pages, and how many rows and seconds it has.
VDBENCH = [
    pytest.param(EXAMPLES / "vdbench_", 2, 3, id="example"),
    pytest.param(
        DATA / "vdbench" / "R10PG1_oltp_32hreads_curve__",
        16,
        60,
        id="real",
        marks=pytest.mark.skipif(not DATA.exists(), reason="the real files are not beside the project"),
    ),
]


@pytest.mark.parametrize("path", long_after(25, FILES), ids=lambda path: path.name)
def test_a_real_file(path: Path) -> None:
    if path.name in REFUSED:
        with pytest.raises(SourceError) as refused:
            importers.read((str(path),))
        assert REFUSED[path.name] in refused.value.message
        print(f"{path.name}: refused, {REFUSED[path.name]}")
        return
    (run,) = importers.read((str(path),))
    assert run.source is not None
    assert len(run.phases) == ROWS.get(path.name, 1)
    for record in run.measured:
        did = record.measurement
        failed = "error" in path.name
        assert did.ios or failed or "ios" in record.unstated
        assert did.elapsed_ns or failed or "length" in record.unstated
        timed = not math.isnan(did.response().mean_ns)
        if {"users", "depth", "ios"}.isdisjoint(record.unstated) and timed:
            # Little's law: units, counts and lengths are right together.
            assert did.rate_per_s * did.response().mean_ns / 1e9 == pytest.approx(did.asked_depth, rel=0.1)
    report = card_report.card(run, examine(run))
    json_report.render(report, io.StringIO())
    render_run(run, io.StringIO())
    print(f"{path.name}: {run.source.tool} {run.source.version}, {len(run.phases)} rows; {'; '.join(run.warnings)}")


@pytest.mark.long
def test_what_is_no_result_is_refused() -> None:
    """Traces, database reports, examples in prose, programs of other languages: none is taken for a result."""
    others = [path for path in sorted(DATA.rglob("*")) if path.is_file() and path.parent.name not in (*KINDS, *LEFT)]
    others = [path for path in others if path.name not in COUNTED]
    for path in others:
        with pytest.raises(SourceError, match=REFUSALS):
            importers.read((str(path),))


@pytest.mark.parametrize("name", COUNTED)
def test_histograms_of_other_tools(name: str) -> None:
    found = [*DATA.rglob(name)]
    if not found:
        pytest.skip("the real files are not beside the project")
    expected = COUNTED[name]
    if isinstance(expected, int):
        (run,) = importers.read((str(found[0]),))
        assert len(run.phases) == expected
        json_report.render(card_report.card(run, examine(run)), io.StringIO())
    else:
        with pytest.raises(SourceError, match=str(expected)):
            importers.read((str(found[0]),))


@pytest.mark.parametrize(("stem", "rows", "seconds"), VDBENCH)
def test_flatfile_and_histogram_of_one_run_go_together(stem: Path, rows: int, seconds: int) -> None:
    (run,) = importers.read(tuple(f"{stem}{kind}" for kind in ("histogram.html", "flatfile.csv")))
    assert len(run.phases) == rows
    for record in run.phases:
        for part in record.measurement.classes:
            bounds = part.service.quantile_bounds_ns(0.5)
            assert bounds is not None
            assert part.service.mean_ns < 4 * bounds[1]


@pytest.mark.parametrize(("stem", "rows", "seconds"), VDBENCH)
def test_text_csv_and_page_say_the_same(stem: Path, rows: int, seconds: int) -> None:
    kinds = ("flatfile.csv", "flatfile.html", "summary.html", "totals.html")
    runs = [importers.read((f"{stem}{kind}",))[0] for kind in kinds]
    rates = [[round(record.measurement.rate_per_s, 1) for record in run.phases] for run in runs]
    assert all(each == pytest.approx(rates[0], abs=0.2) for each in rates)
    assert {record.measurement.elapsed_ns for run in runs for record in run.phases} == {seconds * 10**9}


LOGS = [
    pytest.param(Path(__file__).parent / "fixtures" / "logs" / "avg", id="example"),
    pytest.param(
        DATA / "fio_output" / "local__la",
        id="real",
        marks=pytest.mark.skipif(not DATA.exists(), reason="the real files are not beside the project"),
    ),
]


@pytest.mark.parametrize("stem", LOGS)
def test_logs_of_one_run_go_together(stem: Path) -> None:
    (log,) = importers.read(tuple(f"{stem}_{kind}.1.log" for kind in ("bw", "iops", "lat")))
    assert len(log.phases) == 1
    assert {sample.metric for sample in log.phases[0].samples} == {"bytes_per_s", "ios_per_s", "lat_ns"}
