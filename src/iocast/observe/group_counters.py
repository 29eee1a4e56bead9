"""The kernel's counters of a control group: cpu.stat, io.stat, blkio.throttle.io_serviced, of both versions."""

from __future__ import annotations

from iocast import metrics

_CPU = {
    "nr_periods": (metrics.PERIODS_OF_QUOTA, 1),
    "nr_throttled": (metrics.THROTTLED_PERIODS, 1),
    "throttled_usec": (metrics.THROTTLED_NS, 1000),  # version 2
    "throttled_time": (metrics.THROTTLED_NS, 1),  # version 1
}
_IO_STAT = {
    "rbytes": metrics.READ_BYTES,
    "wbytes": metrics.WRITTEN_BYTES,
    "rios": metrics.READS,
    "wios": metrics.WRITES,
}
DeviceCounters = dict[str, dict[str, int]]  # by "8:16"


def parse_cpu_stat(text: str) -> dict[str, int]:
    """How often and for how long a quota held the group back; {} where it has none."""
    counts = {}
    for line in text.splitlines():
        name, _, value = line.partition(" ")
        if name in _CPU and value.isdigit():
            metric, unit = _CPU[name]
            counts[metric] = int(value) * unit
    return counts if counts.get(metrics.PERIODS_OF_QUOTA) else {}


def parse_io_stat(text: str) -> DeviceCounters:
    """What a group of version 2 did at each device: "8:16 rbytes=4096 wbytes=0 rios=1 wios=0 dbytes=0 dios=0"."""
    by_device = {}
    for line in text.splitlines():
        number, *pairs = line.split() or [""]
        counters = {}
        for key, _, value in (pair.partition("=") for pair in pairs):
            if key in _IO_STAT and value.isdigit():
                counters[_IO_STAT[key]] = int(value)
        if counters:
            by_device[number] = counters
    return by_device


def parse_throttle_counts(text: str, read: str, written: str) -> DeviceCounters:
    """What a group of version 1 did: "8:16 Read 5" into `read`, "8:16 Write 7" into `written`."""
    names = {"Read": read, "Write": written}
    by_device: DeviceCounters = {}
    for words in (line.split() for line in text.splitlines()):
        if len(words) == 3 and words[1] in names and words[2].isdigit():
            by_device.setdefault(words[0], {})[names[words[1]]] = int(words[2])
    return by_device
