"""The lab device is what it was told to be, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest
from makers.lab import SIZE_BYTES, hold, lab, near, need_lab, run
from makers.lab_process import PROGRAM

from iocast.model.workload import Sequential

pytestmark = [pytest.mark.device, pytest.mark.alone]

US = 1_000
EXTENT_BYTES = 64 << 10
EXTENTS = SIZE_BYTES // EXTENT_BYTES


def mounts(path: Path) -> int:
    return sum(line.split()[1] == str(path) for line in Path("/proc/mounts").read_text().splitlines())


def gone(path: Path) -> bool:
    """Within five seconds."""
    for _ in range(500):
        if not mounts(path) and not os.path.lexists(path):
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize(("told_us", "depth"), [(200, 1), (500, 1), (500, 8), (1000, 1), (1000, 8), (1000, 32)])
def test_a_read_takes_as_long_as_told(tmp_path: Path, told_us: int, depth: int) -> None:
    with lab(tmp_path / "device", f"read_latency={told_us}us") as device:

        def attempt() -> tuple[bool, str]:
            p50 = run(tmp_path / "device", depth=depth).response().quantile_ns(0.5) / US
            return near(p50, told_us), f"p50 {p50:.1f} us"

        hold(attempt, device)


@pytest.mark.parametrize("depth", [8, 32])
def test_the_rate_cap_holds_at_any_depth(tmp_path: Path, depth: int) -> None:
    with lab(tmp_path / "device", "iops=5000/s") as device:

        def attempt() -> tuple[bool, str]:
            rate = run(tmp_path / "device", depth=depth).rate_per_s
            return near(rate, 5000), f"{rate:.0f}/s"

        hold(attempt, device)


@pytest.mark.parametrize("size_bytes", [4 << 10, 64 << 10, 1 << 20])
def test_the_bandwidth_cap_counts_bytes(tmp_path: Path, size_bytes: int) -> None:
    with lab(tmp_path / "device", "bandwidth=50MB/s") as device:

        def attempt() -> tuple[bool, str]:
            rate = run(tmp_path / "device", depth=4, size_bytes=size_bytes, seconds=1.5).bytes_per_s
            return near(rate, 50e6), f"{rate / 1e6:.1f} MB/s"

        hold(attempt, device)


def test_hits_are_a_mode_of_their_own(tmp_path: Path) -> None:
    with lab(tmp_path / "device", "read_latency=5ms", "hit=80%:400us") as device:

        def attempt() -> tuple[bool, str]:
            response = run(tmp_path / "device", depth=8, seconds=1.5).response()
            p50, p95 = response.quantile_ns(0.5) / US, response.quantile_ns(0.95) / US
            hits = response.count_up_to(2000 * US) / response.total
            return near(p50, 400) and near(p95, 5000) and near(hits, 0.8), f"p50 {p50:.0f} p95 {p95:.0f} us, {hits:.1%}"

        hold(attempt, device)


def test_the_first_pass_of_writes_costs_more_than_the_second(tmp_path: Path) -> None:
    with lab(tmp_path / "device", "write_latency=500us", "first_write=2ms") as device:
        # A first pass cannot be repeated on the same device: only the second may be tried again.
        medians = [one_pass(tmp_path / "device", "write") for _ in range(2)]
        assert 2400 < medians[0] < 5000

        def attempt() -> tuple[bool, str]:
            second = one_pass(tmp_path / "device", "write")
            # To take the data of a write of 64 KiB out of the client is part of no latency.
            return near(second, 500, 0.15), f"{medians[0]:.0f}, then {second:.0f} us"

        hold(attempt, device)


def test_an_extent_read_before_is_in_the_fast_tier(tmp_path: Path) -> None:
    with lab(tmp_path / "device", "read_latency=2ms", "tier=500us") as device:
        first = one_pass(tmp_path / "device", "read")
        assert 1900 < first < 4000

        def attempt() -> tuple[bool, str]:
            second = one_pass(tmp_path / "device", "read")
            return near(second, 500, 0.15), f"{first:.0f}, then {second:.0f} us"

        hold(attempt, device)


def one_pass(path: Path, op: str) -> float:
    """Median time in us of one I/O on each extent in order."""
    measured = run(path, op="write" if op == "write" else "read", size_bytes=EXTENT_BYTES, seconds=60.0, ios=EXTENTS,
                   locality=Sequential())  # fmt: skip
    return measured.response().quantile_ns(0.5) / US


def test_an_fsync_has_its_own_time(tmp_path: Path) -> None:
    with lab(tmp_path / "device", "fsync=5ms") as device:

        def attempt() -> tuple[bool, str]:
            measured = run(tmp_path / "device", op="write", fsync_every=1)
            sync, write = (measured.response(op).quantile_ns(0.5) / US for op in ("fsync", "write"))
            return near(sync, 5000) and write < 1000, f"fsync {sync:.0f} us, write {write:.0f} us"

        hold(attempt, device)


def test_errors_are_exactly_where_they_were_told(tmp_path: Path) -> None:
    with lab(tmp_path / "device", "errors=1MiB..2MiB"):
        measured = run(
            tmp_path / "device", size_bytes=EXTENT_BYTES, depth=4, seconds=60.0, ios=EXTENTS, locality=Sequential()
        )
        assert [(error.name, error.count) for error in measured.errors] == [("EIO", 16)]
        assert all(1 << 20 <= place.offset_bytes < 2 << 20 for place in measured.errors[0].first)
        assert measured.ios == EXTENTS - 16


def test_what_was_written_is_read_again(tmp_path: Path) -> None:
    with lab(tmp_path / "device"):
        data = os.urandom(3 << 20)
        with open(tmp_path / "device", "r+b", buffering=0) as file:
            file.seek(SIZE_BYTES - len(data))
            assert file.write(data) == len(data)
            os.fsync(file.fileno())
            os.posix_fallocate(file.fileno(), 0, SIZE_BYTES)
        with open(tmp_path / "device", "rb", buffering=0) as file:
            assert file.read(4096) == bytes(4096)
            file.seek(SIZE_BYTES - len(data))
            assert file.read() == data
            assert file.read(1) == b""
        with open(tmp_path / "device", "r+b", buffering=0) as file, pytest.raises(OSError, match="No space left"):
            os.pwrite(file.fileno(), b"x", SIZE_BYTES)


@pytest.mark.parametrize("kind", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL], ids=lambda kind: kind.name)
def test_no_mount_is_left_behind(tmp_path: Path, kind: signal.Signals) -> None:
    path = tmp_path / "device"
    with lab(path) as device:
        assert mounts(path) == 1
        user = os.open(path, os.O_RDONLY)  # in use: nobody may hold it up
        device.send_signal(kind)
        assert gone(path)
        with pytest.raises(OSError, match=r"not connected|abort"):
            os.read(user, 1)
        with suppress(OSError):
            os.close(user)
        assert device.wait(10) == (-signal.SIGKILL if kind == signal.SIGKILL else 0)


def test_a_file_that_was_there_stays(tmp_path: Path) -> None:
    path = tmp_path / "device"
    path.write_text("mine")
    with lab(path):
        assert path.stat().st_size == SIZE_BYTES
    assert path.read_text() == "mine"


def test_an_unmount_ends_it(tmp_path: Path) -> None:
    with lab(tmp_path / "device") as device:
        subprocess.run(["umount", str(tmp_path / "device")], check=True)
        assert device.wait(10) == 0
    assert gone(tmp_path / "device")


def test_a_mistake_is_refused_with_the_way_out(tmp_path: Path) -> None:
    need_lab()
    done = subprocess.run([PROGRAM, tmp_path / "device", "latency=1"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "unknown option latency\nhint: --help lists all options\n"
    assert not (tmp_path / "device").exists()
