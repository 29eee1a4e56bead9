"""An ORION run as a job: one group of phases for each data point, small and large I/Os of a point concurrently."""

from __future__ import annotations

from collections.abc import Iterator

from iocast.model.job import FileSize, Job
from iocast.model.plan import Length, Phase
from iocast.model.workload import Locality, MixItem, Sequential, Uniform, Workload
from iocast.tools.orion.command_line import Settings, as_job
from iocast.tools.orion.data_points import ORIGIN, data_points, kinds, point_name, row_name
from iocast.tools.orion.result_files import Kind, Point

KIB, MIB = 1 << 10, 1 << 20
WARM_SECONDS = 120.0  # before each sequential point, where the size of the cache is not given
WARM_DEPTH = 8


def matrix_job(settings: Settings, *, luns: int = 1, size_bytes: int | None = None) -> Job:
    """The job of an ORION run on `luns` files or devices, which it lays out with `size_bytes` each where it may."""
    return Job(
        name=f"{settings.testname} {settings.run}",
        description=f"ORION -run {settings.run}",
        phases=tuple(_phases(settings)),
        file_count=luns,
        file_size=None if size_bytes is None else FileSize(size_bytes=size_bytes),
        stripe_bytes=settings.stripe_kb * KIB if luns > 1 else 0,
        text=as_job(settings),
        notes=tuple(_notes(settings, luns)),
        fits_target=settings.write == 0,  # what shall write is refused where it may not, not left out
    )


def _phases(settings: Settings) -> Iterator[Phase]:
    for point in data_points(settings):
        if point == ORIGIN:
            continue
        if warming(settings) and point.large:
            yield _warm(settings, point)
        yield from (_phase(settings, kind, point) for kind in kinds(point))


def warming(settings: Settings) -> bool:
    """True where the cache is filled with other blocks before each point with sequential I/Os."""
    return settings.type == "seq" and settings.cache_size != 0


def _phase(settings: Settings, kind: Kind, point: Point) -> Phase:
    streams = kind == "large" and settings.type == "seq"
    outstanding = point.small if kind == "small" else point.large
    size_bytes = (settings.size_small if kind == "small" else settings.size_large) * KIB
    other = point.large if kind == "small" else point.small
    beside = f" beside {other} {'large' if kind == 'small' else 'small'}" if other else ""
    return Phase(
        name=row_name(kind, point),
        test=f"{kind} {'sequential' if streams else 'random'}{beside}",
        workload=_workload(
            settings,
            size_bytes,
            Sequential() if streams else Uniform(),
            users=outstanding if streams else 1,
            depth=settings.stream_ios if streams else outstanding,
        ),
        length=Length(seconds=float(settings.duration)),
        together=point_name(point) if other else "",
    )


def _warm(settings: Settings, point: Point) -> Phase:
    """Random I/Os that are not measured: no block of one sequential point is still cached in the next."""
    cache = settings.cache_size
    return Phase(
        name=f"{point_name(point)} warm",
        test="cache warming",
        workload=_workload(settings, settings.size_large * KIB, Uniform(), users=1, depth=WARM_DEPTH),
        length=Length(seconds=WARM_SECONDS) if cache is None else Length(bytes=cache * MIB),
        role="warm",
    )


def _workload(settings: Settings, size_bytes: int, locality: Locality, *, users: int, depth: int) -> Workload:
    shares = {"read": 100 - settings.write, "write": settings.write}
    mix = tuple(MixItem(op, size_bytes, float(shares[op])) for op in ("read", "write") if shares[op])
    return Workload(mix=mix, locality=locality, users=users, depth=depth)


def _notes(settings: Settings, luns: int) -> Iterator[str]:
    """What does nothing here."""
    if luns == 1 and settings.simulate == "raid0":
        yield "-simulate raid0 has no effect: there is one file or device"
    sequential = settings.type == "seq" and any(point.large for point in data_points(settings))
    if settings.cache_size and not sequential:
        yield "-cache_size has no effect: the cache is warmed before sequential data points only"
