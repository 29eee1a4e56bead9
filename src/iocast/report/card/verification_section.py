"""What a verification found, as a section of a report, and as a report of its own."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from iocast import text
from iocast.model.report import Report, Section, Table
from iocast.model.results.card import BlockRow, PlaceRow, Verified
from iocast.model.run import Run
from iocast.model.verification import Verification
from iocast.report.result_tables import result_table
from iocast.report.subjects import subject
from iocast.report.wording import section as titled
from iocast.results.verified import MEANINGS, verified


def section(run: Run) -> Section | None:
    """The verifications of a run, None without any."""
    if not run.verifications:
        return None
    last = run.verifications[-1]
    return titled("verification", (says(last),), tuple(_tables(verified(last))))


def report(run: Run, verification: Verification, folder: str) -> Report:
    """The report of `iocast verify`."""
    steps = [f"The card of the run: iocast report {shlex.quote(folder)}"]
    if verification.bad_blocks:
        other = "If another program has written to these files since the run, its writes were found here."
        steps.insert(0, other)
    result = verified(verification)
    return Report(
        title=f"{run.plan.name} · {run.plan.target.path} · verified",
        verdict=says(verification),
        sections=(Section("verification", "Verification", tables=tuple(_tables(result))),),
        next_steps=tuple(steps),
        kind="verification",
        subjects=(subject(run, folder),),
        result=result,
    )


def says(verification: Verification) -> str:
    """The verdict in plain sentences."""
    size = text.size(verification.block_bytes)
    blocks = f"{text.whole(verification.blocks)} blocks of {size}"
    rule = "was made durable" if verification.durable_only else "was acknowledged"
    if not verification.blocks:
        return "Nothing to verify: nothing was written with verify, or another phase overwrote it."
    sentences = []
    if verification.bad_blocks:
        named = zip(MEANINGS, verification.bad, strict=True)
        kinds = ", ".join(f"{text.whole(count)} {kind}" for kind, count in named if count)
        sentences.append(f"{text.whole(verification.bad_blocks)} of {blocks} are bad: {kinds}.")
    else:
        sentences.append(f"Everything that {rule} is intact: {blocks} read back, none torn, lost or misplaced.")
    if verification.outstanding:
        sentences.append(
            f"{text.whole(verification.outstanding)} had an outstanding write at the end:"
            " old or new data counted as intact."
        )
    if verification.undecided:
        sentences.append(f"{text.whole(verification.undecided)} are undecided: writes overlapped there, or failed.")
    if verification.ahead:
        sentences.append(f"{text.whole(verification.ahead)} are newer than the journal, which was not flushed in time.")
    if not verification.direct:
        sentences.append("The read-back was buffered: the page cache may hold what the storage does not.")
    if not verification.complete:
        sentences.append("The verification was stopped before its end.")
    return " ".join(sentences)


def _tables(result: Verified) -> Iterator[Table]:
    yield result_table(BlockRow, result.blocks, key="blocks")
    if result.places:
        notes = ("Writes are numbered per block, from 1; the first eight of each state are shown.",)
        yield result_table(PlaceRow, result.places, key="places", notes=notes)
