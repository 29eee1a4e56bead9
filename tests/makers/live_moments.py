"""Moments of devices, events and histograms whose counters are known."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from pathlib import Path

from iocast import metrics
from iocast.metrics import bucket
from iocast.model.live.moment import Moment, moment_of
from iocast.model.run import Blind, Sample
from iocast.sessions.live.recording import Recorder
from iocast.sessions.live.watching import Stopping

BEGAN_NS = 1_795_000_000_000_000_000
SECOND_NS = 1_000_000_000


def moment(number: int, counters: Mapping[tuple[str, str], Mapping[str, float]], every_ns: int = SECOND_NS) -> Moment:
    """The moment `number` of a watch; counters by observer and subject."""
    at_ns = BEGAN_NS + number * every_ns
    samples = [
        Sample(at_ns, observer, subject, metric, value)
        for (observer, subject), values in counters.items()
        for metric, value in values.items()
    ]
    return moment_of(at_ns, samples, number)


def device(**counters: float) -> dict[str, float]:
    """The counters of a block device; those that are not given are 0."""
    names = (*metrics.LIMITED, metrics.IN_FLIGHT)
    known = (
        metrics.READS,
        metrics.READS_MERGED,
        metrics.READ_BYTES,
        metrics.READ_NS,
        metrics.WRITES,
        metrics.WRITES_MERGED,
        metrics.WRITTEN_BYTES,
        metrics.WRITE_NS,
        metrics.BUSY_NS,
        metrics.QUEUE_NS,
    )
    assert not set(counters) & set(names)
    return {**dict.fromkeys(known, 0.0), **counters}


def histogram(counts: Mapping[int, int], sum_ns: int | None = None) -> dict[str, float]:
    """A histogram's counters: upper bound in microseconds → count."""
    found = {bucket(upper_us * 1000): float(count) for upper_us, count in counts.items()}
    return found if sum_ns is None else {**found, metrics.SUM_NS: float(sum_ns)}


class MadeLoad:
    """Twenty seconds of a disk and a database."""

    interval_ns = SECOND_NS
    texts: Mapping[str, str] = {"sql|7": "select scratch\n from pgio1"}
    sources = ("PostgreSQL 18.1 on db1",)
    blind = (Blind("nfs", "nothing is mounted by NFS"),)

    def moments(self, stopping: Stopping) -> Generator[Moment]:
        for at in range(21):
            yield moment(
                at,
                {
                    (metrics.DISKSTATS, "vda"): device(reads=at * 100, read_bytes=at * 819_200, read_ns=at * 10**7),
                    ("block_layer", "vda|driver|read|8192"): {
                        **histogram({128: at * 90, 8192: at * 10}, sum_ns=at * 10**7),
                        "bytes": at * 819_200.0,
                    },
                    ("postgresql.waits", ""): {"polls": at * 10.0},
                    ("postgresql.waits", "IO|DataFileRead"): {"samples": at * 30.0},
                    ("postgresql.active_sql", "7"): {"samples": at * 30.0},
                },
            )


def tape_of_a_load(place: Path) -> str:
    """The folder of its tape."""
    load = MadeLoad()
    recorder = Recorder(str(place), load)
    for each in load.moments(lambda: False):
        recorder.add(each)
    recorder.close()
    return str(recorder.path)
