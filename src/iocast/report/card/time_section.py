"""The section that says where the time of each row went: engine, system, kernel queue, device."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from iocast import text
from iocast.analyse.facts import Facts
from iocast.analyse.time_breakdown import Whereabouts
from iocast.model.report import Column, Row, Section, Table
from iocast.report.card import generator_section

COLUMNS = (
    Column("test", "row"),
    Column("op", "I/O"),
    Column("response", "response\nmean", "duration"),
    Column("unsent", "not yet\nsent", "duration", "due, and not sent: the queue of an open loop"),
    Column("system", "system", "duration", "sent, and neither in the queue nor in the device"),
    Column("queue", "kernel\nqueue", "duration"),
    Column("device", "device", "duration"),
    Column("queue_p99", "queue\np99", "duration", spare=2),
    Column("device_p99", "device\np99", "duration", spare=1),
    Column(
        "generator", "CPU of\nthe test", "share", "of one processor, kernel workers and observers included", spare=5
    ),
    Column("cpu_per_io", "CPU an\nI/O", "duration", "of the test, its system calls included", spare=6),
    Column("requests", "requests\nseen", "count", spare=3),
    Column("watched", "of the\ntime", "share", spare=4),
)
WORDS = {
    "cached": "it went through the page cache: requests are those of the cache, not of the I/Os",
    "synced": "each I/O also waits until it is durable, which takes further requests",
    "shared": "phases that ran at the same time share the figures of queue and device",
    "others": "others' I/O on the same device is in the figures of queue and device",
}
TOGETHER = "they ran at the same time, and the CPU time of the test is that of all of them."
NOTE = (
    "Means, so that the parts add up. Queue: from block_rq_insert to block_rq_issue; device: from there to"
    " block_rq_complete; system is the rest of the service time: system call, file system, waiting for a tag, the"
    " way back."
)


def section(facts: Facts) -> Section | None:
    """What the test itself took, and the parts of each row where requests were seen; None where neither is known."""
    said = generator_section.sentence(facts)
    paragraphs = (said,) if said else ()
    tables = _tables(facts)
    return Section("Where the time went", paragraphs, tables) if paragraphs or tables else None


def _tables(facts: Facts) -> tuple[Table, ...]:
    costs = {row.name: generator_section.cost(row) for row in facts.rows}
    seen = [each for row in facts.rows for each in row.whereabouts]
    if not seen:
        return ()
    blank = {key for key in ("unsent",) if not any(each.unsent_ns > 0.01 * each.response_ns for each in seen)}
    columns = tuple(column for column in COLUMNS if column.key not in blank)
    rows = tuple(_row(each, costs[each.phase]) for each in seen)
    shared = [cost.phase for cost in costs.values() if cost is not None and cost.together]
    notes = (NOTE, *_notes(seen), *([f"{_names(shared)}: {TOGETHER}"] if shared else []))
    return (Table("", columns, rows, key="whereabouts", notes=notes),)


def _row(each: Whereabouts, cost: generator_section.Cost | None) -> Row:
    return Row(
        {
            "test": each.phase,
            "op": each.op,
            "response": each.response_ns,
            "unsent": each.unsent_ns,
            "system": each.system_ns,
            "queue": each.queue_ns,
            "device": each.device_ns,
            "queue_p99": None if math.isnan(each.queue_p99_ns) else each.queue_p99_ns,
            "device_p99": each.device_p99_ns,
            "generator": cost.processors if cost else None,
            "cpu_per_io": cost.ns_per_io if cost else None,
            "requests": each.requests,
            "watched": each.watched_share,
            "size_ratio": each.size_ratio,
            "lost_events": each.lost_events,
            "inexact": each.inexact,
            "devices": each.devices,
        }
    )


def _notes(seen: list[Whereabouts]) -> Iterator[str]:
    """Why `system` is blank where it is, and what was not seen."""
    # Where others' requests are among those seen, their mean size says nothing about the kernel's work.
    alone = [each for each in seen if "merged" in each.inexact and not {"shared", "others"} & {*each.inexact}]
    merged = [f"{each.phase} ({each.op}) {text.ratio(each.size_ratio, None, None)}" for each in alone]
    if merged:
        yield (
            f"Requests are not as large as the I/Os: {', '.join(merged)} times. The kernel merged or split them, or"
            " requests of others are among them: there the parts do not add up."
        )
    for reason, words in WORDS.items():
        if phases := [each.phase for each in seen if reason in each.inexact]:
            yield f"{_names(phases)}: {words}."
    if lost := [each.phase for each in seen if each.lost_events]:
        yield f"{_names(lost)}: the trace lost records; what is shown are those that were kept."


def _names(phases: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(phases))
