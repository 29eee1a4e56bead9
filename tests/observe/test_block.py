"""The watch on block requests where it cannot see, and devices by the names that people use."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import ClassVar

import msgspec
import pytest

from iocast import _core
from iocast.errors import TargetError
from iocast.model.block_times import BlockTimes, DeviceNumber
from iocast.model.target import Layer, Target
from iocast.observe import block
from iocast.observe.observer import BlindError, Timing
from iocast.observe.target.whole_disk import find_device, name_of


def test_it_is_blind_without_a_device_and_on_one_that_handles_bios() -> None:
    with pytest.raises(BlindError, match="no block device"):
        block.Observer(Target(path="/x", kind="directory"), ()).__enter__()
    nothing = Layer(name="dm-9", kind="lvm", major=4095, minor=9)
    with pytest.raises(BlindError, match=r"no layer of the target is request-based \(dm-9\)"):
        block.Observer(Target(path="/x", kind="directory", layers=(nothing,)), ()).__enter__()


def test_it_is_one_that_keeps_histograms() -> None:
    assert isinstance(block.Observer(Target(path="/x", kind="directory"), ()), Timing)


class _Tracing:
    """Stands in for the core's watch; `failing` fails when it is read."""

    made: ClassVar[list[_Tracing]] = []
    failing = False

    def __init__(self, wanted: str) -> None:
        self.did: list[str] = []
        self.made.append(self)

    def snapshot(self) -> bytes:
        self.did.append("read")
        if self.failing:
            raise _core.CoreError("the ring is gone", "")
        return msgspec.json.encode(BlockTimes(elapsed_ns=0, watched_ns=0))

    def stop(self) -> None:
        self.did.append("stopped")


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Target:
    monkeypatch.setattr(_Tracing, "made", [])
    monkeypatch.setattr(_Tracing, "failing", False)
    monkeypatch.setattr(block._core, "BlkWatch", _Tracing)
    monkeypatch.setattr(block, "_has_requests", lambda _: True)
    return Target(path="/x", kind="directory", layers=(Layer(name="sda", kind="disk", major=8, minor=0),))


def _phase(target: Target) -> None:
    with block.Observer(target, ()) as observer:
        observer.times()


def test_one_watch_serves_all_phases_and_ends_with_the_run(disk: Target) -> None:
    with block.kept_between_phases():
        for _ in range(3):
            _phase(disk)
        (watch,) = _Tracing.made
        assert watch.did == ["read"] * 5  # what was between two phases is read, and belongs to none
    assert watch.did[5:] == ["stopped"]
    _phase(disk)
    assert _Tracing.made[1].did == ["read", "stopped"]


def test_a_watch_that_failed_is_not_kept(disk: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    with block.kept_between_phases():
        monkeypatch.setattr(_Tracing, "failing", True)
        with pytest.raises(BlindError, match="the ring is gone"):
            _phase(disk)
        monkeypatch.setattr(_Tracing, "failing", False)
        _phase(disk)
        monkeypatch.setattr(_Tracing, "failing", True)  # between two phases
        block.Observer(disk, ()).__enter__()
        assert [watch.did[-1] for watch in _Tracing.made[:2]] == ["stopped", "stopped"]
        assert len(_Tracing.made) == 3


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become somebody else")
def test_who_may_not_trace_is_told_who_may() -> None:
    program = (
        "import os; os.setgid(65534); os.setuid(65534)\n"
        "from iocast import _core\n"
        "try: _core.BlkWatch('{}')\n"
        "except _core.CoreError as error: print(error.args)\n"
    )
    path = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, "-c", "import iocast._core\n" + program],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert "block tracepoints: " in done.stdout
    assert "run as root" in done.stdout


def test_options_that_are_none_are_refused() -> None:
    with pytest.raises(_core.CoreError, match="unknown field"):
        _core.BlkWatch('{"device": []}')


def _device(root: Path, name: str, number: str, *, queues: bool = True, slaves: tuple[str, ...] = ()) -> Path:
    place = root / "sys/devices" / name
    (place / "slaves").mkdir(parents=True)
    if queues:
        (place / "mq").mkdir()
    for slave in slaves:
        (place / "slaves" / slave).mkdir()
    (place / "dev").write_text(number + "\n")
    for folder, link in (("sys/class/block", name), ("sys/dev/block", number)):
        (root / folder).mkdir(parents=True, exist_ok=True)
        (root / folder / link).symlink_to(place)
    return place


def test_a_device_by_name_by_number_and_by_its_partition(tmp_path: Path) -> None:
    disk = _device(tmp_path, "sda", "8:0")
    part = disk / "sda1"
    part.mkdir()
    (part / "partition").write_text("1\n")
    (tmp_path / "sys/class/block/sda1").symlink_to(part)
    for name in ("sda", "8:0", "8,0", "sda1"):
        assert find_device(name, tmp_path) == (DeviceNumber(8, 0), "sda")
    assert name_of(DeviceNumber(8, 0), tmp_path) == "sda"
    assert name_of(DeviceNumber(9, 9), tmp_path) == "9:9"


def test_what_has_no_requests_names_what_lies_below(tmp_path: Path) -> None:
    _device(tmp_path, "dm-0", "253:0", queues=False, slaves=("sda", "sdb"))
    with pytest.raises(TargetError, match="dm-0 is bio-based") as refused:
        find_device("dm-0", tmp_path)
    assert refused.value.hint == "trace the devices below it: sda sdb"
    for name in ("nix", "/dev/nix", "9:9"):
        with pytest.raises(TargetError, match=r"block device \S+ does not exist"):
            find_device(name, tmp_path)
