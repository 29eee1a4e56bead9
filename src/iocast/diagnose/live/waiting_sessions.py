"""What the sessions of a database wait for, beside the layers below: a lock, the client, the log; or they compute.

Hypothesis: most of the time of the active sessions goes to one kind of wait. Alternatives are the other kinds, and a
layer that loses time: where one does for half of the interval (a third, of the log) it comes first, since whoever
holds a lock may be waiting for it, and the wait is told beside it. "Not the storage" is said only where the layers were
watched and are quick.

10. Sessions that wait for locks of tables and rows: who holds them is named where the server tells.
11. Sessions that wait for the client, which sends or takes data slowly.
12. Sessions that wait for the log (WAL, redo, binary log), or for a standby to confirm it.
13. Sessions that wait for nothing: the statement computes.
7. Sessions that wait for locks inside of the server: the engine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from iocast.analyse.live.session_shares import Activity, BackgroundWork, HeldLock
from iocast.diagnose.live.layers_verdict import GAP_SHARE, LayersVerdict, Lost
from iocast.diagnose.live.loss_words import LossWords
from iocast.metrics import ON_CPU
from iocast.model.codes import LostTimeCode
from iocast.text import brief_percent, brief_throughput

LEAST_LOOKS: Final = 5  # at the sessions: of fewer no share is told
LEAST_ACTIVE: Final = 0.5  # sessions on average: what fewer wait for slows nobody down [J]
MOST: Final = 0.5  # of the time of active sessions
MOST_COMPUTING: Final = 0.8  # a wait of a tenth is none of the statement's [J]
SPILT: Final = 0.05  # of the time of active sessions, in temporary files [J]


class SessionWaits(Struct, frozen=True, kw_only=True):
    """What is known of the sessions of one database in an interval. `row_lock_waits`: of those that show what they do,
    and not that they wait, how many wait for a row.
    """

    activity: Activity
    row_lock_waits: int = 0
    locks: tuple[HeldLock, ...] = ()
    background: BackgroundWork = BackgroundWork(None, None, ())


_WORDS: Final[Mapping[str, LossWords]] = {
    "lock": LossWords(
        rule=10,
        opens="Sessions wait for a lock",
        refuted_by="the waits stay when the session that holds it has ended its transaction",
        remedy="End or shorten the transaction that holds it; look at the order in which rows are changed.",
    ),
    "client": LossWords(
        rule=11,
        opens="Sessions wait for the client",
        refuted_by="a client on the server itself takes as long",
        remedy="Look at what the client does between two packets, at its fetch size and at the network.",
    ),
    "log": LossWords(
        rule=12,
        opens="Sessions wait for the log",
        refuted_by="the waits stay with the log on a device that flushes quickly",
        remedy="Look at the time of a sync call of the log; commit less often, or group commits.",
    ),
    "engine": LossWords(
        rule=7,
        opens="Sessions wait for locks inside of the server",
        refuted_by="the waits stay with fewer sessions at a time",
        remedy="Look at the event; use fewer connections at a time.",
    ),
    "query": LossWords(
        rule=13,
        opens="Statements compute",
        refuted_by="the same plan takes less time on a quicker disk",
        remedy="Look at the plan of the busiest statement.",
    ),
}
_CODES: Final[Mapping[str, LostTimeCode]] = {"client": "client_path"}  # of others: the same word
_STANDBY: Final = ("WalSenderWaitForWal", "WalSenderWriteData")  # of senders of the log, which always wait


def _kind(event: str) -> str | None:
    """Of `type|event` of PostgreSQL, or an event of MySQL; "": of nobody's statement."""
    group, _, name = event.partition("|")
    if group == "Activity" or name in _STANDBY:
        return ""
    if event == ON_CPU:
        return "query"
    if (name.startswith("Wal") and group == "IO") or name in ("WALWrite", "WALInsert", "SyncRep", "WALBufMapping"):
        return "log"
    if event.startswith(("wait/io/file/innodb/innodb_log_file", "wait/io/file/sql/binlog")):
        return "log"
    if group == "Lock" or event.startswith(("wait/lock/", "State|Waiting for table")):
        return "lock"
    if group == "Client" or event.startswith("wait/io/socket/"):
        return "client"
    return "engine" if group == "LWLock" else None


def with_sessions(layers: LayersVerdict, waits: SessionWaits, elapsed_ns: int) -> LayersVerdict:
    """The verdict of the layers with what the sessions wait for; the larger of both comes first."""
    said = " ".join(_remarks(waits))
    answer = _joined(layers, _loss(waits, elapsed_ns), elapsed_ns)
    return replace(answer, says=f"{answer.says} {said}") if said else answer


