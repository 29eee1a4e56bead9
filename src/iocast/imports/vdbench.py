"""vdbench's results: flatfile, summary, totals and histogram pages.

What it is: flatfile.html (also as a CSV), summary.html, totals.html and histogram.html of a raw I/O run (SD and WD).
What is read: one row for each run definition, from its own average (avg_2-10), never from the intervals, which become
samples; columns are found by name, so old and new layouts are understood. Times are milliseconds, MB of 1024**2,
n/a is not stated. Files of one run given together complement each other: the flatfile has most, the histogram adds
the buckets (vdbench counts the warm-up in them too).
What it cannot see: individual I/Os: their number is rate x length; the time zone, which the pages do not state; for
reads and writes separately only the mean, where it is stated.
What is refused: file system runs (fwd); a file without an average; two files of one kind together. A run
without its average is truncated: it is left out with a warning.
"""

from __future__ import annotations

from collections.abc import Iterator

from iocast.formats.source_files import Head, read_text, refuse
from iocast.formats.vdbench import result_pages
from iocast.formats.vdbench.result_pages import Histograms, Interval, RunFigures
from iocast.imports import consistency
from iocast.imports.stated_rows import OpFigures, Row, run
from iocast.model.histogram import Histogram
from iocast.model.run import Run, Sample, Source
from iocast.model.stated import Bucket, Coarse
from iocast.model.workload import Arrival, Closed, Locality, Op, Poisson, Sequential, Uniform, Unstated

MS_NS = 1_000_000
MIB = 1 << 20
UNCONTROLLED = 999_900.0  # vdbench writes 999988 and the like for "as fast as it goes"
WARM_NOTE = "vdbench counts the warm-up in its histogram, not in its averages."
RATE_NOTE = "vdbench states rates, not numbers of I/Os: numbers are rate x length."
PACED_NOTE = "For a run with a rate vdbench does not state when I/Os were due: its times count from submission."


def sniff(head: Head) -> bool:
    """A heading of one of its pages."""
    return result_pages.kind_of(head.text) != ""


def read(paths: tuple[str, ...]) -> Run:
    """The run definitions of these files, as the rows of one run. Raises SourceError."""
    warnings: list[str] = []
    pages: dict[str, str] = {}
    averages: dict[str, RunFigures] = {}
    histograms: dict[str, Histograms] = {}
    for path in sorted(paths, key=lambda each: result_pages.ORDER.index(result_pages.kind_of(read_text(each)))):
        text = read_text(path)
        kind = result_pages.kind_of(text)
        if kind in pages:
            raise refuse(path, 0, f"a second {kind} beside {pages[kind]}", "import each vdbench run separately")
        pages[kind] = path
        if kind == "histogram":
            histograms = result_pages.histograms(path, text)
        else:
            for name, figures in result_pages.averages(path, text, kind, warnings).items():
                averages.setdefault(name, figures)
    if not averages and not histograms:
        raise refuse(paths[0], 0, "it has no average of a run: the run was cut short")
    told = {name: each for name, each in histograms.items() if name in averages or each.reads or each.writes}
    if len(told) < len(histograms):
        warnings.append("A histogram that does not separate reads and writes needs its flatfile: left out.")
    if not averages and not told:
        raise refuse(paths[0], 0, "its histograms do not separate reads and writes", "give the flatfile too")
    histograms = told
    rows = [_row(name, averages.get(name), histograms.get(name)) for name in dict.fromkeys([*averages, *histograms])]
    for row in rows:
        warnings += consistency.inconsistencies(row)
        warnings += _queue(row, averages.get(row.name))
    notes = [RATE_NOTE] if averages else []
    notes += [WARM_NOTE] if histograms else []
    notes += [PACED_NOTE] if any(isinstance(row.arrival, Poisson) for row in rows) else []
    return run(Source(tool="vdbench", files=paths, notes=tuple(notes)), rows, warnings=warnings)


