"""The kernel's counters of network interfaces and of TCP: /proc/net/dev, /proc/net/snmp, /proc/net/netstat."""

from __future__ import annotations

from itertools import pairwise

from iocast import metrics

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
    ("TcpExt", "TCPTimeouts"): metrics.TCP_TIMEOUTS,
    ("TcpExt", "TCPLostRetransmit"): metrics.LOST_RETRANSMITS,
}


def parse_interfaces(text: str) -> dict[str, dict[str, int]]:
    """Counters of each interface by name; the loopback is left out."""
    found = {}
    for line in text.splitlines():
        name, colon, rest = line.partition(":")
        numbers = rest.split()
        if colon and len(numbers) >= _DEV_COLUMNS and name.strip() != "lo":
            found[name.strip()] = {metric: int(numbers[column]) for column, metric in _DEV_FIELDS.items()}
    return found


def parse_tcp(*texts: str) -> dict[str, int]:
    """TCP's counters from snmp and netstat: a line of names, and one of numbers; what they lack is left out."""
    found: dict[str, int] = {}
    for text in texts:
        lines = [line.partition(":") for line in text.splitlines()]
        for (group, _, names), (same, _, numbers) in pairwise(lines):
            if group != same:
                continue
            values = dict(zip(names.split(), numbers.split(), strict=False))
            for (wanted, name), metric in _TCP.items():
                if wanted == group and values.get(name, "").isdigit():
                    found[metric] = int(values[name])
    return found
