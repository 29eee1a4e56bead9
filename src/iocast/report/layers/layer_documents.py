"""The JSON of the layers recorded beside a load: one row for each row of the card and operation."""

from __future__ import annotations

from msgspec import Struct

from iocast.model.codes import LostTimeCode
from iocast.model.results.shown import Number


class RowLayersRow(Struct, kw_only=True, forbid_unknown_fields=True):
    """The load, its calls, and the block layer, request and driver below it; `code`: the layer that loses the time."""

    phase: str
    who: str
    op: str
    code: LostTimeCode | None = None
    verdict: str | None = None
    refuted_by: str | None = None
    rate_per_s: Number | None = None
    mean_ns: Number | None = None
    call_rate_per_s: Number | None = None
    call_mean_ns: Number | None = None
    block_rate_per_s: Number | None = None
    block_mean_ns: Number | None = None
    request_mean_ns: Number | None = None
    driver_mean_ns: Number | None = None
    traced_share: Number | None = None


LAYER_TABLES: dict[str, type[Struct]] = {"row_layers": RowLayersRow}
