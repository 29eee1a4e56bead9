"""Where an axis has its ticks: round numbers, and round times of a calendar."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

MS_A_S = 1000.0
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_UNITS = ((1, (1, 5, 15, 30)), (_MINUTE, (1, 5, 15, 30)), (_HOUR, (1, 3, 6, 12)), (_DAY, (1, 2, 3, 7)))
_CLOCK = tuple(unit * count for unit, counts in _UNITS for count in counts)
_MONTHS = (1, 3, 6, 12, 24, 60, 120)


def step_of(low: float, high: float, about: float) -> float:
    """The round step, 1, 2 or 5 times a power of ten, that divides a range into about as many parts as are wanted."""
    rough = (high - low) / max(about, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    share = rough / power
    return power * (
        10 if share >= math.sqrt(50) else 5 if share >= math.sqrt(10) else 2 if share >= math.sqrt(2) else 1
    )


def round_ticks(low: float, high: float, about: float, least_step: float = 0.0) -> list[float]:
    """Multiples of a round step from low to high, both of which are ticks where they are such multiples."""
    if not high > low:
        return [low]
    step = max(step_of(low, high, about), least_step)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(at * step, 12 - math.floor(math.log10(step))) for at in range(first, last + 1)]


def rounded_out(low: float, high: float, about: float) -> tuple[float, float]:
    """The range between the ticks around it."""
    if not high > low:
        return low, low + 1.0
    step = step_of(low, high, about)
    return step * math.floor(low / step + 1e-9), step * math.ceil(high / step - 1e-9)


def instants(low_ms: float, high_ms: float, about: int) -> tuple[list[float], dict[float, str]]:
    """Round times (UTC, ms since 1970), and how each is written: the hour, the day where one begins, or the month."""
    span_s = (high_ms - low_ms) / MS_A_S
    step = next((step for step in _CLOCK if span_s / step <= about), 0)
    of_clock = _of_clock(low_ms, high_ms, step) if step else _of_months(low_ms, high_ms, about)
    return of_clock, {each: _written(each, step) for each in of_clock}


def _of_clock(low_ms: float, high_ms: float, step_s: int) -> list[float]:
    step = step_s * MS_A_S
    return [at * step for at in range(math.ceil(low_ms / step), math.floor(high_ms / step) + 1)]


def _of_months(low_ms: float, high_ms: float, about: int) -> list[float]:
    first, last = (_moment(each) for each in (low_ms, high_ms))
    months = 12 * (last.year - first.year) + last.month - first.month
    step = next((step for step in _MONTHS if months / step <= about), _MONTHS[-1])
    starts = range(-(-(12 * first.year + first.month - 1) // step) * step, 12 * last.year + last.month, step)
    ticks = [datetime(at // 12, at % 12 + 1, 1, tzinfo=UTC).timestamp() * MS_A_S for at in starts]
    return [each for each in ticks if low_ms <= each <= high_ms]


def _moment(unix_ms: float) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=unix_ms)


def _written(unix_ms: float, step_s: int) -> str:
    at = _moment(unix_ms)
    if not step_s:
        return f"{at:%b %Y}"
    if (at.hour, at.minute, at.second) == (0, 0, 0):
        return f"{at.day} {at:%b}"
    return f"{at:%H:%M}" if step_s >= _MINUTE else f"{at:%H:%M:%S}"
