"""The layers that were recorded beside a load, row by row: its own calls, the devices below it, databases beside it."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from iocast import metrics
from iocast.analyse.device_io import top_layers
from iocast.analyse.live.database_reads import POSTGRESQL_IO, database_blocks, database_reads
from iocast.analyse.live.layer_times import LayerTime, LayerTimes, layer_times
from iocast.analyse.live.traced import Traced, traced
from iocast.model.run import PhaseRecord, Run, Sample
from iocast.model.target import Layer, Target
from iocast.model.view import views


class RowLayers(Struct, frozen=True, kw_only=True):
    """What was seen while one row ran. `times`: calls of the load alone, and all I/O of the devices below it.

    `others`: the same with the calls of those who were followed beside it and what their database counts; None where
    nobody was followed, or they made no calls.
    """

    phase: str
    devices: tuple[str, ...]
    times: LayerTimes
    others: LayerTimes | None
    database: LayerTime | None
    database_blocks: LayerTime | None  # of servers that count blocks as reads: PostgreSQL 16 and 17
    traced: Traced | None  # None where only a database was watched


def row_layers(run: Run, record: PhaseRecord) -> RowLayers | None:
    """None for a row beside which no layers were recorded."""
    samples = [sample for each in run.beside(record) for sample in each.samples]
    watched = views(samples, metrics.KERNEL_LAYERS).get("")
    database = database_reads(views(samples, POSTGRESQL_IO))
    if watched is None and database is None:
        return None
    ours, theirs = _commands(samples)
    devices = _devices(run.plan.target, samples)
    return RowLayers(
        phase=record.phase.name,
        devices=devices,
        times=layer_times(samples, devices, ours),
        # Of a load through a database all that are followed are the load: the server's processes.
        others=_of_others(samples, devices, theirs if ours else (), database),
        database=database,
        database_blocks=database_blocks(views(samples, POSTGRESQL_IO)),
        traced=traced(watched),
    )


def _commands(samples: list[Sample]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The commands of the load itself, and of the others whose calls were seen."""
    ours = {sample.subject for sample in samples if sample.observer == metrics.LOAD}
    commands = {
        sample.subject.partition(metrics.PART)[0]
        for sample in samples
        if sample.observer == metrics.SYSTEM_CALLS and sample.subject
    }
    return tuple(sorted(ours)), tuple(sorted(commands - ours))


def _of_others(
    samples: list[Sample], devices: tuple[str, ...], commands: tuple[str, ...], database: LayerTime | None
) -> LayerTimes | None:
    if not commands:
        return None
    times = layer_times(samples, devices, commands, () if database is None else (database,))
    return times if any(times.count(layer) for layer in ("read_call", "write_call", "sync_call", "database")) else None


def _devices(target: Target, samples: list[Sample]) -> tuple[str, ...]:
    """The topmost devices of the target whose requests were seen: what goes through one is seen below it again."""
    watched = {
        sample.subject.partition(metrics.PART)[0]
        for sample in samples
        if sample.observer == metrics.BLOCK_LAYER and sample.subject
    }
    by_name = {layer.name: layer for layer in target.layers}
    names = [name for layer in top_layers(target) for name in _topmost(layer, by_name, watched)]
    return tuple(dict.fromkeys(names))


def _topmost(layer: Layer, by_name: dict[str, Layer], names: set[str]) -> Iterator[str]:
    if layer.name in names:
        yield layer.name
        return
    for name in layer.lower:
        if name in by_name:
            yield from _topmost(by_name[name], by_name, names)
