"""Verified runs on real files: killed at any moment, and spoilt between write and reading back."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from makers.command_line import IOCAST, environment, iocast

from iocast.archive import load
from iocast.load.verify_journal import read_description

pytestmark = pytest.mark.device
BLOCK = 8192
BAD = ("torn", "lost", "misplaced", "corrupt", "unreadable")


def job(folder: Path, *, seconds: str = "500ms", back: bool = False, more: str = "") -> str:
    path = folder / "job.toml"
    path.write_text(
        f'name = "verified"\n[files]\nsize = "16MiB"\n[[phase]]\nwrite = 100\nsize = "8k"\nusers = 2\ndepth = 8\n'
        f'repeats = false\nverify = true\ntime = "{seconds}"\n{more}' + ('[[phase]]\nrole = "verify"\n' if back else "")
    )
    return str(path)


def verified(folder: Path, *options: str) -> tuple[int, dict[str, int]]:
    """The exit code of `iocast verify` and the count of each kind of block."""
    (run,) = (folder / "runs").iterdir()
    done = iocast("verify", str(run), "--json", *options, cwd=folder)
    assert done.returncode in (0, 1), done.stderr
    rows = json.loads(done.stdout)["blocks"]
    return done.returncode, {row["kind"]: row["count"] for row in rows}


def test_a_sound_file_is_intact_at_once_and_later(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    done = iocast("run", job(tmp_path, back=True), "data", "--out", "runs", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    counts = {row["kind"]: row["count"] for row in json.loads(done.stdout)["blocks"]}
    assert counts["intact"] > 100
    assert not any(counts[kind] for kind in BAD)
    code, later = verified(tmp_path)
    assert (code, later) == (0, counts)
    (run,) = (tmp_path / "runs").iterdir()
    assert len(load(str(run)).verifications) == 2


def test_a_terminal_is_told_that_and_how_far_it_is_read_back(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    assert iocast("run", job(tmp_path), "data", "--out", "runs", cwd=tmp_path).returncode == 0
    (run,) = (tmp_path / "runs").iterdir()
    ours, theirs = os.openpty()
    told = environment(TERM="xterm", COLUMNS="100")
    process = subprocess.Popen([*IOCAST, "verify", str(run)], env=told, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    said = b""
    try:
        while more := os.read(ours, 4096):
            said += more
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    assert process.wait(30) == 0
    lines = said.decode().split("\r")
    assert any("1/1  reading back" in line for line in lines), lines
    assert lines[-1] == "\x1b[K", "nothing of it stays"


def test_what_was_spoilt_in_between_is_counted_and_the_exit_code_is_1(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    assert iocast("run", job(tmp_path), "data", "--out", "runs", cwd=tmp_path).returncode == 0
    data = tmp_path / "data" / "iocast-work.0.dat"
    _, before = verified(tmp_path)
    content = data.read_bytes()
    written = [at for at in range(0, len(content), BLOCK) if content[at : at + 4] == b"iocV"]
    descriptor = os.open(data, os.O_RDWR)
    os.pwrite(descriptor, b"\0" * BLOCK, written[1])
    os.pwrite(descriptor, content[written[2] : written[2] + BLOCK], written[5])
    os.pwrite(descriptor, bytes([content[written[9] + 5000] ^ 1]), written[9] + 5000)
    os.pwrite(descriptor, b"\0" * 4096, written[12])
    os.fsync(descriptor)
    os.close(descriptor)
    code, after = verified(tmp_path)
    assert code == 1
    assert {kind: after[kind] for kind in BAD} == {"torn": 1, "lost": 1, "misplaced": 1, "corrupt": 1, "unreadable": 0}
    assert after["intact"] == before["intact"] - 4
    (run,) = (tmp_path / "runs").iterdir()
    card = iocast("report", str(run), cwd=tmp_path).stdout
    assert "The storage did not keep what it acknowledged" in card


def written_since_the_journal(runs: Path, data: Path) -> bool:
    """Whether the work file was written to after the journal of the run began; waits a moment where it was not."""
    journals = list(runs.glob("*/verify/journal.json"))
    if journals and data.stat().st_mtime_ns > journals[0].stat().st_mtime_ns:
        return True
    time.sleep(0.01)
    return False


@pytest.fixture(scope="module")
def laid_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the work file, for kills that fall into the writes that are verified."""
    folder = tmp_path_factory.mktemp("laid-out")
    (folder / "data").mkdir()
    assert iocast("run", job(folder, seconds="100ms"), "data", "--out", "first", cwd=folder).returncode == 0
    return folder / "data"


