"""Block-device counters: the three lengths of lines, and real reads seen by a real device."""

from __future__ import annotations

import mmap
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iocast.model.run import Sample
from iocast.model.target import Layer, Target
from iocast.observe import diskstats
from iocast.observe.observer import BlindError
from iocast.observe.target.device_stack import describe
from iocast.tools.kernel import disk_counters

TEXT = """\
   8       0 sda 100 5 2000 30 200 6 4000 50 3 70 80
   8      16 sdb 101 5 2000 30 200 6 4000 50 3 70 80 9 1 16 2
 259       0 nvme0n1 102 5 2000 30 200 6 4000 50 3 70 80 9 1 16 2 44 55
 104       0 cciss/c0d0 103 0 0 0 0 0 0 0 0 0 0
   8       1 sda1 1 2 3 4
"""


def test_lines_of_three_generations_of_kernels() -> None:
    found = disk_counters.parse_diskstats(TEXT)
    assert list(found) == ["sda", "sdb", "nvme0n1", "cciss/c0d0"]
    assert [len(counters) for counters in found.values()] == [11, 15, 17, 11]
    assert found["nvme0n1"] == {
        "reads": 102,
        "reads_merged": 5,
        "read_bytes": 2000 * 512,
        "read_ns": 30_000_000,
        "writes": 200,
        "writes_merged": 6,
        "written_bytes": 4000 * 512,
        "write_ns": 50_000_000,
        "in_flight": 3,
        "busy_ns": 70_000_000,
        "queue_ns": 80_000_000,
        "discards": 9,
        "discards_merged": 1,
        "discarded_bytes": 16 * 512,
        "discard_ns": 2_000_000,
        "flushes": 44,
        "flush_ns": 55_000_000,
    }


@given(st.lists(st.integers(0, 2**63), min_size=11, max_size=40))
def test_fields_that_later_kernels_add_do_not_disturb(numbers: list[int]) -> None:
    found = disk_counters.parse_counters([str(number) for number in numbers])
    assert next(iter(found.values())) == numbers[0]
    assert found["read_bytes"] == numbers[2] * 512
    assert len(found) == min(len(numbers), 17)


@pytest.mark.parametrize("text", ["", "1 2 3 4", "a b c d e f g h i j k"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"fields|invalid"):
        disk_counters.parse_counters(text.split())


def read_direct(path: str, count: int, size_bytes: int) -> None:
    fd = os.open(path, os.O_RDONLY | os.O_DIRECT)
    with mmap.mmap(-1, size_bytes) as page:
        for index in range(count):
            assert os.preadv(fd, [page], index * size_bytes) == size_bytes
    os.close(fd)


def by_metric(samples: list[Sample], subject: str) -> dict[str, float]:
    return {sample.metric: sample.value for sample in samples if sample.subject == subject}


@pytest.mark.device
def test_direct_reads_arrive_in_the_counters(loop_mount: tuple[str, Path, Path]) -> None:
    device, _, point = loop_mount
    file = point / "data"
    file.write_bytes(os.urandom(4 << 20))
    fd = os.open(file, os.O_RDONLY)
    os.fsync(fd)
    os.close(fd)
    name = os.path.basename(device)
    with diskstats.Observer(describe(str(point)), ()) as observer:
        first = by_metric(observer.sample(), name)
        read_direct(str(file), 64, 65536)
        last = by_metric(observer.sample(), name)
    assert last["reads"] - first["reads"] + last["reads_merged"] - first["reads_merged"] >= 64
    assert last["read_bytes"] - first["read_bytes"] == 4 << 20
    assert last["busy_ns"] >= first["busy_ns"]


@pytest.mark.device
def test_every_layer_of_this_directory_is_counted(tmp_path: Path) -> None:
    target = describe(str(tmp_path))
    if not target.layers:
        pytest.skip("no block device below the temporary folder")
    with diskstats.Observer(target, ()) as observer:
        samples = observer.sample()
    assert {sample.subject for sample in samples} == {layer.name for layer in target.layers}
    assert len({sample.time_ns for sample in samples}) == 1


def test_without_a_device_it_is_blind() -> None:
    with pytest.raises(BlindError, match="no block device"):
        diskstats.Observer(Target(path="sim:hdd", kind="sim"), ()).__enter__()


def test_a_device_that_is_not_in_sysfs_is_looked_for_in_diskstats() -> None:
    gone = Layer(name="nosuch", kind="disk", major=4000, minor=77)
    with (
        diskstats.Observer(Target(path="/x", kind="block", layers=(gone,)), ()) as observer,
        pytest.raises(BlindError, match="nosuch"),
    ):
        observer.sample()


def test_devices_that_are_not_counted_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    layers = tuple(Layer(name=name, kind="disk", major=0, minor=0) for name in ("a", "b"))
    monkeypatch.setattr(diskstats, "_is_counted", lambda layer: False)
    with pytest.raises(BlindError, match="a, b"):
        diskstats.Observer(Target(path="/x", kind="block", layers=layers), ()).__enter__()
