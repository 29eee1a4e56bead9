"""iocast plan JOB: what would be done, how many bytes and minutes; nothing is done."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import zip_longest

import rich_click as click

from iocast.commands.options import destroying, measuring
from iocast.commands.session import about, adjust, lasting, make_plan, say
from iocast.commands.targets import find_target
from iocast.jobs import load_job, presets
from iocast.load import Layout
from iocast.model.plan import Phase, Plan
from iocast.model.workload import Bursts, Closed, Locality, Sequential, Uniform, Workload

MIX_WIDTH = 60  # of the column that says the I/O; a mix of many sizes goes on below


@click.command()
@click.argument("job", required=False)
@click.argument("path", default=".")
@click.option("--schema", is_flag=True, help="Print the JSON Schema of job files instead.")
@click.option("--json", "as_json", is_flag=True, help="Print the plan as JSON.")
@measuring
@destroying
def plan(
    job: str | None,
    path: str,
    schema: bool,
    as_json: bool,
    size: str | None,
    time: str | None,
    seed: int,
    destroy: str,
) -> int:
    """Show what JOB would do on PATH, without doing it. Without JOB: list the presets."""
    if schema:
        from iocast.jobs.toml.job_schema import schema_text

        sys.stdout.write(schema_text())
    elif job is None:
        width = max(len(name) for name in presets())
        for name, says in presets().items():
            print(f"{name:{width}}  {says}")
    else:
        wanted = adjust(load_job(job), size, time)
        made, notes = make_plan(wanted, find_target(path, destroy), seed, dry=True)
        _show(made, notes, as_json, wanted.runs)
    return 0


def _show(made: Plan, notes: tuple[str, ...], as_json: bool, repeats: int) -> None:
    from iocast import load

    if as_json:
        import msgspec

        print(msgspec.json.format(msgspec.json.encode(made), indent=2).decode())
        return
    for line in rows(made):
        print(line)
    if repeats > 1:
        print(repeated(made, repeats))
    sys.stdout.flush()  # the rows come before what may now be wrong with the target
    layout = load.lay_out(made)
    for line in totals(made, layout):
        print(line)
    for note in (*layout.notes, *notes):
        say(f"note: {note}")


def rows(plan: Plan) -> Iterator[str]:
    """A head, and a line for each phase."""
    from iocast.report.renderers.grid import wrap

    yield f"{plan.name} on {plan.target.path} ({plan.engine} engine)"
    yield ""
    table = [("row", "I/O", "where", "access", "load", "for"), *(_cells(phase) for phase in plan.phases)]
    widths = [max(len(cells[column]) for cells in table) for column in range(len(table[0]))]
    widths[1] = min(widths[1], MIX_WIDTH)
    for cells in table:
        for line in zip_longest(*(wrap(cell, width) for cell, width in zip(cells, widths, strict=True)), fillvalue=""):
            yield "  ".join(f"{cell:{width}}" for cell, width in zip(line, widths, strict=True)).rstrip()
    yield ""


def totals(plan: Plan, layout: Layout) -> Iterator[str]:
    """How long it takes, and what it needs."""
    from iocast.text import capacity

    yield f"rows    {len(plan.phases)}: {lasting(plan)}"
    if not layout.own:
        yield f"target  {plan.target.path}, {capacity(layout.files[0].size_bytes)}, taken as it is"
        return
    for file in layout.files:
        yield f"file    {file.path}, {capacity(file.size_bytes)}, {'to be written' if file.fill else 'there already'}"


def repeated(plan: Plan, repeats: int) -> str:
    """How many cells are measured, how often, and the command that does it."""
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
        "as long as the others" if length.follows else "",
    )
    if phase.role == "verify":
        return phase.name, "reads back all that was written with verify", "", "", "", ""
    beside = f" (at once: {phase.together})" if phase.together else ""
    warms = " (warms)" if phase.role == "warm" else ""
    return (
        phase.name + warms + beside,
        _mix(workload),
        _where(workload.locality),
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
    return " + ".join(words) + (f", {workload.fsync_op} every {workload.fsync_every}" if workload.fsync_every else "")


def _where(locality: Locality) -> str:
    """The pattern, in the words of job files."""
    match locality:
        case Sequential(backwards=True):
            return "sequential, backwards"
        case Uniform(repeats=repeats):
            return "random" if repeats else "random, no repeats"
        case _:
            return type(locality).__name__.lower()


def _load(workload: Workload) -> str:
    """How much at once: "1 user x depth 1", "4 users x depth 16"."""
    return f"{workload.users} user{'s' if workload.users > 1 else ''} x depth {workload.depth}"


def _access(workload: Workload) -> str:
    durable = {"none": "", "sync": ", O_SYNC", "dsync": ", O_DSYNC", "rwf_dsync": ", RWF_DSYNC"}[workload.sync]
    return ("direct" if workload.direct else "buffered") + durable


def _pace(workload: Workload) -> str:
    from iocast.text import duration, rate

    arrival = workload.arrival
    if isinstance(arrival, Closed):
        return f", {duration(arrival.think_ns)} think time" if arrival.think_ns else ""
    if isinstance(arrival, Bursts):
        return f" in bursts of {arrival.ios} every {duration(arrival.every_ns)}"
    return f" at {rate(arrival.rate_per_s)}/s {type(arrival).__name__.lower()}"
