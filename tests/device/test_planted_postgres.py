"""Truth: a real PostgreSQL under planted conditions; the verdict of the live screen names each, and none when quiet.

IOCAST_PLANTED=5 tries five seeds of each and ten quiet runs, and prints the table of the docs. The suite leaves it out:
on a machine that is short of CPU most conditions look alike.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
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

pytest.importorskip("psycopg")
if "IOCAST_PLANTED" not in os.environ:
    pytest.skip("planted conditions need a machine that does nothing else: IOCAST_PLANTED=5", allow_module_level=True)
SEEDS = int(os.environ.get("IOCAST_PLANTED", "1"))
QUIET_RUNS = 10 if SEEDS > 1 else 1
ATTEMPTS = 3
CAP_PER_S, WRITE_CAP_PER_S = 1500, 120
COMMIT = "insert into committed values (repeat('x', 200) || '{seed}')"
# Beyond these others on this machine, and not what was planted, may have set the times.
IDLE_LEAST, FOREIGN_MOST = 0.25, 0.05
TOO_BUSY, FAR_TOO_BUSY = 2.0, 6.0  # processes that want each processor


@pytest.fixture(scope="module")
def planted() -> Iterator[Planted]:
    need()
    if _load() > FAR_TOO_BUSY:
        pytest.skip(f"this machine is not quiet: {_load():.0f} processes wait for each processor")
    with planted_postgres() as server:
        yield server


def _load() -> float:
    """Processes that want each processor, over the last minute."""
    return os.getloadavg()[0] / (os.cpu_count() or 1)


class Case(NamedTuple):
    """A condition, who works under it, and what the verdict is to say."""

    name: str
    plant: Callable[[Planted], AbstractContextManager[None]]
    statement: str
    clients: int
    code: str
    rule: int
    says: str


CASES = (
    Case("CPU starvation", starved, reads(), 2, "cpu", 1, "CPU starvation, not the storage"),
    Case("CPU quota", lambda server: cpu_quota(server, 0.1), reads(), 2, "cpu", 1, "CPU quota"),
    Case("cap of reads", lambda server: capped(server, "read", CAP_PER_S), reads(), 4, "throttle", 2, "Throttle above"),
    Case(
        "cap of writes", lambda server: capped(server, "write", WRITE_CAP_PER_S), COMMIT, 1, "throttle", 2, "Throttle"
    ),
    Case("neighbour", neighbour, reads(), 2, "device_queue", 3, "The queue of the device"),
    Case(
        "late statistics", lambda _: nullcontext(), "select read_for(4, {seed}, 1, 8192)", 1, "late_statistics", 9, ""
    ),
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
        with case.plant(planted), planted.work(case.statement, case.clients):
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
    interval = planted.watched_while(lambda: planted.say(f"select read_each(1, {ROWS // 2})"))
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


def test_what_the_page_cache_answers_is_told() -> None:
    """Half of the table is in memory, and each block is asked for once: half of the calls have no bio."""
    need()
    with planted_postgres(debug_io_direct="''") as server:
        for _ in range(ATTEMPTS):
            resident(server.table_file(), 0.5)
            interval = server.watched_while(lambda: server.say(f"select read_each(1, {ROWS})"))
            share, found = times_of(server, interval).cached_share, verdict_of(interval)
            assert share is not None
            if 0.44 <= share <= 0.56 and found.code == "none":
                assert found.evidence["cached_share"] == pytest.approx(share, abs=0.02)
                assert "the page cache answers" in found.says
                return
            why = disturbed(server, interval)
            assert why, (share, found.says)
    pytest.skip(f"this machine is not quiet: {why}")
