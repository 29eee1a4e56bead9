"""Reads the service laws of simulated targets: "exponential:5ms", "table:50%=1ms/100%=4ms"."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple

from iocast.jobs.simulated.option_values import duration, number, parts, span
from iocast.model.service_laws import (
    BimodalLaw,
    ConstantLaw,
    DiskLaw,
    ExponentialLaw,
    GammaLaw,
    LognormalLaw,
    QuantilePoint,
    ServiceLaw,
    TableLaw,
    UniformLaw,
)
from iocast.tools.line_problems import meant
from iocast.units import parse_duration, parse_percent


class Law(NamedTuple):
    """One law: an example of its parameters, what it means, how they are read. `read` may raise ValueError."""

    form: str
    says: str
    read: Callable[[str], ServiceLaw]


def parse_law(text: str) -> ServiceLaw:
    """The law of "constant:5ms". Raises ValueError or SpecError."""
    name, _, parameters = text.partition(":")
    if name not in LAWS:
        raise ValueError(f'unknown law "{name}"{meant(name, LAWS)}')
    return LAWS[name].read(parameters)


def time_text(time_ns: int) -> str:
    """The exact text in a unit that leaves digits before the point: 48700 -> "48.7us"."""
    for unit, ns in (("s", 10**9), ("ms", 10**6), ("us", 10**3)):
        if time_ns >= ns:
            return f"{(Decimal(time_ns) / ns).normalize():f}{unit}"
    return f"{time_ns}ns" if time_ns else "0s"


def law_text(law: ServiceLaw) -> str:
    """The text of a law, which reads back to the same law."""
    match law:
        case ConstantLaw(mean_ns=mean):
            return f"constant:{time_text(mean)}"
        case ExponentialLaw(mean_ns=mean):
            return f"exponential:{time_text(mean)}"
        case LognormalLaw(mean_ns=mean, cv=cv):
            return f"lognormal:{time_text(mean)}:{cv!r}"
        case GammaLaw(mean_ns=mean, cv=cv):
            return f"gamma:{time_text(mean)}:{cv!r}"
        case UniformLaw(low_ns=low, high_ns=high):
            return f"uniform:{time_text(low)}..{time_text(high)}"
        case BimodalLaw(fast_percent=percent, fast_ns=fast, slow_ns=slow, exponential=spread):
            name = "hyper" if spread else "bimodal"
            return f"{name}:{percent!r}%:{time_text(fast)}:{time_text(slow)}"
        case TableLaw(points=points):
            return "table:" + "/".join(f"{point.percent:g}%={time_text(point.ns)}" for point in points)
        case DiskLaw(rpm=rpm, seek_base_ns=base, seek_span_ns=span_ns):
            return f"disk:{rpm!r}:{time_text(base)}:{time_text(span_ns)}"


def _constant(text: str) -> ServiceLaw:
    return ConstantLaw(mean_ns=duration(text))


def _exponential(text: str) -> ServiceLaw:
    return ExponentialLaw(mean_ns=duration(text))


def _lognormal(text: str) -> ServiceLaw:
    mean, cv = parts(text, "MEAN:CV")
    return LognormalLaw(mean_ns=duration(mean), cv=number(cv, 100))


def _gamma(text: str) -> ServiceLaw:
    mean, cv = parts(text, "MEAN:CV")
    return GammaLaw(mean_ns=duration(mean), cv=number(cv, 100))


def _uniform(text: str) -> ServiceLaw:
    low_ns, high_ns = span(text, parse_duration)
    if low_ns > high_ns or not high_ns:
        raise ValueError("the first time must not be above the second, and the second not 0")
    return UniformLaw(low_ns=low_ns, high_ns=high_ns)


def _two_peaks(exponential: bool) -> Callable[[str], ServiceLaw]:
    def read(text: str) -> ServiceLaw:
        share, fast, slow = parts(text, "PERCENT:FAST:SLOW")
        return BimodalLaw(parse_percent(share), duration(fast), duration(slow), exponential)

    return read


def _table(text: str) -> ServiceLaw:
    points = []
    for point in text.split("/"):
        share, equals, time = point.partition("=")
        if not equals:
            raise ValueError("expected quantiles such as 50%=1ms/100%=4ms")
        points.append(QuantilePoint(parse_percent(share), duration(time)))
    if any(a.percent >= b.percent or a.ns > b.ns for a, b in pairwise(points)) or points[-1].percent != 100:
        raise ValueError("quantiles ascend, and the last is 100%")
    return TableLaw(tuple(points))


def _disk(text: str) -> ServiceLaw:
    rpm, base, stroke = parts(text, "RPM:BASE:SPAN")
    return DiskLaw(rpm=number(rpm, 100_000), seek_base_ns=parse_duration(base), seek_span_ns=parse_duration(stroke))


LAWS: dict[str, Law] = {
    "constant": Law("5ms", "the same for every I/O", _constant),
    "exponential": Law("5ms", "exponential with this mean", _exponential),
    "lognormal": Law("80us:0.3", "lognormal with this mean and standard deviation / mean", _lognormal),
    "gamma": Law("80us:0.5", "gamma with this mean and standard deviation / mean", _gamma),
    "uniform": Law("1ms..3ms", "uniform between the two", _uniform),
    "bimodal": Law("90%:400us:6ms", "nine in ten take the first time, the others the second", _two_peaks(False)),
    "hyper": Law("90%:400us:6ms", "the same, each exponential with this mean", _two_peaks(True)),
    "table": Law(
        "50%=1ms/99%=4ms/100%=20ms",
        "quantiles, as from a histogram: linear in between, the first time is the shortest",
        _table,
    ),
    "disk": Law(
        "7200:1ms:13.6ms",
        "a disk arm: rpm, shortest seek, time added by a full stroke (with the root of the distance); "
        "sequential I/O neither seeks nor waits for rotation",
        _disk,
    ),
}
LAW_FORMS = ", ".join(f"{name}:{law.form}" for name, law in LAWS.items())
