"""Truth: a real PostgreSQL under planted conditions; the verdict of the live screen names each, and none when quiet.

Each seed plants the condition in another strength. IOCAST_PLANTED=5 tries five seeds of each and ten quiet runs, once
each, and prints the rows of the table in docs/live-verdict.md. The suite leaves it out: on a machine that is short of
CPU most conditions look alike.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest
from makers.planted_postgres import (
    ROWS,
    Planted,
    capped,
    cpu_quota,
    neighbour,
    planted_postgres,
    reads,
    resident,
    starved,
)
from makers.rootly import need

from iocast import metrics
from iocast.analyse.live.database_reads import POSTGRESQL_IO, database_reads
from iocast.analyse.live.layer_times import LayerTimes, layer_times
from iocast.diagnose.live.layers_verdict import LayersVerdict
from iocast.model.live.moment import Interval
from iocast.report.live.verdict_lines import verdict_of

pytestmark = pytest.mark.alone

pytest.importorskip("psycopg")
if "IOCAST_PLANTED" not in os.environ:
    pytest.skip("planted conditions need a machine that does nothing else: IOCAST_PLANTED=5", allow_module_level=True)
SEEDS = int(os.environ.get("IOCAST_PLANTED", "1"))
QUIET_RUNS = 10 if SEEDS > 1 else 1
ATTEMPTS = 3 if SEEDS == 1 else 1  # for the table every try counts
COMMIT = "insert into committed values (repeat('x', 200) || '{seed}')"
# Beyond these others on this machine, and not what was planted, may have set the times.
IDLE_LEAST, FOREIGN_MOST = 0.15, 0.05
AHEAD_MOST = 0.3  # of the blocks: what read-ahead may have brought before it was asked for
TOO_BUSY, FAR_TOO_BUSY, LOOKS = 1.0, 3.0, 10  # processes that want each processor


@pytest.fixture(scope="module")
def planted() -> Iterator[Planted]:
    need()
    if _load() > FAR_TOO_BUSY:
        pytest.skip(f"this machine is not quiet: {_load():.0f} processes wait for each processor")
    with planted_postgres() as server:
        yield server


def _load() -> float:
    """Processes that want each processor, in half a second: the load average is of what ended a minute ago."""
    wanting = 0
    for _ in range(LOOKS):
        time.sleep(0.05)
        wanting += int(Path("/proc/loadavg").read_text().split()[3].partition("/")[0]) - 1  # without this one
    return wanting / LOOKS / (os.cpu_count() or 1)


class Case(NamedTuple):
    """A condition of a random strength, who works under it, and what the verdict is to say."""

    name: str
    plant: Callable[[Planted, Random], AbstractContextManager[None]]
    statement: str
    clients: int
    code: str
    rule: int
    says: str


def _starved(server: Planted, drawn: Random) -> AbstractContextManager[None]:
    return starved(server, hogs=drawn.randint(4, 8))


def _quota(server: Planted, drawn: Random) -> AbstractContextManager[None]:
    return cpu_quota(server, drawn.uniform(0.05, 0.2))


def _capped_reads(server: Planted, drawn: Random) -> AbstractContextManager[None]:
    return capped(server, "read", drawn.randint(500, 3000))


def _capped_writes(server: Planted, drawn: Random) -> AbstractContextManager[None]:
    return capped(server, "write", drawn.randint(60, 300))


def _neighbour(server: Planted, drawn: Random) -> AbstractContextManager[None]:
    return neighbour(server, depth=drawn.choice((64, 128, 256)), size_bytes=drawn.choice((32, 64, 128)) << 10)


def _nothing(_: Planted, __: Random) -> AbstractContextManager[None]:
    return nullcontext()


def _one_row(server: Planted, _: Random) -> AbstractContextManager[None]:
    """A row that every client changes."""
    server.say("create table if not exists locked (n bigint)", "delete from locked", "insert into locked values (0)")
    return nullcontext()


def _slow_client(server: Planted, drawn: Random) -> AbstractContextManager[None]:
    """Two clients that take a row of a large answer every few milliseconds."""
    return server.fetch_slowly("select filler from kept, generate_series(1, 20)", drawn.uniform(0.002, 0.02), clients=2)


def _vacuum(server: Planted, drawn: Random) -> AbstractContextManager[None]:
    """Somebody who makes a table full of dead rows and vacuums it, again and again, beside commits."""
    server.say(
        "create table if not exists dead (n int, filler text)",
        f"insert into dead select n, repeat('x', 500) from generate_series(1, {drawn.randint(40_000, 80_000)}) n",
    )
    return server.work("vacuum (disable_page_skipping) dead", clients=1)


def _checkpoints(server: Planted, drawn: Random) -> AbstractContextManager[None]:
    """Somebody who asks for a checkpoint again and again, beside commits."""
    return server.work("checkpoint", clients=drawn.randint(1, 2))


HOLD_ROW = "begin; update locked set n = n + 1; select pg_sleep(0.1); commit"
COMPUTE = "select sum(sqrt(n + {seed})) from generate_series(1, 400000) n"
SPILL = (
    "set work_mem = '64kB'; select count(*) from (select filler, random() from kept order by filler, 2 offset 0) as s"
)
READ_ONCE = "select read_for(4, {seed}, 1, 8192)"
CASES = (
    Case("CPU starvation", _starved, reads(), 2, "cpu", 1, "CPU starvation, not the storage"),
    Case("CPU quota", _quota, reads(), 2, "cpu", 1, "CPU quota"),
    Case("cap of reads", _capped_reads, reads(), 4, "throttle", 2, "Throttle above"),
    Case("cap of writes", _capped_writes, COMMIT, 1, "throttle", 2, "Throttle"),
    Case("neighbour", _neighbour, reads(), 2, "device_queue", 3, "The queue of the device, shared"),
    Case("late statistics", _nothing, READ_ONCE, 1, "late_statistics", 9, ""),
    Case("lock of a row", _one_row, HOLD_ROW, 6, "lock", 10, "Sessions wait for a lock"),
    Case("fifty committers", _nothing, COMMIT, 50, "log", 12, "Sessions wait for the log"),
    Case(
        "slow client", _slow_client, "select 1 from pg_sleep(0.2)", 1, "client_path", 11, "Sessions wait for the client"
    ),
    Case("computing", _nothing, COMPUTE, 1, "query", 13, "Statements compute"),
)
# Told beside the verdict, whatever that is on this machine: condition, statement, clients, what is said.
REMARKS = (
    ("spill of a sort", _nothing, SPILL, 1, "Statements spill to temporary files"),
    ("checkpoint storm", _checkpoints, COMMIT, 2, "A checkpoint is writing"),
    ("vacuum", _vacuum, COMMIT, 1, "Vacuum works on"),
)


def times_of(planted: Planted, interval: Interval) -> LayerTimes:
    """The layers of an interval, with what the database counts."""
    samples = [*interval.before.samples, *interval.after.samples]
    found = database_reads(interval.views(POSTGRESQL_IO))
    return layer_times(samples, (planted.disk,), given=() if found is None else (found,))


def disturbed(planted: Planted, interval: Interval) -> str:
    """What others did meanwhile, if it was enough to slow down a quiet server; "" for little."""
    idle = next(iter(interval.views(metrics.CPU).values())).idle_share
    times = times_of(planted, interval)
    ours = times.count("read_call")
    foreign = max(0, times.count("driver_read") + times.count("driver_write") - ours) / max(1, ours)
    if idle is not None and idle < IDLE_LEAST:
        return f"processors idle {idle:.0%}"
    return f"{foreign:.0%} of the device's requests are of others" if foreign > FOREIGN_MOST else ""


def figures(planted: Planted, interval: Interval, found: LayersVerdict) -> str:
    """A row of the table of the docs."""
    times = times_of(planted, interval)
    layers = ("database", "read_call", "sync_call", "bio_read", "request_read", "driver_read")
    means = [times.mean_ns(layer) for layer in layers]
    shown = " | ".join("" if mean is None else f"{mean / 1000:.0f}" for mean in means)
    return f"{shown} | {found.code} | {found.says}"


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_planted_condition_is_named(planted: Planted, case: Case, seed: int, say: Callable[[str], None]) -> None:
    wrong, load = "", _load()
    for _ in range(ATTEMPTS):
        with case.plant(planted, Random(seed)), planted.work(case.statement, case.clients):
            interval = planted.watched()
        found = verdict_of(interval)
        if (found.code, found.rule) == (case.code, case.rule) and found.says.startswith(case.says):
            if SEEDS > 1:
                say(f"| {case.name} {seed} | {figures(planted, interval, found)}")
            return
        wrong = f"{found.code}: {found.says} others: {[each.code for each in found.others]}"
    if load > TOO_BUSY:
        pytest.skip(f"this machine is not quiet: {load:.1f} processes want each processor; {wrong}")
    raise AssertionError(f"{case.name}: {wrong}")


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize(
    ("name", "plant", "statement", "clients", "remark"), REMARKS, ids=[each[0] for each in REMARKS]
)
def test_what_the_server_does_besides_is_told(
    planted: Planted,
    name: str,
    plant: Callable[[Planted, Random], AbstractContextManager[None]],
    statement: str,
    clients: int,
    remark: str,
    seed: int,
    say: Callable[[str], None],
) -> None:
    for _ in range(ATTEMPTS):
        with plant(planted, Random(seed)), planted.work(statement, clients):
            interval = planted.watched()
        found = verdict_of(interval)
        if remark in found.says:
            if SEEDS > 1:
                say(f"| {name} {seed} | {figures(planted, interval, found)}")
            return
    raise AssertionError(f"{name}: {found.says}")


THINKING = "select pg_sleep(0.25), filler from kept where id = 1 + {seed} * 8000"  # next to no work between two pauses
# Right verdicts for a server that is almost idle: none, too few I/Os, or other processes on the device.
OF_OTHERS = ("none", "unknown", "device_queue", "device")
BLAMED = ("engine", "client_path", "file_system", "journal")


@pytest.mark.parametrize("run", range(QUIET_RUNS))
@pytest.mark.parametrize("clients", [0, 3])
def test_an_idle_server_beside_a_neighbour_is_not_blamed(
    planted: Planted, clients: int, run: int, say: Callable[[str], None]
) -> None:
    with _neighbour(planted, Random(run)), planted.work(THINKING, clients):
        interval = planted.watched()
    answer = verdict_of(interval)
    if QUIET_RUNS > 1:
        say(f"| idle beside a neighbour {clients} {run} | {figures(planted, interval, answer)}")
    assert answer.code in OF_OTHERS, f"{answer.code}: {answer.says}"
    assert not {each.code for each in answer.others} & {"engine", "client_path", "file_system", "journal"}, (
        answer.others
    )


@pytest.mark.parametrize("run", range(QUIET_RUNS))
def test_a_quiet_server_has_no_culprit(planted: Planted, run: int, say: Callable[[str], None]) -> None:
    why = ""
    for _ in range(ATTEMPTS):
        with planted.work(reads(), 1):
            interval = planted.watched()
        found = verdict_of(interval)
        if found.code == "none":
            if SEEDS > 1:
                say(f"| quiet {run} | {figures(planted, interval, found)}")
            return
        why = disturbed(planted, interval)
        assert why, f"{found.code}: {found.says}"
    pytest.skip(f"this machine is not quiet: {why}")


def test_blocks_read_are_calls_and_requests(planted: Planted) -> None:
    """With direct I/O a block that is read is one call, one bio and one request of the device."""
    files = {planted.path_of("kept"), planted.path_of("kept_pkey")}
    interval = planted.watched_while(lambda: planted.say(f"select read_each(1, {ROWS // 2})"), every_io=True)
    table = interval.views("postgresql.pg_statio_user_tables")["public|kept"]
    index = interval.views("postgresql.pg_statio_user_indexes")["public|kept|kept_pkey"]
    blocks = (table.delta("heap_blks_read") or 0) + (index.delta("idx_blks_read") or 0)
    assert blocks >= 0.9 * ROWS // 2
    calls = sum(
        view.delta(metrics.COUNT) or 0
        for subject, view in interval.views(metrics.CALLS_BY_FILE).items()
        if subject.startswith("pread") and any(subject.endswith(file) for file in files)
    )
    assert abs(calls - blocks) <= 0.01 * blocks
    for clock in ("bio", "request", "driver"):
        of_blocks = sum(
            view.delta(metrics.COUNT) or 0
            for subject, view in interval.views(metrics.BLOCK_LAYER).items()
            if subject == metrics.PART.join((planted.disk, clock, "read", "8192"))
        )
        assert of_blocks >= 0.99 * blocks, clock
        if of_blocks > 1.05 * blocks:  # the sessions of whoever watches read a little
            pytest.skip(f"others read the same disk: {of_blocks} requests of 8k for {blocks} blocks")


@pytest.fixture(scope="module")
def buffered() -> Iterator[Planted]:
    need()
    with planted_postgres(debug_io_direct="''") as server:
        yield server


@pytest.mark.parametrize("seed", range(SEEDS))
def test_what_the_page_cache_answers_is_told(buffered: Planted, seed: int, say: Callable[[str], None]) -> None:
    """A part of the table is in memory, and each block is asked for once: so many calls have no bio."""
    planted_share = Random(seed).uniform(0.3, 0.7)
    for _ in range(ATTEMPTS):
        resident(buffered.table_file(), planted_share)
        interval = buffered.watched_while(lambda: buffered.say(f"select read_each(1, {ROWS})"), every_io=True)
        share, found = times_of(buffered, interval).cached_share, verdict_of(interval)
        assert share is not None
        if planted_share - 0.05 <= share <= planted_share + AHEAD_MOST and found.code == "none":
            assert found.evidence["cached_share"] == pytest.approx(share, abs=0.02)
            assert "the page cache answers" in found.says
            if SEEDS > 1:
                say(f"| page cache, {planted_share:.0%} resident | {figures(buffered, interval, found)}")
            return
        why = disturbed(buffered, interval)
        assert why, (planted_share, share, found.says)
    pytest.skip(f"this machine is not quiet: {why}")
