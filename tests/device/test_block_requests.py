"""Requests of a real device: all are counted, lost ones are told, and no tracing instance outlives its process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from makers.lab import SIZE_BYTES, run
from makers.rootly import command, need

from iocast import _core
from iocast.model.block_times import DeviceNumber
from iocast.observe.target.whole_disk import find_device

pytestmark = pytest.mark.alone

INSTANCES = Path("/sys/kernel/tracing/instances")


@contextmanager
def watching(device: DeviceNumber | None = None, **options: object) -> Iterator[_core.BlkWatch]:
    """A watch; the test is skipped where this machine has no tracing for us."""
    devices = [{"major": device.major, "minor": device.minor}] if device else []
    try:
        watch = _core.BlkWatch(json.dumps({"devices": devices, **options}))
    except _core.CoreError as error:
        pytest.skip(str(error.args[0]))
    try:
        yield watch
    finally:
        watch.stop()


def seen(watch: _core.BlkWatch, op: str) -> tuple[int, dict[str, Any]]:
    """Requests of an operation, and the whole snapshot."""
    found = json.loads(watch.snapshot())
    classes = [each for device in found["devices"] for each in device["classes"] if each["op"] == op]
    return sum(each["ios"] for each in classes), found


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[str]:
    """A loop device of random bytes, which only this test uses."""
    need("losetup")
    image = tmp_path / "image"
    image.write_bytes(os.urandom(SIZE_BYTES))
    device = command("losetup", "--find", "--show", image)
    yield device
    subprocess.run(["losetup", "--detach", device], check=True)


def counted(name: str) -> tuple[int, int]:
    """Reads and writes of a device since boot, as the kernel counts them."""
    words = Path(f"/sys/class/block/{name}/stat").read_text().split()
    return int(words[0]), int(words[4])


@pytest.mark.parametrize(("op", "depth"), [("read", 1), ("read", 16), ("write", 8)])
def test_every_request_is_counted(loop: str, op: str, depth: int) -> None:
    number, name = find_device(loop)
    with watching(number) as watch:
        seen(watch, op)
        before = counted(name)
        did = run(Path(loop), op=op, depth=depth, seconds=5.0, ios=5000)  # type: ignore[arg-type]
        found, whole = seen(watch, op)
        after = counted(name)
    said = after[op == "write"] - before[op == "write"]
    assert did.ios == 5000
    assert (whole["lost_events"], whole["watched_ns"] > 0) == (0, True)
    assert abs(found - said) <= said * 0.01, (found, said)
    device = next(each for each in whole["devices"] if each["device"]["minor"] == number.minor)
    times = [each["device"] for each in device["classes"] if each["op"] == op]
    # The device cannot have had a request for longer than the engine waited for it.
    assert sum(each["sum_ns"] for each in times) <= did.in_flight_ns * 1.01
    assert device["in_flight"] == 0


def test_a_filter_leaves_other_sizes_out(loop: str) -> None:
    number, _ = find_device(loop)
    with watching(number, size_bytes=8192, ops=["read"]) as watch:
        run(Path(loop), size_bytes=8192, ios=300)
        run(Path(loop), size_bytes=1 << 20, ios=20)
        found, whole = seen(watch, "read")
    assert found == 300
    assert {each["size_bytes"] for device in whole["devices"] for each in device["classes"]} == {8192}


def test_what_the_rings_could_not_hold_is_told(loop: str) -> None:
    number, _ = find_device(loop)
    with watching(number, ring_kb=1) as watch:
        total = sum(run(Path(loop), depth=32, ios=20_000).ios for _ in range(3))
        found, whole = seen(watch, "read")
    if found >= total:
        pytest.skip("the reader was always in time: nothing was lost")
    assert whole["lost_events"] > 0


def test_an_instance_is_gone_with_its_watch_and_a_killed_one_with_the_next() -> None:
    with watching():
        pass
    program = (
        "import sys,time; from iocast import _core; w=_core.BlkWatch('{}'); print('on',flush=True); time.sleep(60)"
    )
    killed = subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert killed.stdout is not None
    assert killed.stdout.readline() == b"on\n"
    if not INSTANCES.is_dir():
        killed.kill()
        pytest.skip("tracefs is not mounted where others see it")
    (left,) = INSTANCES.glob(f"iocast-{killed.pid}-*")
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert left.is_dir()
    theirs = INSTANCES / f"iocast-{killed.pid}-nightly-audit"
    theirs.mkdir()
    try:
        with watching():
            assert not left.exists()
        assert theirs.is_dir(), "a name says nothing of who made it"
    finally:
        theirs.rmdir()
    with watching():
        assert list(INSTANCES.glob(f"iocast-{os.getpid()}-*"))
    assert not list(INSTANCES.glob(f"iocast-{os.getpid()}-*"))
