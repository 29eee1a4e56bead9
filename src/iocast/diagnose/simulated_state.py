"""What a simulated device did of its own while a row ran: I/O of others, maintenance, stalls, by its own clock."""

from __future__ import annotations

from itertools import pairwise

from msgspec import Struct

from iocast.analyse.facts import Facts, RowFacts, once
from iocast.model.service_laws import BimodalLaw, DiskLaw, QuantilePoint, ServiceLaw, TableLaw, UniformLaw
from iocast.model.simulated_device import SimulatedDevice, SimulatedNoise

OTHERS_PER_S = "others_per_s"  # the figure of a finding on what others do all the time, and so to every row alike
ALIKE = 0.05  # of the time, or of the time of an I/O: less between two rows makes no other device of it [J]


class State(Struct, frozen=True):
    """What a row met, by which it can be told from another."""

    others: float = 0.0  # share of its time in which others' I/O came, or still waited
    slower: float = 0.0  # how much longer than usual an I/O took on average, as a share
    stalled: float = 0.0  # share of its time in which nothing ended


@once
def states(facts: Facts) -> dict[str, State]:
    """The state that each measured row met, by its name; of real storage none is known."""
    device = facts.run.plan.target.simulated
    if not facts.simulated or device is None:
        return {}
    times = device_times(facts)
    return {row.name: _state(device, *times[id(row.record)]) for row in facts.rows}


def others_ns(row: RowFacts) -> int:
    """How long of a row the others of a simulated device were at work; 0 where it has none."""
    device = row.run.plan.target.simulated
    if device is None or device.noise is None:
        return 0
    return _of_others(device, *device_times(row.facts)[id(row.record)])


@once
def device_times(facts: Facts) -> dict[int, tuple[int, int]]:
    """From when to when each phase ran, by the clock of the device: it starts with the first and stops in between.

    What a phase leaves out of its figures, its warm-up, passed as well.
    """
    times: dict[int, tuple[int, int]] = {}
    now_ns = 0
    for record in facts.run.phases:
        together = facts.run.beside(record)
        if together[0] is not record:
            continue  # it began with the first of them
        ends = [now_ns]
        for each in together:
            from_ns = now_ns + (each.steady.warm_up_ns if each.steady is not None else 0)
            times[id(each)] = from_ns, from_ns + each.measurement.elapsed_ns
            ends.append(times[id(each)][1])
        now_ns = max(ends)
    return times


def _state(device: SimulatedDevice, from_ns: int, to_ns: int) -> State:
    took_ns = max(1, to_ns - from_ns)
    slow, drift, stall = device.slow, device.drift, device.stall
    slower = 0.0
    if slow is not None:
        slower += (slow.factor - 1) * max(0, min(to_ns, slow.to_ns) - max(from_ns, slow.from_ns)) / took_ns
    if drift is not None:
        slower += (drift.factor - 1) * min(1.0, (from_ns + to_ns) / 2 / max(1, drift.over_ns))
    stalled_ns = (
        0 if stall is None else took_ns - _at_starts(stall.every_ns - stall.for_ns, stall.every_ns, from_ns, to_ns)
    )
    return State(_of_others(device, from_ns, to_ns) / took_ns, slower, max(0, stalled_ns) / took_ns)


def _of_others(device: SimulatedDevice, from_ns: int, to_ns: int) -> int:
    if device.noise is None:
        return 0
    if not device.noise.burst_ns:
        return to_ns - from_ns
    # What comes faster than it can be served waits, and is still served when nothing comes any more.
    busy_ns = round(device.noise.burst_ns * max(1.0, _offered(device, device.noise)))
    return _at_starts(min(busy_ns, device.noise.every_ns), device.noise.every_ns, from_ns, to_ns)


def _offered(device: SimulatedDevice, noise: SimulatedNoise) -> float:
    """How many times what the servers can do the others ask for while they come."""
    servers = device.servers * (device.stripe.members if device.stripe is not None else 1)
    return noise.rate_per_s * _mean_ns(device.service) / 1e9 / servers


def _mean_ns(law: ServiceLaw) -> float:
    """The mean time of an I/O at a random place, after one at another."""
    match law:
        case UniformLaw():
            return (law.low_ns + law.high_ns) / 2
        case BimodalLaw():
            return law.slow_ns + law.fast_percent / 100 * (law.fast_ns - law.slow_ns)
        case TableLaw():
            ends = [QuantilePoint(0.0, law.points[0].ns), *law.points]
            return sum((to.percent - at.percent) / 100 * (to.ns + at.ns) / 2 for at, to in pairwise(ends))
        case DiskLaw():  # the mean root of the distance of two places is 8/15
            return law.seek_base_ns + law.seek_span_ns * 8 / 15 + 30e9 / law.rpm
        case _:
            return float(law.mean_ns)


def _at_starts(first_ns: int, every_ns: int, from_ns: int, to_ns: int) -> int:
    """How much of a time lies in the first part of a period."""

    def until(at_ns: int) -> int:
        return at_ns // every_ns * first_ns + min(at_ns % every_ns, first_ns)

    return until(to_ns) - until(from_ns)
