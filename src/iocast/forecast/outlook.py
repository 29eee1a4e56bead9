"""Will production be fine on this storage? The verdict on a forecast, by the table of models A7."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Verdict = Literal["ok", "marginal", "at_risk", "not_ok", "unknown"]

GOOD_UTILISATION = 0.70  # [J] at peak: the rest is for failures, growth and bursts
FAIR_UTILISATION = 0.85


class Outlook(Struct, frozen=True, kw_only=True):
    """What the forecast says of the asked load at its peak. Times in seconds, of the percentile that is limited."""

    low_s: float
    base_s: float
    high_s: float
    limit_s: float
    utilisation_high: float  # at peak, of the demonstrated throughput
    believed: bool = True  # False: rows of trust D or F, or an unsaturated ladder asked for much, or no percentile
    overloaded: bool = False  # more than 95 % of the demonstrated throughput
    sure: bool = True  # False: trust C, or the mix was put together from parts


def verdict(of: Outlook) -> Verdict:
    """The answer, from its bracket: it is fine only where even the upper end is."""
    if of.overloaded:
        return "not_ok"
    if not of.believed:
        return "unknown"
    if of.low_s > of.limit_s:
        return "not_ok"
    if of.high_s <= of.limit_s and of.utilisation_high <= GOOD_UTILISATION:
        return "ok" if of.sure else "marginal"
    if of.base_s <= of.limit_s and of.utilisation_high <= FAIR_UTILISATION:
        return "marginal"
    return "at_risk"
