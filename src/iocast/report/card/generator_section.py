"""What the load generator itself needed of the machine: processor time of each row, and a sentence on the most."""

from __future__ import annotations

from iocast import text
from iocast.analyse.facts import Facts
from iocast.results.whereabouts import cost


def sentence(facts: Facts) -> str:
    """The least and the most of all rows, "" where nothing is known."""
    known = [found for row in facts.rows if (found := cost(row))]
    if not known:
        return ""
    least, most = min(each.processors for each in known), max(known, key=lambda each: each.processors)
    spread = f"{text.percent(least)} to " if text.percent(least) != text.percent(most.processors) else ""
    where = f", most on {most.phase}" if len(known) > 1 else ""
    each = f"{text.brief_time(most.ns_per_io)} per I/O"
    return f"Load generation used {spread}{text.percent(most.processors)} of one CPU{where}: {each}."
