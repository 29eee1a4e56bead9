"""Do caches answer a database whose queries come again?

What it is: a PostgreSQL of our own on the storage, its data set twice as large as its buffers; the same statements
twice, at the same moments: after its buffers and the page cache were emptied, and again.
Why it matters: the first run after a restart or a failover measures storage, each later one mostly memory. Databases
are compared cold with cold and warm with warm, or it is their caches that are compared.
How it shows: of the blocks that statements asked for, each of three layers answers a share: the engine's own cache,
the page cache, the storage.
How to confirm: this experiment counts them. Caches answer when the storage delivers less than 5 % of the cold blocks.
What to change: say of a figure which of the two it is; size memory by the warm run, the storage by the cold one.
"""

from __future__ import annotations

from iocast.analyse.database.memory_shares import memory_shares
from iocast.analyse.facts import Facts, RowFacts
from iocast.analyse.statistics import published
from iocast.diagnose.experiments.named.trial_outcome import Ruling
from iocast.diagnose.experiments.named.trial_setup import MIB, Defaults, TrialSetup, cannot
from iocast.model.plan import Phase
from iocast.model.results.experiments import CacheStateRow
from iocast.model.run import Run
from iocast.text import brief_percent, brief_time

NAME = "cold-warm"
WRITES = True
DEFAULTS = Defaults(size_bytes=64 * MIB, seconds=10.0, rounds=1)
SERVER = "postgres"  # what it needs on PATH for as long as it runs
COLD, WARM = "cold", "warm"
SESSIONS = 4
ANSWERED = 0.05  # of what the storage delivered cold: less is none (source row K19)
ALIKE = 0.02  # fewer statements than the other row has


def phases(setup: TrialSetup) -> tuple[Phase, ...]:
    """Its rows are those of a database, which is there only while it runs. Raises TargetError."""
    raise cannot(
        setup,
        f"the rows of {NAME} are known when its database is there",
        "omit --plan: it says what it makes before it begins",
    )


def judge(runs: tuple[Run, ...]) -> Ruling:
    """Whether storage delivered next to nothing of what it had delivered cold, to the same statements."""
    rows = {row.record.phase.test: state for row in Facts(runs[0]).rows if (state := _state(row)) is not None}
    states = tuple(rows.values())
    cold, warm = rows.get(COLD), rows.get(WARM)
    if cold is None or warm is None:
        return Ruling(verdict="undecided", says="Only one of both rows was measured.", rows=states)
    if not cold.storage_blocks or warm.storage_blocks is None:
        says = "What the storage delivered is not known: no device below the database was seen to deliver anything."
        return Ruling(verdict="undecided", says=says, rows=states)
    says = f"{_sentence(cold)} {_sentence(warm)}"
    if abs(warm.statements / cold.statements - 1) > ALIKE:
        says = (
            f"Cold, {cold.statements:,} statements were done, warm {warm.statements:,}: the storage did not keep pace;"
            f" give a longer --time. {says}"
        )
        return Ruling(verdict="undecided", says=says, rows=states)
    answered = warm.storage_blocks < ANSWERED * cold.storage_blocks
    return Ruling(verdict="confirmed" if answered else "rejected", says=says, rows=states)


def _state(row: RowFacts) -> CacheStateRow | None:
    """None for a row that loaded no database."""
    did = row.measurement.database
    if did is None:
        return None
    below, blocks, shares, service = did.below, did.statements.table_blocks, memory_shares(row), row.service()
    storage = shares.storage if shares else None
    return CacheStateRow(
        test=row.record.phase.test,
        statements=row.measurement.ios,
        mean_ns=service.mean_ns,
        p99_ns=published(service, 0.99),
        read_mean_ns=below.time_ns / below.reads if below is not None and below.time_ns and below.reads else None,
        engine_cache_share=shares.engine if shares else None,
        page_cache_share=shares.page_cache if shares else None,
        storage_share=storage,
        storage_blocks=None if storage is None else round(storage * blocks),
    )


def _sentence(state: CacheStateRow) -> str:
    """Where the blocks of a state came from, and how long a statement took."""
    parts = (
        (state.engine_cache_share, "from the database's buffers"),
        (state.page_cache_share, "from the page cache"),
        (state.storage_share, "from storage"),
    )
    shares = ", ".join(f"{brief_percent(share)} {where}" for share, where in parts if share is not None)
    return f"{state.test.capitalize()}, a statement takes {brief_time(state.mean_ns)}: blocks came {shares}."
