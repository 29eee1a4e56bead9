"""The result of copying a file in several ways, with the source out of the page cache and in it."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from iocast.model.codes import CopyRemarkCode, SeverityCode
from iocast.model.copy_trials import MethodCode
from iocast.model.results.shown import Number, shown, shown_below


class CopiedWay(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The medians of one way over its rounds; null without a whole copy. Ratios are over those of the base."""

    method: Annotated[MethodCode, shown("way", "code")]
    copies: Annotated[int, shown("copies", "count", spare=3)]
    real_ns: Annotated[Number | None, shown("real", "duration", explain="until the last byte was handed over")] = None
    rate_bytes_per_s: Annotated[Number | None, shown("MB/s", "bytes_per_s")] = None
    real_synced_ns: Annotated[Number | None, shown("with\nfsync", "duration", explain="until the copy was durable")] = (
        None
    )
    rate_synced_bytes_per_s: Annotated[Number | None, shown("MB/s,\nfsync", "bytes_per_s")] = None
    user_ns: Annotated[Number | None, shown("user", "duration", spare=1)] = None
    system_ns: Annotated[Number | None, shown("sys", "duration")] = None
    system_s_per_gb: Annotated[Number | None, shown("sys s\nper GB", "figures")] = None
    system_synced_s_per_gb: Number | None = None
    calls: Annotated[int | None, shown("calls", "count", spare=4)] = None
    shared_share: Annotated[
        Number | None, shown("shared", "share", explain="of the copy, with the source (reflink)", spare=2)
    ] = None
    time_ratio: Annotated[
        Number | None,
        shown(
            "time\nratio",
            interval=("time_ratio_low", "time_ratio_high"),
            explain="with fsync, over that of the base, with its 95% interval",
        ),
    ] = None
    time_ratio_low: Number | None = None
    time_ratio_high: Number | None = None
    base: bool = False
    system_ratio: Number | None = None
    system_ratio_low: Number | None = None
    system_ratio_high: Number | None = None
    cached_share: Number | None = None  # of the source, before the copy


class CopyRemark(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What must be known of copies, for all ways that it is true of."""

    severity: Annotated[SeverityCode, shown("severity", "code", spare=1)]
    code: Annotated[CopyRemarkCode, shown("remark", "code")]
    methods: Annotated[tuple[MethodCode, ...], shown("ways", "names")]
    says: Annotated[str, shown("evidence")]
    remedy: Annotated[str, shown_below()]


class Copies(Struct, frozen=True, kw_only=True):
    """All ways, and what must be known of them."""

    copies_cold: tuple[CopiedWay, ...] = ()
    copies_warm: tuple[CopiedWay, ...] = ()
    copy_remarks: tuple[CopyRemark, ...] = ()
