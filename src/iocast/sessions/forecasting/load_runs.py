"""The runs that a forecast makes: a ladder of the asked mix, and the load itself, replayed as an open loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from iocast.errors import SpecError
from iocast.forecast.answer import Answer, Question
from iocast.forecast.flow_equivalent import HIGHEST_LOAD
from iocast.forecast.ladder_search import SHORT
from iocast.forecast.measured_ladder import MeasuredLadder, RequestedLoad
from iocast.model.job import FileSize, Job
from iocast.model.plan import Length, Phase
from iocast.model.target import Target
from iocast.model.workload import Arrival, Closed, MixItem, Op, Poisson, Workload
from iocast.runner.scripts.within_reach import WithinReach
from iocast.sessions.job_run import plan, run
from iocast.sessions.listener import Listener
from iocast.sessions.requests.run_options import RunOptions
from iocast.sessions.run_card import keep_judgement
from iocast.sessions.target_finding import find_target
from iocast.units import duration_text, size_text

LOADS = (1, 2, 4, 8, 16, 32, 64, 128)
FILE_BYTES = 2 << 30
PEAKS = (1.0, 1.2)  # of the asked rate
INTERVAL_NS = 1_000_000_000  # how fine the course of a row is kept
LEAST_SECONDS = SHORT.least_intervals * INTERVAL_NS / 1e9
OPEN_DEPTH = 1024  # outstanding I/Os that an open loop may reach


class Limits(NamedTuple):
    """How rows are measured: `seconds` each; `wait_quiet_ns`: how long a quiet machine is waited for."""

    seconds: float
    file_bytes: int | None
    seed: int
    out: str
    wait_quiet_ns: int | None = None


def measure_ladder(
    path: str, question: Question, limits: Limits, listener: Listener, peaks: Sequence[float] = PEAKS
) -> str | None:
    """The folder of a ladder of the asked mix, from one outstanding I/O on, and then of the load itself as an open
    loop, and of a fifth more, where the ladder shows that the storage can do that; None when stopped. Raises
    IocastError.

    A closed load waits with the storage: what piles up in an open one while the storage is slow at times, it does not
    show. One thread has all I/Os, as it has those of the open loop: a thread for each would measure the processors of a
    machine that has few of them, and forecast that.
    """
    target = find_target(path)
    phases = tuple(_phase(question.load, f"1x{load}", limits.seconds, depth=load, target=target) for load in LOADS)
    rates = tuple(_open_phase(question.load, share * question.peak_per_s, limits.seconds, target) for share in peaks)
    return _run("forecast ladder", (*phases, *rates), target, limits, listener)


def replay(path: str, question: Question, outcome: Answer, limits: Limits, listener: Listener) -> str | None:
    """The folder of open-loop rows at the peak and a fifth above it; None when stopped. Raises IocastError."""
    if isinstance(outcome.ladder, MeasuredLadder) and question.peak_per_s > outcome.ladder.ladder.last_per_s:
        most = outcome.ladder.ladder.last_per_s
        raise SpecError(
            f"--verify would ask for {question.peak_per_s:g} IOPS where {most:.0f} were measured",
            "verify a load that the storage can do",
        )
    return replay_rates(path, question.load, [factor * question.peak_per_s for factor in PEAKS], limits, listener)


def replay_rates(
    path: str, load: RequestedLoad, rates_per_s: Sequence[float], limits: Limits, listener: Listener
) -> str | None:
    """The folder of open-loop rows of random arrivals; None when stopped. Raises IocastError."""
    target = find_target(path)
    phases = tuple(_open_phase(load, rate, limits.seconds, target) for rate in rates_per_s)
    return _run("forecast probe", phases, target, limits, listener)


def _open_phase(load: RequestedLoad, rate_per_s: float, seconds: float, target: Target) -> Phase:
    return _phase(load, f"{rate_per_s:.0f}/s", seconds, arrival=Poisson(rate_per_s=rate_per_s), target=target)


def _phase(
    load: RequestedLoad,
    name: str,
    seconds: float,
    *,
    target: Target,
    depth: int = OPEN_DEPTH,
    arrival: Arrival | None = None,
) -> Phase:
    shares: dict[Op, float] = {"read": load.read_share, "write": 1 - load.read_share}
    mix = tuple(MixItem(op=op, size_bytes=load.size_bytes, weight=share) for op, share in shares.items() if share > 0)
    test = "randread" if load.read_share == 1 else "randwrite" if load.read_share == 0 else "mixed"
    workload = Workload(
        mix=mix,
        arrival=arrival or Closed(),
        users=1,
        depth=depth,
        direct=target.direct is not False,
    )
    size = size_text(load.size_bytes)
    return Phase(name=f"{test} {size} {name}", test=test, workload=workload, length=Length(seconds=seconds))


def _run(name: str, phases: tuple[Phase, ...], target: Target, limits: Limits, listener: Listener) -> str | None:
    if limits.seconds < LEAST_SECONDS:
        raise SpecError(
            f"--time {duration_text(round(limits.seconds * 1e9))} is too short for a forecast: a row needs"
            f" {SHORT.least_intervals} intervals of {duration_text(INTERVAL_NS)}",
            f"give --time {LEAST_SECONDS:g}s or more; 30s, the default, also shows whether a row is steady",
        )
    job = Job(
        name=name,
        phases=phases,
        file_size=FileSize(size_bytes=limits.file_bytes or FILE_BYTES),
        interval_ns=INTERVAL_NS,
    )
    options = RunOptions(
        size_bytes=limits.file_bytes, seed=limits.seed, out=limits.out, wait_quiet_ns=limits.wait_quiet_ns
    )
    work = plan(job, target, options, listener)
    done = run(replace(work, script=WithinReach(work.plan.groups, HIGHEST_LOAD)), listener).told_or_error(listener)
    if done.whole is None:
        return None
    keep_judgement(done.whole)
    return str(done.whole)
