"""A plan in lines: what will be done, its rows, how long it takes, what it needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from iocast.commands.shell.tree_lines import tree_lines
from iocast.model.plan import Phase, Plan
from iocast.model.tree import totals as tree_totals
from iocast.model.workload import (
    Bursts,
    Closed,
    Locality,
    RecordedPlaces,
    RecordedTimes,
    Sequential,
    Uniform,
    Workload,
)

if TYPE_CHECKING:
    from iocast.sessions.events import Layout, Planned, QuietAwaited, QuietEnded

LEAST_WIDTH = 14  # to which columns of words are wrapped
MIX_WIDTH = 60  # of the column that says the I/O; a mix of many sizes goes on below
_MIB = 1 << 20
SECOND_NS = 1_000_000_000


def planned_lines(event: Planned | QuietAwaited | QuietEnded) -> Iterator[str]:
    """What will be done, before it is done, and when."""
    from iocast.sessions.events import Planned

    if isinstance(event, Planned):
        yield from _planned(event)
    else:
        yield _quiet(event)


def _planned(planned: Planned) -> Iterator[str]:
    from iocast.text import capacity, counted, maintenance

    plan, layout = planned.plan, planned.layout
    fill = f"lays out {capacity(layout.fill_bytes)} of work files, then " if layout.fill_bytes else ""
    if plan.trees and plan.target.kind != "sim" and (len(plan.trees) > 1 or layout.files[0].fill):
        files = [tree_totals(tree, plan.most_users).files for tree in plan.trees]
        trees = f"{len(files)} trees" if len(files) > 1 else "a tree"
        fill = f"makes {trees} of {sum(files):,} files, then "
    yield f"{plan.name} on {plan.target.path}: {fill}measures {counted(*_rows(plan))}{_others(plan)}: {lasting(plan)}"
    yield from note_lines((*layout.notes, *planned.notes), plan, planned.excluded)
    for task in planned.maintenance:
        where = "the rows will show it" if task.below_target else "it may not be below this target"
        yield f"note: maintenance is running: {maintenance(task.task, task.subject, task.done)}; {where}"
    if planned.results_on is not None:
        where = planned.results_on
        yield f"note: results are written to the storage under test ({where}); --out DIR puts them elsewhere"
    if planned.idle_size_bytes is not None:
        size = f"{planned.idle_size_bytes // _MIB}MiB"
        yield f"note: --size {size} is ignored: {plan.target.path} already exists and keeps its size"


def _quiet(event: QuietAwaited | QuietEnded) -> str:
    """That a quiet machine is waited for, or how quiet it was."""
    from iocast.sessions.events import QuietAwaited
    from iocast.units import duration_text

    if isinstance(event, QuietAwaited):
        return f"waiting for a quiet machine, at most {duration_text(event.most_ns)}; Ctrl-C ends it"
    shares = {"CPU": event.cpu_share, "disk": event.disk_share}
    busy = ", ".join(f"{name} {share:.0%} busy" for name, share in shares.items() if share is not None)
    waited = duration_text(event.waited_ns // SECOND_NS * SECOND_NS)
    if event.quiet:
        return f"quiet after {waited}: {busy}"
    if not busy:
        return "note: whether the machine is quiet cannot be seen: measuring now"
    return f"note: not quiet within {waited}: {busy}: measuring all the same; `iocast top` shows what else runs"


def _rows(plan: Plan) -> tuple[int, str]:
    """How many rows the result has."""
    return sum(phase.role == "measure" for phase in plan.phases) or len(plan.phases), "row"


def _others(plan: Plan) -> str:
    """The rows that only prepare or check, and the steps where some rows are concurrent."""
    from iocast.text import counted

    others, steps = len(plan.phases) - _rows(plan)[0], len(plan.groups)
    before = f", {counted(others, 'other')} to prepare or check" if others else ""
    return before + (f", in {counted(steps, 'step')}" if steps != len(plan.phases) else "")


def note_lines(notes: Sequence[str], plan: Plan, excluded: Sequence[str]) -> Iterator[str]:
    """How a plan differs from what was asked."""
    for note in notes:
        yield f"note: {note}"
    if excluded:
        these = ", ".join(excluded)
        yield f"note: {plan.target.path} is read-only here: {len(excluded)} write rows skipped ({these})"


def lasting(plan: Plan) -> str:
    """How long a plan takes, as far as that is known: "36 s", "10 s plus 2 rows limited by I/Os or bytes"."""
    from iocast.text import about

    timed = any(phase.length.seconds is not None for phase in plan.phases)
    counted = sum(phase.length.seconds is None and not phase.length.follows for phase in plan.phases)
    most = "at most " if any(phase.until for phase in plan.phases) else "about " if plan.calibration else ""
    clock = " of virtual time" if plan.target.kind == "sim" else ""
    parts = [f"{most}{about(plan.expected_seconds)}{clock}"] if timed or not counted else []
    if counted:
        parts.append(f"{counted} rows limited by I/Os or bytes" if counted > 1 else "1 row limited by I/Os or bytes")
    return " plus ".join(parts)


def rows(plan: Plan, width: int) -> Iterator[str]:
    """A head, and a line for each phase, at most `width` wide where its words allow."""
    from iocast.report.renderers.grid import wrap

    yield f"{plan.name} on {plan.target.path} ({plan.engine} engine)"
    yield ""
    table = [("row", "I/O", "pattern", "access", "load", "duration"), *(_cells(phase) for phase in plan.phases)]
    widths = [max(len(cells[column]) for cells in table) for column in range(len(table[0]))]
    widths[1] = min(widths[1], MIX_WIDTH)
    over = sum(widths) + 2 * (len(widths) - 1) - width
    for at in (1, 3, 2, 5, 0):
        less = min(max(0, over), max(0, widths[at] - LEAST_WIDTH))
        widths[at], over = widths[at] - less, over - less
    for cells in table:
        for line in zip_longest(*(wrap(cell, width) for cell, width in zip(cells, widths, strict=True)), fillvalue=""):
            yield "  ".join(f"{cell:{width}}" for cell, width in zip(line, widths, strict=True)).rstrip()
    yield ""


def totals(plan: Plan, layout: Layout, make_seconds: float | None = None) -> Iterator[str]:
    """How long it takes, and what it needs; `make_seconds`: what a simulated tree takes to be made."""
    from iocast.text import capacity

    yield f"rows    {_rows(plan)[0]}{_others(plan)}: {lasting(plan)}"
    if plan.trees:
        yield from tree_lines(plan, layout, make_seconds)
        return
    if not layout.own:
        for file in layout.files:
            yield f"target  {file.path}, {capacity(file.size_bytes)}, used as it is"
        return
    for number, file in enumerate(layout.files):
        name = f", for {plan.files.names[number]}" if len(plan.files.names) > 1 else ""
        state = "to be filled" if file.fill else "already filled"
        yield f"file    {file.path}, {capacity(file.size_bytes)}, {state}{name}"


def image_line(images: Sequence[str]) -> str:
    """The file systems that a named experiment makes."""
    each = "one after the other on an image of 512 MiB, removed at the end"
    return f"on      {', '.join(images)}: {each}"


def writing_line(phases: Sequence[Phase]) -> str:
    """What phases write, besides laying out their files."""
    from iocast.text import about, capacity

    if any(phase.workload.tree_only for phase in phases):
        return "writes  only in its tree"
    writing = [phase for phase in phases if phase.workload.writes and not phase.workload.trims]
    if not writing:
        return "writes  only its work files"
    timed = sum(phase.length.seconds or 0.0 for phase in writing if not phase.length.bytes)
    bounded = sum(phase.length.bytes or 0 for phase in writing)
    parts = [f"for {about(timed)}" if timed else "", f"at most {capacity(bounded)}" if bounded else ""]
    return f"writes  {' and '.join(part for part in parts if part)} in {len(writing)} rows, in place"


def repeated(plan: Plan, repeats: int) -> str:
    """How many cells are measured, how often, and the command that does it."""
    from iocast.text import about

    cells = sum(phase.role == "measure" for phase in plan.phases)
    return (
        f"runs    {cells} cells x {repeats} repeats: {cells * repeats} runs, {about(repeats * plan.expected_seconds)}"
        f" (iocast repeat {repeats} {plan.name} {plan.target.path})"
    )


def _cells(phase: Phase) -> tuple[str, ...]:
    from iocast.text import capacity

    workload, length = phase.workload, phase.length
    limits = (
        _time(phase) if length.seconds else "",
        f"{length.ios} I/O{'s' if length.ios > 1 else ''}" if length.ios else "",
        capacity(length.bytes) if length.bytes else "",
        "as long as the rest of its group" if length.follows else "",
    )
    if phase.role == "verify":
        return phase.name, "reads back all verified writes", "", "", "", ""
    beside = f" (together: {phase.together})" if phase.together else ""
    warms = " (warm-up)" if phase.role == "warm" else ""
    return (
        phase.name + warms + beside,
        _mix(workload),
        workload.select if workload.tree_only else _where(workload.locality),
        _access(workload),
        _load(workload) + _pace(workload),
        " or ".join(limit for limit in limits if limit),
    )


def _time(phase: Phase) -> str:
    from iocast.text import duration

    longest = duration((phase.length.seconds or 0.0) * 1e9)
    return f"until steady, {duration(phase.until.first_s * 1e9)} to {longest}" if phase.until else longest


def _mix(workload: Workload) -> str:
    from iocast.text import percent, size

    weights = sum(item.weight for item in workload.mix)
    words = [f"{item.op} {size(item.size_bytes)}" if item.size_bytes else item.op for item in workload.mix]
    if len(words) > 1:
        shares = [percent(item.weight / weights) for item in workload.mix]
        words = [f"{share} {word}" for share, word in zip(shares, words, strict=True)]
    return " + ".join(words) + _syncs(workload)


def _syncs(workload: Workload) -> str:
    if not workload.fsync_every:
        return ""
    often = f"{workload.fsync_every} writes" if workload.fsync_every > 1 else "write"
    return f", {workload.fsync_op} after every {often}"


def _where(locality: Locality) -> str:
    """The pattern, in the words of job files."""
    match locality:
        case Sequential(backwards=True):
            return "sequential, descending"
        case Uniform(repeats=repeats):
            return "random" if repeats else "random, no repeats"
        case RecordedPlaces():
            return "where the trace goes"
        case _:
            return type(locality).__name__.lower()


def _load(workload: Workload) -> str:
    """Users x queue depth: "1x1", "4x16"."""
    return f"{workload.users}x{workload.depth}"


def _access(workload: Workload) -> str:
    if workload.tree_only and not any(item.size_bytes for item in workload.mix):
        return "names"
    durable = {"none": "", "sync": ", O_SYNC", "dsync": ", O_DSYNC", "rwf_dsync": ", RWF_DSYNC"}[workload.sync]
    return ("direct" if workload.direct else "buffered") + durable


def _pace(workload: Workload) -> str:
    from iocast.text import duration, rate

    arrival = workload.arrival
    if workload.steps:
        return f" in {len(workload.steps)} steps"
    if isinstance(arrival, Closed):
        return f", {duration(arrival.think_ns)} think time" if arrival.think_ns else ""
    if isinstance(arrival, Bursts):
        return f" in bursts of {arrival.ios} every {duration(arrival.every_ns)}"
    if isinstance(arrival, RecordedTimes):
        return f" at {rate(arrival.rate_per_s)}/s, as recorded"
    return f" at {rate(arrival.rate_per_s)}/s {type(arrival).__name__.lower()}"
