"""The rows of JSON documents about laws and sizes."""

from __future__ import annotations

from msgspec import Struct

from iocast.model.codes import NeedCode
from iocast.report.renderers.document_values import Number, Value


class ModelTable(Struct, kw_only=True, forbid_unknown_fields=True):
    """A table of a law. `cells` are its rows: each law has columns of its own, their units at the ends of the keys.
    `document` is what the source prints where that is known.
    """

    key: str
    title: str
    cells: list[dict[str, Value]]
    notes: list[str] = []


class NeedRow(Struct, kw_only=True, forbid_unknown_fields=True):
    """How many devices a part of the need takes."""

    need: NeedCode
    devices: int
    binds: bool


class LoadedRow(Struct, kw_only=True, forbid_unknown_fields=True):
    """How the busiest device stands the load, with all devices or with one missing. `limited_ns` is the percentile of
    the limit, or p99; null: unknown, or unbounded.
    """

    failed: bool
    rate_per_s: Number
    utilisation_share: Number
    mean_ns: Number | None = None
    limited_ns: Number | None = None
    limit_ns: Number | None = None
    met: bool | None = None


class YearRow(Struct, kw_only=True, forbid_unknown_fields=True):
    """What a year takes; 0 is today."""

    year: int
    capacity_bytes: Number
    rate_per_s: Number
    throughput_bytes_per_s: Number | None = None
    devices: int
    binding: NeedCode
    cost: Number | None = None


class ProvisionedRow(Struct, kw_only=True, forbid_unknown_fields=True):
    """What each cloud volume is to be given."""

    size_gib: int
    iops: int
    mib_per_s: int
    cost: Number | None = None


class SizedRow(Struct, kw_only=True, forbid_unknown_fields=True):
    """One device of the library beside the others; `why`: it cannot carry the need."""

    device: str
    devices: int | None = None
    binding: NeedCode | None = None
    utilisation_share: Number | None = None
    mean_ns: Number | None = None
    limited_ns: Number | None = None
    failed_share: Number | None = None
    usable_bytes: Number | None = None
    why: str | None = None
