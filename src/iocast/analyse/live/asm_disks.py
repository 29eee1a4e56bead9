"""Disks of ASM by instance and disk group: I/Os, bytes and means; those of a group are weighted by its I/Os."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from iocast.analyse.live.database_views import views_of
from iocast.model.live.readings import Readings
from iocast.model.view import View, ratio
from iocast.tools.foreign_numbers import whole_of

_PARTS = 5  # of a subject: inst_id, instname, dbname, group_number, disk_number


class AsmDirection(Struct, frozen=True):
    """Reads or writes: a second, bytes a second, and of one I/O the mean in ns and the size; None is unknown."""

    per_s: float | None
    bytes_per_s: float | None
    mean_ns: float | None
    size_bytes: float | None


class AsmRow(Struct, frozen=True):
    """A disk, or with `disk` "" a whole group. Names where the server tells them, else numbers."""

    instance: str
    database_instance: str
    group: str
    fail_group: str
    disk: str
    reads: AsmDirection
    writes: AsmDirection


def asm_rows(readings: Readings) -> tuple[AsmRow, ...]:
    """Each group of each instance with its disks after it, the busiest first."""
    groups: dict[tuple[str, str, str], list[tuple[str, View]]] = {}
    for view in views_of(readings, "oracle", "asm_disk_iostat"):
        parts = view.subject.split("|")
        if len(parts) == _PARTS:
            instance, database_instance, _, group, disk = parts
            groups.setdefault((instance, database_instance, group), []).append((disk, view))
    group_names, disk_names = _group_names(readings), _disk_names(readings)
    rows = []
    for (instance, database_instance, group), disks in sorted(groups.items()):
        name = group_names.get(group, group)
        whole = [view for _, view in disks]
        rows.append(AsmRow(instance, database_instance, name, "", "", _reads(whole), _writes(whole)))
        for disk, view in sorted(disks, key=lambda each: (-(each[1].sum("reads", "writes") or 0), _ordinal(each[0]))):
            shown, fail_group = disk_names.get((group, disk), (disk, ""))
            rows.append(AsmRow(instance, database_instance, name, fail_group, shown, _reads([view]), _writes([view])))
    return tuple(rows)


def _ordinal(disk: str) -> tuple[int, str]:
    return whole_of(disk) or 0, disk


def _group_names(readings: Readings) -> dict[str, str]:
    """By number; a name has no `|` in it."""
    subjects = (view.subject.split("|") for view in views_of(readings, "oracle", "asm_diskgroup_stat"))
    return {parts[1]: parts[2] for parts in subjects if len(parts) == 3 and parts[2]}


def _disk_names(readings: Readings) -> dict[tuple[str, str], tuple[str, str]]:
    """Group and number of a disk → its name and failure group."""
    subjects = (view.subject.split("|") for view in views_of(readings, "oracle", "asm_disk_stat"))
    return {(parts[1], parts[2]): (parts[3], parts[4]) for parts in subjects if len(parts) == 5 and parts[3]}


def _reads(views: Sequence[View]) -> AsmDirection:
    return _direction(views, "reads", "bytes_read", "read_time_ns")


def _writes(views: Sequence[View]) -> AsmDirection:
    return _direction(views, "writes", "bytes_written", "write_time_ns")


def _direction(views: Sequence[View], ios: str, moved: str, spent: str) -> AsmDirection:
    """Sums over disks; a disk without I/O needs no time."""
    count = _sum(view.delta(ios) for view in views)
    size = _sum(view.delta(moved) for view in views)
    time_ns = _sum(view.delta(spent) if view.delta(ios) else 0 for view in views)
    elapsed_ns = views[0].elapsed_ns
    return AsmDirection(
        ratio(count, elapsed_ns, 1e9), ratio(size, elapsed_ns, 1e9), ratio(time_ns, count), ratio(size, count)
    )


def _sum(values: Iterable[int | None]) -> int | None:
    whole = 0
    for value in values:
        if value is None:
            return None
        whole += value
    return whole
