"""The page cache of this machine answered instead of the device.

What it is: reads served from memory, or writes that only reached memory, while storage was to be measured.
Why it matters: memory is a hundred to ten thousand times faster than storage; even a few hits in a hundred
turn the average into a figure of the cache.
How it shows: the device under the file system moved fewer bytes than the test did; the test's files become
resident in the page cache while it runs.
How to confirm: read the same blocks twice, buffered and direct, and compare the medians.
What to change: direct I/O, drop the cache first, or ten times as much data as memory.
"""

from __future__ import annotations

from collections.abc import Iterator

from iocast.analyse.device import under_filesystem
from iocast.analyse.pagecache import residency
from iocast.diagnose.evidence import (
    MEMORY_FILESYSTEMS,
    RESHAPING_FILESYSTEMS,
    bytes_of,
    read_share_of_device,
    really_direct,
    simulated,
    written_share_of_device,
)
from iocast.diagnose.thresholds import DEVICE_SHARE
from iocast.diagnose.words import percent
from iocast.model.finding import Finding
from iocast.model.run import PhaseRecord, Run

NEEDS: tuple[str, ...] = ("diskstats", "pagecache")

MOSTLY_SHARE = 0.5  # below this the buffered figure is mostly the cache's [J]
RISE_SHARE = 0.05  # of the files becoming resident (models, C 1: residency > 5 %)

DIRECT_REMEDY = "Check that the file is written in full and that its file system honours direct I/O; then run again."
BUFFERED_REMEDY = "Use direct I/O to measure the storage, or ten times as much data as memory."


def detect(run: Run) -> Iterator[Finding]:
    """Measured phases that were answered by the page cache, in whole or in part."""
    if simulated(run) or run.plan.target.filesystem in MEMORY_FILESYSTEMS:
        return
    for record in run.measured:
        if really_direct(run, record):
            yield from _direct_but_cached(run, record)
        else:
            yield from _buffered_reads(run, record)
            yield from _buffered_writes(run, record)


def _direct_but_cached(run: Run, record: PhaseRecord) -> Iterator[Finding]:
    if not bytes_of(record.measurement, "read"):
        return
    share = read_share_of_device(run, record)
    cache = residency(record)
    if cache is not None and cache.rise_share > RISE_SHARE:
        yield Finding(
            name="cached although direct was claimed",
            severity="void",
            phase=record.phase.name,
            says=f"{percent(cache.rise_share)} of the test files moved into this machine's page cache while"
            " they were being read directly: the reads were not direct.",
            evidence={"resident_rise_share": cache.rise_share},
            remedy=DIRECT_REMEDY,
        )
    elif share is not None and share < DEVICE_SHARE:
        yield _device_too_idle(run, record, share)


def _device_too_idle(run: Run, record: PhaseRecord, share: float) -> Finding:
    device = under_filesystem(record, run.plan.target)
    if device is not None and device.stood_still:
        # Some stacks are simply not counted (NVMe multipath on older kernels, iostats=0): accuse no one.
        return Finding(
            name="device counters stood still",
            severity="severe",
            phase=record.phase.name,
            says=f"The kernel counted no I/O at all on {device.layer} during the test: either a cache"
            " answered everything, or this device is not counted.",
            evidence={"device_share": share},
            remedy="See whether /sys/block/*/queue/iostats is 1 and whether the counters move with dd.",
        )
    reshaped = run.plan.target.filesystem in RESHAPING_FILESYSTEMS
    return Finding(
        name="cached although direct was claimed",
        severity="severe" if reshaped else "void",
        phase=record.phase.name,
        says=f"The device delivered only {percent(share)} of the bytes that the test read directly: the rest"
        " came from a cache in this machine or was never stored"
        + (f" ({run.plan.target.filesystem} may also have compressed it)." if reshaped else "."),
        evidence={"device_share": share},
        remedy=DIRECT_REMEDY,
    )


def _buffered_reads(run: Run, record: PhaseRecord) -> Iterator[Finding]:
    share = read_share_of_device(run, record)
    if share is not None and share < DEVICE_SHARE:
        yield Finding(
            name="page cache",
            severity="severe" if share < MOSTLY_SHARE else "warn",
            phase=record.phase.name,
            says=f"{percent(1 - share)} of the bytes read came from this machine's page cache.",
            evidence={"device_share": share},
            remedy=BUFFERED_REMEDY,
        )


def _buffered_writes(run: Run, record: PhaseRecord) -> Iterator[Finding]:
    share = written_share_of_device(run, record)
    if share is not None and share < DEVICE_SHARE:
        yield Finding(
            name="page cache",
            severity="severe" if share < MOSTLY_SHARE else "warn",
            phase=record.phase.name,
            says=f"{percent(1 - share)} of the bytes written were still in this machine's memory at the end.",
            evidence={"device_share": share},
            remedy=BUFFERED_REMEDY,
        )
