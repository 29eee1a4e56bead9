"""Layers of a real device: every call, bio and request is counted, a cap stands above the driver, losses are told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from makers.lab import run
from makers.reading_child import child
from makers.rootly import command, need

from iocast import _core, metrics
from iocast.analyse.live.layer_times import LayerTimes, layer_times
from iocast.diagnose.live.layers_verdict import verdict
from iocast.model.run import Sample
from iocast.model.view import View, views
from iocast.observe import Watch
from iocast.observe.live import kernel_layers, live_observers
from iocast.observe.live.watched import Watched
from iocast.observe.target.device_stack import describe
from iocast.observe.target.whole_disk import find_device

pytestmark = pytest.mark.alone

READS, SYNCS = 3000, 40
SIZE_BYTES = 64 << 20
CAP_PER_S = 150
THROTTLE = Path("/sys/fs/cgroup/blkio")
SECOND = Path("/sys/fs/cgroup")


def seen_while(device: str, watched: Watched, work: Callable[[], object]) -> list[Sample]:
    """The samples of the live observers around some work; skips where this machine has no tracing for us."""
    with Watch(describe(device), (), live_observers(watched)) as watch:
        for blind in watch.blind:
            if blind.observer == kernel_layers.NAME:
                pytest.skip(blind.why)
        samples = watch.sample()
        work()
        return samples + watch.sample()


def counted(name: str) -> dict[str, int]:
    """Reads, writes and flushes of a device since boot, as the kernel counts them."""
    words = [int(word) for word in Path(f"/sys/class/block/{name}/stat").read_text().split()]
    return {"read": words[0], "write": words[4], "flush": words[15]}


def of_clock(samples: list[Sample], *of: str) -> int:
    """What a clock of the block layer counted: of a device, a clock, an operation."""
    found = views(samples, metrics.BLOCK_LAYER).values()
    return sum(view.delta(metrics.COUNT) or 0 for view in found if tuple(view.subject.split("|")[:3]) == of)


def of_call(samples: list[Sample], call: str) -> list[View]:
    """What was seen of a system call."""
    return [view for view in views(samples, metrics.SYSTEM_CALLS).values() if view.subject.split("|")[1] == call]


@pytest.mark.parametrize("by", ["pid", "command", "everybody"])
def test_calls_bios_and_requests_are_all_counted(loop_device: Callable[[int], str], by: str) -> None:
    device = loop_device(SIZE_BYTES)
    _, name = find_device(device)
    with child(device, READS, SYNCS) as reader:
        called = Path(f"/proc/{reader.pid}/comm").read_text().strip()
        whom = {
            "pid": Watched(pids=(reader.pid,)),
            "command": Watched(commands=(called,)),
            "everybody": Watched(),
        }[by]
        before = counted(name)
        samples = seen_while(device, whom, reader.work)
        after = counted(name)
    said = {op: after[op] - before[op] for op in after}
    assert said["read"] >= READS
    for clock in ("bio", "request", "driver"):
        for op, ios in said.items():
            # A write that asks for a flush counts as one of each in the kernel's figures.
            ios -= said["flush"] if op == "write" else 0
            assert abs(of_clock(samples, name, clock, op) - ios) <= 0.01 * ios, (clock, op)
    ours = [view for view in of_call(samples, "preadv2") if view.subject == f"{called}|preadv2|8192"]
    assert [view.delta(metrics.COUNT) for view in ours] == [READS]
    assert [view.delta(metrics.BYTES) for view in ours] == [READS * 8192]
    buckets = [went for metric, went in ours[0].deltas.items() if metrics.bucket_upper_ns(metric)]
    assert sum(buckets) == READS
    assert sum(view.delta(metrics.COUNT) or 0 for view in of_call(samples, "fdatasync")) >= SYNCS
    own = views(samples, metrics.CALLS_BY_PROCESS)[f"{reader.pid}|{called}|preadv2"]
    assert own.delta(metrics.COUNT) == READS
    assert views(samples, metrics.CALLS_BY_FILE)[f"preadv2|{device}"].delta(metrics.BYTES) == READS * 8192
    (watch,) = views(samples, metrics.KERNEL_LAYERS).values()
    assert watch.delta(metrics.LOST_EVENTS) in (0, None)
    # A bio cannot take longer than the call that waits for it, nor the driver longer than its request.
    times = layer_times(samples, devices=(name,), commands=(called,))
    assert (times.sum_ns("driver_read") or 0) <= (times.sum_ns("request_read") or 0) <= (times.sum_ns("bio_read") or 0)
    assert (times.sum_ns("bio_read") or 0) <= (times.sum_ns("read_call") or 0)


def test_bios_to_a_partition_are_those_of_its_disk(tmp_path: Path, attach: Callable[..., str]) -> None:
    """A bio carries the number of the partition, its request that of the disk."""
    image = tmp_path / "disk"
    image.write_bytes(os.urandom(32 << 20))
    need("losetup", "addpart")
    device = attach(image, "--partscan")
    part, (number, name) = f"{device}p1", find_device(device)
    command("addpart", device, 1, 2048, 32768)  # some kernels read no partition tables
    if not Path(part).exists():
        pytest.skip("this machine makes no devices of partitions")
    disk = [{"major": number.major, "minor": number.minor}]
    with child(part, READS) as reader, watching(blocks=True, devices=disk) as watch:
        reader.work()
        found = json.loads(watch.snapshot())
    reads = [each for each in found["blocks"] if each["op"] == "read" and each["size_bytes"] == 8192]
    assert {each["device"]["minor"] for each in reads} == {number.minor}, name
    assert {each["clock"]: each["counts"]["count"] for each in reads} == dict.fromkeys(
        ("bio", "request", "driver"), READS
    )


def test_whom_nobody_follows_is_not_counted(loop_device: Callable[[int], str]) -> None:
    device = loop_device(SIZE_BYTES)
    _, name = find_device(device)
    with child(device, READS) as reader, child(device, 10) as other:

        def both() -> None:
            reader.work()
            other.work()

        samples = seen_while(device, Watched(pids=(other.pid,)), both)
    assert sum(view.delta(metrics.COUNT) or 0 for view in of_call(samples, "preadv2")) == 10
    assert of_clock(samples, name, "bio", "read") >= READS, "the device is watched whoever uses it"


def test_waits_for_a_processor_are_counted_when_asked_for(loop_device: Callable[[int], str]) -> None:
    device = loop_device(SIZE_BYTES)
    with child(device, READS) as reader:
        samples = seen_while(device, Watched(pids=(reader.pid,), scheduler=True), reader.work)
    (waits,) = views(samples, metrics.RUN_DELAYS).values()
    (stated,) = (view for view in views(samples, metrics.PROCESSES).values() if view.delta(metrics.RUN_DELAY_NS))
    # The kernel counts the same waits itself; it is asked a little earlier and later than the rings are read, and does
    # not count how long a processor that slept takes to come: some ten microseconds a wait.
    traced, counted, kernel = (
        waits.delta(metrics.SUM_NS),
        waits.delta(metrics.COUNT),
        stated.delta(metrics.RUN_DELAY_NS),
    )
    assert traced is not None
    assert counted is not None
    assert kernel is not None
    assert 0.8 * kernel - 2_000_000 <= traced <= 1.2 * kernel + 2_000_000 + 200_000 * counted


def test_ios_of_a_ring_are_counted(loop_device: Callable[[int], str]) -> None:
    device = loop_device(SIZE_BYTES)
    number, _ = find_device(device)
    options = {"blocks": True, "devices": [{"major": number.major, "minor": number.minor}], "calls": True}
    own = {"commands": [Path("/proc/self/comm").read_text().strip()]}
    with (
        child(device, 1) as other,
        watching(**options, pids=[other.pid]) as others,
        watching(**options, **own) as watch,
    ):
        before = of_rings(watch)
        did = run(Path(device), op="read", depth=8, seconds=5.0, ios=2000)
        seen, foreign = of_rings(watch), of_rings(others)
    if not seen["rings_seen"]:
        pytest.skip("this kernel has no tracepoint for the submission of io_uring")
    assert did.ios == 2000
    assert foreign["ios"] == 0
    assert seen["ios"] - before["ios"] == 2000


def test_windows_stand_for_all_of_the_time(loop_device: Callable[[int], str]) -> None:
    """Above the budget a part of the time is watched; what was counted stands for what the device did in all."""
    device = loop_device(SIZE_BYTES)
    number, _ = find_device(device)
    options = {"blocks": True, "devices": [{"major": number.major, "minor": number.minor}], "budget_per_s": 4000.0}
    with watching(**options) as watch:
        did = run(Path(device), op="read", depth=4, seconds=4.0)
        seen = json.loads(watch.snapshot())
    if did.ios < 20_000:
        pytest.skip(f"this machine is too busy: {did.ios} reads in 4 s")
    records = seen["events"]
    assert records < did.ios, "all of it was watched"
    for clock in ("bio", "request", "driver"):
        reads = [each["counts"] for each in seen["blocks"] if (each["clock"], each["op"]) == (clock, "read")]
        # While it traces, the load itself is slower, on a busy machine by a lot: the device's own counter tells how
        # many a window stands for. What was done since the last window is open is not in it.
        assert 0.85 * did.ios <= sum(each["count"] for each in reads) <= 1.02 * did.ios, clock
        assert all(sum(count for _, count in each["buckets"]) == each["count"] for each in reads)
    apart = seen["blocks_apart"]
    assert apart["bio"] + apart["request"] + apart["driver"] <= 0.01 * did.ios
    assert seen["lost_events"] == 0


CACHED_READER = """
import os, sys, time
file = os.open(sys.argv[1], os.O_RDONLY)
sys.stdin.readline()
end, reads = time.monotonic() + 5, 0
while time.monotonic() < end:
    for _ in range(50):
        os.pread(file, 8192, 0)
    reads += 50
