"""The data points that ORION plans: how many small and large I/Os are outstanding at each, and in which order."""

from __future__ import annotations

from iocast.tools.orion.command_line import Settings
from iocast.tools.orion.result_files import Kind, Point

SMALL_A_DISK, LARGE_A_DISK = 5, 2  # the ladders of one disk: 1 to 5 small, 1 to 2 large
OLTP_STEPS, DSS_STEPS = 20, 15  # in steps of as many I/Os as there are disks
ORIGIN = Point(0, 0)


def data_points(settings: Settings) -> tuple[Point, ...]:
    """All points in the order in which they are measured.

    The origin, which ORION counts where its row or column begins there, has no I/O.
    """
    smalls, larges = _ladders(settings)
    match settings.run if settings.run != "advanced" else settings.cells:
        case "simple" | "basic":
            return (*(Point(small, 0) for small in smalls), *(Point(0, large) for large in larges[1:]))
        case "point":
            return (Point(smalls[0], larges[0]),)
        case _:
            return tuple(Point(small, large) for large in larges for small in smalls)


def columns(settings: Settings) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """What a summary calls small and large columns. Of a first row and a first column ORION names the second."""
    smalls, larges = _ladders(settings)
    if settings.run == "simple" or (settings.run == "advanced" and settings.cells == "basic"):
        return (0,), larges
    if settings.run == "oltp":
        return smalls[1:], larges
    return (smalls, larges[1:]) if settings.run == "dss" else (smalls, larges)


def _ladders(settings: Settings) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The loads of small and of large I/Os, from the least on."""
    disks, none = settings.disks, (0,)
    small, large = _up_to(SMALL_A_DISK * disks), _up_to(LARGE_A_DISK * disks)
    if settings.run == "oltp":
        return tuple(range(0, (OLTP_STEPS + 1) * disks, disks)), none
    if settings.run == "dss":
        return none, tuple(range(0, (DSS_STEPS + 1) * disks, disks))
    if settings.run != "advanced":
        return small, large
    fixed_small, fixed_large = settings.num_small or 0, settings.num_large or 0
    match settings.cells:
        case "point":
            return (fixed_small,), (fixed_large,)
        case "col":
            return (fixed_small,), large
        case "row":
            return small, (fixed_large,)
        case "max":
            return _up_to(fixed_small), _up_to(fixed_large)
        case _:
            return small, large


def _up_to(most: int) -> tuple[int, ...]:
    return tuple(range(most + 1))


def kinds(point: Point) -> tuple[Kind, ...]:
    """The sizes that have I/Os outstanding at a point."""
    kind_list: list[Kind] = []
    if point.small:
        kind_list.append("small")
    if point.large:
        kind_list.append("large")
    return tuple(kind_list)


def point_name(point: Point) -> str:
    """A point in words: "small=5 large=2"."""
    return f"small={point.small} large={point.large}"


def row_name(kind: Kind, point: Point) -> str:
    """The row of one size at a point: "small=5 large=0", and where both run together "small=5 large=2 small"."""
    return f"{point_name(point)} {kind}" if len(kinds(point)) > 1 else point_name(point)
