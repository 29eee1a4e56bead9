"""iocast ab JOB TARGET_A TARGET_B: the same job on two targets in turns, and the comparison."""

from __future__ import annotations

import rich_click as click

from iocast.commands.shell.options import filing, presenting, run_options
from iocast.commands.shell.showing import Into, deliver_measured
from iocast.commands.shell.terminal_listener import TerminalListener
from iocast.sessions.requests.run_options import RunOptions


@click.command()
@click.argument("job")
@click.argument("target_a")
@click.argument("target_b")
@click.option(
    "--rounds",
    type=click.IntRange(1, 1000),
    default=5,
    show_default=True,
    help="Measurements of each target: at least 3 for a verdict, 5 for p99.",
)
@click.option(
    "--destroy",
    metavar="IDENTITY",
    multiple=True,
    help="Allow this block device to be overwritten; repeat the option for both targets.",
)
@run_options(destroy=False)
@filing
@presenting
def ab(
    job: str,
    target_a: str,
    target_b: str,
    rounds: int,
    destroy: tuple[str, ...],
    options: RunOptions,
    into: Into | None,
    form: str,
) -> int:
    """Run JOB on TARGET_A and TARGET_B in turn and compare them.

    Each round measures both targets in random order (set by the seed), so that slow drift of the machine does
    not favour one of them.
    """
    from iocast.sessions.comparing import AbRequest
    from iocast.sessions.comparing import ab as measure_both

    listener, paths = TerminalListener(), (target_a, target_b)
    request = AbRequest(job=job, paths=paths, rounds=rounds, destroy=destroy, options=options)
    made = measure_both(request, listener)
    if made is not None:
        deliver_measured(made, form, into)
    return listener.exit_code
