"""A machine whose processes change at every look: as moments, as fast as they can be made, and as real processes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from iocast import metrics
from iocast.model.live.moment import Moment, moment_of
from iocast.model.run import Blind, Sample
from iocast.sessions.live.recording import Recorder
from iocast.sessions.live.watching import Stopping

BEGAN_NS = 1_795_000_000_000_000_000
_METRICS = (
    metrics.RCHAR,
    metrics.WCHAR,
    metrics.SYSCR,
    metrics.SYSCW,
    metrics.READ_BYTES,
    metrics.WRITE_BYTES,
    metrics.CANCELLED_WRITE_BYTES,
    metrics.RUN_NS,
    metrics.RUN_DELAY_NS,
    metrics.TIMESLICES,
)


class Population:
    """`processes` that all do I/O between two looks; of each hundred one ends and another begins."""

    texts: Mapping[str, str] = {}
    sources: tuple[str, ...] = ()
    blind: tuple[Blind, ...] = ()

    def __init__(self, processes: int, interval_ns: int, count: int) -> None:
        self.interval_ns, self._processes, self._count = interval_ns, processes, count

    def moments(self, stopping: Stopping) -> Generator[Moment]:
        """As fast as they can be made."""
        began = dict.fromkeys(range(1000, 1000 + self._processes), 0)
        for at in range(self._count):
            time_ns = BEGAN_NS + at * self.interval_ns
            for pid in list(began)[: self._processes // 100]:
                del began[pid]
                began[max(began) + 1] = at
            yield moment_of(time_ns, _samples(began, at, time_ns), at)


def _samples(began: Mapping[int, int], at: int, time_ns: int) -> list[Sample]:
    samples = []
    for number, (pid, since) in enumerate(began.items()):
        subject, looked_ns = f"{pid}|worker {pid % 50}", time_ns + number * 40_000
        for place, metric in enumerate(_METRICS):
            value = float((at - since) * (4096 + pid) if place % 2 else (at - since) * 13)
            samples.append(Sample(looked_ns, metrics.PROCESSES, subject, metric, value))
    return samples


def resident_bytes(pid: int | str = "self") -> int:
    """What a process has in memory."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def record(place: str, processes: int, interval_ns: int, count: int, looks: int) -> None:
    """Records the tape, and prints from time to time how much memory that takes."""
    reel = Population(processes, interval_ns, count)
    recorder = Recorder(place, reel)
    for at, each in enumerate(reel.moments(lambda: False)):
        recorder.add(each)
        if (at + 1) % (count // looks) == 0:
            print(resident_bytes(), flush=True)
    recorder.close()
    print(resident_bytes(), flush=True)


def recorded(place: Path, processes: int, interval_ns: int, count: int, looks: int) -> list[int]:
    """The same in a process of its own: what it had in memory at each look, and at its end."""
    command = [sys.executable, "-m", "makers.changing_population"]
    words = [str(place), *map(str, (processes, interval_ns, count, looks))]
    done = subprocess.run([*command, *words], capture_output=True, text=True, env=_with_makers(), check=True)
    return [int(line) for line in done.stdout.split()]


def _with_makers() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join((str(Path(__file__).parents[1]), *sys.path[1:]))}


@contextmanager
def real_processes(count: int) -> Iterator[None]:
    """So many processes that read a little ten times a second."""
    command = [sys.executable, "-c", _FORK, str(count)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        parent.stdout.readline()
        try:
            yield
        finally:
            parent.terminate()


_FORK = """
import os, signal, sys, time
children = []
def end(*_):
    for child in children: os.kill(child, signal.SIGKILL)
    sys.exit(0)
for number in range(int(sys.argv[1])):
    child = os.fork()
    if not child:
        parent = os.getppid()
        while os.getppid() == parent:
            open("/proc/self/comm").close()
            time.sleep(0.1)
        os._exit(0)
    children.append(child)
signal.signal(signal.SIGTERM, end)
print("begun", flush=True)
sys.stdin.read()
end()
"""


if __name__ == "__main__":
    record(sys.argv[1], *map(int, sys.argv[2:]))
