"""The section that says where the time of each row went: engine, system, kernel queue, device."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from iocast import text
from iocast.analyse.facts import Facts
from iocast.model.report import Section, Table
from iocast.model.results.layers import TimeRow
from iocast.report.result_tables import result_table
from iocast.report.wording import section as titled
from iocast.results.whereabouts import cost

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


def section(facts: Facts, rows: Sequence[TimeRow]) -> Section | None:
    """What the test itself took, and the parts of each row where requests were seen; None where neither is known."""
    said = generator_sentence(facts)
    paragraphs = (said,) if said else ()
    tables = (_table(facts, rows),) if rows else ()
    return titled("time", paragraphs, tables) if paragraphs or tables else None


def _table(facts: Facts, rows: Sequence[TimeRow]) -> Table:
    costs = [row_cost for row in facts.rows if (row_cost := cost(row))]
    shared = [each.phase for each in costs if each.together]
    waited = any((each.unsent_ns or 0) > 0.01 * (each.response_ns or 0) for each in rows)
    notes = (NOTE, *_notes(rows), *([f"{_names(shared)}: {TOGETHER}"] if shared else []))
    leave = () if waited else ("unsent_ns",)
    return result_table(TimeRow, rows, key="whereabouts", leave=leave, notes=notes)


def _notes(rows: Sequence[TimeRow]) -> Iterator[str]:
    """Why `system` is blank where it is, and what was not seen."""
    # Where others' requests are among those seen, their mean size says nothing about the kernel's work.
    alone = [each for each in rows if "merged" in each.inexact and not {"shared", "others"} & {*each.inexact}]
    merged = [
        f"{each.phase} ({each.op}) {text.ratio(each.size_ratio, None, None)}"
        for each in alone
        if each.size_ratio is not None
    ]
    if merged:
        yield (
            f"Request size over I/O size: {', '.join(merged)}. The kernel merged or split I/Os, or other I/O is"
            " included: these parts do not add up."
        )
    for reason, words in WORDS.items():
        if phases := [each.phase for each in rows if reason in each.inexact]:
            yield f"{_names(phases)}: {words}."
    if lost := [each.phase for each in rows if each.lost_events]:
        yield f"{_names(lost)}: the trace lost records; the figures cover those that were kept."


def _names(phases: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(phases))


def generator_sentence(facts: Facts) -> str:
    """What load generation took of a CPU: the least and the most of all rows, "" where nothing is known."""
    known = [row_cost for row in facts.rows if (row_cost := cost(row))]
    if not known:
        return ""
    least, most = min(each.processors for each in known), max(known, key=lambda each: each.processors)
    spread = f"{text.percent(least)} to " if text.percent(least) != text.percent(most.processors) else ""
    where = f", most on {most.phase}" if len(known) > 1 else ""
    each = f"{text.brief_time(most.ns_per_io)} per I/O"
    return f"Load generation used {spread}{text.percent(most.processors)} of one CPU{where}: {each}."
