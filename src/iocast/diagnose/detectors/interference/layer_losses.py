"""Seen in the layers beside a load: what loses the time above the device, and figures of a database that mislead.

What it is: where layers or a database were recorded beside a load (--layers, --database, --pid), calls that wait for a
processor, a limit of a control group above the block layer, others who keep the device busy; of a database, blocks that
the page cache holds a second time, reads that are counted when a statement ends, and times of blocks that are none of
an I/O.
Why it matters: the device is not what is slow, iostat sees none of it, and what a database says of its own reads may be
late, or no latency.
How it shows: the gaps between neighbouring layers, by the rules of the live verdict; bytes that the processes of the
database ask for and storage does not read; blocks counted as reads without a call of their own.
How to confirm: it is counted. Each finding names what would refute it.
What to change: free processors, lift the limit, give each load its own device; let either the database or the page
cache hold a block (direct I/O); read the calls in place of the database's own times.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from iocast import metrics
from iocast.analyse.facts import Facts
from iocast.analyse.live.layer_times import LayerTimes
from iocast.analyse.live.row_layers import RowLayers, row_layers
from iocast.diagnose.live.layers_verdict import LEAST, verdict
from iocast.diagnose.preconditions import Only
from iocast.model.codes import FindingCode
from iocast.model.finding import Finding
from iocast.text import brief_percent, brief_time, five_figures

NEEDS: tuple[str, ...] = (metrics.KERNEL_LAYERS,)
ONLY: Only = ()

CODES: tuple[FindingCode, ...] = (
    "cpu_starvation",
    "throttle_above_block_layer",
    "neighbour_on_device",
    "double_buffering",
    "late_statistics",
    "blocks_timed_as_reads",
)
CACHED_LEAST = 0.2  # of the database's reads: from here on the page cache holds a good part of them [J]
COMBINED = 1.5  # blocks a call: from here on a time of a block is none of a call [J]


def detect(facts: Facts) -> Iterator[Finding]:
    """Row by row: of the load itself, then of those who were watched beside it."""
    for record in facts.run.measured:
        layers = row_layers(facts.run, record)
        if layers is not None:
            yield from _losses(layers.phase, layers.times, "")
            if layers.others is not None:
                yield from _losses(layers.phase, layers.others, "Of those watched beside the load: ")
                yield from _of_database(layers, layers.others)


def _losses(phase: str, times: LayerTimes, whose: str) -> Iterator[Finding]:
    answer = verdict(times)
    first = () if answer.rule is None else (answer,)
    for lost in (*first, *answer.others):
        said: dict[str, Any] = {
            "severity": "note",
            "phase": phase,
            "says": f"{whose}{lost.says} This is wrong if: {lost.refuted_by}.",
            "evidence": {"rule": float(lost.rule or 0), **lost.evidence},
            "remedy": lost.remedy,
            "state": "counted",
        }
        if lost.code == "cpu":
            yield Finding(code="cpu_starvation", **said)
        elif lost.code == "throttle":
            yield Finding(code="throttle_above_block_layer", **said)
        elif lost.code == "device_queue" and "others_share" in lost.evidence:
            yield Finding(code="neighbour_on_device", **said)
        elif lost.code == "late_statistics":
            yield Finding(code="late_statistics", **said)


def _of_database(layers: RowLayers, times: LayerTimes) -> Iterator[Finding]:
    calls = times.layers.get("read_call")
    if calls is None or calls.count < LEAST:
        return
    share = times.own_cached_share
    if layers.database is not None and share is not None and share >= CACHED_LEAST:
        yield Finding(
            code="double_buffering",
            severity="note",
            phase=layers.phase,
            says=f"Double buffering: {brief_percent(share)} of what the database reads into its own buffers comes"
            f" from the page cache (a call takes {brief_time(calls.sum_ns / calls.count)}): they are held twice.",
            evidence={"cached_share": share, "read_calls": float(calls.count)},
            remedy="Give the memory to the database's buffers, or read with direct I/O; compare by the device's reads.",
            state="counted",
        )
    blocks = layers.database_blocks
    if blocks is not None and blocks.count >= COMBINED * calls.count and blocks.mean_ns is not None:
        yield Finding(
            code="blocks_timed_as_reads",
            severity="note",
            phase=layers.phase,
            says=f"The database's time of a read is no latency: it counts {five_figures(blocks.count)} blocks of"
            f" {brief_time(blocks.mean_ns)} each, its {five_figures(calls.count)} calls take"
            f" {brief_time(calls.sum_ns / calls.count)}.",
            evidence={
                "block_ns": blocks.mean_ns,
                "read_call_ns": calls.sum_ns / calls.count,
                "blocks_a_call": blocks.count / calls.count,
            },
            remedy="Read the time of its system calls.",
            state="counted",
        )
