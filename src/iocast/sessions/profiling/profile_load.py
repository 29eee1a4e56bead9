"""A profile as the load of a forecast: its rate over time, its mix, its most frequent size, its local bursts."""

from __future__ import annotations

from msgspec import Struct

from iocast.archive import profile_folder
from iocast.errors import SpecError
from iocast.forecast.laws.bursts import Stretch
from iocast.forecast.rate_profile import Profile as RateProfile
from iocast.model.profiling.characteristics import READ, WRITE
from iocast.model.profiling.profile import Profile, SizeCount

SAME_SIZE = 0.6  # of the I/Os, from which one size stands for all; otherwise their mean does [J]
STRETCHES = 240  # at most
SHORTEST_S = 1.0  # of a stretch: shorter bursts are in the variation of the gaps [J]
GAPS = 10  # of the mean, in a window that tells local bursts [J]
MOST_CV2 = 100.0


class ProfileLoad(Struct, frozen=True):
    """What a forecast asks of a load."""

    rates: RateProfile
    read_share: float
    size_bytes: int
    arrival_cv2: float


def profile_load(path: str) -> ProfileLoad:
    """The load of a saved profile. Raises IocastError."""
    if not profile_folder.is_profile(path):
        raise SpecError(f"--load {path} is not a profile", "make one first: iocast profile TRACE")
    profile = profile_folder.load(path)
    data = [each for each in profile.sizes if each.op in (READ, WRITE) and each.size]
    if not data or not profile.length_ns:
        raise SpecError(f"--load {path}: the profile has no times or no sizes", "give the load with --iops and --size")
    total = sum(each.events for each in data)
    return ProfileLoad(
        rates=_rates(profile),
        read_share=sum(each.events for each in data if each.op == READ) / total,
        size_bytes=_size(data, total),
        arrival_cv2=_cv2(profile),
    )


def _size(data: list[SizeCount], total: int) -> int:
    by_size: dict[int, int] = {}
    for each in data:
        by_size[each.size or 0] = by_size.get(each.size or 0, 0) + each.events
    most = max(by_size, key=by_size.__getitem__)
    if by_size[most] >= SAME_SIZE * total:
        return most
    return max(512, round(sum(each.bytes for each in data) / total / 512) * 512)


def _rates(profile: Profile) -> RateProfile:
    """Reads and writes a second over the trace, in stretches of a second or more."""
    moments, width_s = profile.order.moments, profile.order.moment_ns / 1e9
    together = max(1, -(-len(moments) // STRETCHES), -(-int(SHORTEST_S * 1e9) // profile.order.moment_ns))
    stretches = []
    for at in range(0, len(moments), together):
        part = moments[at : at + together]
        seconds = len(part) * width_s
        stretches.append(Stretch(seconds, sum(each.reads + each.writes for each in part) / seconds))
    return RateProfile(tuple(stretches), f"{len(stretches)} stretches of the trace {profile.name}")


def _cv2(profile: Profile) -> float:
    """The variation within a stretch: the dispersion of windows of ten I/Os; of independent gaps it is their own."""
    arrivals = profile.order.arrivals
    if arrivals is None or not arrivals.rate_per_s:
        return 1.0
    wanted = GAPS * 1e9 / arrivals.rate_per_s
    index = next((each.index for each in arrivals.dispersion if each.width_ns >= wanted), arrivals.gap_cv2)
    return min(MOST_CV2, index) if index is not None else 1.0