print(reads, flush=True)
sys.stdin.readline()
"""


def test_calls_of_windows_stand_for_what_their_process_did(tmp_path: Path) -> None:
    """Reads that the page cache answers follow no device, and are slower while they are traced: by the time of the
    windows 56 to 87 of 100 were counted.
    """
    (tmp_path / "data").write_bytes(bytes(8192))
    command_line = [sys.executable, "-c", CACHED_READER, str(tmp_path / "data")]
    with (
        subprocess.Popen(command_line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as reader,
        watching(blocks=True, calls=True, pids=[reader.pid], budget_per_s=40_000.0) as watch,
    ):
        assert reader.stdin is not None
        assert reader.stdout is not None
        reader.stdin.write("\n")
        reader.stdin.flush()
        made = int(reader.stdout.readline())
        seen = json.loads(watch.snapshot())
        reader.stdin.close()
    counted = sum(each["counts"]["count"] for each in seen["calls"] if each["call"] == "pread64")
    if made < 250_000 or seen["watched_ns"] > 3_750_000_000:
        pytest.skip(f"this machine is too busy: {made} reads in 5 s")
    assert 0.93 * made <= counted <= 1.07 * made


@contextmanager
def watching(**options: object) -> Iterator[_core.LayerWatch]:
    """A watch of the core; the test is skipped where this machine has no tracing for us."""
    try:
        watch = _core.LayerWatch(json.dumps(options))
    except _core.CoreError as error:
        pytest.skip(str(error.args[0]))
    try:
        yield watch
    finally:
        watch.stop()


def of_rings(watch: _core.LayerWatch) -> dict[str, Any]:
    """I/Os of io_uring so far."""
    found = json.loads(watch.snapshot())
    reads = [each["counts"]["count"] for each in found["calls"] if each["call"] == "uring_read"]
    return {"ios": sum(reads), "rings_seen": found["rings_seen"]}


@contextmanager
def capped(device: str, pid: int) -> Iterator[None]:
    """While entered, this process may read so often a second from the device; of cgroup version 1, or 2."""
    need()
    number = os.stat(device).st_rdev
    of = f"{os.major(number)}:{os.minor(number)}"
    first = (THROTTLE / "blkio.throttle.read_iops_device").exists() or (THROTTLE / "cgroup.procs").exists()
    home, name = (THROTTLE if first else SECOND), f"iocast-layers-{os.getpid()}"
    if not first and "io" not in _text(SECOND / "cgroup.subtree_control").split():
        pytest.skip("no control group can limit I/O here")
    group = home / name
    group.mkdir()
    try:
        if first:
            (group / "blkio.throttle.read_iops_device").write_text(f"{of} {CAP_PER_S}")
        else:
            (group / "io.max").write_text(f"{of} riops={CAP_PER_S}")
        (group / "cgroup.procs").write_text(str(pid))
        yield
    finally:
        (home / "cgroup.procs").write_text(str(pid))
        group.rmdir()


def _text(file: Path) -> str:
    return file.read_text() if file.exists() else ""


def test_a_cap_stands_above_the_driver_and_is_named(loop_device: Callable[[int], str]) -> None:
    device = loop_device(SIZE_BYTES)
    with child(device, 3 * CAP_PER_S) as reader, capped(device, reader.pid):
        samples = seen_while(device, Watched(pids=(reader.pid,)), reader.work)
    times: LayerTimes = layer_times(samples, devices=(find_device(device)[1],))
    call_ns, driver_ns = times.mean_ns("read_call"), times.mean_ns("driver_read")
    assert call_ns is not None
    assert driver_ns is not None
    assert call_ns > 2 * driver_ns
    found = verdict(times)
    assert (found.code, found.rule) == ("throttle", 2), found.says
    assert found.evidence["limit_per_s"] == CAP_PER_S
    assert 0.8 * CAP_PER_S <= found.evidence["rate_per_s"] <= 1.2 * CAP_PER_S


def test_what_the_rings_could_not_hold_is_told(loop_device: Callable[[int], str]) -> None:
    device = loop_device(SIZE_BYTES)
    number, _ = find_device(device)
    with watching(blocks=True, devices=[{"major": number.major, "minor": number.minor}], ring_kb=1) as watch:
        total = sum(run(Path(device), depth=32, ios=20_000).ios for _ in range(3))
        found = json.loads(watch.snapshot())
    reads = [each for each in found["blocks"] if each["op"] == "read" and each["clock"] == "driver"]
    if sum(each["counts"]["count"] for each in reads) >= total:
        pytest.skip("the reader was always in time: nothing was lost")
    assert found["lost_events"] > 0


def test_its_instances_are_gone_with_it() -> None:
    place = Path("/sys/kernel/tracing/instances")
    with watching(blocks=True, calls=True, scheduler=True):
        if not place.is_dir():
            pytest.skip("tracefs is not mounted where others see it")
        assert len(list(place.glob(f"iocast-{os.getpid()}-*"))) >= 2
    assert not list(place.glob(f"iocast-{os.getpid()}-*"))