def _joined(layers: LayersVerdict, loss: Lost | None, elapsed_ns: int) -> LayersVerdict:
    if loss is None:
        return layers
    if layers.rule is not None and (layers.lost_share or 0.0) >= _enough_to_explain(loss):
        return replace(layers, says=f"{layers.says} {loss.says}", others=(*layers.others, loss))
    beside = {"none": "Not the storage: no layer loses time.", "unknown": layers.says}.get(layers.code, layers.says)
    others = layers.others
    if layers.rule is not None:
        others = (_as_lost(layers, elapsed_ns), *others)
    return LayersVerdict(
        code=loss.code,
        rule=loss.rule,
        says=f"{loss.says} {beside}",
        refuted_by=loss.refuted_by,
        remedy=loss.remedy,
        evidence=loss.evidence,
        lost_share=loss.lost_ns / elapsed_ns if elapsed_ns else None,
        others=others,
        missing=layers.missing,
    )


def _enough_to_explain(loss: Lost) -> float:
    """The share of the time that a layer must lose to be why sessions wait. One writes the log at a time and the others
    wait for it, so that a layer which takes a third of a sync call takes a third of that time."""
    return GAP_SHARE * min(1.0, loss.evidence["sessions"]) if loss.code == "log" else MOST


def _as_lost(layers: LayersVerdict, elapsed_ns: int) -> Lost:
    return Lost(
        code=layers.code,
        rule=layers.rule or 0,
        lost_ns=(layers.lost_share or 0.0) * elapsed_ns,
        evidence=layers.evidence,
        says=layers.says,
        refuted_by=layers.refuted_by,
        remedy=layers.remedy,
    )


def _loss(waits: SessionWaits, elapsed_ns: int) -> Lost | None:
    """The kind of wait that takes most of the time of all active sessions."""
    active: dict[str | None, float] = {}
    for each in waits.activity.waits:
        kind = _kind(each.subject)
        if kind != "":
            active[kind] = active.get(kind, 0.0) + each.active_mean
    whole = sum(active.values())
    hidden = min(float(waits.row_lock_waits), active.get(None, 0.0))
    active |= {None: active.get(None, 0.0) - hidden, "lock": active.get("lock", 0.0) + hidden}
    known = [(mean, kind) for kind, mean in active.items() if kind is not None]
    if waits.activity.polls < LEAST_LOOKS or whole < LEAST_ACTIVE or not known:
        return None
    mean, name = max(known)
    if mean < (MOST_COMPUTING if name == "query" else MOST) * whole:
        return None
    words = _WORDS[name]
    return Lost(
        code=_CODES.get(name, name),  # type: ignore[arg-type]
        rule=words.rule,
        lost_ns=mean * elapsed_ns,
        evidence={"share": mean / whole, "sessions": mean},
        says=f"{words.opens}: {brief_percent(mean / whole)} of the time of the active sessions"
        f" ({mean:.1f} of {whole:.1f} at a time){_details(name, waits)}.",
        refuted_by=words.refuted_by,
        remedy=words.remedy,
    )


def _details(kind: str, waits: SessionWaits) -> str:
    """Who holds the lock; else the events, the most frequent two."""
    if kind == "query":
        return ", which wait for nothing"
    if kind == "lock" and waits.locks:
        lock = waits.locks[0]
        state = f", {lock.state}" if lock.state else ""
        return f"; on {lock.relation}, held by process {lock.holder}{state}"
    if kind == "lock" and waits.row_lock_waits:
        return "; on rows"
    events = [each.subject.replace("|", " ") for each in waits.activity.waits if _kind(each.subject) == kind]
    return f": {', '.join(events[:2])}"


def _remarks(waits: SessionWaits) -> Iterator[str]:
    """What the server does beside its sessions, and in temporary files."""
    work = waits.background
    if work.checkpoint_buffers_per_s and work.checkpoint_buffers_per_s >= 1:
        yield f"A checkpoint is writing {work.checkpoint_buffers_per_s:,.0f} buffers a second."
    if work.vacuumed:
        yield f"Vacuum works on {', '.join(work.vacuumed[:2])}."
    files = sum(each.share for each in waits.activity.waits if each.subject.startswith("IO|Buffile"))
    if work.temporary_bytes_per_s:
        yield f"Statements spill to temporary files: {brief_throughput(work.temporary_bytes_per_s)} (work_mem)."
    elif files >= SPILT:
        yield f"Statements spill to temporary files: {brief_percent(files)} of the time of sessions (work_mem)."
