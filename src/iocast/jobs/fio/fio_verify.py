"""fio's verify: what it is read as, what is written for it, and where the two differ."""

from __future__ import annotations

import itertools
from typing import Any

from iocast.errors import SpecError
from iocast.jobs.fio.fio_settings import Reader
from iocast.jobs.fio.fio_units import text_of
from iocast.model.plan import Phase, groups_of

# fio's checksums: iocast seals every sector in a way of its own, whichever it is. crc32c is what fio computes fastest.
CHECKSUM = "crc32c"
_SUMS = (
    *("md5", "crc64", "crc32c", "crc32c-intel", "crc32", "crc16", "crc7", "xxhash", "sha512", "sha256", "sha1"),
    *("sha3-224", "sha3-256", "sha3-384", "sha3-512", "meta"),
)
_NO_SUMS = {
    "pattern": ("every sector is sealed, and none is like another", f"verify={CHECKSUM}"),
    "pattern_hdr": ("every sector is sealed, and none is like another", f"verify={CHECKSUM}"),
    "null": ("it only pretends to verify", f"leave it out, or verify={CHECKSUM}"),
}


def verifies(reader: Reader, writes: bool, load: dict[str, Any]) -> bool:
    """Whether a section reads back; marks its load when it writes what is to be read back."""
    text = reader.text("verify", "0")
    if text in _NO_SUMS:
        reader.refuse("verify", *_NO_SUMS[text])
        return False
    if not reader.choice("verify", {"0": False, **dict.fromkeys(_SUMS, True)}, False):
        return False
    if not writes:
        reader.note("reads all back that was written with verify, each block once: its own bs, size and iodepth do not")
        return True
    load["verify"] = True
    if load.get("payload") == "repeated":
        load["payload"] = "unique"  # as in fio, where what is to be verified is never the same twice
    interval_bytes = reader.size("verify_interval")
    if interval_bytes:
        load["verify_block"] = interval_bytes
    back = reader.flag("do_verify", True)
    if not back:
        reader.note("is not read back: iocast verify RUN does it at any later time")
    elif reader.has("runtime"):
        reader.note("is read back in full, also when its runtime ended it, where fio reads nothing")
    return back


def back_lines(phases: tuple[Phase, ...]) -> dict[str, dict[str, str]]:
    """For each phase that verifies the lines that say so. Raises SpecError for a reading back that fio has not."""
    lines: dict[str, dict[str, str]] = {}
    read_back: set[str] = set()
    before: Phase | None = None
    for phase in phases:
        if phase.role == "verify":
            _refuse_back(phase, before, [name for name in lines if name not in read_back])
            read_back.update(lines)
        elif phase.verify:
            block = phase.verify_block_bytes
            interval = {"verify_interval": text_of(block)} if block else {}
            lines[phase.name] = {"verify": CHECKSUM, **interval, "do_verify": "0"}
        before = phase
    for phase, after in itertools.pairwise(phases):
        if phase.verify and after.role == "verify":
            lines[phase.name]["do_verify"] = "1"
    return lines


def _refuse_back(phase: Phase, before: Phase | None, waiting: list[str]) -> None:
    """fio reads back after each section, what this section wrote, and only before its runtime is over."""
    says = ""
    if before is None or not before.verify or waiting != [before.name]:
        says = "fio reads back just after each section what that section wrote, and nothing else"
        hint = 'a phase with role = "verify" after each that writes with verify'
    elif before.workload.users > 1:
        says, hint = "fio's users find what others wrote over theirs, and take it for an error", "users = 1"
    elif before.length.seconds is not None:
        says, hint = "fio reads nothing back once the time of a section is over", "ios or bytes in place of time"
    if says:
        raise SpecError(f'fio cannot do this job: phase "{phase.name}": {says}', hint)


def spoken(phases: tuple[Phase, ...]) -> tuple[Phase, ...]:
    """The phases that are sections of their own: all but those that read back."""
    return tuple(phase for group in groups_of(phases) for phase in group if phase.role != "verify")
