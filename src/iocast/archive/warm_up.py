"""Leaves the warm-up out of what a phase did: its figures, samples and course begin when it had settled.

A phase that ran until it was steady is kept whole in the tables of its folder; its record is of the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from msgspec.structs import replace

from iocast.archive.parquet import ArrowStream, database
from iocast.model.histogram import Histogram
from iocast.model.measurement import ClassResult, Course, Generator, Measurement, SlowIo
from iocast.model.run import PhaseRecord, Sample

_NEVER_NS = 2**62
_SUMS = (
    "SELECT op, size_bytes::BIGINT, sum(ios)::BIGINT, sum(bytes)::BIGINT, sum({0}_sum_ns)::HUGEINT,"
    " sum({0}_sum_squares)::DOUBLE, min({0}_min_ns)::BIGINT, max({0}_max_ns)::BIGINT"
    " FROM intervals WHERE start_ns >= ? AND start_ns < ? AND ios > 0 GROUP BY ALL ORDER BY ALL"
)
_BUCKETS = (
    "SELECT op, size_bytes::BIGINT, bucket::BIGINT, sum(held)::BIGINT FROM (SELECT op, size_bytes,"
    " unnest({0}_index) AS bucket, unnest({0}_count) AS held FROM intervals"
    " WHERE start_ns >= ? AND start_ns < ? AND ios > 0)"
    " GROUP BY ALL ORDER BY ALL"
)


def warm_up_of(record: PhaseRecord) -> int:
    """How much of the phase its figures leave out, in ns."""
    return record.steady.warm_up_ns if record.steady is not None else 0


def without_warm_up(did: Measurement, intervals: ArrowStream, warm_up_ns: int) -> Measurement:
    """What a phase did from `warm_up_ns` on, which is the start of an interval."""
    return within(did, intervals, warm_up_ns)


def within(did: Measurement, intervals: ArrowStream, from_ns: int, to_ns: int | None = None) -> Measurement:
    """What a phase did from the start of one interval to that of another, or to its end.

    What is kept for each interval is exact: I/Os, bytes, both histograms. Processor time is shared out by time; the
    times of commits, of which only the whole is known, are left out.
    """
    responses = _histograms(intervals, "response", from_ns, to_ns)
    services = _histograms(intervals, "service", from_ns, to_ns)
    short = {(part.op, part.size_bytes): part.short_ios for part in did.classes}
    classes = tuple(
        ClassResult(key[0], key[1], ios, moved, min(ios, short.get(key, 0)), response, services[key][2])
        for key, (ios, moved, response) in responses.items()
    )
    elapsed_ns = (did.elapsed_ns if to_ns is None else min(to_ns, did.elapsed_ns)) - from_ns
    issuing_ns = (did.issuing_ns if to_ns is None else min(to_ns, did.issuing_ns)) - from_ns
    outside_ns = sum(part.service.sum_ns for part in did.classes) - sum(part.service.sum_ns for part in classes)
    open_loop = did.asked_rate_per_s is not None
    outstanding = (did.depth_mean * did.issuing_ns - outside_ns) / issuing_ns if open_loop else did.depth_mean
    left_out_ns = outside_ns if open_loop else did.depth_mean * (did.issuing_ns - issuing_ns)
    in_flight_ns = did.in_flight_ns - left_out_ns
    if to_ns is not None and not open_loop:  # and what was still to come back at the end
        in_flight_ns = did.depth_mean * issuing_ns
    left = max(0.0, min(1.0, elapsed_ns / did.elapsed_ns))
    return replace(
        did,
        started_unix_ns=did.started_unix_ns + from_ns,
        elapsed_ns=elapsed_ns,
        issuing_ns=issuing_ns,
        depth_mean=outstanding,
        in_flight_ns=in_flight_ns,
        ios=sum(part.ios for part in classes),
        bytes=sum(part.bytes for part in classes),
        classes=classes,
        slow=tuple(_between(did.slow, from_ns, to_ns)),
        left_behind=tuple(_between(did.left_behind, from_ns, to_ns)),
        users=tuple(replace(user, last_ns=max(0, min(user.last_ns - from_ns, elapsed_ns))) for user in did.users),
        cpu_user_ns=round(did.cpu_user_ns * left),
        cpu_system_ns=round(did.cpu_system_ns * left),
        generator=_generator(did.generator, from_ns, to_ns, left),
        commit=Histogram(),
    )


def samples_from(samples: tuple[Sample, ...], from_unix_ns: int) -> tuple[Sample, ...]:
    """The samples of each counter from the one nearest to a moment on."""
    counters: dict[tuple[str, str, str], list[int]] = {}
    for sample in samples:
        counters.setdefault((sample.observer, sample.subject, sample.metric), []).append(sample.time_ns)
    first = {key: min(times, key=lambda at: abs(at - from_unix_ns)) for key, times in counters.items()}
    return tuple(each for each in samples if each.time_ns >= first[each.observer, each.subject, each.metric])


def course_after(course: Course, warm_up_ns: int) -> Course:
    """The course of the rest, on its own clock."""
    later = (each for each in course if each.start_ns >= warm_up_ns)
    return tuple(replace(each, start_ns=each.start_ns - warm_up_ns) for each in later) if warm_up_ns else course


def _histograms(
    intervals: ArrowStream, which: str, from_ns: int, to_ns: int | None
) -> dict[tuple[Any, int], tuple[int, int, Histogram]]:
    """I/Os, bytes and times of each operation and size, between two moments."""
    moments = [from_ns, _NEVER_NS if to_ns is None else to_ns]
    with database().cursor() as connection:
        sums = connection.execute(_SUMS.format(which), moments).fetchall()
        rows = connection.execute(_BUCKETS.format(which), moments).fetchall()
    buckets = {key: [row[2:] for row in alike] for key, alike in groupby(rows, key=lambda row: (row[0], row[1]))}
    histograms = {}
    for op, size, ios, moved, sum_ns, squares, least, most in sums:
        index, count = zip(*buckets[op, size], strict=True)
        histograms[op, size] = (ios, moved, Histogram(index, count, sum_ns, squares, least, most))
    return histograms


def _between(slow: Iterable[SlowIo], from_ns: int, to_ns: int | None) -> Iterator[SlowIo]:
    end_ns = _NEVER_NS if to_ns is None else to_ns
    return (replace(io, time_ns=io.time_ns - from_ns) for io in slow if from_ns <= io.time_ns < end_ns)


def _generator(generator: Generator, from_ns: int, to_ns: int | None, left: float) -> Generator:
    end_ns = _NEVER_NS if to_ns is None else to_ns
    inside = (each for each in generator.absences if from_ns <= each.start_ns < end_ns)
    return replace(
        generator,
        user_ns=round(generator.user_ns * left),
        system_ns=round(generator.system_ns * left),
        queued_ns=round(generator.queued_ns * left),
        absences=tuple(replace(each, start_ns=each.start_ns - from_ns) for each in inside),
    )
