"""What was recorded of the layers beside a load becomes a result, row by row and operation by operation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from iocast.analyse.facts import Facts, once
from iocast.analyse.live.layer_times import LayerTime, LayerTimes
from iocast.analyse.live.row_layers import RowLayers
from iocast.analyse.live.row_layers import row_layers as layers_beside
from iocast.diagnose.live.layers_verdict import LayersVerdict, verdict
from iocast.model.codes import LayerCode
from iocast.model.results.layers import RowLayersRow
from iocast.model.run import PhaseRecord
from iocast.model.workload import Op

_CALLS: dict[str, LayerCode] = {"read": "read_call", "write": "write_call", "sync": "sync_call"}
_BLOCK: dict[str, tuple[LayerCode, LayerCode | None, LayerCode]] = {
    "read": ("bio_read", "request_read", "driver_read"),
    "write": ("bio_write", "request_write", "driver_write"),
    "sync": ("bio_flush", None, "driver_flush"),
}
_LOAD_OPS: dict[str, tuple[Op, ...]] = {"read": ("read",), "write": ("write",), "sync": ("fsync", "fdatasync")}


def row_layers(facts: Facts) -> tuple[RowLayersRow, ...]:
    """A row for each operation of the load, then for those who were watched beside it."""
    return tuple(row for each in watched(facts) for row in _rows(*each))


@once
def watched(facts: Facts) -> tuple[tuple[PhaseRecord, RowLayers, LayersVerdict], ...]:
    """The rows beside which layers were recorded, each with the layer that loses its time."""
    rows = ((record, layers_beside(facts.run, record)) for record in facts.run.measured)
    return tuple((record, layers, verdict(layers.times)) for record, layers in rows if layers)


def _rows(record: PhaseRecord, layers: RowLayers, verdicts: LayersVerdict) -> Iterator[RowLayersRow]:
    did = record.measurement
    for op, names in _LOAD_OPS.items():
        ios = sum(part.ios for part in did.classes if part.op in names)
        if not ios:
            continue
        service = did.service(*names)
        yield RowLayersRow(
            phase=record.phase.name,
            who="load",
            op=op,
            rate_per_s=ios * 1e9 / max(1, did.elapsed_ns),
            mean_ns=service.mean_ns if service.total else None,
            code=verdicts.code,
            verdict=verdicts.says,
            refuted_by=verdicts.refuted_by if verdicts.rule else None,
            traced_share=None if layers.traced is None else layers.traced.share,
            **_calls(layers.times, op),
            **_block(layers.times, op),
        )
    yield from _others(record, layers)


def _others(record: PhaseRecord, layers: RowLayers) -> Iterator[RowLayersRow]:
    """Those who were watched beside the load; a database counts reads alone."""
    if layers.others is None and layers.database is None:
        return
    for op, call in _CALLS.items():
        of_database = layers.database if op == "read" else None
        called = layers.others is not None and layers.others.count(call)
        if not called and not (of_database and of_database.count):
            continue
        yield RowLayersRow(
            phase=record.phase.name,
            who="database" if layers.database is not None else "others",
            op=op,
            rate_per_s=_per_s(of_database, layers.times.elapsed_ns),
            mean_ns=None if of_database is None else of_database.mean_ns,
            **({} if layers.others is None else _calls(layers.others, op)),
        )


def _calls(times: LayerTimes, op: str) -> dict[str, Any]:
    layer = times.layers.get(_CALLS[op])
    return {
        "call_rate_per_s": _per_s(layer, times.elapsed_ns),
        "call_mean_ns": None if layer is None else layer.mean_ns,
    }


def _block(times: LayerTimes, op: str) -> dict[str, Any]:
    bio, request, driver = _BLOCK[op]
    return {
        "block_rate_per_s": _per_s(times.layers.get(bio), times.elapsed_ns),
        "block_mean_ns": times.mean_ns(bio),
        "request_mean_ns": None if request is None else times.mean_ns(request),
        "driver_mean_ns": times.mean_ns(driver),
    }


def _per_s(layer: LayerTime | None, elapsed_ns: int) -> float | None:
    return layer.count * 1e9 / elapsed_ns if layer is not None and layer.count and elapsed_ns else None
