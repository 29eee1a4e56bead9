"""What a verification found, as a section of a report, and as a report of its own."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from iocast import text
from iocast.model.report import Column, Report, Row, Section, Table
from iocast.model.run import Run
from iocast.model.verification import BadBlock, Verification
from iocast.report.subjects import subject
from iocast.report.wording import section as titled

MEANINGS = {
    "torn": "parts of two writes, or of a write and of older data",
    "lost": "an older write than acknowledged, or none",
    "misplaced": "a block that belongs elsewhere",
    "corrupt": "changed or foreign bytes",
    "unreadable": "read error",
}


def section(run: Run) -> Section | None:
    """The verifications of a run, None without any."""
    if not run.verifications:
        return None
    last = run.verifications[-1]
    return titled("verification", (says(last),), tuple(_tables(last)))


def report(run: Run, found: Verification, folder: str) -> Report:
    """The report of `iocast verify`."""
    steps = [f"The card of the run: iocast report {shlex.quote(folder)}"]
    if found.bad_blocks:
        other = "If another program has written to these files since the run, its writes were found here."
        steps.insert(0, other)
    return Report(
        title=f"{run.plan.name} · {run.plan.target.path} · verified",
        verdict=says(found),
        sections=(Section("verification", "Verification", tables=tuple(_tables(found))),),
        next_steps=tuple(steps),
        kind="verification",
        subjects=(subject(run, folder),),
    )


def says(found: Verification) -> str:
    """The verdict in plain sentences."""
    size = text.size(found.block_bytes)
    blocks = f"{text.whole(found.blocks)} blocks of {size}"
    rule = "was made durable" if found.durable_only else "was acknowledged"
    if not found.blocks:
        return "Nothing to verify: nothing was written with verify, or another phase overwrote it."
    sentences = []
    if found.bad_blocks:
        named = zip(MEANINGS, found.bad, strict=True)
        kinds = ", ".join(f"{text.whole(count)} {kind}" for kind, count in named if count)
        sentences.append(f"{text.whole(found.bad_blocks)} of {blocks} are bad: {kinds}.")
    else:
        sentences.append(f"Everything that {rule} is intact: {blocks} read back, none torn, lost or misplaced.")
    if found.outstanding:
        sentences.append(
            f"{text.whole(found.outstanding)} had an outstanding write at the end: old or new data counted as intact."
        )
    if found.undecided:
        sentences.append(f"{text.whole(found.undecided)} are undecided: writes overlapped there, or failed.")
    if found.ahead:
        sentences.append(f"{text.whole(found.ahead)} are newer than the journal, which was not flushed in time.")
    if not found.direct:
        sentences.append("The read-back was buffered: the page cache may hold what the storage does not.")
    if not found.complete:
        sentences.append("The verification was stopped before its end.")
    return " ".join(sentences)


def _tables(found: Verification) -> Iterator[Table]:
    rows = [Row({"kind": "intact", "count": found.intact, "says": "one whole, valid write"})]
    if found.undecided:
        rows.append(Row({"kind": "undecided", "count": found.undecided, "says": "writes overlapped there, or failed"}))
    for (kind, meaning), count in zip(MEANINGS.items(), found.bad, strict=True):
        rows.append(Row({"kind": kind, "count": count, "says": meaning}))
    columns = (Column("kind", "state"), Column("count", "count", "count"), Column("says", "meaning"))
    yield Table("", columns, tuple(rows), key="blocks")
    if not found.places:
        return
    places = tuple(
        Row(
            {
                "kind": place.kind,
                "file": found.files[place.file],
                "offset_bytes": place.offset_bytes,
                "expected": _span(place.expected_from, place.expected_to),
                "found": _found(found, place),
            }
        )
        for place in found.places
    )
    shown = (
        Column("kind", "state"),
        Column("file", "file", spare=1),
        Column("offset_bytes", "offset", "count"),
        Column("expected", "expected write", "text"),
        Column("found", "found"),
    )
    notes = ("Writes are numbered per block, from 1; the first eight of each state are shown.",)
    yield Table("", shown, places, key="places", notes=notes)


def _span(first: int, last: int) -> str:
    return str(first) if first == last else f"{first} to {last}"


def _found(found: Verification, place: BadBlock) -> str:
    if place.kind == "unreadable":
        return place.error
    if place.kind == "corrupt":
        return "not a whole write"
    if place.belongs is not None:
        file, offset = place.belongs
        where = "" if file == place.file else f" of {found.files[file]}"
        return f"write {place.found} at offset {offset:,}{where}"
    if place.kind == "torn":
        return f"parts of {place.found or 'older data'} and {place.found_newest}"
    return f"write {place.found}" if place.found else "nothing of this run"
