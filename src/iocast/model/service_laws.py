"""Laws of times: how long the simulated device works on one I/O, how long a session pauses after one."""

from __future__ import annotations

from msgspec import Struct


class ConstantLaw(Struct, frozen=True, tag="constant", tag_field="kind", forbid_unknown_fields=True):
    """Every I/O takes `mean_ns`."""

    mean_ns: int


class ExponentialLaw(Struct, frozen=True, tag="exponential", tag_field="kind", forbid_unknown_fields=True):
    """Exponential service time."""

    mean_ns: int


class LognormalLaw(Struct, frozen=True, tag="lognormal", tag_field="kind", forbid_unknown_fields=True):
    """Lognormal service time; `cv` is standard deviation over mean."""

    mean_ns: int
    cv: float


class UniformLaw(Struct, frozen=True, tag="uniform", tag_field="kind", forbid_unknown_fields=True):
    """Equally likely between `low_ns` and `high_ns`."""

    low_ns: int
    high_ns: int


class GammaLaw(Struct, frozen=True, tag="gamma", tag_field="kind", forbid_unknown_fields=True):
    """Gamma service time; `cv` is standard deviation over mean."""

    mean_ns: int
    cv: float


class BimodalLaw(Struct, frozen=True, tag="bimodal", tag_field="kind", forbid_unknown_fields=True):
    """`fast_percent` of the I/Os take `fast_ns`, the others `slow_ns`; if `exponential` these are means."""

    fast_percent: float
    fast_ns: int
    slow_ns: int
    exponential: bool = False


class QuantilePoint(Struct, frozen=True, forbid_unknown_fields=True):
    """`percent` of the I/Os take at most `ns`."""

    percent: float
    ns: int


class TableLaw(Struct, frozen=True, tag="table", tag_field="kind", forbid_unknown_fields=True):
    """Quantiles, as from a histogram: straight between the points, the last of which is 100 %."""

    points: tuple[QuantilePoint, ...]


class DiskLaw(Struct, frozen=True, tag="disk", tag_field="kind", forbid_unknown_fields=True):
    """A disk arm: seek base + span*sqrt(distance/size), half a turn on average; none when it goes on in order."""

    rpm: float
    seek_base_ns: int
    seek_span_ns: int


ServiceLaw = ConstantLaw | ExponentialLaw | LognormalLaw | UniformLaw | GammaLaw | BimodalLaw | TableLaw | DiskLaw
