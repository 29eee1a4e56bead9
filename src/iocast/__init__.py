"""iocast: I/O performance testing, diagnosis and forecasting of database storage.

    card = iocast.card("sim:hdd", time="1s")
    print(card.grade, card.trust, card.folder)

Everything here is quiet: it prints nothing, and tells what happens to a listener that is handed in. What cannot be
done raises an `IocastError` with a message and a hint.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # as type checkers know it, without the time that `typing` takes
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from iocast.model.database.database_load import DatabaseLoad
    from iocast.model.finding import Examination
    from iocast.model.job import Job
    from iocast.model.plan import Remap, ReplayMode
    from iocast.model.run import Run
    from iocast.model.workload import Sync
    from iocast.sessions.card import Card
    from iocast.sessions.comparing import Comparison
    from iocast.sessions.forecasting.calibrate import Calibrated
    from iocast.sessions.forecasting.forecast import Forecasted
    from iocast.sessions.forecasting.size_devices import Sizing
    from iocast.sessions.listener import Listener
    from iocast.sessions.named_experiment import Answered
    from iocast.sessions.profiling.profile_traces import Profiled
    from iocast.tools.traces import TraceReport

__version__ = "0.1.0"
__all__ = [
    "calibrate",
    "capture",
    "card",
    "compare",
    "diagnose",
    "examine",
    "experiment",
    "forecast",
    "load_db",
    "matrix",
    "open",
    "profile",
    "replay",
    "run",
    "size",
]

importlib.import_module("iocast.diagnose")  # the rooms, before the functions of their names take their place here
importlib.import_module("iocast.forecast")
_RUNS = "iocast-runs"


def card(
    path: str,
    *,
    preset: str = "quick",
    size: str | None = None,
    time: str | None = None,
    seed: int = 1,
    destroy: str = "",
    out: str = _RUNS,
    through: str = "",
    listener: Listener | None = None,
) -> Card:
    """Measures a path with a preset ("quick", "standard", "full") and judges it, as `iocast card` does.

    `through`: "postgres", or "postgres:DIR" of its programs; the card then has the storage as that database sees it,
    as `iocast card --with` does.
    """
    job = f"card-{preset}"
    if through:
        from iocast.sessions import public

        return public.beside_server(job, path, through, public.options(size, time, seed, out, destroy), listener)
    return run(job, path, size=size, time=time, seed=seed, destroy=destroy, out=out, listener=listener)


def run(
    job: str | Job,
    path: str = ".",
    *,
    size: str | None = None,
    time: str | None = None,
    seed: int = 1,
    destroy: str = "",
    out: str = _RUNS,
    listener: Listener | None = None,
) -> Card:
    """Runs a job (a preset's name, the path of a job file, or a Job) on a path and judges it, as `iocast run` does."""
    from iocast.sessions import public

    options = public.options(size, time, seed, out, destroy)
    return public.measured(job, path, options, listener)


def load_db(
    url: str,
    *,
    sessions: Sequence[int] = (1, 4, 8, 16),
    time: str = "10s",
    load: DatabaseLoad | None = None,
    rate_per_s: float | None = None,
    until_steady: bool = False,
    beside_others: bool = False,
    seed: int = 1,
    out: str = _RUNS,
    listener: Listener | None = None,
) -> Card:
    """Loads the data set in the database at a URL, a row for each number of sessions, as `iocast load-db run` does."""
    from iocast.sessions import public

    ramp = public.load_ramp(sessions, time, load, rate_per_s, until_steady)
    return public.database_loaded(url, ramp, public.options(None, None, seed, out, ""), beside_others, listener)


def open(folder: str) -> Card:
    """The card of a finished run, from its folder alone, as `iocast report` shows it."""
    from iocast.sessions.run_card import open_card

    return open_card(folder)


def examine(run: Run | Card | str) -> Examination:
    """The findings of a run, and the trust and the bound of each row; a run, its card or its folder."""
    from iocast.sessions import public

    return public.examined(run)


def compare(first: Card | str, *others: Card | str) -> Comparison:
    """Runs beside the first: cards, run folders, or folders of repeats, as `iocast compare` does."""
    from iocast.sessions import public

    return public.compared((first, *others))


def diagnose(
    run: Card | str, *, budget: str = "10min", most_bytes: str = "64GiB", listener: Listener | None = None
) -> Card:
    """Tests by experiment what looks abnormal about a finished run, and judges it again, as `iocast diagnose` does."""
    from iocast.sessions import public

    return public.diagnosed(run, budget, most_bytes, listener)


def experiment(
    name: str,
    *paths: str,
    size: str | None = None,
    time: str | None = None,
    rounds: int | None = None,
    block: str | None = None,
    depth: int | None = None,
    streams: int | None = None,
    sync: Sync = "none",
    sizes: Sequence[str] = (),
    seed: int = 1,
    destroy: str = "",
    out: str = _RUNS,
    listener: Listener | None = None,
) -> Answered:
    """Asks one question about a path by a named experiment, as `iocast experiment` does."""
    from iocast.sessions import public

    options = public.options(size, time, seed, out, destroy)
    request = public.trial(name, paths, options, rounds, block, depth, streams, sync, sizes)
    return public.answered(request, listener)


def size(
    *,
    capacity: str,
    iops: float | None = None,
    mbps: float | None = None,
    read: str = "",
    size: str = "",
    slo: str = "",
    raid: str = "",
    group: int | None = None,
    device: str = "",
    device_capacity: str = "",
    growth: str = "",
    years: int | None = None,
    utilisation: str = "",
    spares: int = 0,
    price: float | None = None,
) -> Sizing:
    """Sizes storage for a need, as `iocast size` does: on one device, or on all of the library without one."""
    from iocast.sessions.forecasting.size_devices import size as sized
    from iocast.sessions.forecasting.sizing_request import SizeRequest

    request = SizeRequest(
        capacity=capacity,
        iops=iops,
        mbps=mbps,
        read=read,
        size=size,
        slo=slo,
        raid=raid,
        group=group,
        device=device,
        device_capacity=device_capacity,
        growth=growth,
        years=years,
        utilisation=utilisation,
        spares=spares,
        price=price,
    )
    return sized(request)


def forecast(
    run: Card | str,
    *,
    iops: float | str | None = None,
    read: str = "100%",
    size: str = "8k",
    slo: str = "p99=5ms",
    burst: str | None = None,
    rates: str | None = None,
    cv2: float = 1.0,
    load: str | None = None,
    what_if: Sequence[str] = (),
    verify: str | None = None,
    time: str = "30s",
    out: str = _RUNS,
    listener: Listener | None = None,
) -> Forecasted:
    """Foretells the response of a load from the ladder of a run, as `iocast forecast --on` does; `load`: a profile."""
    from iocast.sessions.forecasting import asked_load
    from iocast.sessions.forecasting.forecast import foretold

    asked = asked_load.LoadOptions(
        iops=None if iops is None else str(iops),
        read=read,
        size=size,
        slo=slo,
        burst=burst,
        rates=rates,
        cv2=cv2,
        load=load,
    )
    return foretold(run, asked, tuple(what_if), verify, time, out, listener)


def calibrate(
    path: str,
    *,
    max_latency: str,
    percentile: float | str = 99,
    disks: int | None = None,
    block: str = "8k",
    size: str | None = None,
    time: str | None = None,
    seed: int = 1,
    out: str = _RUNS,
    listener: Listener | None = None,
) -> Calibrated:
    """Finds the IOPS that a latency limit allows, the most IOPS and MB/s, as `iocast calibrate` does.

    `percentile` is a number from 50 to 99.9, or "mean".
    """
    from iocast.sessions import public

    options = public.options(size, time, seed, out, "")
    return public.calibrated(path, options, max_latency, str(percentile), disks, block, listener)


def matrix(
    command_line: str,
    *paths: str,
    luns: int | None = None,
    size: str | None = None,
    seed: int = 1,
    destroy: Sequence[str] = (),
    out: str = _RUNS,
    files: str = "",
    listener: Listener | None = None,
) -> Card:
    """Measures ORION's data points, as `iocast matrix` does: `matrix("-run simple -num_disks 4", "/mnt/db")`."""
    from iocast.sessions import public

    request = public.matrix_request(command_line, paths, luns, size, seed, destroy, out, files)
    return public.points_measured(request, listener)


def profile(
    path: str | Sequence[str],
    *,
    format: str | None = None,
    block_size: str | None = None,
    oracle_release: str | None = None,
    latency_unit: str | None = None,
    block: str | None = None,
    caches: Sequence[str] = (),
    out: str = "iocast-profiles",
) -> Profiled:
    """Profiles the workload of traces, as `iocast profile` does; `.events()` gives columns (Arrow, Polars, pandas)."""
    from iocast.sessions.profiling.profile_traces import profiled

    return profiled(
        path,
        format=format,
        block_size=block_size,
        oracle_release=oracle_release,
        latency_unit=latency_unit,
        block=block,
        caches=caches,
        out=out,
    )


def replay(
    trace: str,
    path: str = ".",
    *,
    mode: ReplayMode = "timed",
    speed: float = 1.0,
    remap: Remap = "refuse",
    targets: Sequence[str] = (),
    mapped: Mapping[str, str] | None = None,
    reads_only: bool = False,
    buffered: bool = False,
    size: str | None = None,
    time: str | None = None,
    destroy: str = "",
    out: str = _RUNS,
    listener: Listener | None = None,
) -> Card:
    """Replays a trace, or its event table, on a path, as `iocast replay` does.

    `mapped` instead of a path: for each target of the trace a file or device of its own.
    """
    from iocast.sessions.tracing import public_calls

    pairs = tuple(f"{old}={new}" for old, new in (mapped or {}).items())
    how = {
        "mode": mode,
        "speed": speed,
        "remap": remap,
        "reads_only": reads_only,
        "buffered": buffered,
        "mapped": pairs,
    }
    return public_calls.replayed(trace, path, tuple(targets), how, (size, time, destroy, out), listener)


def capture(
    to: str,
    *,
    devices: Sequence[str] = (),
    pids: Sequence[int] = (),
    path: str = "",
    command: Sequence[str] = (),
    seconds: float | None = None,
    listener: Listener | None = None,
) -> TraceReport:
    """Captures I/Os of this machine into the event table `to`, as `iocast capture` does."""
    from iocast.sessions.tracing import public_calls

    return public_calls.captured(to, tuple(devices), tuple(pids), path, tuple(command), seconds, listener)
