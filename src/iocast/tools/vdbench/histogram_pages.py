"""The histograms of vdbench's pages: the counts of each run, together and for reads and writes apart."""

from __future__ import annotations

import re

from msgspec import Struct

from iocast.model.stated import Bucket
from iocast.tools.foreign_numbers import number
from iocast.tools.source_files import refuse
from iocast.tools.vdbench.result_pages import RunKey
from iocast.tools.vdbench.run_tables import start_of, text_of, ungrouped

_HEADING = "min(ms) <"
_EDGES = re.compile(r"^\s*([\d.,]+)\s*<\s*([\d.,]+|max)\s+([\d,]+)\s+")
_PARTS = {"reads": "reads", "writes": "writes"}


class Histograms(Struct):
    """The counts of one run definition."""

    both: tuple[Bucket, ...] = ()
    reads: tuple[Bucket, ...] = ()
    writes: tuple[Bucket, ...] = ()
    seconds: float | None = None  # what its counts span, where the page says it
    threads: int | None = None
    asked_per_s: float | None = None
    read_percent: float | None = None


def count(buckets: tuple[Bucket, ...]) -> float:
    """The I/Os in these buckets."""
    return sum(each.weight for each in buckets)


def histograms(path: str, text: str) -> dict[RunKey, Histograms]:
    """The counts of each run definition. Raises SourceError."""
    since_warm_up = "<title>" in text[:1000]  # as pages with a title count; the older ones count the warm-up too
    by_run: dict[RunKey, Histograms] = {}
    runs: dict[str, int] = {}
    own: Histograms | None = None
    part, heading = "both", ""
    buckets: list[Bucket] = []

    def close(at: int) -> None:
        if own is not None and buckets:
            if getattr(own, part):
                raise refuse(path, at, "buckets start again: the heading line is missing or damaged")
            setattr(own, part, tuple(buckets))

    for at, line in enumerate(text.splitlines(), 1):
        plain = text_of(line)
        if start := start_of(plain):
            close(at)
            buckets, heading = [], ""
            runs[start[0]] = runs.get(start[0], -1) + 1
            own = by_run[(start[0], runs[start[0]])] = _begun(path, at, start[1], since_warm_up)
        elif plain.lstrip().startswith(_HEADING):
            close(at)
            part, heading, buckets = _PARTS.get(heading, "both"), "", []
        elif edges := _EDGES.match(plain):
            buckets.append(_bucket(path, at, edges))
            if len(buckets) > 1 and buckets[-1].low_ns <= buckets[-2].low_ns:
                raise refuse(path, at, "buckets start again: the heading line is missing or damaged")
        elif plain.strip():
            heading = plain.strip().lower().rstrip(":")
    close(0)
    whole = {key: each for key, each in by_run.items() if each.both or each.reads or each.writes}
    for key, each in whole.items():
        _check(path, key[0], each)
    return whole


def _begun(path: str, at: int, said: dict[str, str], since_warm_up: bool) -> Histograms:
    """What the line that begins a run says of it. Without a stated warm-up its first interval is the warm-up."""

    def stated(name: str) -> float | None:
        return number(path, at, said[name], name) if name in said else None

    seconds, threads = stated("seconds"), stated("threads")
    if not since_warm_up and seconds is not None:
        seconds += stated("warmup") or 0.0
    elif "warmup" not in said:
        seconds = None
    return Histograms(
        seconds=seconds,
        threads=None if threads is None else round(threads),
        asked_per_s=stated("reqrate"),
        read_percent=stated("rdpct"),
    )


def _check(path: str, name: str, each: Histograms) -> None:
    """Raises SourceError for a histogram that is not whole."""
    for counts in (each.both, each.reads, each.writes):
        if counts and counts[-1].high_ns is not None:
            raise refuse(path, 0, f"the histogram of {name} is truncated before its last bucket")
    every, *apart = (count(part) for part in (each.both, each.reads, each.writes))
    if every and sum(apart) and every != sum(apart):
        raise refuse(path, 0, f"reads and writes in the histogram of {name} do not add up to its I/Os: it is truncated")


def _bucket(path: str, at: int, edges: re.Match[str]) -> Bucket:
    low, high = (
        None if text == "max" else round(number(path, at, ungrouped(text), "an edge") * 1e6)
        for text in (edges[1], edges[2])
    )
    return Bucket(low or 0, high, number(path, at, ungrouped(edges[3]), "a count"))
