"""iocast verify RUN: reads back what a run wrote, whatever happened in between."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path

import rich_click as click

from iocast import archive
from iocast.commands.options import presenting


@click.command()
@click.argument("run")
@click.option(
    "--after-crash",
    is_flag=True,
    help="The storage lost power: only what was made durable must be there. Implied when this machine was down.",
)
@presenting
def verify(run: str, after_crash: bool, form: str) -> int:
    """Read back everything that the run in folder RUN wrote with verify, and say what is torn, lost or misplaced.

    The run may have ended in any way: its journal knows what was sent and what was acknowledged. Exit code 1
    when a block is not as it must be.
    """
    from msgspec.structs import replace

    from iocast.commands.interrupts import Interrupts
    from iocast.commands.progress import progress
    from iocast.commands.session import present, say
    from iocast.errors import IocastError
    from iocast.load import verify_journal
    from iocast.load.marks import held, read_mark
    from iocast.model.plan import Length
    from iocast.report.card.verification_section import report

    folder = Path(run).parent if Path(run).name == archive.RUN_FILE else Path(run)
    made = archive.load(str(folder))
    description = verify_journal.read_description(folder)
    durable_only = after_crash or not verify_journal.same_boot(description)
    if durable_only and not after_crash:
        say("note: this machine was down since the run began: only what was made durable must be there")
    with ExitStack() as stack:
        for file in description.files:
            if file.inode is not None and read_mark(file.path) is not None:
                stack.enter_context(held(file.path))
        interrupts = stack.enter_context(Interrupts())
        shown = progress(interrupts.stopped)
        stack.callback(shown.close)
        written = next(phase for phase in made.plan.phases if phase.verify)
        length = Length(bytes=description.entries * description.block_bytes)
        shown.begin(replace(written, name="reading back", length=length), 0, 1, 0.0)

        def on_tick(elapsed_ns: int, blocks: int) -> bool:
            shown.tick(elapsed_ns, 0, blocks * description.block_bytes, 0)
            return not interrupts.stopped()

        found = verify_journal.read_back(folder, description, durable_only, on_tick)
    made = replace(made, verifications=(*made.verifications, found))
    try:
        archive.RunFolder(folder).save(made)
    except IocastError as error:
        say(f"note: the result is not kept: {error.message}")
    present(report(made, found, os.path.relpath(folder)), form)
    return interrupts.exit_code or int(bool(found.bad_blocks))
