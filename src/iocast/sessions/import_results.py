"""import: results of other tools become run folders."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from iocast import archive
from iocast.sessions.card import Card
from iocast.sessions.events import AnswerReady, CardReady, Imported
from iocast.sessions.listener import Listener
from iocast.sessions.live.tape_card import report_of_tape
from iocast.sessions.run_card import judge, keep_summary, shown_folder
from iocast.sessions.tracing.refused_traces import traces_named


def import_results(files: Sequence[str], out: str, listener: Listener) -> list[Card]:
    """Reads files of other tools into run folders in `out`, and judges them, tapes left out. Raises IocastError."""
    from iocast import __version__
    from iocast.tools import importers

    cards = []
    with traces_named(files):
        runs = importers.read(tuple(files))
    for run in runs:
        run = replace(run, iocast_version=__version__, run_id=archive.new_run_id(run.started_unix_ns))
        folder = archive.RunFolder.create(out, run)
        for number, record in enumerate(run.phases):
            folder.save_phase(number, record.phase.name, None, record.samples)
        shown = shown_folder(folder.path)
        listener.tell(Imported(shown))
        if run.tape is not None:
            listener.tell(AnswerReady(report_of_tape(str(folder.path))))
            continue
        cards.append(judge(run, shown))
        report = cards[-1].report()
        keep_summary(cards[-1], report)
        listener.tell(CardReady(cards[-1], report))
    return cards
