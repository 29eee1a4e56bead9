"""What if: the same question with another load, a cache before the storage, or on another type of volume."""

from __future__ import annotations

import re

from msgspec import Struct
from msgspec.structs import replace

from iocast.errors import SpecError
from iocast.forecast.answer import Answer, Question, answer_from
from iocast.forecast.laws.bursts import Stretch
from iocast.forecast.laws.volumes import MIB, counted_ios, limits_of
from iocast.forecast.load_forecast import Forecaster
from iocast.units import parse_duration, parse_percent

FORMS = "load*2, load/2, load+20%, cache=50%:200us, volume=gp3"
LOAD = re.compile(r"load\s*([*/+-])\s*([0-9.]+)\s*(%?)")
CACHE = re.compile(r"cache\s*=\s*([0-9.]+\s*%)\s*:\s*(.+)")
VOLUME = re.compile(r"volume\s*=\s*(\w+)")


class LoadTimes(Struct, frozen=True):
    """All rates times a factor."""

    factor: float


class Cached(Struct, frozen=True):
    """A cache answers a share of the I/Os before they reach the storage, each in so many seconds."""

    hits: float
    hit_s: float


class OnVolume(Struct, frozen=True):
    """A cloud volume of a type, at the most that its maker allows."""

    kind: str


Change = LoadTimes | Cached | OnVolume


class VolumeLimit(Struct, frozen=True):
    """What a volume allows at most: IOPS of the asked size, and which limit binds. `checked` is a date."""

    kind: str
    iops: float
    binds: str  # "IOPS" or "throughput"
    checked: str
    allows: bool


class WhatIf(Struct, frozen=True):
    """A change and what came of it: an answer, or of a volume what its limits allow."""

    says: str
    change: Change
    answer: Answer | None = None
    limit: VolumeLimit | None = None


def parse_change(text: str) -> Change:
    """What `--what-if` says. Raises SpecError."""
    stripped = text.strip()
    if match := LOAD.fullmatch(stripped):
        return LoadTimes(_factor(text, match[1], float(match[2]), percent=bool(match[3])))
    if match := CACHE.fullmatch(stripped):
        hits = parse_percent(match[1]) / 100
        if not 0 < hits < 1:
            raise SpecError(f'--what-if "{text}": a cache answers more than 0% and less than 100%', f"forms: {FORMS}")
        return Cached(hits, parse_duration(match[2]) / 1e9)
    if match := VOLUME.fullmatch(stripped):
        limits_of(match[1])
        return OnVolume(match[1])
    raise SpecError(f'--what-if "{text}" is not understood', f"forms: {FORMS}")


def _factor(text: str, sign: str, value: float, *, percent: bool) -> float:
    share = value / 100
    factors = {"*": value, "/": 1 / value if value else 0.0, "+": 1 + share, "-": 1 - share}
    if percent != (sign in "+-") or not factors[sign] > 0:
        raise SpecError(f'--what-if "{text}" is not understood', f"forms: {FORMS}")
    return factors[sign]


def what_if(says: str, change: Change, of: Answer) -> WhatIf:
    """The answer after a change; none where there is no ladder to stand on."""
    by, question = of.forecaster, of.question
    if isinstance(change, OnVolume):
        return WhatIf(says, change, limit=_volume(change.kind, question))
    if by is None or of.replayed is not None:  # what was measured contradicts what it would be computed from
        return WhatIf(says, change)
    if isinstance(change, Cached):
        cached = Forecaster(by.measured, by.arrival_cv2, change.hits, change.hit_s)
        return WhatIf(says, change, answer_from(question, cached, stalled=of.stalled))
    return WhatIf(says, change, answer_from(scaled(question, change.factor), by, stalled=of.stalled))


def scaled(question: Question, factor: float) -> Question:
    """The same with all rates times a factor."""
    profile = question.profile
    if profile is not None:
        stretches = tuple(Stretch(each.seconds, each.demand_per_s * factor) for each in profile.stretches)
        profile = replace(profile, stretches=stretches)
    return replace(question, rate_per_s=question.rate_per_s * factor, profile=profile)


def _volume(kind: str, question: Question) -> VolumeLimit:
    limits, size = limits_of(kind), question.load.size_bytes
    by_ios = limits.most_iops / counted_ios(kind, size)
    by_bytes = limits.most_mib_per_s * MIB / size if limits.most_mib_per_s else by_ios
    most = min(by_ios, by_bytes)
    binds = "IOPS" if by_ios <= by_bytes else "throughput"
    return VolumeLimit(kind, most, binds, limits.checked.isoformat(), question.peak_per_s <= most)
