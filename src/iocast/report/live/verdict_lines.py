"""The layer that loses the time, named on a live screen: verdict, figures, what would refute it."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Iterator

from msgspec.structs import replace

from iocast import metrics
from iocast.analyse.live.database_reads import POSTGRESQL_IO, database_reads
from iocast.analyse.live.layer_times import times_by_device
from iocast.analyse.live.session_shares import activity, background_work, held_locks, row_lock_waits, watched_databases
from iocast.diagnose.live.layers_verdict import LayersVerdict, verdict
from iocast.diagnose.live.waiting_sessions import SessionWaits, with_sessions
from iocast.model.live.moment import Interval
from iocast.model.run import Sample
from iocast.report.live.styled_lines import Line, Style, line
from iocast.text import brief_percent, brief_time

_STACKED = ("loop", "dm-", "md", "zram", "ram")


def verdict_of(interval: Interval) -> LayersVerdict:
    """The layer that loses the time in an interval."""
    if _is_first(interval):
        return LayersVerdict(
            code="unknown",
            says="No verdict in the first interval: what began before it was not seen.",
            refuted_by="the next interval",
        )
    reads = database_reads(interval.views(POSTGRESQL_IO))
    answer = verdict(times_by_device(_samples(interval), disks(interval), () if reads is None else (reads,)))
    whose = _whose(interval) if answer.rule in _OF_CALLS else ""
    answer = replace(answer, says=f"{answer.says} {whose}") if whose else answer
    for database in watched_databases(interval):
        if (waits := _session_waits(interval, database)) is not None:
            answer = with_sessions(answer, waits, interval.elapsed_ns)
    return replace(answer, says=" ".join((*_silent_servers(interval), answer.says)))


def _session_waits(interval: Interval, database: str) -> SessionWaits | None:
    sessions = activity(interval, database)
    if sessions is None:
        return None
    if database == "postgresql":
        return SessionWaits(activity=sessions, locks=held_locks(interval), background=background_work(interval))
    return SessionWaits(activity=sessions, row_lock_waits=row_lock_waits(interval) if database == "mysql" else 0)


_OF_CALLS = (1, 2, 3, 4, 5)  # rules that judge system calls


def _silent_servers(interval: Interval) -> Iterator[str]:
    """Which databases do not answer, and since when."""
    for observer in interval.after.by_observer:
        database, _, kind = observer.rpartition(".")
        silent_ns = interval.values(observer).get("", {}).get(metrics.SILENT_NS) if kind == metrics.ANSWER else None
        if silent_ns:
            since = time.strftime("%H:%M:%S", time.localtime((interval.after.time_ns - silent_ns) / 1e9))
            yield f"{database} does not answer since {since} ({brief_time(silent_ns)})."


def _is_first(interval: Interval) -> bool:
    """Of the watch: its moments are numbered."""
    (number,) = [each.value for each in interval.after.by_observer.get(metrics.WATCH, ())[:1]] or [0.0]
    return number == 1


def _whose(interval: Interval) -> str:
    """Whose calls are judged where everybody's are; "" where somebody is followed."""
    if interval.values(metrics.KERNEL_LAYERS).get("", {}).get(metrics.FOLLOWED) != 0:
        return ""
    spent_ns: dict[str, int] = {}
    for subject, view in interval.views(metrics.CALLS_BY_PROCESS).items():
        who = subject.rpartition(metrics.PART)[0]
        spent_ns[who] = spent_ns.get(who, 0) + (view.delta(metrics.SUM_NS) or 0)
    if not spent_ns or not (whole_ns := sum(spent_ns.values())):
        return "The calls are those of all processes."
    pid, _, command = max(spent_ns, key=lambda who: spent_ns[who]).partition(metrics.PART)
    share = brief_percent(spent_ns[f"{pid}{metrics.PART}{command}"] / whole_ns)
    return f"The calls are those of all processes, {share} of their time of {command} ({pid})."


def verdict_lines(interval: Interval, width: int) -> Iterator[Line]:
    """What is slow, by which figures; then what would refute it, and the way out."""
    layers_verdict = verdict_of(interval)
    said: Style = "warn" if layers_verdict.rule else "strong"
    parts: list[tuple[str, Style]] = [(layers_verdict.says, said)]
    if layers_verdict.rule:
        parts += [(f"This is wrong if: {layers_verdict.refuted_by}.", "dim"), (layers_verdict.remedy, "dim")]
    for text, style in parts:
        for each in textwrap.wrap(text, width):
            yield line(each, style)


def _samples(interval: Interval) -> Iterator[Sample]:
    yield from interval.before.samples
    yield from interval.after.samples


def disks(interval: Interval) -> tuple[str, ...]:
    """Disks, not what is stacked on them: an I/O of a loop device is seen at its disk, too. Without disks: all."""
    names = {subject.partition(metrics.PART)[0] for subject in interval.views(metrics.BLOCK_LAYER) if subject}
    return tuple(sorted(name for name in names if not name.startswith(_STACKED)))
