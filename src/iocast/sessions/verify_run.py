"""verify: what a run wrote is read back, whatever happened in between."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from iocast import archive
from iocast.errors import IocastError
from iocast.load import verify_journal
from iocast.load.marks import held, read_mark
from iocast.model.plan import Length
from iocast.model.report import Report
from iocast.model.run import Run
from iocast.model.verification import Verification
from iocast.report.card.verification_section import report
from iocast.sessions.events import Interrupted, NotKept
from iocast.sessions.listener import Listener
from iocast.sessions.run_card import keep_judgement, shown_folder

if TYPE_CHECKING:
    from iocast.load.verify_journal import Description


class Verified(Struct, frozen=True):
    """What was found, and the run that has it now."""

    run: Run
    folder: str
    verification: Verification

    def report(self) -> Report:
        """Each block that is not as it must be."""
        return report(self.run, self.verification, self.folder)


def verify(name: str, listener: Listener, *, after_crash: bool = False) -> Verified:
    """Reads back all that the run in a folder wrote with verify, and keeps the result there. Raises IocastError.

    After a crash, or where the machine was down since, only what was made durable must be there.
    """
    folder = Path(name).parent if Path(name).name == archive.RUN_FILE else Path(name)
    run = archive.load(str(folder))
    description = verify_journal.read_description(folder)
    durable_only = after_crash or not verify_journal.same_boot(description)
    if durable_only and not after_crash:
        listener.tell(Interrupted())
    verification = _read_back(folder, run, description, durable_only, listener)
    run = replace(run, verifications=(*run.verifications, verification))
    try:
        archive.RunFolder.open(folder).save(run)
    except IocastError as error:
        listener.tell(NotKept(error))
    else:
        keep_judgement(folder)  # saving has made its line for lists anew, without letters
    return Verified(run, shown_folder(folder), verification)


def _read_back(
    folder: Path, run: Run, description: Description, durable_only: bool, listener: Listener
) -> Verification:
    """Reads the files back, which nobody else may use meanwhile."""
    with ExitStack() as stack:
        for file in description.files:
            if file.inode is not None and read_mark(file.path) is not None:
                stack.enter_context(held(file.path))
        stopping = stack.enter_context(listener.working())
        progress = listener.progress(stopping)
        stack.callback(progress.close)
        written = next(phase for phase in run.plan.phases if phase.verify)
        length = Length(bytes=description.entries * description.block_bytes)
        progress.begin(replace(written, name="reading back", length=length), 0, 1, 0.0)

        def on_tick(elapsed_ns: int, blocks: int) -> bool:
            progress.tick(elapsed_ns, 0, blocks * description.block_bytes, 0)
            return not stopping()

        return verify_journal.read_back(folder, description, durable_only, on_tick)