def _row(name: str, figures: RunFigures | None, histogram: Histograms | None) -> Row:
    if figures is None:
        assert histogram is not None
        return _of_histogram(name, histogram)
    read_share = figures.read_percent / 100
    shares: list[tuple[Op, float]] = [("read", read_share), ("write", 1 - read_share)]
    used = [(op, share) for op, share in shares if share > 0 and figures.rate_per_s]
    ops = tuple(_op(op, share, len(used) == 1, figures, histogram) for op, share in used)
    return Row(
        name=name,
        test=name,
        ops=ops,
        elapsed_ns=round(figures.seconds * 1e9),
        users=figures.threads,
        depth=1,  # a thread of vdbench waits for its own I/O
        locality=_locality(figures.seek_percent),
        arrival=_arrival(figures.asked_per_s),
        engine="threads",
        samples=tuple(_samples(name, figures.intervals)),
        derived=("ios", *(("arrival",) if figures.asked_per_s is None else ())),
    )


def _of_histogram(name: str, histogram: Histograms) -> Row:
    """A run of which only the histogram was given: counts, and how they spread."""
    parts: list[tuple[Op, tuple[Bucket, ...]]] = [("read", histogram.reads), ("write", histogram.writes)]
    ops = tuple(
        OpFigures(op=op, ios=round(_count(buckets)), bytes=0, times=_times(round(_count(buckets)), None, buckets))
        for op, buckets in parts
        if _count(buckets)
    )
    return Row(
        name=name,
        test=name,
        ops=ops,
        elapsed_ns=round((histogram.seconds or 1) * 1e9),
        users=histogram.threads,
        depth=1,
        arrival=_arrival(histogram.asked_per_s),
        engine="threads",
        derived=("size", *(() if histogram.seconds else ("length",))),
    )


def _op(op: Op, share: float, alone: bool, figures: RunFigures, histogram: Histograms | None) -> OpFigures:
    ios = round(figures.rate_per_s * share * figures.seconds)
    mean_ms = figures.read_resp_ms if op == "read" else figures.write_resp_ms
    if alone:
        mean_ms = figures.resp_ms
    buckets: tuple[Bucket, ...] = ()
    if histogram is not None:
        buckets = histogram.reads if op == "read" else histogram.writes
        buckets = buckets or (histogram.both if alone else ())
    times = Coarse(
        total=ios,
        mean_ns=None if mean_ms is None else mean_ms * MS_NS,
        stdev_ns=figures.stdev_ms * MS_NS if alone and figures.stdev_ms is not None else None,
        max_ns=round(figures.max_ms * MS_NS) if alone and figures.max_ms is not None else None,
        buckets=buckets,
        whole=_count(buckets),
    )
    size = figures.size_bytes
    moved = ios * size if size else round(figures.mb_per_s * MIB * share * figures.seconds)
    return OpFigures(
        op=op, ios=ios, bytes=moved, size_bytes=size, times=Histogram.stated(times) if ios else Histogram()
    )


def _times(total: int, mean_ns: float | None, buckets: tuple[Bucket, ...]) -> Histogram:
    return Histogram.stated(Coarse(total=total, mean_ns=mean_ns, buckets=buckets, whole=_count(buckets)))


def _count(buckets: tuple[Bucket, ...]) -> float:
    return sum(each.weight for each in buckets)


def _locality(seek_percent: float | None) -> Locality:
    if seek_percent == 100:
        return Uniform()
    return Sequential() if seek_percent == 0 else Unstated()


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
    made = figures.rate_per_s * figures.resp_ms / 1000
    if abs(made - figures.queue_depth) > consistency.MEAN_SLACK * max(made, figures.queue_depth) and made > 0.5:
        says = f"its own queue depth says {figures.queue_depth:.3g}"
        yield f"{row.name}: rate x time gives {made:.3g} outstanding I/Os, {says}"
