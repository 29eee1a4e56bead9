"""A run on several hosts with real ranks of MPI: all on this machine, which Hydra starts by fork."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from makers.host_network import ranks_of

from iocast import archive
from iocast.archive.parquet import relation_of
from iocast.model.histogram import merge
from iocast.model.run import Run

pytest.importorskip("mpi4py", reason="the extra `hosts` is not installed")
pytestmark = pytest.mark.long

READS = """name = "together"
[files]
size = "64MiB"
[[phase]]
test = "reads"
read = 100
size = "8k"
depth = 4
time = "{first}"
"""
JOB = (
    READS
    + """[[phase]]
test = "writes"
write = 100
size = "4k"
rate = "200/s"
time = "1.2s"
"""
)


class Scene:
    """A directory with a job, and a place for each host."""

    def __init__(self, room: Path, first: str = "2.2s") -> None:
        self.room = room
        (room / "job.toml").write_text(JOB.format(first=first))
        for name in ("a", "b", "c"):
            (room / name).mkdir()

    def hosts(self, names: str = "abc") -> str:
        """The hosts, each with a directory of its own."""
        return ",".join(f"db{number}:{self.room / name}" for number, name in enumerate(names, 1))

    def start(self, *words: str, launcher: str = "fork") -> subprocess.Popen[str]:
        """iocast, in the room."""
        line = [sys.executable, "-m", "iocast", *words]
        environment = os.environ | {"HYDRA_LAUNCHER": launcher, "COLUMNS": "110"}
        return subprocess.Popen(
            line, cwd=self.room, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def run(self, *words: str) -> tuple[int, str, str]:
        """Exit code, output, and what was said."""
        process = self.start(*words)
        output, said = process.communicate(timeout=90)
        return process.returncode, output, said

    @property
    def folder(self) -> Path:
        """The only run folder."""
        (folder,) = (each for each in (self.room / "iocast-runs").iterdir() if not each.name.startswith("."))
        return folder


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    """Rows of 2.2 and 1.2 s."""
    return Scene(tmp_path)


@pytest.fixture
def long_scene(tmp_path: Path) -> Iterator[Scene]:
    """A first row of 30 s, in which something happens; no rank is left at the end."""
    yield Scene(tmp_path, "30s")
    until_s = time.monotonic() + 5
    while ranks_of(tmp_path) and time.monotonic() < until_s:
        time.sleep(0.1)
    assert ranks_of(tmp_path) == []


def test_the_sum_is_that_of_the_hosts_count_by_count(scene: Scene) -> None:
    code, output, said = scene.run("run", "job.toml", "--hosts", scene.hosts(), "--full")
    assert (code, "all 3 hosts" in said or "db3: together" in said) == (0, True), said
    run = archive.load(str(scene.folder))
    parts = [archive.load(str(scene.folder / "hosts" / name)) for name in ("db1", "db2", "db3")]
    assert [record.phase.name for record in run.phases] == ["reads 8k 1x4", "writes 4k 1x1 @200/s"]
    for record in run.phases:
        own = [_row(part, record.phase.name) for part in parts]
        whole = [part.row(record.phase.name) for part in run.hosts]
        assert not any(row.outside_ios for row in whole if row)
        assert record.measurement.ios == sum(each.measurement.ios for each in own)
        assert record.measurement.bytes == sum(each.measurement.bytes for each in own)
        assert record.measurement.response() == merge(each.measurement.response() for each in own)
        assert record.measurement.asked_depth == 3 * own[0].measurement.asked_depth
        assert sum(record.series.ios) <= record.measurement.ios
    assert run.phases[1].measurement.asked_rate_per_s == 600
    assert "fairness (Jain)" in output
    assert "db3" in output
    total = relation_of(str(scene.folder / "intervals" / "000.parquet")).sum("ios").fetchall()
    assert total == [(run.phases[0].measurement.ios,)]


def _row(run: Run, phase: str) -> archive.PhaseRecord:  # type: ignore[name-defined]
    return next(record for record in run.phases if record.phase.name == phase)


def test_each_host_s_own_folder_is_a_run_like_any_other(scene: Scene) -> None:
    assert scene.run("run", "job.toml", "--hosts", scene.hosts("ab"), "--no-page")[0] == 0
    code, output, _ = scene.run("report", str(scene.folder / "hosts" / "db2"))
    assert (code, "reads" in output) == (0, True)
    code, output, _ = scene.run("runs")
    assert output.count("together") == 1  # the hosts' own are not listed beside their sum
    code, output, _ = scene.run("report", str(scene.folder), "--json")
    shares = msgspec.json.decode(output)["hosts"]
    assert [each["host"] for each in shares] == ["db1", "db2"] * 2
    assert sum(each["share"] for each in shares) == pytest.approx(2)


def test_a_card_without_names_has_those_of_no_host(scene: Scene) -> None:
    code, output, said = scene.run("run", "job.toml", "--hosts", scene.hosts("ab"), "--anonymous", "--json")
    assert code == 0, said
    page = (scene.folder / "report.html").read_text()
    for name in ("db1", "db2", str(scene.room)):
        assert name not in output
        assert name not in page
    assert len(msgspec.json.decode(output)["hosts"]) == 4


def test_two_hosts_with_one_directory_are_refused_before_anything_is_written(scene: Scene) -> None:
    code, _, said = scene.run("run", "job.toml", str(scene.room / "a"), "--hosts", "db[1-2]")
    assert code == 2
    assert "db1 and db2 have the same storage" in said
    assert list((scene.room / "a").iterdir()) == []


def test_the_refusal_of_one_host_is_told_and_no_other_writes(scene: Scene) -> None:
    code, _, said = scene.run("run", "job.toml", "--hosts", f"db1:{scene.room / 'a'},db2:/there/is/nothing")
    assert (code, "db2: /there/is/nothing does not exist" in said) == (2, True)
    assert list((scene.room / "a").iterdir()) == []


def test_the_same_file_is_read_by_all_and_slices_do_not_meet(scene: Scene) -> None:
    data = scene.room / "data.bin"
    data.write_bytes(os.urandom(1 << 20) * 160)
    (scene.room / "reads.toml").write_text(READS.format(first="1.2s").replace('[files]\nsize = "64MiB"\n', ""))
    for share in ("same", "slices"):
        code, _, said = scene.run(
            *("run", "reads.toml", str(data), "--hosts", "db[1-2]", "--share", share, "--out", share, "--no-page")
        )
        assert code == 0, said
        (folder,) = (scene.room / share).iterdir()
        places = [archive.load(str(folder / "hosts" / name)).phases[0].plan.files[0] for name in ("db1", "db2")]
        ends = [(place.start_bytes, place.size_bytes) for place in places]
        mib = 1 << 20
        assert ends == ([(0, 160 * mib)] * 2 if share == "same" else [(0, 80 * mib), (80 * mib, 80 * mib)])
    code, _, said = scene.run("run", "job.toml", "--hosts", scene.hosts("ab"), "--share", "same")
    assert (code, "only read" in said) == (2, True)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_host_that_dies_or_stands_still_ends_the_run_and_what_was_measured_is_kept(
    long_scene: Scene, number: signal.Signals
) -> None:
    process = long_scene.start("run", "job.toml", "--hosts", long_scene.hosts(), "--no-page")
    victim = _loaded(long_scene)[1]
    os.kill(victim, number)
    began_s = time.monotonic()
    _, said = process.communicate(timeout=60)
    assert time.monotonic() - began_s < 15  # 5 s until it is missed, and the time for the card of a busy machine
    assert process.returncode == 2
    assert "2 of 3 hosts were left" in said
    run = archive.load(str(long_scene.folder))
    assert (run.status, len([part for part in run.hosts if part.lost])) == ("failed", 1)
    assert run.phases[0].measurement.ios > 0


@pytest.mark.parametrize("whole", [True, False])
def test_when_the_controller_is_killed_or_stopped_no_rank_goes_on(long_scene: Scene, *, whole: bool) -> None:
    process = long_scene.start("run", "job.toml", "--hosts", long_scene.hosts(), "--no-page")
    ranks = _loaded(long_scene)
    process.send_signal(signal.SIGTERM if whole else signal.SIGKILL)
    _, said = process.communicate(timeout=60)
    until_s = time.monotonic() + 5
    while any(Path(f"/proc/{rank}/io").exists() for rank in ranks) and time.monotonic() < until_s:
        time.sleep(0.1)
    assert not any(Path(f"/proc/{rank}/io").exists() for rank in ranks)
    if whole:
        assert process.returncode == 143
        assert "1 of 2 rows kept, 1 of them cut short" in said
        assert archive.load(str(long_scene.folder)).status == "interrupted"


def test_a_full_disk_on_one_host_ends_the_run_on_all(long_scene: Scene) -> None:
    if os.geteuid():
        pytest.skip("needs root: a small file system is mounted")
    small = long_scene.room / "b"
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=80m", "none", str(small)], check=True)
    try:
        (small / "other").write_bytes(bytes(40 << 20))
        code, _, said = long_scene.run("run", "job.toml", "--hosts", long_scene.hosts("ab"), "--no-page")
        assert code == 2
        assert "db2: " in said
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_under_mpirun_every_process_is_a_rank(scene: Scene) -> None:
    own = [sys.executable, "-m", "iocast", "run", "job.toml"]
    program = str(Path(sys.executable).parent / "mpiexec")
    line = [program, "-n", "1", *own, str(scene.room / "a"), ":", "-n", "1", *own, str(scene.room / "b")]
    done = subprocess.run(line, cwd=scene.room, text=True, capture_output=True, timeout=90, check=False)
    assert done.returncode == 0, done.stderr
    run = archive.load(str(scene.folder))
    assert [part.path for part in run.hosts] == [str(scene.room / "a"), str(scene.room / "b")]
    assert len(run.phases) == 2


def test_hosts_check_names_what_hosts_share_and_what_one_of_them_lacks(scene: Scene) -> None:
    a, b = scene.room / "a", scene.room / "b"
    code, output, _ = scene.run("hosts", "check", f"db1:{a},db2:{b},db3:{a},db4:/nowhere", "--json")
    rows = msgspec.json.decode(output)["hosts"]
    assert code == 1
    assert [row["storage"] for row in rows] == ["its own", "its own", "that of db1", None]
    assert rows[3]["problem"] == "/nowhere does not exist"
    assert all(row["clock_error_ns"] < 1e8 for row in rows[1:])


def _loaded(scene: Scene) -> list[int]:
    """The ranks, once all of them make the load of the first row."""
    until_s = time.monotonic() + 40
    while time.monotonic() < until_s:
        folders = list((scene.room / "iocast-runs").glob("*/hosts/*")) if (scene.room / "iocast-runs").exists() else []
        ranks = ranks_of(scene.room)
        if len(folders) >= 2 and len(ranks) == 3 and _moves(ranks):
            return ranks
        time.sleep(0.2)
    raise AssertionError("the load did not begin")


def _moves(ranks: list[int]) -> bool:
    before = [_read(rank) for rank in ranks]
    time.sleep(1)
    return all(after > 1 << 20 for after in (_read(rank) - one for rank, one in zip(ranks, before, strict=True)))


def _read(rank: int) -> int:
    """Bytes that a process has read from storage."""
    lines = Path(f"/proc/{rank}/io").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("read_bytes"))
