"""iocast plan JOB: what would be done, how many bytes and minutes; nothing is done."""

from __future__ import annotations

import sys

import rich_click as click

from iocast.commands.options import measuring
from iocast.commands.session import adjust, make_plan
from iocast.commands.targets import find_target
from iocast.model.plan import Phase, Plan
from iocast.spec import load_job, presets


@click.command()
@click.argument("job", required=False)
@click.argument("path", default=".")
@click.option("--schema", is_flag=True, help="Print the JSON Schema of job files instead.")
@click.option("--json", "as_json", is_flag=True, help="Print the plan as JSON.")
@measuring
def plan(
    job: str | None,
    path: str,
    schema: bool,
    as_json: bool,
    size: str | None,
    time: str | None,
    out: str,
    seed: int,
) -> int:
    """Show what JOB would do on PATH, without doing it. Without JOB: list the presets."""
    if schema:
        from iocast.spec.schema import schema_text

        sys.stdout.write(schema_text())
        return 0
    if job is None:
        width = max(len(name) for name in presets())
        for name, says in presets().items():
            print(f"{name:{width}}  {says}")
        return 0
    made, _ = make_plan(adjust(load_job(job), size, time), find_target(path), seed, read_only=False)
    if as_json:
        import msgspec

        print(msgspec.json.format(msgspec.json.encode(made), indent=2).decode())
        return 0
    for line in describe(made):
        print(line)
    return 0


def describe(plan: Plan) -> list[str]:
    """The plan in lines: each row, then what is written to disk and how long it takes."""
    from iocast import load
    from iocast.report.format import capacity
    from iocast.runner import expected_seconds

    width = max(len(phase.name) for phase in plan.phases)
    lines = [f"{plan.name} on {plan.target.path} ({plan.engine} engine)", ""]
    lines += [f"  {phase.name:{width}}  {_words(phase)}" for phase in plan.phases]
    layout = load.lay_out(plan)
    seconds = sum(expected_seconds(phase) for phase in plan.phases)
    ends_otherwise = sum(1 for phase in plan.phases if phase.length.seconds is None)
    lines += ["", f"rows     {len(plan.phases)}, {seconds / 60:.1f} minutes"]
    if ends_otherwise:
        lines[-1] += f", and {ends_otherwise} rows that end by their I/Os or bytes"
    if layout.own:
        there = "written first" if layout.fill_bytes else "there already"
        total = sum(file.size_bytes for file in layout.files)
        lines.append(f"files    {len(layout.files)} in {capacity(total)}, {there}")
        lines.extend(f"         {file.path}" for file in layout.files)
    else:
        lines.append(f"target   {capacity(layout.files[0].size_bytes)}, not laid out by iocast")
    return lines


def _words(phase: Phase) -> str:
    from iocast.report.format import duration, rate, size

    workload = phase.workload
    weights = sum(item.weight for item in workload.mix)
    mix = " + ".join(
        f"{item.weight / weights:.0%} {item.op}" + (f" {size(item.size_bytes)}" if item.size_bytes else "")
        for item in workload.mix
    )
    access = "direct" if workload.direct else "buffered"
    durable = {"none": "", "sync": ", O_SYNC", "dsync": ", O_DSYNC"}[workload.sync]
    pace = getattr(workload.arrival, "rate_per_s", None)
    paced = f", {rate(pace)}/s {type(workload.arrival).__name__.lower()}" if pace else ""
    where = type(workload.locality).__name__.lower()
    length = phase.length
    until = duration(length.seconds * 1e9) if length.seconds else ""
    until = until or (f"{length.ios} I/Os" if length.ios else f"{size(length.bytes)}")
    load = f"{workload.users} users x depth {workload.depth}"
    return f"{mix}, {where}, {access}{durable}, {load}{paced}, {until}"
