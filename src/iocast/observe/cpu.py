"""Processors and memory: CPU time of the whole machine by kind, and available and dirty memory.

What it is: the time of all processors together since boot by kind (user, system, idle, waiting for I/O,
stolen), context switches, and the memory that is available, cached, dirty and being written back.

Why it matters: a CPU-bound load generator measures itself; stolen time means that the hypervisor
ran another guest; dirty pages that grow during a buffered test are writes that have not reached the storage yet.

Needs: /proc/stat and /proc/meminfo, readable by all users.

Overhead: two reads per sample; /proc/stat takes longer with more processors and interrupts.

What it cannot see: CPU time by process, the clock frequency, one busy processor among many idle ones,
and, in a container, the limits of its control group: the figures are those of the machine. Idle and I/O wait are
counted in ticks of about 10 ms and may be unsteady over short times.
"""

from __future__ import annotations

import os
import re
from contextlib import ExitStack

from iocast import metrics
from iocast._core import unix_ns
from iocast.model.run import Sample
from iocast.model.target import Target
from iocast.observe.counter_file import CounterFile
from iocast.observe.observer import BlindError

NAME = metrics.CPU
NEEDS = "/proc/stat and /proc/meminfo"
OVERHEAD = "about 40 µs a sample (measured: 33 to 46 µs, 2 processors); more with more processors"

_MEMORY = {
    "MemAvailable": metrics.AVAILABLE_BYTES,
    "Dirty": metrics.DIRTY_BYTES,
    "Writeback": metrics.WRITEBACK_BYTES,
    "Cached": metrics.CACHED_BYTES,
}
_MEMORY_LINE = re.compile(rf"^({'|'.join(_MEMORY)}):\s+(\d+) kB$", re.MULTILINE)
_SWITCHES = re.compile(r"^ctxt (\d+)$", re.MULTILINE)


def parse_stat(text: str, ticks_per_s: int) -> dict[str, int]:
    """Times of all processors together and context switches from /proc/stat.

    `user_ns` includes nice (and guests, which the kernel counts there), `system_ns` includes interrupts.
    The five times add up to all the time of all processors. Raises ValueError when it is no such text.
    """
    head = text.partition("\n")[0].split()
    switches = _SWITCHES.search(text)
    if len(head) < 5 or head[0] != "cpu" or switches is None:
        raise ValueError("/proc/stat has an unknown format")
    tick_ns = 1_000_000_000 // ticks_per_s
    ticks = [int(word) for word in head[1:9]]
    user, nice, system, idle, iowait, irq, softirq, steal = ticks + [0] * (8 - len(ticks))
    return {
        metrics.USER_NS: (user + nice) * tick_ns,
        metrics.SYSTEM_NS: (system + irq + softirq) * tick_ns,
        metrics.IDLE_NS: idle * tick_ns,
        metrics.IOWAIT_NS: iowait * tick_ns,
        metrics.STEAL_NS: steal * tick_ns,
        metrics.CONTEXT_SWITCHES: int(switches[1]),
    }


def parse_meminfo(text: str) -> dict[str, int]:
    """The four figures of /proc/meminfo that storage tests need, in bytes; what it lacks is left out."""
    return {_MEMORY[match[1]]: int(match[2]) * 1024 for match in _MEMORY_LINE.finditer(text)}


class Observer:
    """Reads the figures of the whole machine; the target makes no difference."""

    def __init__(self, target: Target, files: tuple[str, ...]) -> None:
        self.unseen: tuple[str, ...] = ()
        self._ticks_per_s = os.sysconf("SC_CLK_TCK")
        self._open = ExitStack()

    def __enter__(self) -> Observer:
        try:
            self._stat = CounterFile("/proc/stat")
            self._open.callback(self._stat.close)
            self._meminfo = CounterFile("/proc/meminfo")
            self._open.callback(self._meminfo.close)
        except OSError as error:
            self._open.close()
            raise BlindError(f"cannot read {error.filename}: {error.strerror}") from error
        return self

    def sample(self) -> list[Sample]:
        """Times and context switches under the subject "", memory under the subject "memory"."""
        now_ns = unix_ns()
        try:
            times = parse_stat(self._stat.read(), self._ticks_per_s)
            memory = parse_meminfo(self._meminfo.read())
        except (OSError, ValueError) as error:
            raise BlindError(f"cannot read /proc/stat or /proc/meminfo: {error}") from error
        return [Sample(now_ns, NAME, "", metric, float(value)) for metric, value in times.items()] + [
            Sample(now_ns, NAME, "memory", metric, float(value)) for metric, value in memory.items()
        ]

    def __exit__(self, *_: object) -> None:
        self._open.close()
