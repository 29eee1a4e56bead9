"""File sections of text reports of Statspack and AWR, by hand in their form: pages, heads in two lines, wide cells."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from iocast.errors import SourceError
from iocast.model.run import Run
from iocast.model.stated import Bucket
from iocast.tools import importers

Reader = Callable[..., Run]
NAME = "oracle_waits_files.txt"


def test_files_of_all_pages_are_rows(fixtures: Path) -> None:
    (run,) = importers.read((str(fixtures / NAME),))
    shop, second, undo, single = run.phases
    assert [each.phase.name for each in run.phases] == [
        "/u01/shop1.dbf",
        "/u01/shop2.dbf",
        "/u02/undo1.dbf",
        "/u01/shop1.dbf single-block reads",
    ]
    assert [(each.op, each.ios) for each in shop.measurement.classes] == [("read", 1100), ("write", 2300)]
    assert shop.measurement.service("read").mean_ns == 1_200_000
    assert shop.measurement.elapsed_ns == 600 * 10**9
    assert second.measurement.service("read").total == 0  # 0.0 ms is below the last digit
    assert [(each.op, each.ios) for each in undo.measurement.classes] == [("write", 600)]
    times = single.measurement.service("read")
    assert times.coarse is not None
    assert times.coarse.buckets == (
        Bucket(0, 2_000_000, 800.0),
        Bucket(2_000_000, 4_000_000, 100.0),
        Bucket(4_000_000, 8_000_000, 50.0),
        Bucket(8_000_000, 16_000_000, 10.0),
        Bucket(32_000_000, None, 2.0),
    )
    assert len(run.warnings) == 1
    assert "/u02/wide1.dbf has a figure that is too wide for its column: left out" in run.warnings[0]


def test_awr_has_no_slowest_bucket_and_other_titles(read_all: Reader) -> None:
    """The column of the slowest bucket is missing, and the instance in the title."""
    text = """\
WORKLOAD REPOSITORY report for

   Elapsed:       10.00 (mins)

File IO Stats                    Snaps: 11-12
-> ordered by Tablespace, File

Tablespace               Filename
------------------------ ----------------------------------------------------
                 Av       Av     Av                       Av     Buffer  Av Buf
         Reads Reads/s  Rd(ms) Blks/Rd       Writes Writes/s      Waits  Wt(ms)
-------------- ------- ------- ------- ------------ -------- ---------- -------
SHOP_DATA                +DATA/shop/shop1.dbf
        23,298      39     0.6     1.0            2        0          0     0.0
          -------------------------------------------------------------
"""
    (row,) = read_all(("awr.txt", text)).phases
    assert (row.phase.name, row.measurement.ios) == ("+DATA/shop/shop1.dbf", 23_300)
    assert row.measurement.service("read").mean_ns == 600_000


def test_a_section_without_its_end_was_cut(fixtures: Path, read_all: Reader) -> None:
    text = (fixtures / NAME).read_text()
    run = read_all(("a.txt", text[: text.index("                         /u01/shop2.dbf")]))
    assert [each.phase.name for each in run.phases] == ["/u01/shop1.dbf"]
    assert "the report is cut in File IO Stats" in run.warnings[0]


@pytest.mark.parametrize(
    ("was", "then", "says"),
    [
        ("(ms)  Bkt", "(us)  Bkt", 'has no column "Av Rd(ms)"'),
        ("0 - 2 ms ", "0 - 2 us ", '"0 - 2 us" is not a range of milliseconds'),
        ("         1,100 ", "         1.100 ", '/u01/shop1.dbf: "1.100" is not a count'),
        ("STATSPACK report for", "WORKLOAD REPOSITORY REPORT (RAC)", "it is the report of a cluster (awrgrpt.sql)"),
    ],
)
def test_what_does_not_fit_is_refused(fixtures: Path, read_all: Reader, was: str, then: str, says: str) -> None:
    text = (fixtures / NAME).read_text()
    assert was in text
    with pytest.raises(SourceError) as refused:
        read_all(("s.txt", text.replace(was, then)))
    assert says in refused.value.message
    assert refused.value.hint
