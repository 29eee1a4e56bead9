"""Named experiments on real files and devices, quickly: what is known of each is found."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from makers.command_line import IOCAST, environment, run_folder
from makers.command_line import in_own_process as iocast  # experiments mount and attach for one process
from makers.rootly import Mount, command, need

pytestmark = pytest.mark.alone

SHORT = ("--no-page", "--out", "runs", "--json")


def _table(report: dict[str, Any]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = report["experiment"]
    return rows


def _experiment(cwd: Path, *words: object) -> dict[str, Any]:
    done = iocast("experiment", *map(str, words), *SHORT, cwd=cwd)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def _image(tmp_path: Path, attach: Callable[..., str], size_mib: int = 96) -> str:
    """A loop device over a written file, past the page cache."""
    image = tmp_path / "image"
    with image.open("wb") as file:
        for _ in range(size_mib):
            file.write(os.urandom(1 << 20))
        os.fsync(file.fileno())
    return attach(image, "--direct-io=on")


def test_buffered_reads_of_a_file_come_from_memory(tmp_path: Path, mounted: Mount, attach: Callable[..., str]) -> None:
    device = _image(tmp_path, attach)
    command("mkfs.ext4", "-q", "-E", "nodiscard", device)
    place = mounted("ext4", device)
    found = _experiment(tmp_path, "cache", place, "--size", "32MiB", "--time", "200ms")
    assert found["answer"] == "confirmed"
    rows = {cells["test"]: cells for cells in _table(found)}
    assert rows["read buffered"]["device_share"] <= 0.05
    assert rows["read direct"]["device_share"] >= 0.95


def test_holes_of_a_file_are_answered_without_the_device(
    tmp_path: Path, mounted: Mount, attach: Callable[..., str]
) -> None:
    device = _image(tmp_path, attach)
    command("mkfs.ext4", "-q", "-E", "nodiscard", device)
    place = mounted("ext4", device)
    found = _experiment(tmp_path, "holes", place, "--size", "32MiB", "--time", "300ms")
    rows = {cells["test"]: cells for cells in _table(found)}
    assert rows["never written"]["device_share"] < 0.05
    assert rows["written"]["device_share"] > 0.9
    assert rows["never written"]["p50_ns"] < rows["written"]["p50_ns"]


def test_requests_larger_than_the_queue_allows_are_cut(tmp_path: Path, attach: Callable[..., str]) -> None:
    device = _image(tmp_path, attach)
    limit = Path(f"/sys/block/{Path(device).name}/queue/max_sectors_kb")
    try:
        limit.write_text("64")
    except OSError as error:
        pytest.skip(f"max_sectors_kb cannot be set: {error}")
    found = _experiment(tmp_path, "request-size", device, "--time", "100ms")
    rows = {cells["test"]: cells for cells in _table(found)}
    assert found["answer"] == "confirmed"
    assert rows["read 1.0 MiB direct"]["verdict"] == "fragmentation"
    assert rows["read 1.0 MiB direct"]["device_bytes"] == pytest.approx(65536, rel=0.05)
    assert rows["read 16.0 KiB direct"]["verdict"] == "as sent"
    assert not any(name.startswith("write") for name in rows)


def test_zeros_are_quicker_on_zram(tmp_path: Path, mounted: Mount) -> None:
    need("zramctl", "mkfs.ext4")
    device = command("zramctl", "--find", "--size", "128M")
    try:
        command("mkfs.ext4", "-q", device)
        place = mounted("zram", device)
        found = _experiment(tmp_path, "payload", place, "--size", "32MiB", "--time", "200ms")
        rows = {cells["test"]: cells for cells in _table(found)}
        assert rows["zeros"]["times"] > 1.2
        subprocess.run(["umount", str(place)], check=True)
        command("mount", "-t", "tmpfs", "none", place)  # for the fixture to take away
    finally:
        subprocess.run(["zramctl", "--reset", device], check=False, capture_output=True)


def test_a_matrix_on_two_file_systems_leaves_nothing_behind(tmp_path: Path) -> None:
    need("losetup", "mount", "umount", "mkfs.ext4", "mkfs.ext2", "wipefs")
    words = ("dio-matrix", ".", "--filesystems", "raw,ext2,ext4", "--size", "32MiB", "--time", "200ms")
    found = _experiment(tmp_path, *words)
    rows = _table(found)
    assert {cells["where"] for cells in rows} == {"raw", "ext2", "ext4"}
    assert {cells["test"] for cells in rows if cells["where"] == "ext4"} == {"overwrite", "allocating", "extending"}
    assert all(cells["device"] is not None and cells["requested"] == 8 for cells in rows)
    assert {(cells["by"], cells["tasks"]) for cells in rows} == {("threads", 8), ("ring", 1)}
    assert [each.name for each in tmp_path.iterdir()] == ["runs"]
    attached = command("losetup", "--list", "--noheadings", "--output", "BACK-FILE")
    assert str(tmp_path) not in attached
    assert str(tmp_path) not in Path("/proc/self/mounts").read_text()
    folder = run_folder(tmp_path / "runs")
    assert len(list((folder / "experiments").iterdir())) == 2


def _loops_over(directory: Path) -> list[str]:
    """What loop devices have below a directory. A file that is gone is told as deleted."""
    found = (path.read_text().strip() for path in Path("/sys/block").glob("loop*/loop/backing_file"))
    return [file for file in found if file.startswith(str(directory))]


def _within(seconds: float, done: Callable[[], bool]) -> bool:
    until = time.monotonic() + seconds
    while not done() and time.monotonic() < until:
        time.sleep(0.02)
    return done()


def test_a_matrix_that_is_killed_leaves_no_mount_and_no_loop_device(tmp_path: Path) -> None:
    need("losetup", "mount", "umount", "mkfs.ext4", "wipefs")
    words = ("experiment", "dio-matrix", ".", "--filesystems", "ext4", "--size", "32MiB", "--time", "20s", *SHORT)
    started = subprocess.Popen(
        [*IOCAST, *words], cwd=tmp_path, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    place = str(tmp_path / "iocast-work.mount")

    def measuring() -> bool:
        """Its file system is mounted, where it sees it, and work files are being laid out or worked on."""
        seen = Path(f"/proc/{started.pid}/mounts").read_text() if started.poll() is None else ""
        return place in seen and any(Path(f"/proc/{started.pid}/root{place}").glob("iocast-work.0.dat"))

    try:
        assert _within(60, measuring)
        assert _loops_over(tmp_path)
        assert place not in Path("/proc/self/mounts").read_text()  # it mounted for itself alone
    finally:
        started.kill()
        started.wait(timeout=30)
    assert _within(20, lambda: not _loops_over(tmp_path))
    assert place not in Path("/proc/self/mounts").read_text()
    done = iocast("clean", ".", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "removed iocast-work.image.dat" in done.stdout
    assert "removed iocast-work.mount" in done.stdout
    assert [each.name for each in tmp_path.iterdir() if each.name != "runs"] == []


def test_a_matrix_that_fails_on_its_way_leaves_nothing_behind(tmp_path: Path) -> None:
    need("losetup", "mount", "umount", "mkfs.ext4", "wipefs")
    done = iocast("experiment", "dio-matrix", ".", "--filesystems", "ext4", "--size", "4GiB", *SHORT, cwd=tmp_path)
    assert done.returncode == 2
    assert "does not fit" in done.stderr
    assert list(tmp_path.iterdir()) == []
    assert str(tmp_path) not in command("losetup", "--list", "--noheadings", "--output", "BACK-FILE")
    assert str(tmp_path) not in Path("/proc/self/mounts").read_text()


def test_all_that_was_written_is_there(tmp_path: Path) -> None:
    found = _experiment(tmp_path, "verify", ".", "--size", "16MiB", "--time", "300ms")
    assert found["answer"] == "rejected"
    counts = {cells["what"]: cells["count"] for cells in _table(found)}
    assert counts["read back"] > 0
    assert counts["torn"] == counts["lost"] == 0


def test_noise_writes_in_place(tmp_path: Path) -> None:
    iocast("experiment", "noise", ".", "--size", "32MiB", "--time", "100ms", "--rounds", "1", *SHORT, cwd=tmp_path)
    work = tmp_path / "iocast-work.0.dat"
    before = work.stat()
    iocast("experiment", "noise", ".", "--size", "32MiB", "--time", "100ms", "--rounds", "1", *SHORT, cwd=tmp_path)
    after = work.stat()
    assert (before.st_ino, before.st_size) == (after.st_ino, after.st_size)
    assert after.st_blocks * 512 >= 32 << 20
