"""Block events as text, and the tables of the snoop tools, become events at the time of their issue."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from makers.read_anew import read_anew

from iocast.errors import SourceError
from iocast.tools.traces import TraceReport

READ, WRITE, FLUSH, DATASYNC, TRIM, META, OTHER = range(7)
SYNC, META_FLAG = 1, 16

PERF = """\
 my prog    12 [000]  8.000000100: block:block_bio_queue: 7,1 WS 32 + 32 [my prog]
 my prog    12 [000]  8.000000300: block:block_rq_issue: 7,1 WS 16384 () 32 + 32 0x2,0,4 [my prog]
 ksoftirqd  14 [000]  8.000000900: block:block_rq_complete: 7,1 WS () 32 + 32 0x2,0,4 [0]
 my prog    12 [000]  8.000001000: block:block_bio_queue: 7,1 FWS 0 + 0 [my prog]
 kworker    58 [000]  8.000001200: block:block_rq_issue: 7,1 FF 0 () 0 + 0 0x0,0,0 [kworker]
 ksoftirqd  14 [000]  8.000002000: block:block_rq_complete: 7,1 FF () 18446744073709551615 + 0 0x0,0,0 [0]
 ksoftirqd  14 [000]  8.000002100: block:block_rq_complete: 7,1 WS () 0 + 0 0x2,0,4 [0]
 swapper     0 [000]  8.000002200: irq:softirq_raise: vec=4 [action=BLOCK]
CPU:0 [LOST 12 EVENTS]
 my prog    12 [000]  8.000002300: block:block_rq_issue: 7,1 R 4096 () x + 8 0x2,0,4 [my prog]
"""
FTRACE = """\
# tracer: nop
           <...>-12      [000] d..1.  8.000001: block_rq_issue: 8,0 RA 4096 () 64 + 8 [cat]
          <idle>-0       [000] ..s1.  8.000005: block_rq_complete: 8,0 RA () 64 + 8 [-5]
"""


def _read(folder: Path, text: str) -> tuple[TraceReport, list[tuple[Any, ...]]]:
    """A trace of this text: its report, and (ts, lat, queue, op, offset, size, flags, err, layer)."""
    (folder / "t.txt").write_text(text)
    to = str(folder / "events.parquet")
    report = read_anew((str(folder / "t.txt"),), to)
    columns = 'ts_ns, lat_ns, queue_ns, op, "offset", size, flags, err, layer'
    assert all(file.lines_accounted() == file.lines for file in report.files)
    return report, duckdb.execute(f"select {columns} from '{to}'").fetchall()


def test_perf_script_pairs_requests_and_flushes(tmp_path: Path) -> None:
    report, rows = _read(tmp_path, PERF)
    assert rows == [
        (8_000_000_300, 600, 200, WRITE, 16_384, 16_384, SYNC, 0, 4),
        (8_000_001_200, 800, 200, FLUSH, None, None, 0, 0, 4),
    ]
    (file,) = report.files
    assert (report.clock, report.tick_ns, report.targets) == ("monotonic", 1, ("7,1",))
    assert file.figures["completed_without_issue"] == 0
    assert file.ignored["end of a write that was a flush only"] == 1
    assert "the trace lost events: at least 12" in file.notes
    assert [(reject.line, reject.rule) for reject in file.first_rejects] == [(10, "not a sector")]


def test_ftrace_gives_the_same_with_its_own_columns(tmp_path: Path) -> None:
    report, rows = _read(tmp_path, FTRACE)
    assert rows == [(8_000_001_000, 4_000, None, READ, 32_768, 4096, 32, 5, 4)]
    assert report.tick_ns == 1_000


@pytest.mark.parametrize(
    ("text", "row", "clock"),
    [
        (
            "TIME(s)     COMM           PID    DISK    T SECTOR     BYTES  QUE(ms) LAT(ms)\n"
            "1.000771    kworker/u 72:1 22177  nvme0n1 W 8          3072      0.11    0.47\n",
            (1_000_301_000, 470_000, 110_000, WRITE, 4096, 3072, 0, None, 4),
            "trace",
        ),
        (
            "Tracing block I/O... Ctrl-C to end.\n"
            "STARTs         ENDs           COMM             PID    TYPE DEV      BLOCK        BYTES     LATms\n"
            "82800.302061   82800.302679   tar              1809   RM   202,1    8            4096       0.62\n",
            (82_800_302_061_000, 620_000, None, READ, 4096, 4096, META_FLAG, None, 4),
            "monotonic",
        ),
        (
            "COMM             PID    TYPE DEV      BLOCK        BYTES     LATms\n"
            "tar              1809   WS   202,1    8            4096       0.62\n",
            (None, 620_000, None, WRITE, 4096, 4096, SYNC, None, 4),
            None,
        ),
        (
            "Attaching 4 probes...\nTIME(ms)     DISK    COMM             PID    LAT(ms)\n"
            "611          nvme0n1 bash             4179         10\n",
            (601_000_000, 10_000_000, None, OTHER, None, None, 0, None, 4),
            "trace",
        ),
    ],
)
def test_the_heading_says_what_the_columns_are(
    tmp_path: Path, text: str, row: tuple[Any, ...], clock: str | None
) -> None:
    report, rows = _read(tmp_path, text)
    assert (rows, report.clock) == ([row], clock)


def test_a_row_that_breaks_off_is_rejected_and_prose_after_the_table_is_not(tmp_path: Path) -> None:
    heading = "TIME(s)     COMM           PID    DISK    T SECTOR     BYTES   LAT(ms)\n"
    row = "0.000004    a              1950   xvda1   W 13092560   4096       0.74\n"
    report, rows = _read(tmp_path, f"Text.\n\n{heading}{row}0.1 a 1950 xvda1 W 13\n\nThis is prose.\n{row}")
    (file,) = report.files
    assert len(rows) == 2
    assert (file.ignored["text outside the table"], sum(file.rejected.values())) == (2, 1)
    with pytest.raises(SourceError, match="no I/O in 1 lines of snoop_table"):
        _read(tmp_path, heading)


@pytest.mark.parametrize(
    ("heading", "first", "second", "start_ns"),
    [
        ("TIMESTAMP    ", "17:58:57.814 ", "17:58:57.816 ", 64_737_814_000_000 - 390_000),
        (
            "TIME                       ",
            "1970-01-02 00:00:00.500000 ",
            "1970-01-02 00:00:00.502000 ",
            86_400_500_000_000 - 390_000,
        ),
    ],
)
def test_a_snoop_table_with_times_of_day(tmp_path: Path, heading: str, first: str, second: str, start_ns: int) -> None:
    """They were told to have no time."""
    text = (
        f"{heading}COMM           PID     DISK    T    SECTOR     BYTES   LAT(ms)\n"
        f"{first}postgres       210     sda     WS   8    8192      0.390\n"
        f"{second}jbd2/sda2-8    422     sda     FWS  18446744073709551615 0     1.000\n"
    )
    _, rows = _read(tmp_path, text)
    assert [(row[0], row[1], row[3], row[5]) for row in rows] == [
        (start_ns, 390_000, WRITE, 8192),
        (start_ns + 390_000 + 1_000_000, 1_000_000, FLUSH, None),
    ]
