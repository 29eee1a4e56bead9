"""The section that says where the time of each row went: engine, system, kernel queue, device."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from iocast import text
from iocast.analyse.facts import Facts
from iocast.analyse.time_breakdown import Whereabouts
from iocast.model.report import Column, Row, Section, Table
from iocast.report.card import generator_section
from iocast.report.wording import section as titled

COLUMNS = (
    Column("test", "row"),
    Column("op", "op"),
    Column("response", "response\ntime", "duration"),
    Column("unsent", "submit\ndelay", "duration", "due but not submitted yet: the backlog of an open loop"),
    Column("system", "system", "duration", "service time outside the kernel queue and the device"),
    Column("queue", "kernel\nqueue", "duration"),
    Column("device", "device", "duration"),
    Column("queue_p99", "queue\np99", "duration", spare=2),
    Column("device_p99", "device\np99", "duration", spare=1),
    Column("generator", "test\nCPU", "share", "of one CPU, kernel workers and observers included", spare=5),
    Column("cpu_per_io", "CPU per\nI/O", "duration", "of the test, its system calls included", spare=6),
    Column("requests", "requests\ntraced", "count", spare=3),
    Column("watched", "time\ntraced", "share", spare=4),
)
WORDS = {
    "cached": "buffered: the requests are the page cache's, not those of the I/Os",
    "synced": "each I/O also waits for durability, which takes further requests",
    "shared": "concurrent phases share the queue and device figures",
    "others": "the queue and device figures include other I/O on the same device",
}
TOGETHER = "they ran concurrently; the test CPU is their sum."
NOTE = (
    "Means, so that the parts add up. Kernel queue: block_rq_insert to block_rq_issue. Device: block_rq_issue to"
    " block_rq_complete. System: the rest of the service time (system call, file system, wait for a tag, completion"
    " path)."
)


def section(facts: Facts) -> Section | None:
    """What the test itself took, and the parts of each row where requests were seen; None where neither is known."""
    said = generator_section.sentence(facts)
    paragraphs = (said,) if said else ()
    tables = _tables(facts)
    return titled("time", paragraphs, tables) if paragraphs or tables else None


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
            "phase": each.phase,
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
            f"Request size over I/O size: {', '.join(merged)}. The kernel merged or split I/Os, or other I/O is"
            " included: these parts do not add up."
        )
    for reason, words in WORDS.items():
        if phases := [each.phase for each in seen if reason in each.inexact]:
            yield f"{_names(phases)}: {words}."
    if lost := [each.phase for each in seen if each.lost_events]:
        yield f"{_names(lost)}: the trace lost records; the figures cover those that were kept."


def _names(phases: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(phases))
