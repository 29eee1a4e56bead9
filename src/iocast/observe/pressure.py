"""Pressure (PSI): how long tasks waited for CPU, memory or I/O since boot.

What it is: for cpu, memory and io, two running totals of the whole machine: `some_ns`, while at
least one task waited, and `full_ns`, while all runnable tasks waited.

Why it matters: waits for CPU or memory during a test mean that the load generator or a
neighbour was short of them, so the response times are not those of the storage alone. `io` shows how long
tasks waited for storage.

Needs: /proc/pressure (Linux 4.20 with CONFIG_PSI, not switched off by psi=0).

Overhead: three small reads.

What it cannot see: which tasks waited, for which device, and other virtual machines on the same host.
`some` of cpu counts whenever runnable tasks outnumber processors, which a load of many threads
alone can cause. I/O that no task sleeps for (io_uring, deep queues) does not count as waiting.
"""

from __future__ import annotations

import errno
import re

from iocast import metrics
from iocast._core import unix_ns
from iocast.model.run import Sample
from iocast.model.target import Target
from iocast.observe.counter_file import CounterFile
from iocast.observe.observer import BlindError

NAME = metrics.PRESSURE
NEEDS = "/proc/pressure: Linux 4.20 or later with CONFIG_PSI, not booted with psi=0"
OVERHEAD = "about 20 µs a sample (measured: 17 to 23 µs, 2 processors)"

RESOURCES = ("cpu", "memory", "io")
_METRICS = {"some": metrics.SOME_NS, "full": metrics.FULL_NS}
_LINE = re.compile(r"^(some|full) .*\btotal=(\d+)$", re.MULTILINE)


def parse_pressure(text: str) -> dict[str, int]:
    """`some_ns` and `full_ns` (older kernels have no full for cpu) from one file of /proc/pressure."""
    return {_METRICS[match[1]]: int(match[2]) * 1000 for match in _LINE.finditer(text)}


class Observer:
    """Reads the totals of the whole machine; the target makes no difference."""

    def __init__(self, target: Target, files: tuple[str, ...]) -> None:
        self.unseen: tuple[str, ...] = ()
        self._files: dict[str, CounterFile] = {}

    def __enter__(self) -> Observer:
        try:
            for resource in RESOURCES:
                self._files[resource] = CounterFile(f"/proc/pressure/{resource}")
            self._files["cpu"].read()  # where psi=0 the files open, and only reading fails
        except OSError as error:
            self.__exit__()
            raise BlindError(_why(error)) from error
        return self

    def sample(self) -> list[Sample]:
        """`some_ns` and `full_ns` of cpu, memory and io."""
        now_ns = unix_ns()
        try:
            texts = {name: parse_pressure(file.read()) for name, file in self._files.items()}
        except OSError as error:
            raise BlindError(_why(error)) from error
        return [
            Sample(now_ns, NAME, subject, metric, float(value))
            for subject, totals in texts.items()
            for metric, value in totals.items()
        ]

    def __exit__(self, *_: object) -> None:
        for file in self._files.values():
            file.close()


def _why(error: OSError) -> str:
    if error.errno == errno.ENOENT:
        return "this kernel has no PSI (older than 4.20, or built without CONFIG_PSI)"
    if error.errno == errno.EOPNOTSUPP:
        return "PSI is switched off (boot with psi=1 to enable it)"
    return f"cannot read /proc/pressure: {error.strerror}"
