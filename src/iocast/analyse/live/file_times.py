"""Data and temporary files of Oracle by their longest I/O (v$filestat, v$tempstat): the worst file first."""

from __future__ import annotations

from msgspec import Struct

from iocast.analyse.live.database_views import observers_of
from iocast.model.live.readings import Readings

_KINDS = (("filestat", "data"), ("tempstat", "temporary"))


class FileTimes(Struct, frozen=True):
    """One file of one instance, by its number. Rates and means are of the interval; the longest since the start."""

    instance: str
    kind: str
    number: str
    reads_per_s: float | None
    read_mean_ns: float | None
    writes_per_s: float | None
    write_mean_ns: float | None
    read_max_ns: float | None
    write_max_ns: float | None


def file_times(readings: Readings) -> tuple[FileTimes, ...]:
    """By the longest read, then the longest write."""
    files = []
    for name, kind in _KINDS:
        for observer in observers_of(readings, "oracle", name):
            stood = readings.values(observer)
            for subject, view in readings.views(observer).items():
                instance, _, number = subject.partition("|")
                if not number:
                    continue
                longest = stood.get(subject, {})
                files.append(
                    FileTimes(
                        instance,
                        kind,
                        number,
                        view.per_s("phyrds"),
                        view.mean("readtim_ns", "phyrds"),
                        view.per_s("phywrts"),
                        view.mean("writetim_ns", "phywrts"),
                        longest.get("maxiortim_ns"),
                        longest.get("maxiowtm_ns"),
                    )
                )
    return tuple(sorted(files, key=lambda each: (-(each.read_max_ns or 0), -(each.write_max_ns or 0))))
