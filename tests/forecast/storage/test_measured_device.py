"""A measured ladder as a device: its percentiles are never below the truth of the queue that was measured."""

from __future__ import annotations

import math
import random

import pytest
from makers.card_runs import histogram

from iocast.errors import AnalysisError
from iocast.forecast.flow_equivalent import ladder
from iocast.forecast.laws.open_queues import mmc, mmc_quantile_s
from iocast.forecast.storage.measured_device import MeasuredDevice, MeasuredSide, measured_device
from iocast.forecast.storage.size_storage import Rates
from iocast.model.histogram import Histogram

SERVICE_S = 0.001
LOADS = (1, 2, 4, 8, 16, 32)


def times(users: int, servers: int) -> Histogram:
    """What a closed load of so many users sees of servers that share a queue: those ahead, then itself."""
    draw = random.Random(users)
    ahead = max(0, users - servers)
    values = [
        SERVICE_S * draw.expovariate(1) + sum(SERVICE_S / servers * draw.expovariate(1) for _ in range(ahead))
        for _ in range(4000)
    ]
    return histogram(*((value * 1e9, 1) for value in values))


def side(servers: int) -> MeasuredSide:
    rates = [min(users, servers) / SERVICE_S for users in LOADS]
    return MeasuredSide(ladder(LOADS, rates), tuple(times(users, servers) for users in LOADS), saturated=True)


def device(reads: MeasuredSide | None, writes: MeasuredSide | None = None) -> MeasuredDevice:
    return MeasuredDevice(
        name="run",
        capacity_bytes=1e12,
        size_bytes=8192,
        reads=reads,
        writes=writes,
        read_bytes_per_s=1e9,
        write_bytes_per_s=5e8,
        rows=(),
    )


@pytest.mark.parametrize("servers", [1, 4, 8])
@pytest.mark.parametrize("load", [0.2, 0.5, 0.7, 0.85])
def test_the_upper_end_holds(servers: int, load: float) -> None:
    measured, rate = side(servers), load * servers / SERVICE_S
    mean_s, p99_s = measured.mean_s(rate), measured.quantile_s(rate, 0.99)
    assert mean_s >= mmc(rate, SERVICE_S, servers).response_s
    assert p99_s >= mmc_quantile_s(rate, SERVICE_S, servers, 0.99)
    assert mean_s < 2.5 * mmc(rate, SERVICE_S, servers).response_s
    if math.isfinite(p99_s):
        assert p99_s < 3.5 * mmc_quantile_s(rate, SERVICE_S, servers, 0.99)


def test_above_what_was_demonstrated_nothing_is_promised() -> None:
    measured = side(4)
    assert measured.mean_s(0.96 * 4 / SERVICE_S) == math.inf
    assert measured.quantile_s(0.96 * 4 / SERVICE_S, 0.99) == math.inf


def test_reads_and_writes_measured_apart_do_less_and_take_longer() -> None:
    both, reads = device(side(4), side(4)), device(side(4))
    mixed = Rates(700.0, 300.0)
    assert reads.iops_of(Rates(1.0, 0.0), 8192) == pytest.approx(4000)
    assert both.iops_of(mixed, 8192) == pytest.approx(4000 / 1.3)
    alone, together = reads.carried(Rates(1000.0, 0.0), 8192, 0.99), both.carried(mixed, 8192, 0.99)
    assert together.utilisation == pytest.approx(1.3 * alone.utilisation)
    assert alone.limited_s is not None
    assert together.limited_s is not None
    assert together.limited_s >= 1.9 * alone.limited_s
    assert both.bytes_per_s_of(0.5) == pytest.approx(2 / (1 / 1e9 + 1 / 5e8))


def test_a_missing_ladder_is_named() -> None:
    with pytest.raises(AnalysisError, match="run has no ladder of random writes with trust C or better"):
        device(side(4)).iops_of(Rates(0.7, 0.3), 8192)
    with pytest.raises(AnalysisError, match=r"no ladder of random I/O of 8192 bytes .*3 loads are needed"):
        measured_device("run", [], 8192, 1e12)
