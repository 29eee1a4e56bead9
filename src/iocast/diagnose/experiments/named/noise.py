"""Do sequential writes slow down random reads?

What it is: random reads (the victim) before, during and after writers that overwrite a separate region sequentially
with unique data; files are neither truncated nor extended. With `--sync dsync` each write is O_DIRECT and O_DSYNC, as a
log writer's.
Why it matters: log writers and backups do this all day. On some arrays the reads beside them only get slower; on
others the writes evict the cached data of the reads, which stay slow afterwards.
How it shows: the victim's p99 rises by a fifth or more during the writes; a tenth or more remains after them, and
fewer of its reads are as fast as before. Damage is the share of its IOPS that it lost.
How to confirm: rounds of before, during and after, each judged by its ratio to before.
What to change: keep log writes out of the cache or limit them (quality of service), or put them on separate storage.
"""

from __future__ import annotations

from collections.abc import Iterator

from iocast.analyse.statistics import bucket_shares
from iocast.diagnose.experiments.named.trial_outcome import Ruling, decided, usual_row
from iocast.diagnose.experiments.named.trial_rows import MIB, figures, records, row, work
from iocast.diagnose.experiments.named.trial_setup import Defaults, TrialSetup
from iocast.model.experiment import Decision
from iocast.model.histogram import merge
from iocast.model.plan import Phase
from iocast.model.results.experiments import DisturbedRow
from iocast.model.run import Run
from iocast.model.workload import Sequential, Uniform
from iocast.text import brief_percent, brief_throughput

NAME = "noise"
WRITES = True
DEFAULTS = Defaults(size_bytes=256 * MIB, seconds=3.0, depth=4)
NOISE_BLOCK = 128 << 10  # a log writer's (source row X3)
MOST = 1 << 30  # of each part: a redo log
HURTS, STAYS = 1.2, 1.1  # models C, 14
FEWER = 0.9  # of the quick reads are left
DURING = Decision(statistic="p99", first="before", other="during", limit=HURTS, direction="above", op="read")
AFTER = Decision(statistic="mean", first="before", other="after", limit=STAYS, direction="above", op="read")


def phases(setup: TrialSetup) -> tuple[Phase, ...]:
    """Warm, before, during, after: in every round, in this order."""
    return tuple(phase for at in range(1, setup.rounds + 1) for phase in _round(setup, at))


def _round(setup: TrialSetup, at: int) -> Iterator[Phase]:
    size, seconds = setup.parts(2, MOST), setup.seconds
    reads = work("read", setup.block_bytes, depth=setup.depth)
    # All of the part is read once, not sequentially: what a cache can hold of it is in it before the first figure.
    warm = work("read", MIB, Uniform(repeats=False), depth=setup.depth)
    yield row("warm", at, warm, seconds=10 * seconds, moved_bytes=size, size=size, role="warm")
    yield row("settle", at, reads, seconds=seconds, size=size, role="warm")
    yield row("before", at, reads, seconds=seconds, size=size)
    beside = f"round {at}: during"
    writes = work("write", NOISE_BLOCK, Sequential(), users=setup.streams, sync=setup.sync)
    yield row("noise", at, writes, seconds=seconds, together=beside, start=size, size=size)
    yield row("during", at, reads, seconds=seconds, together=beside, size=size)
    yield row("after", at, reads, seconds=seconds, size=size)


def judge(runs: tuple[Run, ...]) -> Ruling:
    """Harm while it lasts, harm that stays, and whether the cache lost its data."""
    run = runs[0]
    shares = {test: _quick(run, test) for test in ("before", "during", "after")}
    damage = {test: _damage(run, test) for test in ("during", "after")}
    rows = tuple(
        usual_row(DisturbedRow, test, each, damage_share=damage.get(test), quick_share=shares.get(test))
        for test in ("before", "noise", "during", "after")
        if (each := figures(run, test)) is not None
    )
    during, after = decided(run, DURING), decided(run, AFTER)
    noise = figures(run, "noise")
    wrote = f" The noise wrote {brief_throughput(noise.bytes_per_s)}." if noise else ""
    says = f"{during.says.rstrip(' .')}.{_damaged(damage)}{wrote} {_after(shares, after.verdict, during.verdict)}"
    return Ruling(verdict=during.verdict, says=says.strip(), rows=rows)


def _damage(run: Run, test: str) -> float | None:
    """The share of its IOPS that the victim lost; below 0 where it gained."""
    before, now = figures(run, "before"), figures(run, test)
    return 1 - now.rate_per_s / before.rate_per_s if before and now and before.rate_per_s else None


def _damaged(damage: dict[str, float | None]) -> str:
    parts = [f"{brief_percent(share)} {when} the writes" for when, share in damage.items() if share is not None]
    return f" Damage to the IOPS of the reads: {', '.join(parts)}." if parts else ""


def _after(shares: dict[str, float | None], after: str, during: str) -> str:
    before_share, after_share = shares["before"], shares["after"]
    lost = before_share is not None and after_share is not None and after_share < FEWER * before_share
    if lost and after == "confirmed":
        assert before_share is not None
        assert after_share is not None
        moved = f"from {brief_percent(before_share)} to {brief_percent(after_share)} of the reads"
        return f"It persists after the writes, and fast reads fell {moved}: sequential writes evict cached data."
    if after == "confirmed":
        return "It persists after the writes have ended."
    if during == "confirmed":
        return "It ends with the writes: they share bandwidth and do not evict cached data."
    return "Sequential writes do not slow down reads here." if during == "rejected" else ""


def _quick(run: Run, test: str) -> float | None:
    """The share of a test's reads within twice what the fastest tenth took before."""
    before, now = (merge(each.measurement.response("read") for each in records(run, name)) for name in ("before", test))
    if not before.total or not now.total:
        return None
    return bucket_shares(now, (round(2 * before.quantile_ns(0.1)),))[0]
