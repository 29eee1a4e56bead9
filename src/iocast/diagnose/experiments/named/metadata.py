"""Do operations on names scale with the number of users?

What it is: a tree of small directories, made, looked up, opened, listed, renamed and removed by 1 to 64 users; at one
user also what `ls` and `ls -l` of all of it take, warm and, as root, cold.
Why it matters: file servers, mail stores and build machines wait for names, not for data; a file system that locks a
directory, or one lock for all of it, gives many users what one has.
How it shows: lookups (stat) of the best number of users are less than one and a half times those of one user.
How to confirm: the operations a second of each row; each begins with a whole tree. The slabs of dentries and inodes are
read before and after (root).
What to change: more and smaller directories, a directory for each user; another file system; keep names cached
(vfs_cache_pressure) where there is memory for them.
"""

from __future__ import annotations

from collections.abc import Iterator

from iocast import metrics
from iocast.diagnose.experiments.named.trial_outcome import Ruling
from iocast.diagnose.experiments.named.trial_setup import Defaults, TrialSetup
from iocast.model.codes import VerdictCode
from iocast.model.plan import Length, Phase
from iocast.model.results.experiments import NamesRow
from iocast.model.run import PhaseRecord, Run
from iocast.model.tree import Tree
from iocast.model.workload import MixItem, Op, Workload
from iocast.text import brief_time, capacity, counted, number, rate

NAME = "metadata"
WRITES = True
DEFAULTS = Defaults(seconds=0.5, rounds=1, files=10_000)
USERS = (1, 2, 4, 8, 16, 32, 64)
A_DIRECTORY = 500  # files
WIDTH = 20  # directories at a level
SCALES = 1.5  # [J]
HARDLY = 1.05  # [J]
# What every number of users does, in this order: makes a tree, uses it, removes it.
LADDER: tuple[Op, ...] = ("create", "stat", "open", "readdir", "rename", "unlink")
PASSES = frozenset(("create", "unlink"))  # they end with their tree
LISTS: dict[Op, str] = {"readdir": "ls", "readdirplus": "ls -l"}
LOOKUP: Op = "stat"


def tree(setup: TrialSetup) -> Tree:
    """Directories of 500 files; two levels where one would have more than 20 of them."""
    directories = max(1, -(-setup.files // A_DIRECTORY))
    depth, width = (1, directories) if directories <= WIDTH else (2, round(directories**0.5))
    return Tree(depth=depth, width=width, files=max(1, round(setup.files / width**depth)))


def phases(setup: TrialSetup) -> tuple[Phase, ...]:
    """Lists at one user; then the ladder of users."""
    shape = tree(setup)
    lists = [*_lists(shape, cold=True)] if setup.cold else []
    return (*lists, *_lists(shape, cold=False), *(each for users in USERS for each in _rung(setup, shape, users)))


def _lists(shape: Tree, *, cold: bool) -> Iterator[Phase]:
    for op, command in LISTS.items():
        test = f"{command} {'cold' if cold else 'warm'}"
        length = Length(ios=shape.files_each // shape.files)
        yield Phase(name=test, test=test, workload=_load(op, 1), length=length, cold=cold)


def _rung(setup: TrialSetup, shape: Tree, users: int) -> Iterator[Phase]:
    for op in LADDER:
        yield Phase(
            name=f"{op} {users}x1",
            test=op,
            workload=_load(op, users),
            length=Length(ios=shape.files_each) if op in PASSES else Length(seconds=setup.seconds),
            from_nothing=op == "create",
        )


def _load(op: Op, users: int) -> Workload:
    return Workload(
        mix=(MixItem(op, 0),),
        users=users,
        direct=False,
        select="sequential" if op in PASSES or op == "readdirplus" else "random",
    )


def judge(runs: tuple[Run, ...]) -> Ruling:
    """Whether lookups scale, what lists take, and what the kernel kept of the names."""
    run = runs[0]
    alone = {each.phase.test: each.measurement.rate_per_s for each in run.measured if each.phase.workload.users == 1}
    rows, notes = tuple(_row(each, alone) for each in run.measured), tuple(_notes(run))
    looked = [each for each in run.measured if each.phase.test == LOOKUP and each.measurement.ios]
    if len(looked) < 2 or looked[0].phase.workload.users != 1:
        says = "Nothing to compare: two numbers of users are needed."
        return Ruling(verdict="undecided", says=says, rows=rows, notes=notes)
    best = max(looked, key=lambda each: each.measurement.rate_per_s)
    ratio = best.measurement.rate_per_s / looked[0].measurement.rate_per_s
    most = f"{rate(best.measurement.rate_per_s)} operations a second with {counted(best.phase.workload.users, 'user')}"
    says = f"{LOOKUP} reaches {most}, {number(ratio)} times those of one user."
    if ratio < HARDLY:
        says = f"{LOOKUP} does not scale: the most is {most}."
    verdict: VerdictCode = "confirmed" if ratio >= SCALES else "rejected"
    return Ruling(verdict=verdict, says=says + _says_lists(run), rows=rows, notes=notes)


def _row(record: PhaseRecord, alone: dict[str, float]) -> NamesRow:
    did, load = record.measurement, record.phase.workload
    times = did.response()
    one = alone.get(record.phase.test)
    lists = record.phase.test.startswith("ls")
    return NamesRow(
        test=record.phase.test,
        users=load.users,
        rate_per_s=did.rate_per_s if did.ios else None,
        scale=did.rate_per_s / one if one and not lists else None,
        p50_ns=times.quantile_ns(0.50) if times.total else None,
        p99_ns=times.quantile_ns(0.99) if times.total else None,
        took_ns=did.elapsed_ns if record.phase.length.ios else None,
        errors=did.error_count or None,
    )


def _says_lists(run: Run) -> str:
    took = {each.phase.test: each.measurement.elapsed_ns for each in run.measured if each.phase.test.startswith("ls")}
    if not took or run.plan.tree is None:
        return ""
    files = f"{run.plan.tree.files_each:,} files"
    times = (f"{test} {brief_time(ns)}" for test, ns in took.items())
    return f" Of {files}: {', '.join(times)}."


def _notes(run: Run) -> Iterator[str]:
    grown = slabs_grown(run)
    if grown:
        each = ", ".join(f"{cache} +{objects:,.0f} ({capacity(size)})" for cache, (objects, size) in grown.items())
        yield f"slabs of the kernel, most above the beginning of their row: {each}"
    for record in run.measured:
        for error in record.measurement.errors:
            yield f"{record.phase.name}: {error.count:,} × {error.name}"


def slabs_grown(run: Run) -> dict[str, tuple[float, float]]:
    """Of each slab cache of names and inodes that grew, the objects and bytes that it gained at most in a row."""
    grown: dict[str, tuple[float, float]] = {}
    for record in run.measured:
        first: dict[tuple[str, str], float] = {}
        gained: dict[tuple[str, str], float] = {}
        for sample in record.samples:
            if sample.observer == metrics.SLABS:
                key = (sample.subject, sample.metric)
                gained[key] = max(gained.get(key, 0.0), sample.value - first.setdefault(key, sample.value))
        for (cache, metric), objects in gained.items():
            if metric == metrics.OBJECTS and objects > grown.get(cache, (0.0, 0.0))[0]:
                grown[cache] = (objects, gained.get((cache, metrics.SIZE_BYTES), 0.0))
    return {cache: each for cache, each in grown.items() if each[0] >= 1000 and each[1]}
