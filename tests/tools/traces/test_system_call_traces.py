"""strace becomes events: size is what was returned, offsets only where they are known, latency only with -T."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from makers.read_anew import read_anew

from iocast.errors import SourceError
from iocast.tools.traces import TraceReport

READ, WRITE, FLUSH, DATASYNC = range(4)
SYNC, DIRECT, FUA, APPEND, SUBMIT_ONLY = 1, 2, 4, 64, 128


def _read(folder: Path, text: str) -> tuple[TraceReport, list[tuple[Any, ...]]]:
    """A trace of this text: its report, and (op, offset, size, lat, flags, err, name of the target)."""
    (folder / "s.txt").write_text(text)
    to = str(folder / "events.parquet")
    report = read_anew((str(folder / "s.txt"),), to)
    rows = duckdb.execute(f"select op, \"offset\", size, lat_ns, flags, err, target from '{to}'").fetchall()
    assert all(file.lines_accounted() == file.lines for file in report.files)
    return report, [(*row[:-1], None if row[-1] is None else report.targets[row[-1]]) for row in rows]


def test_positions_are_followed_from_open_to_close(tmp_path: Path) -> None:
    _, rows = _read(
        tmp_path,
        'openat(AT_FDCWD, "/d/a \\" b", O_RDWR|O_CREAT|O_DIRECT|O_DSYNC, 0644) = 3\n'
        'write(3, "...", 4096)                   = 512\n'
        'read(3, "...", 4096) = 100\n'
        "lseek(3, 8192, SEEK_SET) = 8192\n"
        "dup(3) = 4\n"
        'read(4, "", 10) = 0\n'
        'write(3, "x", 10) = -1 EIO (Input/output error)\n'
        "close(3) = 0\n"
        'read(4, "x", 10) = 10\n',
    )
    path, durable = '/d/a \\" b', SYNC | DIRECT | FUA
    assert rows == [
        (WRITE, 0, 512, None, durable, 0, path),
        (READ, 512, 100, None, DIRECT, 0, path),
        (READ, 8192, 0, None, DIRECT, 0, path),
        (WRITE, 8192, None, None, durable, 5, path),
        (READ, None, 10, None, DIRECT, 0, path),  # a write that failed may have moved it
    ]


def test_a_call_that_another_one_interrupts_is_one_event_at_its_beginning(tmp_path: Path) -> None:
    to = str(tmp_path / "events.parquet")
    report, rows = _read(
        tmp_path,
        "7 1795288863.000010 pread64(3</d/f>,  <unfinished ...>\n"
        "8 1795288863.000020 fdatasync(4</d/g> <unfinished ...>\n"
        '7 1795288863.000030 <... pread64 resumed>"..., 3, 4"..., 8192, 4096) = 8192 <0.000021>\n'
        "8 1795288863.000090 <... fdatasync resumed>) = 0 <0.000071>\n"
        "9 1795288863.000100 <... pwrite64 resumed>) = 512 <0.000050>\n"
        '9 1795288863.000100 <... read resumed>"", 5) = 5 <0.000050>\n',
    )
    assert rows[:2] == [(READ, 4096, 8192, 21_000, 0, 0, "/d/f"), (DATASYNC, None, None, 71_000, 0, 0, "/d/g")]
    assert rows[2] == (WRITE, None, 512, 50_000, 0, 0, None)  # it began before the trace
    times = duckdb.execute(f"select ts_ns - 1795288863000000000, src_line from '{to}'").fetchall()
    assert times == [(10_000, 1), (20_000, 2), (50_000, 5)]
    assert (report.clock, report.epoch_ns, report.actors) == ("unix", 0, ("7", "8", "9"))
    assert report.files[0].ignored["read or write of a descriptor that was opened out of sight"] == 1


@pytest.mark.parametrize(
    ("lines", "times", "clock"),
    [
        (("23:59:59.9", "00:00:00.1"), [86_399_900_000_000, 86_400_100_000_000], "trace"),
        (("23:59:59", "00:00:01"), [86_399_000_000_000, 86_401_000_000_000], "trace"),
        (("     0.000000", "     0.000150"), [0, 150_000], "trace"),
        (("1795288863.5", "1795288864.5"), [1795288863_500000000, 1795288864_500000000], "unix"),
        (("", ""), [None, None], None),
    ],
)
def test_all_kinds_of_times(tmp_path: Path, lines: tuple[str, str], times: list[int], clock: str | None) -> None:
    report, _ = _read(tmp_path, "".join(f"{stamp} fsync(3</f>) = 0\n".lstrip() for stamp in lines))
    found = duckdb.execute(f"select ts_ns from '{tmp_path}/events.parquet'").fetchall()
    assert ([row[0] for row in found], report.clock) == (times, clock)
    assert "trace with -T" in " ".join(report.files[0].notes)


def test_what_is_no_file_is_left_out_and_counted(tmp_path: Path) -> None:
    report, rows = _read(
        tmp_path,
        'read(5<socket:[1]>, "x", 9) = 9\n'
        'write(1, "x", 9) = 9\n'
        'pwritev2(4</dev/sdb<block 8:16>>, [{iov_base="", iov_len=512}], 1, 1024, RWF_DSYNC) = 512\n',
    )
    assert rows == [(WRITE, 1024, 512, None, SYNC | FUA, 0, "/dev/sdb")]
    assert report.files[0].ignored["socket, pipe, terminal or file of the kernel"] == 1
    assert "1 reads and writes of descriptors that were opened out of sight" in " ".join(report.files[0].notes)


def test_asynchronous_requests_are_events_without_latency(tmp_path: Path) -> None:
    one = "{aio_data=0, aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=3, aio_buf=0x7f, aio_nbytes=8192, aio_offset=%d}"
    _, rows = _read(
        tmp_path,
        'open("/d/f", O_RDONLY|O_DIRECT) = 3\n'
        f"io_submit(0x7f, 2, [{one % 0}, {one % 16384}]) = 2 <0.000009>\n"
        f"io_submit(0x7f, 2, [{one % 0}, {one % 16384}]) = 1 <0.000009>\n",
    )
    assert rows == [(READ, at, 8192, None, DIRECT | SUBMIT_ONLY, 0, "/d/f") for at in (0, 16384)]


def test_requests_that_are_not_printed_are_told(tmp_path: Path) -> None:
    """Long lists end with dots; before 4.14 neither size nor offset is printed."""
    one = "{aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=3</d/f>, aio_nbytes=8192, aio_offset=0}"
    report, rows = _read(
        tmp_path,
        f"io_submit(0x7f, 3, [{one}, ...]) = 3 <0.000009>\nio_submit(478, 1, {{{{0x2b, 0, 1, 0, 288}}}}) = 1\n",
    )
    assert rows == [
        (READ, 0, 8192, None, SUBMIT_ONLY, 0, "/d/f"),
        (WRITE, None, None, None, SUBMIT_ONLY, 0, None),
    ]
    assert "2 requests of io_submit are not printed: trace with -v" in report.files[0].notes


def test_children_share_positions_and_strangers_end_them(tmp_path: Path) -> None:
    _, rows = _read(
        tmp_path,
        '1 openat(AT_FDCWD, "/f", O_RDONLY) = 3\n'
        "1 clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD, child_tidptr=0x7f) = 2\n"
        '2 read(3, "x", 10) = 10\n'
        '1 read(3, "x", 10) = 10\n'
        "9 close(1) = 0\n"
        '1 read(3, "x", 10) = 10\n',
    )
    assert [row[1] for row in rows] == [0, 10, None]


def test_an_appending_file_has_no_known_offset(tmp_path: Path) -> None:
    _, rows = _read(tmp_path, 'openat(AT_FDCWD, "/f", O_WRONLY|O_APPEND) = 3\nwrite(3, "x", 10) = 10\n')
    assert rows == [(WRITE, None, 10, None, APPEND, 0, "/f")]


def test_lines_that_are_no_calls_are_rejected_with_their_place(tmp_path: Path) -> None:
    report, _ = _read(
        tmp_path,
        "7 fsync(3</f>) = 0\nhello\n7 1:00 fsync(3</f>) = 0\n7 fsync(3</f>) = zero\n"
        '7 pread64(3</f>, "", 5, x) = 5\n7 read(3</f>, "", 5) = -1 ENOTHING (What)\n',
    )
    assert [(reject.line, reject.column, reject.rule) for reject in report.files[0].first_rejects] == [
        (2, 1, "not a system call"),
        (3, 3, "not a time"),
        (4, 3, "not a result"),
        (5, 3, "no offset at the end of the arguments"),
        (6, 1, "an error that is not known"),
    ]


def test_a_trace_without_io_says_so(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no I/O in 1 lines of strace"):
        _read(tmp_path, "close(3) = 0\n")
