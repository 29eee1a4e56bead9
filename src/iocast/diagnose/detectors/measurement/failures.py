"""I/Os failed, were short, or never completed.

What it is: errors of the target, of its path, or of a file that ended before the test did.
Why it matters: a failed I/O has no response time. Errors that return immediately make a broken device look fast;
errors after a time-out make a sound one look slow.
How it shows: error numbers, I/Os shorter than asked for, I/Os still outstanding at the end, the sizes of the files.
How to confirm: the kernel's log (dmesg) at the same second; the same phase once more on other blocks.
What to change: the disk, path or file named; then measure again.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator

from iocast.analyse.facts import Facts
from iocast.analyse.file_residency import shrunken_files
from iocast.diagnose.preconditions import Only
from iocast.model.codes import FindingCode
from iocast.model.finding import Finding, Span
from iocast.model.measurement import ErrorPlace
from iocast.model.run import PhaseRecord
from iocast.model.tree.tree_places import tree_place
from iocast.model.workload import DIRECTORY_OPS
from iocast.text import brief_percent, capacity, counted, sentence

NEEDS: tuple[str, ...] = ()
ONLY: Only = ()

CODES: tuple[FindingCode, ...] = (
    "nothing_done",
    "end_of_file",
    "file_shrank",
    "errors",
    "short_ios",
    "hung",
    "stopped_by_errors",
    "interrupted",
)

NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT})
NO_SPACE_REMEDY = (
    "The storage ran out of space: free or add some (file system, quota, or the thin pool below them), then measure"
    " again; a smaller --size needs less."
)
NO_INODES_REMEDY = (
    "The file system ran out of inodes or of space (df -i and df show which): use fewer files, or a file system made"
    " with more inodes (mkfs.ext4 -N)."
)
LEAVE_ALONE = (
    "Keep other programs away from the work files (auditctl -w FILE logs who truncates one), then measure again."
)
VOID_SHARE = 0.5  # with as many failures as this, what is left is no sample of the target [J]


def detect(facts: Facts) -> Iterator[Finding]:
    """Errors, short I/Os and hung I/Os of every measured phase."""
    for record in facts.run.measured:
        yield from _errors(record)
        yield from _shrunken(record)
        yield from _short(record)
        yield from _outstanding(record)


def _errors(record: PhaseRecord) -> Iterator[Finding]:
    done, failed = record.measurement.ios, record.measurement.error_count
    if not failed:
        if not done and "ios" not in record.unstated:
            yield Finding(
                code="nothing_done",
                severity="void",
                phase=record.phase.name,
                says="No I/O completed.",
                clause="no I/O completed",
                remedy="Give the phase more time.",
            )
        return
    share = failed / (failed + done)
    places = [place for error in record.measurement.errors for place in error.first]
    first = min(places, key=lambda place: place.time_ns, default=None)
    where = f"; the first at {_place(record, first)} after {first.time_ns / 1e9:.1f} s" if first else ""
    kinds = ", ".join(sorted({f"{error.name} on {error.op}" for error in record.measurement.errors}))
    ended = all(error.errno == 0 for error in record.measurement.errors)
    shrank = f": {_loss(record)}" if ended and _loss(record) else ""
    clause = f"{counted(failed, 'I/O')} failed, {brief_percent(share)} of all ({kinds}{where}){shrank}"
    yield Finding(
        code="end_of_file" if ended else "errors",
        severity="void" if share >= VOID_SHARE else "severe",
        phase=record.phase.name,
        says=sentence(clause),
        clause=clause,
        evidence={"failed": failed, "completed": done, "failed_share": share},
        remedy=_remedy(record, ended=ended),
        spans=tuple(Span(at_ns, at_ns) for at_ns in sorted(place.time_ns for place in places)),
    )


def _place(record: PhaseRecord, place: ErrorPlace) -> str:
    """Where an I/O failed: a byte, or a name of a tree."""
    if record.plan.tree is None:
        return f"byte {place.offset_bytes:,}"
    of_directory = all(item.op in DIRECTORY_OPS for item in record.plan.mix)
    return tree_place(record.plan.tree, place.offset_bytes, of_directory=of_directory)[0]


def _remedy(record: PhaseRecord, *, ended: bool) -> str:
    if ended and _loss(record):
        return LEAVE_ALONE
    if ended:
        return "The file is shorter than the region under test: lay it out in full."
    if any(error.errno in NO_SPACE for error in record.measurement.errors):
        if record.plan.tree is not None:
            return NO_INODES_REMEDY
        return NO_SPACE_REMEDY
    return "Check the kernel's log (dmesg) at that time, fix what failed, and measure again."


def _loss(record: PhaseRecord) -> str:
    """Which files became shorter, and by how much; "" for none."""
    return ", ".join(
        f"{each.path} shrank from {capacity(each.planned_bytes)} to {capacity(each.least_bytes)}"
        for each in shrunken_files(record)
    )


def _shrunken(record: PhaseRecord) -> Iterator[Finding]:
    """A file that became shorter, where no failed I/O says so: writes make it longer again, with new blocks."""
    if _loss(record) and not any(error.errno == 0 for error in record.measurement.errors):
        lost = sum(each.planned_bytes - each.least_bytes for each in shrunken_files(record))
        yield Finding(
            code="file_shrank",
            severity="severe",
            phase=record.phase.name,
            says=f"{_loss(record)} while the row ran: its figures are not those of the file that was laid out.",
            clause=_loss(record),
            evidence={"lost_bytes": float(lost)},
            remedy=LEAVE_ALONE,
        )


def _short(record: PhaseRecord) -> Iterator[Finding]:
    short = sum(part.short_ios for part in record.measurement.classes)
    if short:
        yield Finding(
            code="short_ios",
            severity="warn",
            phase=record.phase.name,
            says=f"{counted(short, 'I/O')} moved fewer bytes than asked for,"
            f" {brief_percent(short / max(1, record.measurement.ios))} of all.",
            evidence={"short_ios": short, "ios": record.measurement.ios},
            remedy="The file may end inside the region, or the file system shortens requests: check the file's size.",
        )


def _outstanding(record: PhaseRecord) -> Iterator[Finding]:
    left = record.measurement.abandoned_ios
    if record.measurement.stopped == "hung" or left:
        clause = f"{counted(left, 'I/O')} never completed before iocast gave up waiting{_which(record)}"
        yield Finding(
            code="hung",
            severity="void",
            phase=record.phase.name,
            says=sentence(clause),
            clause=clause,
            evidence={"abandoned_ios": left, **_longest(record)},
            remedy="Check the kernel's log (dmesg) for time-outs and resets: a path or a disk is stuck.",
        )
    elif record.measurement.stopped == "errors":
        yield Finding(
            code="stopped_by_errors",
            severity="severe",
            phase=record.phase.name,
            says="Stopped early: too many I/Os failed.",
            remedy="Fix what failed first.",
        )
    elif record.measurement.stopped == "interrupted":
        yield Finding(
            code="interrupted",
            severity="note",
            phase=record.phase.name,
            says="Stopped before the planned end of the phase.",
            remedy="Run it again in full.",
        )


def _which(record: PhaseRecord) -> str:
    """The one outstanding for longest, by place; a thread that is stuck in the kernel cannot tell."""
    if not record.measurement.left_behind:
        return ""
    longest = record.measurement.left_behind[0]
    file = record.plan.files[longest.file].path
    what = f"a {longest.op} of {longest.size_bytes:,} bytes at byte {longest.offset_bytes:,} of {file}"
    return f"; outstanding for {longest.service_ns / 1e9:.1f} s: {what}"


def _longest(record: PhaseRecord) -> dict[str, float]:
    if not record.measurement.left_behind:
        return {}
    longest = record.measurement.left_behind[0]
    return {"offset_bytes": longest.offset_bytes, "outstanding_ns": longest.service_ns}
