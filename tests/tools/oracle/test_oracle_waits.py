"""Wait event histograms of Statspack and AWR, by hand in their form, as text and HTML."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from iocast.errors import SourceError
from iocast.model.run import Run
from iocast.tools import importers
from iocast.tools.oracle import oracle_events, oracle_waits
from iocast.tools.source_files import Head

Reader = Callable[..., Run]


def test_events_of_all_pages_are_rows(fixtures: Path) -> None:
    assert oracle_waits.sniff(Head("s.txt", (fixtures / "oracle_waits.txt").read_text()))
    (run,) = importers.read((str(fixtures / "oracle_waits.txt"),))
    waits = {each.phase.name: each.measurement for each in run.phases}
    assert [(name, each.classes[0].op, each.ios) for name, each in waits.items()] == [
        ("control file sequential read", "read", 12_000),  # its name is cut by the column
        ("db file sequential read", "read", 1200),
        ("log file parallel write", "write", 600),
    ]
    single = waits["db file sequential read"]
    assert single.elapsed_ns == 600 * 10**9
    assert single.rate_per_s == 2
    times = single.service("read")
    assert times.mean_ns != times.mean_ns
    assert times.quantile_bounds_ns(0.3) == (2_000_000, 4_000_000)  # the blank column is 0
    assert times.quantile_bounds_ns(0.99) == (32_000_000, 1_024_000_000)  # <=1s is truly <1024ms
    unstated = {each.phase.name: each.unstated for each in run.phases}
    assert "ios" in unstated["control file sequential read"]  # 12K is rounded
    assert {"ios", "length"}.isdisjoint(unstated["db file sequential read"])
    assert [each.timed for each in run.phases] == [True, True, False]  # a parallel wait is for several I/Os
    assert not run.warnings
    assert run.source is not None
    assert run.source.notes == (oracle_events.WAITS_NOTE,)


def test_finer_tables_go_on_where_the_first_is_open(fixtures: Path) -> None:
    (run,) = importers.read((str(fixtures / "oracle_waits.html"),))
    reads, writes = run.phases[:2]
    times = reads.measurement.service("read")
    assert (reads.measurement.ios, writes.measurement.ios) == (1200, 1500)
    assert times.quantile_bounds_ns(0.3) == (256_000, 512_000)
    assert times.quantile_bounds_ns(0.7) == (512_000, 1_024_000)  # its ms is 1024 us
    assert times.quantile_bounds_ns(0.99) == (2_048_000, float("inf"))
    assert not run.warnings


def test_a_cut_report_says_so(fixtures: Path, read_all: Reader) -> None:
    text = (fixtures / "oracle_waits.txt").read_text()
    run = read_all(("s.txt", text[: text.index("log file parallel") + 30]))
    assert [each.phase.name for each in run.phases] == ["control file sequential read", "db file sequential read"]
    assert "the report is cut in Wait Event Histogram" in run.warnings[0]
    page = (fixtures / "oracle_waits.html").read_text()
    run = read_all(("a.html", page[: page.index("IOStat")]))
    assert len(run.phases) == 2  # its files are behind the cut
    assert "the report is cut" in run.warnings[0]


def test_a_figure_wider_than_its_column_is_unknown(fixtures: Path, read_all: Reader) -> None:
    text = (fixtures / "oracle_waits.txt").read_text()
    run = read_all(("s.txt", text.replace(" 1200 ", "##### ")))
    assert len(run.phases) == 2
    assert "db file sequential read has a figure that is too wide" in run.warnings[0]


def test_without_its_length_there_is_no_rate(fixtures: Path, read_all: Reader) -> None:
    run = read_all(("s.txt", (fixtures / "oracle_waits.txt").read_text().replace("Elapsed", "Passed")))
    assert not any(each.timed for each in run.phases)


@pytest.mark.parametrize(
    ("was", "then", "says"),
    [
        ("Wait Event Histogram", "Wait Events", 'no section "Wait Event Histogram"'),
        ("  <1ms", "   <1 ", '"<1" is not the edge of a bucket with its unit'),
        ("  10.0  ", "  10.x  ", "waits or per cents that are not numbers"),
        ("  10.0  ", "  70.0  ", "its per cents do not add up to 100"),
        ("log file parallel write ", "db file sequential read ", "stands here twice"),
        (" file ", " wait ", "no waits for I/O"),
    ],
)
def test_what_does_not_fit_is_refused(fixtures: Path, read_all: Reader, was: str, then: str, says: str) -> None:
    text = (fixtures / "oracle_waits.txt").read_text()
    assert was in text
    with pytest.raises(SourceError) as refused:
        read_all(("s.txt", text.replace(was, then)))
    assert says in refused.value.message
    assert refused.value.hint


def test_a_row_of_another_length_is_refused(fixtures: Path, read_all: Reader) -> None:
    page = (fixtures / "oracle_waits.html").read_text()
    with pytest.raises(SourceError, match="has 5 cells, the table has 6 columns"):
        read_all(("a.html", page.replace("<td align='right'>60.0</td>", "")))


def test_a_page_without_tables_is_refused(fixtures: Path, read_all: Reader) -> None:
    """It was a ValueError."""
    page = (fixtures / "oracle_waits.html").read_text()
    with pytest.raises(SourceError, match="no section"):
        read_all(("a.html", page.replace("h3", "h4")))


def test_files_are_rows_with_the_mean_of_their_reads(fixtures: Path) -> None:
    (run,) = importers.read((str(fixtures / "oracle_waits.html"),))
    shop, undo, fast = (each.measurement.classes for each in run.phases[2:])
    assert [each.phase.name for each in run.phases[2:]] == ["/u01/shop1.dbf", "/u01/undo1.dbf", "/u01/fast1.dbf"]
    assert [(each.op, each.ios) for each in shop] == [("read", 1100), ("write", 2300)]
    assert shop[0].service.mean_ns == 410_000
    assert not shop[1].service.total  # no times of writes
    assert [(each.op, each.ios) for each in undo] == [("write", 60)]
    assert fast[0].ios == 7
    assert fast[0].service.mean_ns != fast[0].service.mean_ns  # less than 0.01 ms, not 0
    assert run.phases[2].plan.files[0].path == "/u01/shop1.dbf"


@pytest.mark.parametrize(
    ("was", "then", "says"),
    [
        ("Rd(ms)", "Rd", 'has no column "Av Rd(ms)"'),
        ("1,100", "1,10", '/u01/shop1.dbf: "1,10" is not a count'),
        ("0.41", "fast", 'Av Rd(ms) is "fast", not a number'),
        ("<td>0.41</td>", "", "a file has 4 cells"),
    ],
)
def test_a_table_of_files_that_does_not_fit_is_refused(
    fixtures: Path, read_all: Reader, was: str, then: str, says: str
) -> None:
    page = (fixtures / "oracle_waits.html").read_text()
    assert was in page
    with pytest.raises(SourceError) as refused:
        read_all(("a.html", page.replace(was, then)))
    assert says in refused.value.message


def test_a_character_reference_without_end_is_refused(fixtures: Path, read_all: Reader) -> None:
    """It was a ValueError of Python's own."""
    page = (fixtures / "oracle_waits.html").read_text()
    with pytest.raises(SourceError, match="waits or per cents that are not numbers"):
        read_all(("a.html", page.replace("10.0<", f"&#{'9' * 5000};<")))
