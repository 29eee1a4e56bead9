"""Texts of the kernel that live observers read: NFS mounts, interfaces and TCP, processes, control groups."""

from __future__ import annotations

from iocast.observe.group_counters import parse_cpu_stat, parse_io_stat, parse_throttle_counts
from iocast.observe.live.network import parse_interfaces, parse_tcp
from iocast.observe.live.nfs_client import parse_mountstats
from iocast.observe.live.processes import parse_process_io, parse_schedstat

MOUNTS = """\
device rootfs mounted on / with fstype rootfs
device filer:/vol/db mounted on /mnt/my\\040db with fstype nfs4 statvers=1.1
        opts:        rw,vers=4.1,rsize=1048576,wsize=262144,namlen=255,proto=tcp
        age:        7968
        bytes:        1207640230 0 0 0 1210214218 0 295483 0
        RPC iostats version: 1.1  p/v: 100003/4 (nfs)
        xprt:        tcp 832 0 1 0 11 6428 6428 0 12154 0 24 26 5726
        per-op statistics
                NULL: 0 0 0 0 0 0 0 0 0
                READ: 1298 1300 2 207680 1210292152 6 79386 79407 4
               WRITE: 513 513 0 1000 2000 18446743919241604546 5386 265000 0
device other:/x mounted on /mnt/old with fstype nfs statvers=1.0
        opts:        rw,vers=3
        per-op statistics
                READ: 10 10 0 1 2 3 4 5
device tmpfs mounted on /run with fstype tmpfs
"""
_ZEROS = "0 0 0 0"
DEV = (
    "Inter-|   Receive       |  Transmit\n"
    " face |bytes packets errs drop fifo frame compressed multicast|bytes packets\n"
    f"    lo:    8601      80    0    0 {_ZEROS}     8601      80    0    0 {_ZEROS}\n"
    f"  eth0: 910955052   22780  1    2 {_ZEROS}  1425504   14561    3    4 {_ZEROS}\n"
)
SNMP = "Ip: Forwarding\nIp: 1\nTcp: InSegs OutSegs RetransSegs MaxConn\nTcp: 22724 14514 12 -1\n"
NETSTAT = "TcpExt: TW TCPTimeouts TCPLostRetransmit\nTcpExt: 23 5 1\n"


def test_operations_of_nfs_mounts_and_a_queue_that_went_below_nought() -> None:
    new, old = parse_mountstats(MOUNTS)
    assert (new.export, new.mounted_on, new.sizes) == (
        "filer:/vol/db",
        "/mnt/my db",
        {"rsize": 1_048_576, "wsize": 262_144},
    )
    assert set(new.operations) == {"READ", "WRITE"}, "what was never used is left out"
    assert new.operations["READ"] == {
        "ops": 1298,
        "ntrans": 1300,
        "timeouts": 2,
        "bytes_sent": 207_680,
        "bytes_recv": 1_210_292_152,
        "queue_ns": 6_000_000,
        "rtt_ns": 79_386_000_000,
        "exe_ns": 79_407_000_000,
        "errors": 4,
    }
    assert new.operations["WRITE"]["queue_ns"] == -154_467_947_070 * 1_000_000
    assert "errors" not in old.operations["READ"], "before RPC statistics 1.1 they are not known"
    assert parse_mountstats("") == ()


def test_interfaces_without_the_loopback() -> None:
    assert parse_interfaces(DEV) == {
        "eth0": {
            "rx_bytes": 910_955_052,
            "rx_packets": 22_780,
            "rx_errors": 1,
            "rx_dropped": 2,
            "tx_bytes": 1_425_504,
            "tx_packets": 14_561,
            "tx_errors": 3,
            "tx_dropped": 4,
        }
    }


def test_tcp_is_read_by_names() -> None:
    assert parse_tcp(SNMP, NETSTAT) == {
        "in_segments": 22_724,
        "out_segments": 14_514,
        "retransmitted_segments": 12,
        "tcp_timeouts": 5,
        "lost_retransmits": 1,
    }
    swapped = SNMP.replace("InSegs OutSegs", "OutSegs InSegs")
    assert parse_tcp(swapped)["in_segments"] == 14_514
    assert parse_tcp("Tcp: InSegs\n") == {}


def test_a_process() -> None:
    text = "rchar: 6976\nwchar: 1\nsyscr: 10\nsyscw: 2\nread_bytes: 4096\nwrite_bytes: 0\nnew: 5\n"
    assert parse_process_io(text)["rchar"] == 6976
    assert "new" not in parse_process_io(text)
    assert parse_schedstat("5 2763841 1\n") == {"run_ns": 5, "run_delay_ns": 2_763_841, "timeslices": 1}
    assert parse_schedstat("0\n") == {}


def test_control_groups_of_both_versions() -> None:
    second = "usage_usec 9\nnr_periods 100\nnr_throttled 7\nthrottled_usec 42\n"
    assert parse_cpu_stat(second) == {"periods": 100, "throttled_periods": 7, "throttled_ns": 42_000}
    assert parse_cpu_stat("nr_periods 100\nnr_throttled 7\nthrottled_time 42\n")["throttled_ns"] == 42
    assert parse_cpu_stat("nr_periods 0\nnr_throttled 0\nthrottled_time 0\n") == {}, "it has no quota"
    assert parse_io_stat("8:16 rbytes=4096 wbytes=1 rios=2 wios=3 dbytes=0 dios=0\n8:0\n") == {
        "8:16": {"read_bytes": 4096, "written_bytes": 1, "reads": 2, "writes": 3}
    }
    counts = parse_throttle_counts("8:16 Read 5\n8:16 Write 7\n8:16 Total 12\nTotal 12\n", "reads", "writes")
    assert counts == {"8:16": {"reads": 5, "writes": 7}}
