"""The runs whose fio twins were printed by fioparse.sh itself: see tests/golden/card/classic*.txt."""

from __future__ import annotations

from makers import card_runs

from iocast.model.histogram import Histogram
from iocast.model.measurement import ClassResult
from iocast.model.run import PhaseRecord, Run
from iocast.model.workload import MixItem, Op, Sequential, Uniform, Workload

US = 1_000
MS = 1_000_000


def _phase(test: str, op: Op, size_bytes: int, users: int, times: Histogram, elapsed_ns: int) -> PhaseRecord:
    locality = Uniform() if test.startswith("rand") else Sequential()
    workload = Workload(mix=(MixItem(op, size_bytes),), locality=locality, users=users)
    parts = (ClassResult(op, size_bytes, times.total, times.total * size_bytes, 0, times, times),)
    did = card_runs.measurement(parts, users=users, elapsed_ns=elapsed_ns)
    return card_runs.record(f"{test} {size_bytes}", workload, did, test=test)


def fio_1_50() -> Run:
    """Vector V1: 25600 reads of 8K in 16.52 s, shared over the buckets as fio 1.50 printed them."""
    buckets = ((80, 3), (200, 540), (400, 5151), (600, 17152), (900, 842), (1500, 1846), (3000, 58))
    spread = card_runs.histogram(*((us * US, n) for us, n in buckets), (8 * MS, 5), (10_221 * US, 3))
    mean_ns, stdev_ns = 641.43 * US, 246.75 * US
    told = Histogram(
        spread.index,
        spread.count,
        round(mean_ns * spread.total),
        (spread.total - 1) * stdev_ns**2 + spread.total * mean_ns**2,
        203 * US,
        10_221 * US,
    )
    return card_runs.run(_phase("read", "read", 8192, 1, told, 16_520 * MS))


SPREAD = (
    (40 * US, 6000),
    (900 * US, 3500),
    (3 * MS, 300),
    (9 * MS, 100),
    (15 * MS, 50),
    (45 * MS, 40),
    (90 * MS, 5),
    (900 * MS, 4),
    (3000 * MS, 1),
)


def two_tests() -> Run:
    """Reads in nearly every bucket, and writes that all took 40 ms."""
    return card_runs.run(
        _phase("randread", "read", 8192, 16, card_runs.histogram(*SPREAD), 1000 * MS),
        _phase("write", "write", 131_072, 4, card_runs.histogram((40 * MS, 100)), 1000 * MS),
    )
