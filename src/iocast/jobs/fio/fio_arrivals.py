"""Writes when the I/Os of a phase come as fio's rate_iops, rate, rate_process and thinktime."""

from __future__ import annotations

from iocast.errors import SpecError
from iocast.jobs.fio.fio_units import time_of
from iocast.model.workload import Bursts, Closed, Poisson, Workload

_ROUNDING = 0.05  # how much of a rate fio may lose: with poisson it rounds down to whole I/Os a second


def arrival_lines(load: Workload) -> dict[str, str]:
    """The settings of the arrival; fio's rates are for each user and direction. Raises SpecError."""
    if isinstance(load.arrival, Closed):
        if not load.arrival.think_ns:
            return {}
        if load.depth > 1:
            raise SpecError("fio's users have one I/O outstanding when they think", "depth = 1")
        return {"thinktime": time_of(load.arrival.think_ns)}
    if isinstance(load.arrival, Bursts):
        raise SpecError("fio has no bursts", "thinktime with thinktime_blocks is nearest, by hand")
    poisson = isinstance(load.arrival, Poisson)
    total = sum(item.weight for item in load.mix)
    whole: list[str] = []
    in_bytes: list[str] = []
    for op in [op for op in ("read", "write", "trim") if any(item.op == op for item in load.mix)]:
        items = [item for item in load.mix if item.op == op]
        weight = sum(item.weight for item in items)
        rate_per_s = load.arrival.rate_per_s * weight / total / load.users
        mean = sum(item.size_bytes * item.weight for item in items) / weight
        smallest = min(item.size_bytes for item in items)
        if _is_whole(rate_per_s) and (poisson or len(items) == 1):
            whole.append(str(round(rate_per_s)))
        bytes_per_s = rate_per_s * mean
        lost = abs(bytes_per_s // smallest - rate_per_s) / rate_per_s if poisson else 0.0
        if _is_whole(bytes_per_s) and lost <= _ROUNDING:
            in_bytes.append(str(round(bytes_per_s)))
    process = {"rate_process": "poisson" if poisson else "linear"}
    directions = len({item.op for item in load.mix})
    if len(whole) == directions:
        return {"rate_iops": ",".join(whole), **process}
    if len(in_bytes) == directions:
        return {"rate": ",".join(in_bytes), **process}
    rate_per_s = load.arrival.rate_per_s
    fewer = [users for users in range(load.users, 0, -1) if _is_whole(rate_per_s / users)]
    each = f"{rate_per_s / load.users:.6g} I/Os a second of each user"
    raise SpecError(
        f"{each}: fio takes whole numbers for reads and for writes",
        f"users = {fewer[0]}" if fewer and directions == 1 else "other rates",
    )


def _is_whole(value: float) -> bool:
    return value >= 1 and abs(value - round(value)) < 1e-9 * max(1.0, value)
