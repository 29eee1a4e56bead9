"""iocast ab JOB TARGET_A TARGET_B: the same job on two targets in turns, and the comparison."""

from __future__ import annotations

import os
import random

import rich_click as click
from msgspec.structs import replace

from iocast.archive.catalogue import runs_in
from iocast.commands.groups import group_folder
from iocast.commands.options import filing, measuring, out_option, presenting
from iocast.commands.session import adjust, carry_out, say
from iocast.commands.targets import find_target, identity_name
from iocast.commands.writing import Into, deliver
from iocast.errors import SpecError
from iocast.jobs import load_job

SIDES = ("A", "B")


@click.command()
@click.argument("job")
@click.argument("target_a")
@click.argument("target_b")
@click.option(
    "--rounds",
    type=click.IntRange(1, 1000),
    default=5,
    show_default=True,
    help="How often each target is measured; three at least for a verdict, five for a p99.",
)
@click.option(
    "--destroy",
    metavar="IDENTITY",
    multiple=True,
    help="Let the target that is this block device be overwritten; may be given for each.",
)
@measuring
@out_option
@filing
@presenting
def ab(
    job: str,
    target_a: str,
    target_b: str,
    rounds: int,
    destroy: tuple[str, ...],
    size: str | None,
    time: str | None,
    seed: int,
    out: str,
    into: Into | None,
    form: str,
) -> int:
    """Run JOB on TARGET_A and TARGET_B in turns, and compare.

    Each round measures both, in an order drawn anew (by the seed), so that what changes slowly on the machine
    does not fall on one of them.
    """
    wanted = adjust(load_job(job), size, time)
    targets = dict(zip(SIDES, (target_a, target_b), strict=True))
    given_up = dict.fromkeys(destroy, False)
    for path in targets.values():
        given_up |= {name: True for name in destroy if name == identity_name(find_target(path))}
    if unknown := [name for name, found in given_up.items() if not found]:
        raise SpecError(f"--destroy {unknown[0]} is the identity of neither target", "a refusal says what to write")
    folder = group_folder(out, f"ab-{wanted.name.replace(' ', '-')}")
    order = random.Random(seed)
    for number in range(1, rounds + 1):
        for name in order.sample(SIDES, 2):
            say(f"round {number} of {rounds}: {name}, {targets[name]}")
            run_seed = seed + number - 1  # the same offsets on both sides, others in each round
            target = find_target(targets[name])
            target = replace(target, destroy=identity_name(target) if identity_name(target) in destroy else "")
            done, code = carry_out(wanted, target, run_seed, size, os.path.join(folder, name))
            if done.error is not None:
                raise done.error
            if code:
                return code
    return _show(folder, form, into)


def _show(folder: str, form: str, into: Into | None) -> int:
    from iocast.diagnose.comparable import side
    from iocast.report.comparison.comparison_report import compare

    sides = [side(name, runs_in(os.path.join(folder, name))) for name in SIDES]
    deliver(compare(sides, charts=into is not None), form, into)
    say(f"run folders: {os.path.relpath(folder)}/A and B")
    return 0
