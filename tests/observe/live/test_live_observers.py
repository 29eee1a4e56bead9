"""Live observers on machines on paper, and their list: no card runs them, each says what it costs."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any, cast

import pytest

from iocast import _core
from iocast.model.run import Sample
from iocast.model.target import Layer, Target
from iocast.observe import OBSERVERS, Watch
from iocast.observe.live import (
    LIVE_OBSERVERS,
    kernel_layers,
    live_observers,
    network,
    nfs_client,
    processes,
    throttling,
)
from iocast.observe.live.file_devices import FileDevices, first_watched
from iocast.observe.live.from_nought import FromNought
from iocast.observe.live.local_server import server_pid
from iocast.observe.live.watched import Watched
from iocast.observe.live.watched import processes as followed
from iocast.observe.observer import BlindError
from iocast.observe.target.device_stack import describe

TARGET = Target(path="/", kind="directory")
HEADINGS = ("\nWhat it is: ", "\nWhy it matters: ", "\nNeeds: ", "\nOverhead: ", "\nWhat it cannot see: ")


def write(root: Path, path: str, text: str) -> None:
    """A file of the machine."""
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


def process(root: Path, pid: int, parent: int, name: str, threads: tuple[int, ...] = ()) -> None:
    """A process of the machine, whose threads each waited for 10 ns."""
    write(root, f"proc/{pid}/stat", f"{pid} ({name}) S {parent} 1 1")
    write(root, f"proc/{pid}/io", f"rchar: {pid}\nread_bytes: 4096\n")
    for thread in threads or (pid,):
        write(root, f"proc/{pid}/task/{thread}/schedstat", "5 10 2\n")


def told(samples: list[Sample]) -> dict[tuple[str, str], float]:
    """By subject and metric."""
    return {(sample.subject, sample.metric): sample.value for sample in samples}


def test_no_card_runs_a_live_observer_and_each_says_what_it_is() -> None:
    assert not {each.NAME for each in LIVE_OBSERVERS} & {each.NAME for each in OBSERVERS}
    for observer in LIVE_OBSERVERS:
        assert observer.NEEDS
        assert "measured" in observer.OVERHEAD, observer.NAME
        text = observer.__doc__ or ""
        places = [text.find(heading) for heading in HEADINGS]
        assert -1 not in places, observer.NAME
        assert places == sorted(places)
        assert cast(Any, observer).__name__ == f"iocast.observe.live.{observer.NAME}"


def test_they_are_observers_as_any_other_once_they_know_whom_to_follow() -> None:
    chosen = live_observers(Watched(), without=frozenset({kernel_layers.NAME, nfs_client.NAME}))
    assert [each.NAME for each in chosen] == ["processes", "throttling", "network"]
    with Watch(TARGET, (), chosen) as watch:
        seen = {sample.observer for sample in watch.sample()}
    assert "processes" in seen
    assert seen | {blind.observer for blind in watch.blind} <= {"processes", "throttling", "network"}


def test_children_are_followed_and_threads_of_the_kernel_are_not(tmp_path: Path) -> None:
    process(tmp_path, 2, 0, "kthreadd")
    process(tmp_path, 9, 2, "kworker/0:1")
    process(tmp_path, 100, 1, "postgres", (100, 101))
    process(tmp_path, 110, 100, "odd) name(")
    process(tmp_path, 200, 1, "fio")
    everybody = [(100, "postgres"), (110, "odd) name("), (200, "fio")]
    assert followed(Watched(), str(tmp_path)) == everybody
    assert followed(Watched(pids=(100,)), str(tmp_path)) == everybody[:2]
    assert followed(Watched(commands=("fio",)), str(tmp_path)) == everybody[2:]
    with processes.Observer(TARGET, (), Watched(pids=(100,)), str(tmp_path)) as observer:
        seen = told(observer.sample())
    assert seen["100|postgres", "run_delay_ns"] == 20, "of both threads"
    assert seen["110|odd) name(", "rchar"] == 110
    with pytest.raises(BlindError, match="no process"):
        processes.Observer(TARGET, (), Watched(pids=(7,)), str(tmp_path)).__enter__()


def test_what_may_not_be_read_of_a_process_is_said(tmp_path: Path) -> None:
    process(tmp_path, 100, 1, "postgres")
    (tmp_path / "proc/100/io").unlink()
    with processes.Observer(TARGET, (), Watched(), str(tmp_path)) as observer:
        assert observer.unseen == ("bytes of 1 of 1 processes: /proc/PID/io is for root and the owner of a process",)
        assert {metric for _, metric in told(observer.sample())} == {"run_ns", "run_delay_ns", "timeslices"}


def test_limits_stand_with_what_their_group_did(tmp_path: Path) -> None:
    process(tmp_path, 100, 1, "postgres")
    write(tmp_path, "proc/100/cgroup", "7:blkio:/db\n3:cpu,cpuacct:/db\n0::/\n")
    write(tmp_path, "sys/fs/cgroup/blkio/db/blkio.throttle.read_iops_device", "4000:1 200\n")
    write(tmp_path, "sys/fs/cgroup/blkio/db/blkio.throttle.io_serviced_recursive", "4000:1 Read 5\n4000:1 Write 7\n")
    write(tmp_path, "sys/fs/cgroup/blkio/db/blkio.throttle.io_service_bytes_recursive", "4000:1 Read 40960\n")
    write(tmp_path, "sys/fs/cgroup/cpu/db/cpu.stat", "nr_periods 9\nnr_throttled 3\nthrottled_time 77\n")
    with throttling.Observer(TARGET, (), Watched(pids=(100,)), str(tmp_path)) as observer:
        seen = told(observer.sample())
    assert seen == {
        ("/blkio/db|4000:1", "read_ios_per_s"): 200,
        ("/blkio/db|4000:1", "reads"): 5,
        ("/blkio/db|4000:1", "writes"): 7,
        ("/blkio/db|4000:1", "read_bytes"): 40_960,
        ("/cpu/db", "periods"): 9,
        ("/cpu/db", "throttled_periods"): 3,
        ("/cpu/db", "throttled_ns"): 77,
    }
    with pytest.raises(BlindError, match="no control group"):
        throttling.Observer(TARGET, (), Watched(pids=(7,)), str(tmp_path)).__enter__()


def test_an_interface_with_and_without_a_speed(tmp_path: Path) -> None:
    line = "  {}: 1 2 3 4 0 0 0 0 5 6 7 8 0 0 0 0\n"
    write(
        tmp_path, "proc/net/dev", "Inter-|\n face |\n" + "".join(line.format(name) for name in ("lo", "eth0", "ifb0"))
    )
    write(tmp_path, "sys/class/net/eth0/speed", "10000\n")
    write(tmp_path, "sys/class/net/ifb0/speed", "-1\n")
    write(tmp_path, "proc/net/snmp", "Tcp: OutSegs RetransSegs\nTcp: 100 1\n")
    with network.Observer(TARGET, (), Watched(), str(tmp_path)) as observer:
        assert observer.unseen == ("ifb0: the speed of its link is not known",)
        seen = told(observer.sample())
    assert seen["eth0", "link_bytes_per_s"] == 1_250_000_000
    assert ("ifb0", "link_bytes_per_s") not in seen
    assert (seen["eth0", "tx_bytes"], seen["tcp", "retransmitted_segments"]) == (5, 1)
    with pytest.raises(BlindError, match="no interface"):
        network.Observer(TARGET, (), Watched(), str(tmp_path / "nowhere")).__enter__()


def test_an_operation_that_is_used_for_the_first_time_was_0_before(tmp_path: Path) -> None:
    mount = "device filer:/db mounted on /mnt/db with fstype nfs4 statvers=1.1\n\tper-op statistics\n"
    read, write_line = "\tREAD: 10 10 0 1 2 3 4 5 0\n", "\tWRITE: 3 3 0 1 2 30 40 50 0\n"
    write(tmp_path, "proc/self/mountstats", mount + read)
    with nfs_client.Observer(TARGET, (), Watched(), str(tmp_path)) as observer:
        first = observer.sample()
        write(tmp_path, "proc/self/mountstats", mount + read + write_line)
        second = observer.sample()
    assert [sample.value for sample in first if sample.metric == "ops"] == [10]
    of_writes = [sample for sample in second if sample.subject == "/mnt/db|WRITE" and sample.metric == "ops"]
    assert [sample.value for sample in of_writes] == [0, 3]
    assert of_writes[0].time_ns == first[-1].time_ns
    with pytest.raises(BlindError, match="no NFS mount"):
        nfs_client.Observer(TARGET, (), Watched(), str(tmp_path / "nowhere")).__enter__()


def test_a_new_counter_began_at_nought() -> None:
    nought = FromNought(100)
    nought.known([Sample(100, "x", "", "old", 5.0)])
    first = nought.completed([Sample(200, "x", "", "old", 6.0), Sample(200, "x", "", "new", 2.0)], 200)
    assert [(sample.time_ns, sample.metric, sample.value) for sample in first] == [
        (200, "old", 6.0),
        (100, "new", 0.0),
        (200, "new", 2.0),
    ]
    assert nought.completed([], 250) == []
    later = nought.completed([Sample(300, "x", "", "new", 3.0), Sample(300, "x", "", "third", 1.0)], 300)
    assert [(sample.time_ns, sample.value) for sample in later] == [(300, 3.0), (250, 0.0), (300, 1.0)]
    again = nought.completed([Sample(400, "x", "", "old", 1.0)], 400)
    assert [sample.value for sample in again] == [0.0, 1.0], "it was gone, and began anew"


def test_without_tracing_it_is_blind_and_says_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: str) -> None:
        raise _core.CoreError("tracing: /sys/kernel/tracing: Permission denied", "run it as root", 13)

    monkeypatch.setattr(_core, "LayerWatch", refuse)
    with pytest.raises(BlindError, match="latency histograms need root") as blind:
        kernel_layers.Observer(TARGET).__enter__()
    assert "run it as root" in (blind.value.hint or "")


def test_layers_without_requests_leave_the_calls_to_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    class Recorded:
        def __init__(self, options: str) -> None:
            asked.append(options)

        def stop(self) -> None:
            pass

    monkeypatch.setattr(_core, "LayerWatch", Recorded)
    gone = Target(path="/", kind="directory", layers=(Layer(name="md0", kind="raid", major=4000, minor=1),))
    with kernel_layers.Observer(gone, (), Watched(pids=(1,))) as observer:
        assert "no layer of the target is request-based (md0)" in observer.unseen[0]
    assert '"blocks":false' in asked[0]
    assert '"pids":[1]' in asked[0]


def test_the_server_behind_a_socket_is_found(tmp_path: Path) -> None:
    place = str(tmp_path / "server.sock")
    with socket.socket(socket.AF_UNIX) as named, socket.socket() as numbered:
        assert server_pid([place]) is None, "nobody listens yet"
        named.bind(place)
        named.listen()
        numbered.bind(("127.0.0.1", 0))
        numbered.listen()
        assert server_pid([place]) == os.getpid()
        assert server_pid(ports=[numbered.getsockname()[1]]) == os.getpid()
    assert server_pid() is None


def test_the_devices_below_a_file_are_those_of_its_folder_when_it_is_gone(tmp_path: Path) -> None:
    """A log file is renamed, or removed while it is open; proc stands on no device, some places are unknown."""
    layers = describe(str(tmp_path)).layers
    names = [layer.name for layer in layers if layer.kind != "partition"]
    files = FileDevices(names)
    (tmp_path / "log").touch()
    there = files.of(str(tmp_path / "log"))
    assert there is not None
    assert files.of(str(tmp_path / "renamed")) == there
    assert files.of(f"{tmp_path}/removed (deleted)") == there
    assert (there == ()) == (not names)
    assert FileDevices(()).of(str(tmp_path)) == (), "nothing that is below it is watched"
    assert files.of("/no/such/folder/file") is None
    assert files.of("/proc/self/status") == ()


def test_a_device_is_found_below_those_that_stand_on_it() -> None:
    """Of a stack in which not all are watched, the next that is."""
    layers = {
        "md0": Layer(name="md0", kind="raid1", major=9, minor=0, lower=("sda", "sdb")),
        "sda": Layer(name="sda", kind="disk", major=8, minor=0),
        "sdb": Layer(name="sdb", kind="disk", major=8, minor=16),
    }
    assert first_watched(("md0",), layers, frozenset({"sda", "sdb"})) == ("sda", "sdb")
    assert first_watched(("md0",), layers, frozenset({"md0", "sda"})) == ("md0",)
    assert first_watched((), layers, frozenset({"md0"})) == ()
