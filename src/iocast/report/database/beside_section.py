"""The storage as a database sees it, beside the storage as iocast sees it, and where the difference comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from iocast.analyse.database.beside_raw import CommitsBeside, ReadsBeside, commits_beside, reads_beside
from iocast.model.finding import Grade
from iocast.model.report import Section
from iocast.model.results.database import CommitsBesideRow, ReadsBesideRow
from iocast.report.card.judged import Judged
from iocast.report.database import database_text
from iocast.report.result_tables import result_table
from iocast.report.wording import section as titled
from iocast.results.database_rows import commits_beside_rows, reads_beside_rows
from iocast.text import counted, duration, percent, rate

BUSY: Final = 0.1  # idle share of the processors below which sessions wait for one [J]
SMALL: Final = 0.1  # of the time of a read: less is noise
UNUSABLE: Final[set[Grade | None]] = {"D", "F"}


def section(raw: Judged, loaded: Judged, tests: tuple[str, str]) -> Section:
    """What both runs have in common. `tests`: the names of the raw reads and of the raw log writes."""
    target = loaded.run.plan.target
    server = target.database
    assert server is not None
    reads = reads_beside(raw.facts, loaded.facts, tests[0], server.block_bytes)
    commits = commits_beside(raw.facts, loaded.facts, tests[1])

    def trust(each: ReadsBeside | CommitsBeside) -> Grade | None:
        letters = (judged.examination.trust.get(name) for judged, name in zip((raw, loaded), each.rows, strict=True))
        return max((letter.grade for letter in letters if letter), default=None)

    tables = []
    if reads:
        tables.append(result_table(ReadsBesideRow, reads_beside_rows(reads, trust), key="reads_beside"))
    if commits:
        tables.append(result_table(CommitsBesideRow, commits_beside_rows(commits, trust), key="commits_beside"))

    def limited(each: ReadsBeside) -> bool:
        bounds = (judged.examination.bounds.get(name) for judged, name in zip((raw, loaded), each.rows, strict=True))
        return all(bound is not None and bound.by == "rate" for bound in bounds)

    said = [*_reads_say(server.product, reads, loaded.run.host.cpus, limited), *_commits_say(commits)]
    if UNUSABLE & {*map(trust, reads), *map(trust, commits)}:
        said.insert(0, "Rows of trust D or F are among these: measure again on an idle machine before you use them.")
    held = database_text.caches(target, loaded.run.host.memory_bytes)
    place = f"{server.product} {server.version}. {database_text.data_set(server)} {held}"
    own = f"Its own card: iocast report {loaded.folder}" if loaded.folder else ""
    return titled("beside_database", tuple(each for each in (*said, place, own) if each), tuple(tables))


def _reads_say(
    product: str, rows: Sequence[ReadsBeside], cpus: int, limited: Callable[[ReadsBeside], bool]
) -> Iterator[str]:
    """The verdict at the highest load, then what each part of the difference is."""
    if not rows:
        return
    last = rows[-1]
    yield (
        f"{product} gets {percent(last.kept)} of the random reads that iocast gets with"
        f" {counted(last.sessions, 'session')}: {rate(last.reads_per_s)} of {rate(last.raw_per_s)}."
    )
    for each in (rows[0], last) if len(rows) > 1 else (last,):
        yield _gap(each, cpus, limited=limited(each))


def _gap(each: ReadsBeside, cpus: int, *, limited: bool) -> str:
    parts = []
    longer = each.longer_ns
    if limited:
        parts.append("a rate limit sets the pace of both, and most of their read calls is the wait for it")
    elif longer is not None and longer > SMALL * each.raw_ns:
        why = f", of which waiting for one of {cpus} CPUs is a part" if _starved(each, cpus) else ""
        parts.append(f"its read call takes {duration(round(longer))} longer than that of iocast{why}")
    elif longer is not None and longer < -SMALL * each.raw_ns:
        parts.append(f"its read call takes {duration(round(-longer))} less than that of iocast{_cached(each)}")
    elif longer is not None:
        parts.append("its read call takes as long as that of iocast")
    if each.engine_ns is not None:
        parts.append(f"the engine's own work is {duration(round(each.engine_ns))} a block")
    if each.page_cache and (longer is None or longer >= -SMALL * each.raw_ns):
        parts.append(f"the page cache answered {percent(each.page_cache)} of the blocks")
    return f"{counted(each.sessions, 'session')}: {'; '.join(parts)}." if parts else ""


def _starved(each: ReadsBeside, cpus: int) -> bool:
    """More sessions than processors, of which next to none was free."""
    return each.sessions > cpus and each.cpu_idle is not None and each.cpu_idle < BUSY


def _cached(each: ReadsBeside) -> str:
    if each.page_cache:
        return f": the page cache answered {percent(each.page_cache)} of the blocks"
    return "; the two were measured one after the other, and on different parts of the storage"


def _commits_say(rows: Sequence[CommitsBeside]) -> Iterator[str]:
    if not rows:
        return
    first, last = rows[0], rows[-1]
    sync = "" if first.sync_ns is None else f", {duration(round(first.sync_ns))} of them the sync of its log"
    yield (
        f"A commit takes {duration(round(first.commit_ns))} with"
        f" {counted(first.sessions, 'session')}{sync}; a write of 8 KiB with fdatasync takes"
        f" {duration(round(first.raw_ns))}."
    )
    if last is not first and last.commits_per_sync is not None:
        shared = f"{last.commits_per_sync:.1f} commits share a sync of the log (group commit)"
        yield f"{counted(last.sessions, 'session')}: {shared}."