@pytest.mark.parametrize("moment", range(6))
@pytest.mark.parametrize("more", ["", "fsync_every = 4\n", 'sync = "dsync"\n', 'pattern = "zipf"\ntheta = 1.2\n'])
def test_killed_in_the_midst_of_writes(tmp_path: Path, laid_out: Path, moment: int, more: str) -> None:
    if "zipf" in more:
        text = job(tmp_path, seconds="20s", more=more)
        Path(text).write_text(Path(text).read_text().replace("repeats = false\n", ""))
    else:
        text = job(tmp_path, seconds="20s", more=more)
    words = [*IOCAST, "run", text, str(laid_out), "--out", "runs"]
    process = subprocess.Popen(
        words, cwd=tmp_path, env=environment(), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    try:
        work = laid_out / "iocast-work.0.dat"
        assert any(written_since_the_journal(tmp_path / "runs", work) for _ in range(3000)), "nothing was ever written"
        time.sleep(0.1 + random.Random(f"{moment}{more}").random() * 0.8)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    code, counts = verified(tmp_path)
    assert counts["intact"] > 0, "the kill came too early to test anything"
    assert not any(counts[kind] for kind in BAD), counts
    assert code == 0
    assert verified(tmp_path, "--after-crash")[0] == 0


def test_another_file_in_its_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    assert iocast("run", job(tmp_path), "data", "--out", "runs", cwd=tmp_path).returncode == 0
    data = tmp_path / "data" / "iocast-work.0.dat"
    copy = data.read_bytes()
    data.rename(tmp_path / "data" / "old")
    data.write_bytes(copy)
    (run,) = (tmp_path / "runs").iterdir()
    done = iocast("verify", str(run), cwd=tmp_path)
    assert done.returncode == 2
    assert "it was replaced" in done.stderr


def test_a_run_without_journal_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    path = job(tmp_path)
    Path(path).write_text(Path(path).read_text().replace("verify = true\n", ""))
    assert iocast("run", path, "data", "--out", "runs", cwd=tmp_path).returncode == 0
    (run,) = (tmp_path / "runs").iterdir()
    done = iocast("verify", str(run), cwd=tmp_path)
    assert (done.returncode, "has no journal" in done.stderr) == (2, True)


def test_what_a_later_phase_overwrites_is_forgotten(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    path = job(tmp_path, back=True)
    Path(path).write_text(Path(path).read_text() + '[[phase]]\nwrite = 100\nsize = "8k"\ntime = "200ms"\n')
    done = iocast("run", path, "data", "--out", "runs", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    code, counts = verified(tmp_path)
    assert (code, counts["intact"]) == (0, 0)


def test_the_journal_knows_its_files(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    assert iocast("run", job(tmp_path), "data", "--out", "runs", cwd=tmp_path).returncode == 0
    (run,) = (tmp_path / "runs").iterdir()
    told = read_description(run)
    assert told.block_bytes == BLOCK
    assert [file.size_bytes for file in told.files] == [16 << 20]
    assert (run / "verify" / "journal.bin").stat().st_size == 4096 + 16 * told.entries
    assert sys.byteorder == "little"


def test_a_job_file_of_fio_is_verified(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    path = tmp_path / "job.fio"
    path.write_text(
        "[pages]\nioengine=libaio\nrw=randwrite\nbs=8k\nsize=8m\niodepth=8\nverify=crc32c\nverify_fatal=1\n"
    )
    done = iocast("run", str(path), "data", "--out", "runs", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "verify_fatal has no effect" in done.stderr
    counts = {row["kind"]: row["count"] for row in json.loads(done.stdout)["blocks"]}
    assert counts["intact"] == 1024
    data = tmp_path / "data" / "iocast-work.0.dat"
    with open(data, "r+b") as file:
        file.seek(3 * BLOCK)
        file.write(bytes(BLOCK))
    code, after = verified(tmp_path)
    assert (code, after["lost"], after["intact"]) == (1, 1, 1023)
