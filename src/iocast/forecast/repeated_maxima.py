"""Whether the answers of several calibrations of one storage agree: each maximum with its scatter from run to run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from iocast.analyse.comparison import median_of, variation
from iocast.forecast.calibration import Calibration, Peak
from iocast.forecast.limit_search import Crossing
from iocast.model.codes import MaximumCode

# value, the interval of its own run, False where it is a lower bound
Told = tuple[float, float | None, float | None, bool]


class RepeatedMaximum(Struct, frozen=True, kw_only=True):
    """One maximum in several calibrations. `unknown`: runs that do not say it; `bounds`: runs in which it is a lower
    bound; `held`: runs whose own interval holds the median, of `intervals` that have both ends."""

    code: MaximumCode
    values: tuple[float, ...]  # I/Os or bytes a second, in the order of the runs
    unknown: int
    bounds: int
    held: int
    intervals: int

    @property
    def median(self) -> float:
        """The middle one, which was measured."""
        return median_of(self.values)

    @property
    def scatter(self) -> float | None:
        """The coefficient of variation from run to run; None for a single one."""
        return variation(self.values)


def repeated_maxima(calibrations: Sequence[Calibration | None]) -> tuple[RepeatedMaximum, ...]:
    """Every maximum that at least one of the calibrations says; None stands for a run without a row."""
    said: dict[MaximumCode, Callable[[Calibration], Told | None]] = {
        "within_limit": lambda of: _crossed(of.within),
        "most_iops": lambda of: _reached(of.most, of.saturated),
        "most_throughput": lambda of: _reached(of.throughput, True),
        "single_process": lambda of: _reached(of.single, True),
    }
    return tuple(_repeated(calibrations, said))


def _repeated(
    calibrations: Sequence[Calibration | None], said: dict[MaximumCode, Callable[[Calibration], Told | None]]
) -> Iterator[RepeatedMaximum]:
    for code, tell in said.items():
        maxima = [each for of in calibrations if of is not None and (each := tell(of)) is not None]
        if not maxima:
            continue
        values = tuple(value for value, *_ in maxima)
        middle = median_of(values)
        ends = [(low, high) for _, low, high, _ in maxima if low is not None and high is not None]
        yield RepeatedMaximum(
            code=code,
            values=values,
            unknown=len(calibrations) - len(maxima),
            bounds=sum(not exact for *_, exact in maxima),
            held=sum(low <= middle <= high for low, high in ends),
            intervals=len(ends),
        )


def _crossed(at: Crossing | None) -> Told | None:
    if at is None or at.rate_per_s is None:
        return None
    return at.rate_per_s, at.low_per_s, at.high_per_s, at.reached


def _reached(peak: Peak | None, exact: bool) -> Told | None:
    return None if peak is None else (peak.value, peak.low, peak.high, exact)
