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
    from iocast.model.hosts import Share
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

    __version__: str

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


def __getattr__(name: str) -> str:
    """`__version__`, which the core has from Cargo.toml: the one place where it stands."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from iocast._core import __version__

    return __version__


def card(
    path: str,
    *,
    preset: str = "quick",
    size: str | None = None,
    time: str | None = None,
    seed: int = 1,
    destroy: str = "",
    out: str = _RUNS,
    label: str | None = None,
    hosts: str = "",
    share: Share = "own",
    ramp: Sequence[int] = (),
    through: str = "",
    listener: Listener | None = None,
) -> Card:
    """Measures a path with a preset ("quick", "standard", "full") and judges it, as `iocast card` does.

    `through`: "postgres", or "postgres:DIR" of its programs; the card then has the storage as that database sees it,
    as `iocast card --with` does.

    path: A directory, a file, a block device, or a simulated device such as sim:hdd.
    hosts: Run on these hosts at once, e.g. db[1-4]:/u01, or a file that names them.
    share: With hosts: each its own files, its slice of one device, or the same bytes.
    ramp: With hosts: run all rows on this many of the hosts, one count after the other, e.g. 1,2,4.
    size: Size of each work file, e.g. 4GiB; overrides the job.
    time: Duration of every row, e.g. 10s; overrides the job.
    seed: Random seed; the same seed gives the same offsets.
    destroy: Allow PATH, the block device with this identity, to be overwritten. The refusal shows the identity.
    out: Directory for run folders.
    label: Tag the run: `iocast compare before after` finds the newest run of each tag.
    """
    from iocast.sessions import public

    return public.measured({**locals(), "job": f"card-{preset}", "server": through})


def run(
    job: str | Job,
    path: str = "",
    *,
    size: str | None = None,
    time: str | None = None,
    seed: int = 1,
    destroy: str = "",
    out: str = _RUNS,
    label: str | None = None,
    hosts: str = "",
    share: Share = "own",
    ramp: Sequence[int] = (),
    listener: Listener | None = None,
) -> Card:
    """Runs a job (a preset's name, the path of a job file, or a Job) on a path and judges it, as `iocast run` does.

    job: The name of a preset, the path of a job file, or a Job.
    path: A directory, a file, a block device, or a simulated device such as sim:hdd.
    hosts: Run on these hosts at once, e.g. db[1-4]:/u01, or a file that names them.
    share: With hosts: each its own files, its slice of one device, or the same bytes.
    ramp: With hosts: run all rows on this many of the hosts, one count after the other, e.g. 1,2,4.
    size: Size of each work file, e.g. 4GiB; overrides the job.
    time: Duration of every row, e.g. 10s; overrides the job.
    seed: Random seed; the same seed gives the same offsets.
    destroy: Allow PATH, the block device with this identity, to be overwritten. The refusal shows the identity.
    out: Directory for run folders.
    label: Tag the run: `iocast compare before after` finds the newest run of each tag.
    """
    from iocast.sessions import public

    return public.measured(locals())


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
    """Loads the data set in the database at a URL, a row for each number of sessions, as `iocast load-db run` does.

    url: The URL of the database, without a password.
    sessions: A row for each.
    time: Of each row.
    rate_per_s: Open loop: statements of all sessions, e.g. 2000/s.
    until_steady: End a row as soon as it is steady, time at the latest.
    beside_others: Although sessions of others are active, or cannot be judged.
    seed: Random seed; the same seed gives the same offsets.
    out: Directory for run folders.
    """
    from iocast.sessions import public

    return public.database_loaded(locals())


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
    """Tests by experiment what looks abnormal about a finished run, and judges it again, as `iocast diagnose` does.

    budget: Time limit for all experiments.
    most_bytes: I/O limit for all experiments.
    """
    from iocast.sessions import public

    return public.diagnosed(locals())


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
    """Asks one question about a path by a named experiment, as `iocast experiment` does.

    name: Which experiment: `iocast experiment` lists them.
    paths: The paths that it is about; most take one.
    size: Size of each work file, e.g. 4GiB; overrides the job.
    time: Duration of every row, e.g. 10s; overrides the job.
    rounds: Repeats of each row; at least 3 for a verdict.
    block: I/O size, unless the experiment varies it.
    depth: Queue depth of each user.
    streams: Writers of `noise`, readers of `concurrent-readers`.
    sync: dsync: each write of `noise` is durable before the next (O_DSYNC), as a log writer's; sync: O_SYNC.
    sizes: Working-set sizes of `working-set`.
    seed: Random seed; the same seed gives the same offsets.
    destroy: Allow PATH, the block device with this identity, to be overwritten. The refusal shows the identity.
    out: Directory for run folders.
    """
    from iocast.sessions import public

    return public.answered(locals())


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
    """Sizes storage for a need, as `iocast size` does: on one device, or on all of the library without one.

    capacity: Data to hold, e.g. 2TB.
    iops: Reads and writes a second at peak.
    mbps: MB/s (1000 x 1000) at peak: scans, loads, backups.
    read: Share of reads; default 70%.
    size: I/O size; default 8k.
    slo: Response time: 5ms (p99), p95=5ms, mean=2ms.
    raid: 10, 5, 6, 1 or 0; default 10, of cloud volumes 0.
    group: Devices of a parity group, 0: one of all.
    device: hdd-15k, hdd-10k, hdd-7200, sata-ssd, nvme, gp2, gp3, io2, premium-ssd-v2, a device file (.toml), or a
        run folder, whose ladder is used; default: all of the library beside each other.
    device_capacity: What the device of a run folder holds.
    growth: Growth a year, e.g. 20%/year, with years.
    years: Years of growth.
    utilisation: At most; default 60% of disks, 70% of others.
    spares: Spare devices.
    price: Price of one device, in any currency.
    """
    from iocast.sessions import public

    return public.sized(locals())


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
    """Foretells the response of a load from the ladder of a run, as `iocast forecast --on` does; `load`: a profile.

    iops: IOPS of production at its peak, e.g. 4000 or 4k.
    read: Share of reads.
    size: I/O size.
    slo: Service level: p99=5ms, mean=2ms.
    burst: Bursts above iops: 9000/s:30s/10m is 30 s in every 10 min.
    rates: CSV of seconds and IOPS, instead of iops.
    cv2: Squared coefficient of variation of the time between I/Os: 1 random, above 1 bursty.
    load: A profile of `iocast profile`, instead of iops, read, size, cv2.
    what_if: load*2, load+20%, cache=50%:200us, volume=gp3.
    verify: Replay the load on PATH, open loop, at the peak and 1.2 times it.
    time: Duration of each row of --measure.
    out: Directory for run folders.
    """
    from iocast.sessions import public

    return public.foretold(locals())


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

    path: A directory, a file, a block device, or a simulated device such as sim:hdd.
    max_latency: The limit of the response time, e.g. 10ms; required.
    percentile: The limit is one of this percentile, 50 to 99.9; `mean`: of the mean, as CALIBRATE_IO has it.
    disks: Disks below PATH: adds IOPS per disk and a check.
    block: Size of a random read.
    size: Size of each work file, e.g. 4GiB; overrides the job.
    time: Duration of every row, e.g. 10s; overrides the job.
    seed: Random seed; the same seed gives the same offsets.
    out: Directory for run folders.
    """
    from iocast.sessions import public

    return public.calibrated(locals())


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
    """Measures ORION's data points, as `iocast matrix` does: `matrix("-run simple -num_disks 4", "/mnt/db")`.

    paths: A directory, existing files or block devices, or a simulated device.
    luns: Work files in a directory; default 1.
    size: Size of each work file in a directory; default 1GiB.
    seed: Random seed; the same seed gives the same offsets.
    destroy: Allow the block device with this identity to be overwritten; once for each device.
    out: Directory for run folders.
    files: Write ORION's files into DIR: summary, iops, mbps, lat, …
    """
    from iocast.sessions import public

    return public.points_measured(locals())


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
    """Profiles the workload of traces, as `iocast profile` does; `.events()` gives columns (Arrow, Polars, pandas).

    format: Format of the traces, where it is not recognised.
    block_size: Size of a database block in Oracle traces, e.g. 8k.
    oracle_release: Release of Oracle, where the trace does not say it.
    latency_unit: Unit of latencies in old fio logs: us or ns.
    block: Size of a block for working set and caches; `request`: a request is one block. Default: the usual page
        size.
    caches: A cache to add to the miss ratios, e.g. 40GiB.
    out: Directory for profiles.
    """
    from iocast.sessions import public

    return public.profiled(locals())


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

    trace: A trace of any format that iocast reads, or its event table.
    path: A directory, a file, a block device, or a simulated device.
    mode: timed: at the times of the trace. dependent: each I/O a pause after the end of the one that its process
        waited for. fast: in order, as fast as the storage answers.
    speed: 2: twice as fast.
    remap: Offsets outside PATH: refuse them, wrap them round, or scale all offsets to the size of PATH.
    targets: Only this target of the trace; repeatable.
    reads_only: Leave out writes, syncs and trims.
    buffered: Through the page cache; without it direct I/O, rounded to blocks.
    size: Size of each work file, e.g. 4GiB; overrides the job.
    time: Duration of every row, e.g. 10s; overrides the job.
    destroy: Allow PATH, the block device with this identity, to be overwritten. The refusal shows the identity.
    out: Directory for run folders.
    """
    from iocast.sessions import public

    return public.replayed(locals())


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
    """Captures I/Os of this machine into the event table `to`, as `iocast capture` does.

    to: The trace; default capture.parquet, counters.log.
    devices: Block requests of this disk; repeatable.
    pids: System calls of this process; repeatable.
    path: Only system calls on files below DIR; of all processes, or of those that pids or COMMAND names.
    command: A command to start and to follow.
    seconds: Stop after this time, e.g. 30s, or that many seconds; otherwise at Ctrl-C.
    """
    from iocast.sessions import public

    return public.captured(locals())
