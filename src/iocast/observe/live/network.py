"""Network: bytes, packets, errors and drops of each interface, the speed of its link, and TCP's retransmissions.

What it is: /proc/net/dev, /proc/net/snmp and /proc/net/netstat, and the agreed speed of each link from sysfs.

Why it matters: storage over NFS or iSCSI, and the clients of a database, end at the speed of the link; a
retransmission costs at least 200 ms, so that one in ten thousand segments shows in p99.9.

Needs: /proc/net and /sys/class/net, readable by all users.

Overhead: three small reads, and one for each interface.

What it cannot see: which connection retransmits; other network namespaces; what a switch, a bond or a hypervisor
limits. Virtual interfaces have no speed, or one that limits nothing.
"""

from __future__ import annotations

import os
from itertools import pairwise

from iocast import metrics
from iocast._core import unix_ns
from iocast.model.run import Sample
from iocast.model.target import Target
from iocast.observe.limits import read_or_empty
from iocast.observe.live.watched import EVERYBODY, Watched
from iocast.observe.observer import BlindError

NAME = metrics.NETWORK
NEEDS = "/proc/net/dev, /proc/net/snmp, /proc/net/netstat, /sys/class/net"
OVERHEAD = "about 0.2 ms of CPU time a sample (measured, 3 interfaces)"

TCP = "tcp"
_MBIT_BYTES_PER_S = 125_000


class Observer:
    """Reads all interfaces but the loopback; the target makes no difference."""

    def __init__(
        self, target: Target, files: tuple[str, ...] = (), watched: Watched = EVERYBODY, root: str = "/"
    ) -> None:
        self.unseen: tuple[str, ...] = ()
        self._root = root

    def __enter__(self) -> Observer:
        interfaces = parse_interfaces(self._read("proc/net/dev"))
        if not interfaces:
            raise BlindError("this network namespace has no interface but the loopback")
        without = [name for name in interfaces if self._link_bytes_per_s(name) is None]
        self.unseen = tuple(f"{name}: the speed of its link is not known" for name in without)
        return self

    def sample(self) -> list[Sample]:
        """Subject: the interface, and "tcp" for the whole machine."""
        now_ns = unix_ns()
        interfaces: dict[str, dict[str, int]] = parse_interfaces(self._read("proc/net/dev"))
        if not interfaces:
            raise BlindError("/proc/net/dev can no longer be read")
        for name, counters in interfaces.items():
            speed = self._link_bytes_per_s(name)
            counters |= {} if speed is None else {metrics.LINK_BYTES_PER_S: speed}
        interfaces[TCP] = parse_tcp(self._read("proc/net/snmp"), self._read("proc/net/netstat"))
        return [
            Sample(now_ns, NAME, subject, metric, float(value))
            for subject, counters in interfaces.items()
            for metric, value in counters.items()
        ]

    def _link_bytes_per_s(self, name: str) -> int | None:
        """None where there is none, or the kernel says -1."""
        text = self._read(f"sys/class/net/{name}/speed").strip()
        return int(text) * _MBIT_BYTES_PER_S if text.isdigit() and int(text) > 0 else None

    def _read(self, path: str) -> str:
        return read_or_empty(os.path.join(self._root, path))

    def __exit__(self, *_: object) -> None:
        """Nothing is kept open."""


# Columns of /proc/net/dev: the first eight are received, the others sent.
_DEV_FIELDS = {
    0: metrics.RX_BYTES,
    1: metrics.RX_PACKETS,
    2: metrics.RX_ERRORS,
    3: metrics.RX_DROPPED,
    8: metrics.TX_BYTES,
    9: metrics.TX_PACKETS,
    10: metrics.TX_ERRORS,
    11: metrics.TX_DROPPED,
}
_DEV_COLUMNS = 16
_TCP = {
    ("Tcp", "InSegs"): metrics.IN_SEGMENTS,
    ("Tcp", "OutSegs"): metrics.OUT_SEGMENTS,
    ("Tcp", "RetransSegs"): metrics.RETRANSMITTED,
    ("Ip", "InDiscards"): metrics.IN_DISCARDS,
    ("TcpExt", "TCPTimeouts"): metrics.TCP_TIMEOUTS,
    ("TcpExt", "TCPLostRetransmit"): metrics.LOST_RETRANSMITS,
}


def parse_interfaces(text: str) -> dict[str, dict[str, int]]:
    """Counters of each interface by name; the loopback is left out."""
    interfaces = {}
    for line in text.splitlines():
        name, colon, rest = line.partition(":")
        numbers = rest.split()
        if colon and len(numbers) >= _DEV_COLUMNS and name.strip() != "lo":
            interfaces[name.strip()] = {metric: int(numbers[column]) for column, metric in _DEV_FIELDS.items()}
    return interfaces


def parse_tcp(*texts: str) -> dict[str, int]:
    """TCP's counters from snmp and netstat: a line of names, and one of numbers; what they lack is left out."""
    counts: dict[str, int] = {}
    for text in texts:
        lines = [line.partition(":") for line in text.splitlines()]
        for (group, _, names), (same, _, numbers) in pairwise(lines):
            if group != same:
                continue
            values = dict(zip(names.split(), numbers.split(), strict=False))
            for (wanted, name), metric in _TCP.items():
                if wanted == group and values.get(name, "").isdigit():
                    counts[metric] = int(values[name])
    return counts
