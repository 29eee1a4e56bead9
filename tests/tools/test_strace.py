"""strace: real lines of 6.1 with -f -T -ttt, and those of the published slide."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from makers.trace_samples import SHARED, WITHOUT_SHARED

from iocast.errors import SourceError
from iocast.model.run import Run
from iocast.model.workload import Sequential, Uniform
from iocast.report.card.judged import judge
from iocast.tools import importers, strace
from iocast.tools.source_files import Head

Reader = Callable[..., Run]


def test_the_line_of_the_slide() -> None:
    """Source row K13: fd 259, 1024 bytes at 2,891,776, with and without its result."""
    for line in ("pwrite(259, ..., 1024, 2891776)", 'pwrite(259, "\\0\\0, 7) = 1"..., 1024, 2891776) = 1024'):
        (call,) = strace.calls("x", line)
        assert (call.op, call.fd, call.size_bytes, call.offset) == ("write", 259, 1024, 2_891_776)
        assert strace.sniff(Head("x", line))
    assert not strace.sniff(Head("x", 'openat(AT_FDCWD, "/etc/passwd", O_RDONLY) = 3'))
    assert not strace.sniff(Head("x", "write(buffer, 1024)"))


def test_each_file_and_operation_is_a_row(fixtures: Path) -> None:
    (run,) = importers.read((str(fixtures / "strace.txt"),))
    rows = {record.phase.test: record for record in run.phases}
    assert list(rows) == ["write", "read", "fsync"]
    writes, reads = rows["write"], rows["read"]
    assert [(part.size_bytes, part.ios, part.bytes) for part in writes.measurement.classes] == [
        (1024, 6, 6144),
        (11, 1, 11),
        (512, 1, 512),
    ]
    assert (writes.plan.files[0].path, writes.plan.sync, writes.plan.direct) == ("data.dbf", "dsync", False)
    assert writes.measurement.classes[0].service.max_ns == 55_664_000
    assert [(part.size_bytes, part.ios) for part in reads.measurement.classes] == [(8192, 5), (1024, 6)]
    assert {"users", "depth"} <= {*reads.unstated}  # three threads read
    assert "users" not in writes.unstated  # one thread writes
    assert "depth" in writes.unstated  # and does other things in between
    # What is not a file of the program, or failed before it was one, is no row.
    assert run.warnings == ("Left out: 2 of 3 files, with too few I/Os to be data of the program.",)


def test_batches_of_today_are_rows_of_their_files(fixtures: Path) -> None:
    """fio with libaio under strace 6.1: of 36 requests of one call it prints 32."""
    (run,) = importers.read((str(fixtures / "strace_aio.txt"),))
    (record,) = run.phases
    (reads,) = record.measurement.classes
    assert (record.phase.name, reads.op, reads.size_bytes, reads.ios) == (
        "asynchronous read /data/aio.dat",
        "read",
        8192,
        32,
    )
    assert (record.plan.direct, reads.service.total) == (True, 0)
    assert run.source is not None
    said = run.source.notes[-1]
    assert said.startswith(
        "Asynchronous, batched: its wait is no latency (io_submit handed over 36 requests in 1 call;"
    )
    assert "io_getevents took 36 requests in 1 call, 951 µs each; it asked for up to 36; results of 8k" in said
    assert "4 requests of long lists are not printed" in said


CALIBRATED = """\
io_submit(47804644147200, 1, {{0x2b7a62f6c140, 0, 0, 0, 275}}) = 1
times({tms_utime=130, tms_stime=166, tms_cutime=0, tms_cstime=0}) = 1777017121
io_getevents(47804644147200, 1, 128, {{0x2b7a62e600b0, 0x2b7a62e600b0, SIZE, 0}}, {600, 0}) = 1
io getevents (46921770770432, 34, 128, {{0x2aacd396d310, 0x2aacd396d310, SIZE, 0},
 (...) , {600, 0} = 34
"""


def test_batches_of_old_are_known_by_their_results(read_all: Reader) -> None:
    """As CALIBRATE_IO stands on slides (source row C2): no sizes in io_submit, lists over two lines."""
    run = read_all(("c.txt", CALIBRATED.replace("SIZE", "1048576")))
    (record,) = run.phases
    (reads,) = record.measurement.classes
    assert (reads.op, reads.size_bytes, reads.ios) == ("read", 1 << 20, 35)
    assert run.source is not None
    said = run.source.notes[-1]
    assert said.startswith("Asynchronous, batched: its wait is no latency (io_submit handed over 1 request in 1 call;")
    assert "io_getevents took 1 to 34 requests in 2 calls; it asked for up to 128; results of 1M" in said


def test_the_slides_of_calibrate_io_are_read_as_they_stand(tmp_path: Path) -> None:
    seed = SHARED.parent / "seeds/002_d70b5c1926f25ead.txt"
    if not seed.exists():
        pytest.skip(WITHOUT_SHARED)
    slides = [each for each in seed.read_text().split("```") if "getevents" in each]
    assert len(slides) == 4
    said = []
    for slide in slides:
        (tmp_path / "slide.txt").write_text(slide)
        (run,) = importers.read((str(tmp_path / "slide.txt"),))
        assert run.source is not None
        said.append(run.source.notes[-1])
    assert all(each.startswith("Asynchronous") for each in said)
    assert "took 128 requests in 1 call" in said[1]
    assert "results of 8k" in said[1]
    assert "1 to 34 requests" in said[2]
    assert "results of 1M" in said[2]


def test_the_order_is_read_from_the_offsets(read_all: Reader) -> None:
    def lines(step: int) -> str:
        return "".join(f'pread64(7, ""..., 8192, {8192 * (at * step % 64)}) = 8192\n' for at in range(64))

    for step, kind in ((1, Sequential), (37, Uniform)):
        (record,) = read_all((f"{step}.txt", lines(step))).phases
        assert isinstance(record.plan.locality, kind)
        assert record.ios_per_s is None  # without -t the time is unknown
        assert record.measurement.classes[0].service.total == 0


def test_seconds_since_1970_lose_nothing(read_all: Reader) -> None:
    """As a float they are 0.2 µs apart: 15 µs were 15.104 µs."""
    text = "".join(f'1795288863.7632{at} pread64(7, "", 8192, {at * 8192}) = 8192 <0.000005>\n' for at in range(80, 91))
    (record,) = read_all(("t.txt", text)).phases
    assert record.measurement.elapsed_ns == 15_000


def test_errors_are_counted_and_damage_is_refused(read_all: Reader) -> None:
    text = 'pread64(7, 0x7f, 8192, 0) = -1 EIO (Input/output error)\npread64(7, ""..., 8192, 8192) = 100\n'
    (record,) = read_all(("e.txt", text)).phases
    assert [(each.name, each.errno, each.count) for each in record.measurement.errors] == [("EIO", 5, 1)]
    assert record.measurement.classes[0].short_ios == 1
    for bad in ('pread64(7, ""..., 8192, x) = 8192\n', "pwrite64(3) = 1\n", 'write(1, "a", 1) = 1\n'):
        with pytest.raises(SourceError):
            read_all(("bad.txt", bad))


def test_files_of_one_operation_are_told_apart_in_the_table(tmp_path: Path) -> None:
    """Of different sizes, so that their operation and size would do; but what a trace tells of is files."""
    text = "".join(
        f'12 100.{at:06d} openat(AT_FDCWD, "{name}", O_RDONLY) = {at + 3} <0.000010>\n'
        f'12 100.1{at:05d} pread64({at + 3}, "x"..., {size}, 0) = {size} <0.000100>\n'
        for at, (name, size) in enumerate((("/db/a", 8192), ("/db/b", 4096)))
    )
    (tmp_path / "t.txt").write_text(text)
    (run,) = importers.read((str(tmp_path / "t.txt"),))
    shown = judge(run, "").report()
    rows = next(table for each in shown.sections for table in each.tables if table.key == "rows").rows
    assert [row.cells["test"] for row in rows] == ["read /db/a", "read /db/b"]
