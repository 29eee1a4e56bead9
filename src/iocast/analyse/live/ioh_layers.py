"""The layers of a file server as ioh.sh counted them: rows of its table, and their times for its three questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from iocast import metrics
from iocast.analyse.live.layer_times import LayerTime, LayerTimes
from iocast.model.codes import LayerCode
from iocast.model.live.readings import Readings
from iocast.model.view import View

TCP: Final = "tcp"
# Reads of the disks, of the file system above them, and of NFS above that, as its clients see them.
_READS: Final[Mapping[str, LayerCode]] = {"R|io": "bio_read", "R|zfs": "read_call", "R|nfs": "client"}


class IohRow(Struct, frozen=True):
    """One layer in one direction: R, W, or C for reads that a cache answered."""

    direction: str
    name: str
    view: View


def ioh_rows(readings: Readings) -> list[IohRow]:
    """The rows of the table, in the order of the file; empty for any other tape."""
    views = readings.views(metrics.IOH)
    parts = [(subject.partition(metrics.PART), view) for subject, view in views.items() if subject != TCP]
    return [IohRow(direction, name, view) for (direction, _, name), view in parts]


def ioh_times(readings: Readings) -> LayerTimes | None:
    """Counts and times of reads in each layer; None for any other tape."""
    views = readings.views(metrics.IOH)
    if not views:
        return None
    layers = {
        layer: LayerTime(
            layer=layer,
            count=views[subject].delta(metrics.COUNT) or 0,
            sum_ns=views[subject].delta(metrics.SUM_NS) or 0,
        )
        for subject, layer in _READS.items()
        if subject in views
    }
    return LayerTimes(elapsed_ns=readings.elapsed_ns, layers=layers)
