"""vdbench's results: flatfile, summary, totals and histogram pages, or its whole output folder.

What it is: flatfile.html (also as a CSV), summary.html, totals.html and histogram.html of raw I/O runs (SD and WD)
and of file system runs (FSD and FWD); a page of one host, slave, SD or FWD when it is given without those of all.
What is read: one row for each run definition, from its own average (avg_2-10), never from the intervals, which become
samples; columns are found by name, so old and new layouts are understood. Times are milliseconds, MB of 1024**2, n/a
is not stated. Bytes are MB/sec x length where sizes are mixed: then a page names the first size only. Files of one
run given together complement each other: the flatfile has most, the histogram adds the buckets (older versions count
the warm-up in them too). Of a file system run the reads and writes are read, with a warning that names the rest.
What it cannot see: individual I/Os: their number is rate x length; the time zone, which the pages do not state; for
reads and writes separately only the mean, where it is stated; how many SDs shared the run, so threads (which count
for each SD) are not stated where more I/Os were outstanding.
What is refused: a file without an average; two files of one kind together. A run without its average is truncated: it
is left out with a warning.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from iocast.model.histogram import Histogram
from iocast.model.run import Run, Sample, Source
from iocast.model.stated import Bucket, Coarse
from iocast.model.workload import Arrival, Closed, Locality, Op, Poisson, Sequential, Uniform, Unstated
from iocast.tools import consistency
from iocast.tools.source_files import Head, read_whole_lines, refuse
from iocast.tools.stated_rows import OpFigures, Row, run, stated
from iocast.tools.vdbench.histogram_pages import Histograms, count, histograms
from iocast.tools.vdbench.result_pages import Interval, RunFigures, RunKey, averages, completed
from iocast.tools.vdbench.run_tables import ORDER, kind_of

MS_NS = 1_000_000
MIB = 1 << 20
UNCONTROLLED = 999_900.0  # vdbench writes 999988 and the like for "as fast as it goes"
MANY_SDS = 1.05  # more outstanding than threads by this factor: there were more SDs than one
OTHER_COUNTS = 0.02  # of the I/Os: a histogram that is off by more counts something else too
WARM_NOTE = "vdbench counts the warm-up in its histogram, not in its averages."
RATE_NOTE = "vdbench states rates, not numbers of I/Os: numbers are rate x length."
PACED_NOTE = "For a run with a rate vdbench does not state when I/Os were due: its times count from submission."


def sniff(head: Head) -> bool:
    """A heading of one of its pages."""
    return kind_of(head.text) != ""


def read(paths: tuple[str, ...]) -> Run:
    """The run definitions of these files, as the rows of one run. Raises SourceError."""
    warnings: list[str] = []
    pages = _pages(paths, warnings)
    figures: dict[RunKey, RunFigures] = {}
    counts: dict[RunKey, Histograms] = {}
    for kind in [kind for kind in ORDER if kind in pages]:
        path, text = pages[kind]
        if kind.endswith("histogram"):
            counts = histograms(path, text)
            continue
        for key, run_figures in averages(path, text, kind, warnings).items():
            figures[key] = completed(figures[key], run_figures) if key in figures else run_figures
    if not figures and not counts:
        raise refuse(paths[0], 0, "it has no average of a run: the run was cut short")
    rows = []
    for key in dict.fromkeys([*figures, *counts]):
        row_read = _row(key[0], figures.get(key), counts.get(key), warnings)
        rows += [] if row_read is None else [(key, row_read)]
    if not rows:
        raise refuse(
            paths[0], 0, "its histograms do not separate reads and writes", "give the flatfile or the summary too"
        )
    for key, row in rows:
        warnings += consistency.inconsistencies(row)
        warnings += _queue(row, figures.get(key))
    notes = [RATE_NOTE] if figures else []
    warm = any(_warm(figures[key], counts[key]) for key in counts if key in figures) or not figures
    notes += [WARM_NOTE] if counts and warm else []
    notes += [PACED_NOTE] if any(isinstance(row.arrival, Poisson) for _, row in rows) else []
    return run(Source(tool="vdbench", files=paths, notes=tuple(notes)), [row for _, row in rows], warnings=warnings)


def _pages(paths: tuple[str, ...], warnings: list[str]) -> dict[str, tuple[str, str]]:
    """Path and text of the page of each kind. Pages of a part are left out beside those of the whole run."""
    by_kind: dict[str, list[tuple[str, str]]] = {}
    for path in paths:
        text = read_whole_lines(path, warnings)
        by_kind.setdefault(kind_of(text), []).append((path, text))
    others = [path for path, _ in by_kind.pop("other", [])]
    if not by_kind:
        raise refuse(others[0], 0, "no page of results", "give flatfile.html, summary.html and histogram.html")
    for part, wholes in (("part", ("flatfile", "summary", "totals")), ("part histogram", ("histogram",))):
        if any(whole in by_kind for whole in wholes):
            others += [path for path, _ in by_kind.pop(part, [])]
    for kind, own in by_kind.items():
        if len(own) > 1:
            raise refuse(own[1][0], 0, f"a second {kind} beside {own[0][0]}", "import each vdbench run separately")
    if others:
        names = ", ".join(os.path.basename(path) for path in others)
        warnings.append(f"Pages without results of the whole run are left out: {names}.")
    return {kind: own[0] for kind, own in by_kind.items()}


def _row(name: str, figures: RunFigures | None, counts: Histograms | None, warnings: list[str]) -> Row | None:
    """The row of a run; None when its reads and writes cannot be told apart, or there were none."""
    if figures is None:
        assert counts is not None
        return _of_histogram(name, counts, warnings)
    if figures.beside:
        warnings.append(f"{name}: file operations besides reads and writes are left out: {', '.join(figures.beside)}")
    if figures.beside and not figures.rate_per_s:
        return None
    read_share = figures.read_percent / 100
    shares: list[tuple[Op, float]] = [("read", read_share), ("write", 1 - read_share)]
    used = [(op, share) for op, share in shares if share > 0 and figures.rate_per_s]
    if len(used) > 1 and figures.size_bytes is None and figures.read_mb_per_s is None:
        warnings.append(f"{name}: sizes are mixed; its bytes are divided between reads and writes as its I/Os are")
    if counts is not None and len(used) == 1 and not _counts_of(figures, counts):
        warnings.append(f"{name}: its histogram counts other operations too: left out")
        counts = None
    ops = tuple(_op(op, share, len(used) == 1, figures, counts) for op, share in used)
    return Row(
        name=name,
        test=name,
        ops=ops,
        elapsed_ns=round((figures.seconds or 1) * 1e9),
        users=_users(figures),
        depth=1,  # a thread of vdbench waits for its own I/O
        locality=_locality(figures.seek_percent),
        arrival=_arrival(figures.asked_per_s),
        engine="threads",
        samples=tuple(_samples(name, figures.intervals)),
        derived=(
            "ios",
            *(("arrival",) if figures.asked_per_s is None else ()),
            *(("length",) if figures.seconds is None else ()),
        ),
    )


def _users(figures: RunFigures) -> int | None:
    """The threads, unless more I/Os were outstanding: they count for each SD, and the number of SDs is not stated."""
    outstanding = figures.queue_depth or figures.rate_per_s * (figures.resp_ms or 0.0) / 1000
    return figures.threads if figures.threads and outstanding <= MANY_SDS * figures.threads else None


def _counts_of(figures: RunFigures, counts: Histograms) -> bool:
    """Whether a histogram counts these I/Os (and those of the warm-up), not opened and closed files as well."""
    if not figures.beside or figures.seconds is None:
        return True
    ios = figures.rate_per_s * figures.seconds
    return abs(count(counts.both) - ios) <= OTHER_COUNTS * ios


def _warm(figures: RunFigures, counts: Histograms) -> bool:
    """Whether a histogram counts more I/Os than the average."""
    ios = figures.rate_per_s * (figures.seconds or 0.0)
    return count(counts.both or (*counts.reads, *counts.writes)) > (1 + OTHER_COUNTS) * ios + 1


def _of_histogram(name: str, counts: Histograms, warnings: list[str]) -> Row | None:
    """A run of which only the histogram was given: counts, and how they spread."""
    reads, writes = counts.reads, counts.writes
    if not count(reads) and not count(writes) and counts.read_percent in (0, 100):
        reads, writes = (counts.both, ()) if counts.read_percent else ((), counts.both)
    parts: list[tuple[Op, tuple[Bucket, ...]]] = [("read", reads), ("write", writes)]
    ops = tuple(
        OpFigures(op=op, ios=round(count(buckets)), bytes=0, times=_times(round(count(buckets)), buckets))
        for op, buckets in parts
        if count(buckets)
    )
    if not ops:
        warnings.append(f"{name}: its histogram does not separate reads and writes and needs its flatfile: left out")
        return None
    return Row(
        name=name,
        test=name,
        ops=ops,
        elapsed_ns=round((counts.seconds or 1) * 1e9),
        users=counts.threads,
        depth=1,
        arrival=_arrival(counts.asked_per_s),
        engine="threads",
        derived=("size", *(() if counts.seconds else ("length",))),
    )


def _op(op: Op, share: float, alone: bool, figures: RunFigures, counts: Histograms | None) -> OpFigures:
    seconds = figures.seconds or 1.0
    ios = round(figures.rate_per_s * share * seconds)
    reads = op == "read"
    mean_ms = figures.read_resp_ms if reads else figures.write_resp_ms
    stdev_ms = figures.read_stdev_ms if reads else figures.write_stdev_ms
    max_ms = figures.read_max_ms if reads else figures.write_max_ms
    if alone:
        mean_ms = mean_ms if figures.resp_ms is None else figures.resp_ms
        stdev_ms = stdev_ms if figures.stdev_ms is None else figures.stdev_ms
        max_ms = max_ms if figures.max_ms is None else figures.max_ms
    buckets = _buckets(reads, alone, counts)
    times = Coarse(
        total=ios,
        mean_ns=None if mean_ms is None else mean_ms * MS_NS,
        stdev_ns=None if stdev_ms is None else stdev_ms * MS_NS,
        max_ns=None if max_ms is None else round(max_ms * MS_NS),
        buckets=buckets,
        whole=count(buckets),
    )
    size = figures.size_bytes
    mb_per_s = figures.read_mb_per_s if reads else figures.write_mb_per_s
    mb_per_s = figures.mb_per_s * share if mb_per_s is None else mb_per_s
    return OpFigures(
        op=op,
        ios=ios,
        bytes=ios * size if size else round(mb_per_s * MIB * seconds),
        size_bytes=size,
        times=stated(times),
    )


def _buckets(reads: bool, alone: bool, counts: Histograms | None) -> tuple[Bucket, ...]:
    """The buckets of one operation: those of both where it was the only one."""
    if counts is None:
        return ()
    own = counts.reads if reads else counts.writes
    return own if count(own) or not alone else counts.both


def _times(total: int, buckets: tuple[Bucket, ...]) -> Histogram:
    return stated(Coarse(total=total, buckets=buckets, whole=count(buckets)))


def _locality(seek_percent: float | None) -> Locality:
    if seek_percent == 100:
        return Uniform()
    return Sequential() if seek_percent is not None and seek_percent <= 0 else Unstated()


def _arrival(asked_per_s: float | None) -> Arrival | None:
    if asked_per_s is None:
        return None
    # Its default distribution is exponential.
    return Closed() if asked_per_s >= UNCONTROLLED else Poisson(asked_per_s)


def _samples(name: str, intervals: list[Interval]) -> Iterator[Sample]:
    start_s = intervals[0].second if intervals else 0.0
    for each in intervals:
        time_ns = round((each.second - start_s) * 1e9)
        yield Sample(time_ns, "vdbench", name, "ios_per_s", each.rate_per_s)
        if each.resp_ms is not None:
            yield Sample(time_ns, "vdbench", name, "service_mean_ns", each.resp_ms * MS_NS)


def _queue(row: Row, figures: RunFigures | None) -> Iterator[str]:
    """vdbench's own queue depth against rate x response time."""
    if figures is None or not figures.queue_depth or not figures.resp_ms:
        return
    in_flight = figures.rate_per_s * figures.resp_ms / 1000
    if (
        abs(in_flight - figures.queue_depth) > consistency.MEAN_SLACK * max(in_flight, figures.queue_depth)
        and in_flight > 0.5
    ):
        says = f"its own queue depth says {figures.queue_depth:.3g}"
        yield f"{row.name}: rate x time gives {in_flight:.3g} outstanding I/Os, {says}"
