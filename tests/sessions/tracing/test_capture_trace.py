"""A capture holds what was done, no more and no less: held against strace and against the counters of the device."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import duckdb
import pytest
from makers.rootly import need

import iocast
from iocast.errors import IocastError, SpecError, TargetError
from iocast.model.anonymity.pseudonyms import Pseudonyms
from iocast.sessions.listener import Quiet, Stopping
from iocast.sessions.requests.capture import CaptureRequest
from iocast.sessions.tracing import capture_trace
from iocast.tools.traces import TraceReport

READ, WRITE, FLUSH, DATASYNC = range(4)
WORKLOAD = """\
import os, sqlite3, sys
base = sqlite3.connect(sys.argv[1], isolation_level=None)
for rule in ("journal_mode=wal", "synchronous=full", "cache_size=20"):
    base.execute(f"pragma {rule}")
base.execute("create table orders(number integer primary key, text blob)")
for _ in range(50):
    base.execute("begin")
    base.executemany("insert into orders(text) values(?)", [(os.urandom(2000),)] * 3)
    base.execute("commit")
for number in range(1, 150):
    base.execute("select length(text) from orders where number = ?", (number,)).fetchone()
"""

URING_READS = """\
name = "reads"
[files]
size = "1M"
[defaults]
engine = "uring"
direct = false
[[phase]]
test = "reads"
read = 100
size = "4k"
ios = 300
"""


def _captured(to: Path, **what: Any) -> TraceReport:
    """A capture, or a skip where this machine cannot trace."""
    need()
    try:
        return iocast.capture(str(to), **what)
    except TargetError as error:
        if "tracing" in error.message or "mounted" in error.message:
            pytest.skip(error.message)
        raise


def _asked(to: Path, question: str) -> list[tuple[Any, ...]]:
    return duckdb.execute(question.format(f"'{to}'")).fetchall()


def _instances() -> list[str]:
    """Names of tracing instances of this process, where they can be seen."""
    command = "mount -t tracefs x /sys/kernel/tracing 2>/dev/null; ls /sys/kernel/tracing/instances"
    done = subprocess.run(["unshare", "-m", "sh", "-c", command], capture_output=True, text=True, check=False)
    return [name for name in done.stdout.split() if name.startswith(f"iocast-{os.getpid()}-")]


def _workload(folder: Path) -> list[str]:
    script = folder / "workload.py"
    script.write_text(WORKLOAD)
    return [sys.executable, "-I", str(script), str(folder / "base.db")]


def test_the_calls_of_a_database_are_those_that_strace_counts(tmp_path: Path) -> None:
    need("strace")
    command = _workload(tmp_path)
    to = tmp_path / "events.parquet"
    report = _captured(to, command=command)
    (file,) = report.files
    assert file.lines_accounted() == file.lines
    assert (file.figures["lost_records"], _instances()) == (0, [])
    for name in ("base.db", "base.db-wal", "base.db-shm"):
        (tmp_path / name).unlink(missing_ok=True)
    counts = tmp_path / "counts"
    calls = "trace=pwrite64,fdatasync,fsync,pread64"
    subprocess.run(["strace", "-f", "-c", "-o", counts, "-e", calls, *command], check=True)
    told = {found[2]: int(found[1]) for found in re.finditer(r" (\d+) +(?:\d+ )?(\w+)$", counts.read_text(), re.M)}
    seen = dict(_asked(to, "select op, count(*) from {} group by op"))
    assert told["fdatasync"] >= 50
    assert seen[DATASYNC] == told["fdatasync"]
    assert seen[WRITE] == told["pwrite64"]
    base = str(tmp_path / "base.db")
    number = report.targets.index(base)
    ((writes, past, durations),) = _asked(
        to,
        'select count(*), max("offset" + size), count(lat_ns) from {} ' + f"where op = {WRITE} and target = {number}",
    )
    assert writes == durations > 0
    assert past <= 1 << 22, "no further than the database is large"


class _Stops(Quiet):
    """Does its work while the capture is on, then stops it."""

    def __init__(self, work: Any) -> None:
        self._work = work

    def working(self) -> AbstractContextManager[Stopping]:
        """Stops when the work is done."""
        done = iter((False,))

        def stopping() -> bool:
            if next(done, True):
                return True
            self._work()
            return False

        return nullcontext(stopping)


def _disk_of(folder: Path) -> str:
    device = os.stat(folder).st_dev
    place = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}")
    if not place.exists():
        pytest.skip("no block device under the temporary folder")
    disk = place.resolve()
    disk = disk.parent if (disk / "partition").exists() else disk
    if not (disk / "mq").is_dir():
        pytest.skip(f"{disk.name} has no request queue")
    return disk.name


def test_the_requests_of_a_device_are_those_that_it_counts(tmp_path: Path) -> None:
    need()
    disk, counts = _disk_of(tmp_path), []
    to = tmp_path / "events.parquet"

    def reads() -> int:
        return int(Path(f"/sys/block/{disk}/stat").read_text().split()[0])

    def work() -> None:
        file = tmp_path / "data"
        file.write_bytes(os.urandom(1 << 20))
        descriptor = os.open(file, os.O_RDONLY)
        os.fsync(descriptor)
        counts.append(reads())
        for number in range(2000):
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.pread(descriptor, 4096, number % 256 * 4096)
        counts.append(reads())
        os.close(descriptor)
        time.sleep(0.1)

    report = _captured(to, devices=[disk], listener=_Stops(work))
    assert report.files[0].figures["lost_records"] == 0
    assert report.files[0].lines_accounted() == report.files[0].lines
    ((seen,),) = _asked(to, f"select count(*) from {{}} where op = {READ}")
    made = counts[1] - counts[0]
    assert made >= 1000, "the page cache was dropped"
    # What others read while the capture began and ended is in it too, and not in the counters' difference.
    assert made <= seen <= max(1.01 * made, made + 200)
    ((timed,),) = _asked(to, f"select count(lat_ns) from {{}} where op = {READ}")
    assert timed >= 0.99 * seen


def test_children_are_followed_and_flags_are_seen(tmp_path: Path) -> None:
    child = (
        "import os, subprocess, sys\n"
        "if len(sys.argv) == 2:\n"
        "    file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT | os.O_DSYNC)\n"
        "    os.write(file, b'x' * 4096); os.write(file, b'x' * 4096); os.pwrite(file, b'x' * 512, 100)\n"
        "    os.lseek(file, 4096, 0); os.read(file, 1000)\n"
        "    import time; time.sleep(0.1)\n"
        "else:\n"
        "    subprocess.run([sys.executable, sys.argv[0], sys.argv[2]], check=True)\n"
    )
    script, data = tmp_path / "parent.py", tmp_path / "data"
    script.write_text(child)
    data.touch()
    to = tmp_path / "events.parquet"
    report = _captured(to, command=[sys.executable, "-I", str(script), "parent", str(data)], path=str(data))
    assert report.targets == (str(data),)
    rows = _asked(to, 'select op, "offset", size, flags & 5 from {} order by ts_ns')
    assert rows == [(WRITE, 0, 4096, 5), (WRITE, 4096, 4096, 5), (WRITE, 100, 512, 5), (READ, 4096, 1000, 0)]


def test_nothing_is_left_when_a_capture_cannot_begin(tmp_path: Path) -> None:
    need()
    to = tmp_path / "events.parquet"
    with pytest.raises(TargetError, match="no such command"):
        iocast.capture(str(to), command=["no-such-program-anywhere"])
    with pytest.raises(TargetError, match="does not exist"):
        iocast.capture(str(to), devices=["nix0"])
    with pytest.raises(IocastError):
        iocast.capture(str(tmp_path / "no" / "folder" / "events.parquet"), command=["true"])
    assert (_instances(), list(tmp_path.iterdir())) == ([], [])


def test_what_says_nothing_or_would_overwrite_is_refused(tmp_path: Path) -> None:
    to = tmp_path / "events.parquet"
    with pytest.raises(SpecError, match="nothing to capture"):
        iocast.capture(str(to))
    with pytest.raises(TargetError, match="process 4194304 does not exist"):
        iocast.capture(str(to), pids=[4_194_304])
    to.write_text("kept")
    with pytest.raises(TargetError, match="exists"):
        iocast.capture(str(to), command=["true"])
    assert to.read_text() == "kept"


def test_threads_and_children_that_run_already_are_captured_too(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.write_bytes(bytes(1 << 16))
    busy = (
        "import os, sys, threading, time\n"
        "def read(offset):\n"
        "    file = os.open(sys.argv[1], os.O_RDONLY)\n"
        "    while os.getppid() != 1: os.pread(file, 512, offset); time.sleep(0.01)\n"
        "child = os.fork() == 0\n"
        "threading.Thread(target=read, args=(4096 if child else 8192,), daemon=True).start()\n"
        "print('begun', flush=True)\n"
        "time.sleep(60)\n"
    )
    script = tmp_path / "busy.py"
    script.write_text(busy)
    running = subprocess.Popen([sys.executable, "-I", str(script), str(data)], stdout=subprocess.PIPE)
    try:
        assert running.stdout is not None
        assert running.stdout.readline() == running.stdout.readline() == b"begun\n"
        to = tmp_path / "events.parquet"
        _captured(to, pids=[running.pid], seconds=0.5)
    finally:
        running.kill()
        running.wait()
    offsets = dict(_asked(to, 'select "offset", count(*) from {} where size = 512 group by 1'))
    assert {*offsets} == {4096, 8192}, "of the child and of the parent, each by a thread of its own"
    assert min(offsets.values()) > 5


@pytest.mark.long
def test_a_call_that_hands_nothing_over_is_no_asynchronous_io(tmp_path: Path) -> None:
    waits = "import ctypes\nfor _ in range(7): ctypes.CDLL(None).syscall(426, -1, 0, 0, 0, 0, 0)  # io_uring_enter\n"
    report = _captured(tmp_path / "waits.parquet", command=[sys.executable, "-I", "-c", waits])
    assert report.files[0].figures["asynchronous_ios"] == 0
    room = tmp_path / "room"
    room.mkdir()
    (tmp_path / "job.toml").write_text(URING_READS)
    command = [sys.executable, "-m", "iocast", "run", str(tmp_path / "job.toml"), str(room), "--out", str(tmp_path)]
    report = _captured(tmp_path / "reads.parquet", command=command, path=str(room))
    assert 300 <= report.files[0].figures["asynchronous_ios"] < 1000


def test_whoever_may_rename_beside_the_output_gets_no_names(tmp_path: Path) -> None:
    out, foreign = tmp_path / "out", tmp_path / "foreign"
    out.mkdir()
    foreign.mkdir()
    request = CaptureRequest(to=str(out / "a.parquet"), names=Pseudonyms())
    with capture_trace._table(request) as table:
        (room,) = (each for each in out.iterdir() if each.name.startswith(".iocast-capture-"))
        room.rename(tmp_path / "aside")
        room.symlink_to(foreign)
        duckdb.sql(
            f"COPY (SELECT 1::BIGINT AS ts_ns) TO '{table}' (FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false)"
        )
        assert list((tmp_path / "aside").iterdir()) == [], "a table with names never has a name itself"
    assert list(foreign.iterdir()) == list((tmp_path / "aside").iterdir()) == []
    assert duckdb.sql(f"SELECT * FROM '{request.to}'").fetchall() == [(1,)]
