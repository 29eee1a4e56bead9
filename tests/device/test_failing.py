"""Storage that fails in the middle of a run: counted, said with its place, ended cleanly, kept."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from makers.command_line import iocast, run_folder, start
from makers.lab import lab, run
from makers.rootly import Mount, command, need

from iocast import archive
from iocast.diagnose.examination import examine
from iocast.model.run import Run
from iocast.observe.target.device_stack import describe

pytestmark = [pytest.mark.device, pytest.mark.alone]
MIB = 1 << 20

JOB = """\
name = "failing"

[files]
size = "16MiB"

[defaults]
time = "{time}"
size = "4k"
pattern = "random"
depth = {depth}

[[phase]]
test = "first"
{more}

[[phase]]
test = "second"
{more}

[[phase]]
test = "third"
{more}
"""


def job(place: Path, more: str = "", time: str = "1s", depth: int = 4) -> Path:
    file = place / "failing.toml"
    file.write_text(JOB.format(more=more, time=time, depth=depth))
    return file


def told(started: subprocess.Popen[str], words: str, within_s: float) -> str:
    """What the process says on stderr until these words are in it, which must be by then."""
    assert started.stderr is not None
    stream, said, until = started.stderr.fileno(), "", time.monotonic() + within_s
    while words not in " ".join(said.split()):
        ready, _, _ = select.select([stream], [], [], max(0.0, until - time.monotonic()))
        assert ready, f"{words!r} was not said in {within_s} s, but: {said}"
        piece = os.read(stream, 1 << 16).decode()
        assert piece, f"it ended without saying {words!r}, but: {said}"
        said += piece
    return said


def begin(place: Path, *words: str | Path, first: bool = True) -> subprocess.Popen[str]:
    """Starts the job and waits until its second phase runs, or its first one: each is told of when it has ended."""
    started = start("run", *words, "--full", "--out", place / "runs", cwd=place, start_new_session=True)
    if first:
        told(started, "first", 60)
        time.sleep(0.3)
    else:
        while not list((place / "runs").glob("*/run.json")):
            time.sleep(0.05)
        time.sleep(1)
    return started


def ended(
    started: subprocess.Popen[str], place: Path, code: int | None, within_s: float, before: str = ""
) -> tuple[str, str, Run]:
    """What it printed, what it said (`before`: what of that is already read), and the run that it kept."""
    out, rest = started.communicate(timeout=within_s)
    errors = before + rest
    wanted = (2 if "stopped by errors" in errors else 0) if code is None else code
    assert started.returncode == wanted, errors
    with pytest.raises(ProcessLookupError):
        os.killpg(started.pid, 0)
    folder = run_folder(place / "runs")
    assert iocast("report", folder, cwd=place).returncode == 0
    return " ".join(out.split()), " ".join(errors.split()), archive.load(str(folder))


def test_bad_blocks_are_counted_with_their_place(tmp_path: Path) -> None:
    with lab(tmp_path / "device", "errors=1MiB..2MiB", exact=False):
        done = iocast("run", job(tmp_path, time="300ms"), "device", "--full", "--out", "runs", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert "EIO on read; the first at byte 1," in said
    assert "kernel's log (dmesg)" in said
    for record in archive.load(str(run_folder(tmp_path / "runs"))).measured:
        (error,) = record.measurement.errors
        assert error.name == "EIO"
        assert all(MIB <= place.offset_bytes < 2 * MIB for place in error.first)


def test_a_full_device(tmp_path: Path) -> None:
    with lab(tmp_path / "device", "errors=32MiB..64MiB", "errno=ENOSPC", exact=False):
        measured = run(tmp_path / "device", op="write", seconds=60.0, ios=2000)
    (error,) = measured.errors
    assert (error.op, error.name) == ("write", "ENOSPC")
    assert measured.ios + error.count == 2000
    assert 0.4 < error.count / 2000 < 0.6


@pytest.mark.parametrize("phases", ["last", "all"])
def test_too_many_errors_are_a_failure_whatever_comes_after(tmp_path: Path, phases: str) -> None:
    """The card is shown, the reason said, and the code is that of what could not be measured."""
    file = job(tmp_path, time="30s")
    if phases == "last":
        region = 'region = {start = "32MiB", size = "16MiB"}'
        text = file.read_text().replace('time = "30s"', 'time = "200ms"\nregion = {start = 0, size = "16MiB"}')
        file.write_text(f'{text}\n[[phase]]\ntest = "fourth"\n{region}\ntime = "30s"\n')
    share = "32MiB..64MiB" if phases == "last" else "60%"
    with lab(tmp_path / "device", f"errors={share}", exact=False):
        done = iocast("run", file, "device", "--full", "--out", "runs", cwd=tmp_path)
    assert done.returncode == 2
    kept = archive.load(str(run_folder(tmp_path / "runs")))
    assert kept.status == "failed"
    stopped = [record.measurement.stopped for record in kept.phases]
    assert stopped == (["finished"] * 3 + ["errors"] if phases == "last" else ["errors"] * 3)
    assert "EIO on read" in done.stdout
    said = " ".join(done.stderr.split())
    assert "error: too many I/O errors: phases ended early: " in said
    assert ("fourth 4k 1x4 after 10," if phases == "last" else "third 4k 1x4 after 10,") in said


def test_a_device_that_vanishes(tmp_path: Path) -> None:
    with lab(tmp_path / "device", "read_latency=1ms", exact=False) as device:
        started = begin(tmp_path, job(tmp_path, time="1s"), "device")
        device.send_signal(signal.SIGKILL)
        device.wait(10)
        said, errors, kept = ended(started, tmp_path, 2, within_s=20)
    assert kept.status == "failed"
    assert [record.measurement.stopped for record in kept.phases] == ["finished", "errors"]
    assert {error.name for error in kept.phases[1].measurement.errors} & {"ENOTCONN", "ECONNABORTED", "errno 103"}
    assert "failed" in said
    assert "error: " in errors


@pytest.mark.parametrize("above", ["a loop device", "a file system on one"])
def test_a_device_that_vanishes_below(tmp_path: Path, attach: Callable[..., str], mounted: Mount, above: str) -> None:
    with lab(tmp_path / "image", exact=False) as device:
        place: str | Path = attach(tmp_path / "image", "--direct-io=on")
        if above == "a file system on one":
            need("mkfs.ext4")
            command("mkfs.ext4", "-q", place)
            place = mounted("here", place)
        started = begin(tmp_path, job(tmp_path, time="1s"), place)
        device.send_signal(signal.SIGKILL)
        device.wait(10)
        said, errors, kept = ended(started, tmp_path, 2, within_s=60)
    assert kept.status == "failed"
    assert kept.measured[0].measurement.stopped == "finished"
    assert {error.name for record in kept.measured for error in record.measurement.errors} == {"EIO"}
    assert "EIO on read" in said
    assert "error: " in errors


def test_results_on_storage_that_vanishes_are_said_to_be_lost(
    tmp_path: Path, attach: Callable[..., str], mounted: Mount
) -> None:
    """Each write of them went to memory and was fine: the run ended with 0, and nothing of it was on the storage."""
    need("mkfs.ext4")
    (tmp_path / "measured").write_bytes(bytes(16 * MIB))
    with lab(tmp_path / "image", exact=False) as device:
        loop = attach(tmp_path / "image", "--direct-io=on")
        command("mkfs.ext4", "-q", loop)
        place = mounted("here", loop)
        started = start("run", job(tmp_path), "measured", "--full", "--out", place / "runs", cwd=tmp_path)
        before = told(started, "first", 60)
        device.send_signal(signal.SIGKILL)
        device.wait(10)
        out, rest = started.communicate(timeout=60)
    assert started.returncode == 2
    assert "third" in out
    said = " ".join((before + rest).split())
    assert re.search(r"error: the results in \S+ are not kept: (Input/output error|Read-only file system)", said), said


@pytest.mark.parametrize(
    "more",
    [
        "",
        'engine = "sync"\ntime = "1000ms"',
        "ios = 20000",
        'ios = 20000\nrate = "5000/s"',
        'bytes = "40MiB"\nburst = 64\nevery = "100ms"',
    ],
    ids=["by time", "in system calls", "by I/Os", "by I/Os at a rate", "by bytes in bursts"],
)
def test_a_device_that_hangs(tmp_path: Path, more: str) -> None:
    """It takes half a minute: so long an I/O is waited for."""
    file = job(tmp_path, more)
    if more:
        file.write_text(file.read_text().replace('time = "1s"\n', ""))
    with lab(tmp_path / "device", "read_latency=200us", exact=False) as device:
        started = begin(tmp_path, file, "device")
        device.send_signal(signal.SIGSTOP)
        try:
            before = ""
            if "sync" in more:
                # Threads in pread are held by the kernel until the device answers: the process can end only then.
                before = told(started, "does not respond", 60)
                device.send_signal(signal.SIGCONT)
            said, errors, kept = ended(started, tmp_path, 2, 60, before)
        finally:
            device.send_signal(signal.SIGCONT)
    assert len(kept.phases) == 2
    measured = kept.phases[1].measurement
    assert (kept.status, measured.stopped, measured.abandoned_ios) == ("failed", "hung", 4)
    assert f"{tmp_path}/device does not respond: 4 I/Os of second" in errors
    assert measured.ios > 100  # what came before is not lost, though the kernel holds the threads that counted it
    assert len(measured.left_behind) == 4
    longest = measured.left_behind[0]
    assert 25e9 < longest.service_ns < 45e9
    assert "4 I/Os never completed before iocast gave up waiting; outstanding for " in said
    assert f"a read of 4,096 bytes at byte {longest.offset_bytes:,} of {tmp_path}/device" in said
    assert any(finding.code == "hung" for finding in examine(kept).findings)


def test_what_hangs_in_system_calls_is_kept_after_ctrl_c(tmp_path: Path) -> None:
    """The kernel holds every thread that counts: what they counted is reached from outside."""
    with lab(tmp_path / "device", "read_latency=200us", exact=False) as device:
        started = begin(tmp_path, job(tmp_path, 'engine = "sync"', time="30s"), "device", first=False)
        device.send_signal(signal.SIGSTOP)
        try:
            time.sleep(1)
            started.send_signal(signal.SIGINT)
            before = told(started, "stopped: 1 of 3 rows", 20)
            device.send_signal(signal.SIGCONT)  # threads in pread are held until the device answers
            said, _errors, kept = ended(started, tmp_path, 130, 60, before)
        finally:
            device.send_signal(signal.SIGCONT)
    measured = kept.phases[0].measurement
    assert (kept.status, measured.stopped, measured.abandoned_ios) == ("interrupted", "interrupted", 4)
    assert measured.ios > 100
    assert [outstanding.service_ns > 1_000_000_000 for outstanding in measured.left_behind] == [True] * 4
    assert "first" in said


def test_what_was_overwritten_is_kept_though_nothing_came_back(tmp_path: Path, attach: Callable[..., str]) -> None:
    file = job(tmp_path, 'engine = "sync"\nwrite = 100', time="30s")
    with lab(tmp_path / "image", "write_latency=8s", exact=False):
        loop = attach(tmp_path / "image", "--direct-io=on")
        identity = describe(loop).identity
        assert identity is not None
        started = begin(tmp_path, file, loop, "--destroy", identity.name, first=False)
        (folder,) = (tmp_path / "runs").glob("*")
        lost = f"This run overwrote {loop} ({identity.name}): its previous contents are lost"
        assert lost in archive.load(str(folder)).warnings  # before anything has been written
        started.send_signal(signal.SIGINT)
        before = told(started, "stopped: no row was finished", 20)
        said, _errors, kept = ended(started, tmp_path, 130, 60, before)
    assert (kept.status, kept.phases) == ("interrupted", ())
    assert lost in kept.warnings
    assert lost in said


def test_a_run_with_failed_ios_is_no_repeat_of_a_study(tmp_path: Path) -> None:
    """A device that vanished near the end of a row had a figure for good: its run counted as complete."""
    study = (
        'name = "failing"\nrepeats = 1\n[defaults]\ntime = "200ms"\nsize = "4k"\npattern = "random"\n[axis.op.read]\n'
    )
    (tmp_path / "study.toml").write_text(study)
    words = ("study", "study.toml", "device", "--out", "out")
    with lab(tmp_path / "device", "errors=1MiB..2MiB", exact=False):
        failed = iocast(*words, cwd=tmp_path)
        (run_of_cell,) = archive.load(str(run_folder(tmp_path / "out/measured/read"))).measured
        assert run_of_cell.measurement.ios > 0 < run_of_cell.measurement.error_count
    assert "failed: the run does not count" in " ".join(failed.stderr.split())
    assert "incomplete: 0 of 1" in failed.stdout
    with lab(tmp_path / "device", exact=False):
        again = iocast(*words, cwd=tmp_path)
    assert "measured is complete: " in again.stdout


def test_a_loop_whose_file_is_cut_short(tmp_path: Path, attach: Callable[..., str]) -> None:
    image = tmp_path / "image"
    image.write_bytes(os.urandom(16 * MIB))
    device = attach(image)
    started = begin(tmp_path, job(tmp_path), device)
    os.truncate(image, 8 * MIB)
    # A quick machine reaches the limit of errors of a row, a slow one the end of its time.
    said, _, kept = ended(started, tmp_path, None, within_s=20)
    assert "EIO on read" in said
    assert all(
        place.offset_bytes >= 8 * MIB - 4096
        for record in kept.measured
        for error in record.measurement.errors
        for place in error.first
    )


def test_a_file_system_that_turns_read_only(tmp_path: Path, attach: Callable[..., str], mounted: Mount) -> None:
    need("mkfs.ext4")
    image = tmp_path / "image"
    image.write_bytes(b"")
    os.truncate(image, 64 * MIB)
    command("mkfs.ext4", "-q", image)
    device = attach(image)
    place = mounted("here", "-o", "errors=remount-ro", device)
    trigger = Path(f"/sys/fs/ext4/{device[5:]}/trigger_fs_error")
    if not trigger.exists():
        pytest.skip("this kernel's ext4 cannot be told to fail")
    started = begin(tmp_path, job(tmp_path, "write = 100", time="2s"), place)
    trigger.write_text("1")
    said, errors, kept = ended(started, tmp_path, 2, within_s=30)
    assert "EROFS on write" in said
    assert "error: " in errors
    assert kept.status == "failed"
    assert kept.phases[-1].measurement.error_count
