"""A ladder of a mix put together from a ladder of reads and one of writes: each user makes them in turn.

The service demand law: X = 1 / (share of reads / X of reads + share of writes / X of writes). Exact for a pool that
both share; 13 to 30 % too high in the middle of a ladder of striped disks, and blind to what writes do to reads. So
such a forecast is made with a third more load and twice the time at its upper end. Source: models A7.
"""

from __future__ import annotations

from iocast.forecast.measured_ladder import LEAST_LOADS, Level, MeasuredLadder, RequestedLoad
from iocast.forecast.response_law import GRID, Mixture

CAPACITY_OVER = 1.3  # by how much the throughput may be too high
UPPER_OVER = 2.0  # by how much times may be too low


def composed(reads: MeasuredLadder, writes: MeasuredLadder, requested_load: RequestedLoad) -> MeasuredLadder | None:
    """The ladder of a mix at the loads that both have; None for fewer than three of them."""
    of_writes = {level.users: level for level in writes.levels}
    pairs = [(level, of_writes[level.users]) for level in reads.levels if level.users in of_writes]
    if len(pairs) < LEAST_LOADS or pairs[0][0].users != 1:
        return None
    share = requested_load.read_share
    first = (reads.levels[0].response_s, writes.levels[0].response_s)
    mean = share * first[0] + (1 - share) * first[1]
    squares = share * (reads.service_cv2 + 1) * first[0] ** 2 + (1 - share) * (writes.service_cv2 + 1) * first[1] ** 2
    return MeasuredLadder(
        levels=tuple(_together(*pair, share) for pair in pairs),
        load=requested_load,
        read_share=share,
        service_cv2=max(0.0, squares / mean**2 - 1),
        fastest_s=min(reads.fastest_s, writes.fastest_s),
        composed=True,
        excluded={**reads.excluded, **writes.excluded},
        unsure={**reads.unsure, **writes.unsure},
    )


def _together(read: Level, write: Level, share: float) -> Level:
    both = Mixture(((share, read.times_s), (1 - share, write.times_s)), 0.0, 0.0)
    ends = (min(read.times_s[0], write.times_s[0]), max(read.times_s[-1], write.times_s[-1]))
    errors: dict[float, float | None] = {}
    for q, one in read.errors.items():
        other = write.errors.get(q)
        errors[q] = None if one is None or other is None else max(one, other)
    return Level(
        names=(*read.names, *write.names),
        users=read.users,
        rate_per_s=1 / (share / read.rate_per_s + (1 - share) / write.rate_per_s),
        ios=min(read.ios, write.ios),
        times_s=(ends[0], *(both.quantile_s(q) for q in GRID[1:-1]), ends[1]),
        mean_error=max(read.mean_error, write.mean_error),
        errors=errors,
    )
