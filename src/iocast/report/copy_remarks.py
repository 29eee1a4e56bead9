"""What must be known of copies: ways that fell back, reflinks, caches that were not as asked, copies that differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from iocast import text
from iocast.analyse.copy_figures import CellFigures
from iocast.model.copy_trials import CopyRefusal, CopyRun, MethodCode
from iocast.model.results.copies import CopyRemark
from iocast.report.wording import words

SPARSE = 0.98  # of its size is allocated: less has holes, or is compressed [J]


def remarks(run: CopyRun, by_cell: Sequence[CellFigures]) -> tuple[CopyRemark, ...]:
    """The gravest first."""
    return (
        *_different(run),
        *_refused(run),
        *_reflinks(by_cell),
        *_not_offloaded(by_cell),
        *_caches(by_cell),
        *_holes(run),
    )


def _different(run: CopyRun) -> Iterator[CopyRemark]:
    bad = [trial for trial in run.trials if trial.same is False]
    if bad:
        yield CopyRemark(
            code="content_differs",
            severity="severe",
            methods=_unique([trial.cell.method for trial in bad]),
            says=f"{text.counted(len(bad), 'copy').replace('copys', 'copies')} did not hold what the source holds.",
            remedy="Check the kernel log (dmesg) and the storage before anything is copied here.",
        )


def _refused(run: CopyRun) -> Iterator[CopyRemark]:
    """One for each call and errno."""
    groups: dict[tuple[str, str], list[tuple[MethodCode, CopyRefusal]]] = {}
    for trial in run.trials:
        refused = trial.figures.refused
        if refused is not None:
            groups.setdefault((refused.call, refused.name), []).append((trial.cell.method, refused))
    here, there = run.plan.source, run.plan.destination
    across = here.device != there.device
    for (call, name), cells_refused in groups.items():
        methods = _unique([method for method, _ in cells_refused])
        place = f" from {here.filesystem} to {there.filesystem}" if across else f" on {there.filesystem}"
        where = f" after {cells_refused[0][1].at_bytes:,} bytes" if cells_refused[0][1].at_bytes else ""
        yield CopyRemark(
            code="way_refused",
            severity="note",
            methods=methods,
            says=f"{call} is refused with {name}{place}{where}.",
            remedy=_fall_back(methods, name),
        )


def _fall_back(methods: tuple[MethodCode, ...], name: str) -> str:
    """What programs do about it."""
    if "copy_file_range" in methods:
        why = "the two file systems are different" if name == "EXDEV" else "the file system has not got it"
        return f"cp and other programs that try copy_file_range first fall back to read and write here: {why}."
    if "reflink" in methods:
        return "cp --reflink=always fails here, cp --reflink=auto copies the data."
    if any(method.startswith("uring") for method in methods):
        return "Programs that use io_uring fall back to threads or plain calls here."
    return "Programs that use it fall back to read and write here."


def _reflinks(by_cell: Sequence[CellFigures]) -> Iterator[CopyRemark]:
    shared = [each for each in by_cell if each.shared]
    if shared:
        least = min(each.shared or 0.0 for each in shared)
        yield CopyRemark(
            code="reflinked",
            severity="warn",
            methods=_unique([each.method for each in shared]),
            says=f"{text.percent(least)} of the copy shares its blocks with the source: no data was copied.",
            remedy=(
                "This rate says nothing about the storage. The first write to a shared block copies it then;"
                " cp --reflink=never copies the data now."
            ),
        )


def _not_offloaded(by_cell: Sequence[CellFigures]) -> Iterator[CopyRemark]:
    """copy_file_range that worked, and yet moved all data through memory: the kernel splices it."""
    own = [each for each in by_cell if each.method == "copy_file_range" and each.copies and each.shared == 0.0]
    if own:
        yield CopyRemark(
            code="copied_in_kernel",
            severity="note",
            methods=("copy_file_range",),
            says=f"{words('copy_file_range')} shared no blocks: the kernel fell back to copying the data in memory.",
            remedy="xfs (reflink=1), btrfs and some network file systems can share blocks or copy on the server.",
        )


def _caches(by_cell: Sequence[CellFigures]) -> Iterator[CopyRemark]:
    for cache in ("cold", "warm"):
        off = [each for each in by_cell if each.cache == cache and not each.as_asked]
        if not off:
            continue
        shares = [each.cached for each in off if each.cached is not None]
        if cache == "cold":
            says = f"The page cache still had {text.percent(max(shares))} of the source: these copies were not cold."
            remedy = "Close what has the source mapped or open, or copy from a file system with a device below it."
        else:
            says = f"The page cache had only {text.percent(min(shares))} of the source: these copies were not warm."
            remedy = "Give a source that fits into free memory."
        yield CopyRemark(
            code="not_cold" if cache == "cold" else "not_warm",
            severity="warn",
            methods=_unique([each.method for each in off]),
            says=says,
            remedy=remedy,
        )


def _holes(run: CopyRun) -> Iterator[CopyRemark]:
    plan = run.plan
    if plan.size_bytes and plan.allocated_bytes < SPARSE * plan.size_bytes:
        yield CopyRemark(
            code="sparse_source",
            severity="note",
            methods=(),
            says=(
                f"The source has {text.capacity(plan.allocated_bytes)} of its {text.capacity(plan.size_bytes)}"
                " allocated: it has holes, or is compressed."
            ),
            remedy="Holes are read as zeros without any I/O. Give a source that is written throughout.",
        )


def _unique(methods: Sequence[MethodCode]) -> tuple[MethodCode, ...]:
    return tuple(dict.fromkeys(methods))
