"""Lab devices for tests: starts and ends `iocast-lab`, measures on it, tells wrong figures from a noisy machine."""

from __future__ import annotations

import os
import resource
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from makers.lab_process import NoLab, lab_process, why_no_lab

from iocast.load.core_phases import measure
from iocast.model.measurement import Measurement
from iocast.model.plan import EngineName, FileRegion, Length, PhasePlan
from iocast.model.workload import Arrival, Closed, Locality, MixItem, Op, Uniform, Unique

SIZE_BYTES = 64 << 20
ATTEMPTS = 3
# Beyond these the machine, not the code under test, may have made a figure wrong.
OTHERS_MOST, STEAL_MOST, LATE_MOST_NS = 0.25, 0.02, 3_000_000
TICK_S = 0.01


def need_lab(exact: bool = True) -> None:
    """Skips the test, with the reason, where a lab device cannot be made or its times would not be the truth."""
    if exact and not os.environ.get("IOCAST_LAB"):
        pytest.skip("microseconds need a machine that does nothing else: make lab")
    if why := why_no_lab():
        pytest.skip(why)


@contextmanager
def lab(path: Path, *options: str, exact: bool = True) -> Iterator[subprocess.Popen[str]]:
    """While entered, `path` is a lab device of 64 MiB with these options; afterwards it is gone.

    Not `exact`: for tests in which its times do not matter, which then run on busy machines too.
    """
    need_lab(exact)
    with ExitStack() as stack:
        try:
            process = stack.enter_context(lab_process(path, SIZE_BYTES, *options))
        except NoLab as why:
            pytest.skip(str(why))
        yield process


def run(
    path: Path,
    *,
    op: Op = "read",
    size_bytes: int = 4096,
    depth: int = 1,
    seconds: float = 1.0,
    ios: int | None = None,
    arrival: Arrival | None = None,
    locality: Locality | None = None,
    engine: EngineName = "uring",
    fsync_every: int = 0,
) -> Measurement:
    """One phase on the device, direct."""
    plan = PhasePlan(
        name="lab",
        role="measure",
        engine=engine,
        files=(FileRegion(str(path), 0, SIZE_BYTES),),
        mix=(MixItem(op, size_bytes),),
        locality=locality or Uniform(),
        arrival=arrival or Closed(),
        users=1,
        depth=depth,
        direct=True,
        sync="none",
        fsync_every=fsync_every,
        payload=Unique(),
        length=Length(seconds=seconds, ios=ios),
        interval_ns=1_000_000_000,
        seed=7,
    )
    return measure(plan, lambda *_: True)[0]


def near(value: float, wanted: float, share: float = 0.05) -> bool:
    """Whether `value` is `wanted`, give or take this share of it."""
    return abs(value - wanted) <= share * wanted


def patiently(attempt: Callable[[], tuple[bool, str, str]]) -> None:
    """The attempt (whether its figures are right, the figures, what disturbed it) comes out right.

    Wrong figures count only where nothing disturbed the attempt; else it tries twice more, and skips.
    """
    figures = disturbed = ""
    for _ in range(ATTEMPTS):
        right, figures, disturbed = attempt()
        if right:
            return
        assert disturbed, figures
    pytest.skip(f"the machine was disturbed ({disturbed}): {figures}")


def hold(attempt: Callable[[], tuple[bool, str]], device: subprocess.Popen[str]) -> None:
    """`patiently`, for figures in microseconds: any other work on the machine disturbs them."""

    def watched() -> tuple[bool, str, str]:
        with Quiet(device.pid) as quiet:
            right, figures = attempt()
        return right, figures, quiet.broken

    patiently(watched)


class Quiet:
    """Watches, while entered, whether anything but this process and the device took processor time."""

    def __init__(self, device: int) -> None:
        self._device = device
        self._ended = threading.Event()
        self._late_ns: list[int] = []
        self.broken = ""  # what disturbed, "" if nothing did

    def __enter__(self) -> Quiet:
        self._thread = threading.Thread(target=self._listen)
        self._thread.start()
        self._before = self._clock()
        return self

    def __exit__(self, *_: object) -> None:
        elapsed_s, busy_s, steal_s, own_s = (b - a for a, b in zip(self._before, self._clock(), strict=True))
        self._ended.set()
        self._thread.join()
        others, steal = (busy_s - own_s) / elapsed_s, steal_s / elapsed_s
        late_ns = sorted(self._late_ns)[int(0.99 * len(self._late_ns))] if self._late_ns else 0
        if others > OTHERS_MOST:
            self.broken = f"others used {others:.0%} of a processor"
        elif steal > STEAL_MOST:
            self.broken = f"the hypervisor took {steal:.1%} of a processor"
        elif late_ns > LATE_MOST_NS:
            self.broken = f"a sleeper was woken {late_ns / 1e6:.1f} ms late (p99)"

    def _clock(self) -> tuple[float, float, float, float]:
        """Time; busy and stolen time of all processors; processor time of this process and the device; seconds."""
        beat = os.sysconf("SC_CLK_TCK")
        user, nice, system, _, _, irq, softirq, steal = map(int, Path("/proc/stat").read_text().split()[1:9])
        usage = resource.getrusage(resource.RUSAGE_SELF)
        fields = Path(f"/proc/{self._device}/stat").read_text().rpartition(")")[2].split()
        own = usage.ru_utime + usage.ru_stime + (int(fields[11]) + int(fields[12])) / beat
        return time.monotonic(), (user + nice + system + irq + softirq) / beat, steal / beat, own

    def _listen(self) -> None:
        while not self._ended.is_set():
            due_ns = time.monotonic_ns() + int(TICK_S * 1e9)
            time.sleep(TICK_S)
            self._late_ns.append(time.monotonic_ns() - due_ns)
