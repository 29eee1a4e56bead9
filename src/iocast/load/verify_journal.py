"""The journal of a verified run, in its run folder, and the reading back of what was written.

verify/journal.json   which files, which run, when the machine was last started
verify/journal.bin    16 bytes a block: what was sent, acknowledged, made durable (verify/journal.rs of the core)
"""

from __future__ import annotations

import contextlib
import math
import os
import secrets
import struct
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec import Struct

from iocast._core import unix_ns
from iocast.archive.json_files import BROKEN, parsed
from iocast.archive.regular_file import regular_bytes
from iocast.archive.writing.file_identity import identity
from iocast.archive.writing.held_folder import HeldFolder
from iocast.errors import ArchiveError, LoadError, TargetError
from iocast.load.core_phases import core
from iocast.load.work_files import Layout
from iocast.model.plan import Phase, Plan, VerifyPlan
from iocast.model.verification import BadBlock, Verification

FOLDER = "verify"
_MAGIC = b"iocjrnl1"
_HEADER_BYTES, _ENTRY_BYTES, _SECTOR_BYTES = 4096, 16, 512
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class JournalFile(Struct, frozen=True, forbid_unknown_fields=True):
    """One file of a journal; `inode` and `generation` tell it from another that took its place (None: a device)."""

    path: str
    size_bytes: int
    inode: int | None
    generation: int | None


class Description(Struct, frozen=True, forbid_unknown_fields=True):
    """journal.json."""

    run_id: int
    block_bytes: int
    files: tuple[JournalFile, ...]
    boot_id: str

    @property
    def first_blocks(self) -> tuple[int, ...]:
        """The entry of the first block of each file."""
        firsts, at = [], 0
        for file in self.files:
            firsts.append(at)
            at += -(-file.size_bytes // self.block_bytes)
        return tuple(firsts)

    @property
    def entries(self) -> int:
        """Blocks of all files."""
        return sum(-(-file.size_bytes // self.block_bytes) for file in self.files)


class Journal:
    """An open journal."""

    def __init__(self, folder: Path, description: Description, descriptor: int) -> None:
        self.folder, self.description = folder, description
        self._descriptor = descriptor

    @property
    def plan(self) -> VerifyPlan:
        """What a phase is told that writes into it."""
        description = self.description
        return VerifyPlan(
            str(self.folder / "journal.bin"), description.run_id, description.block_bytes, description.first_blocks
        )

    @property
    def opened(self) -> dict[str, int]:
        """Its path in plans, and the descriptor that it is reached by."""
        return {self.plan.journal: self._descriptor}

    def sync(self) -> None:
        """Writes to the storage of the run folder what the journal has so far."""
        with contextlib.suppress(OSError):
            os.fdatasync(self._descriptor)

    def refuse_second_name(self) -> None:
        """Raises ArchiveError where somebody has the journal under another name (a backup?): it is written to."""
        if os.fstat(self._descriptor).st_nlink > 1:
            raise ArchiveError(
                f"{self.plan.journal} has a second name (hard link)", "remove the other name, and start again"
            )

    def forget(self) -> None:
        """Nothing that was written is there any more. Raises ArchiveError."""
        _lay_out(self._descriptor, self.description, self.folder)

    def close(self) -> None:
        """No more of it."""
        self.sync()
        os.close(self._descriptor)


def block_bytes(phases: tuple[Phase, ...]) -> int:
    """What these phases expect to be written whole or not at all: what they say, or what divides all their writes."""
    said = [phase.verify_block_bytes for phase in phases if phase.verify_block_bytes]
    sizes = [item.size_bytes for phase in phases for item in phase.workload.mix if item.op == "write"]
    return math.gcd(*said, *sizes, *(phase.region_start_bytes for phase in phases))


def begin(plan: Plan, layout: Layout, run_folder: HeldFolder) -> Journal | None:
    """The journal of a run that is about to begin; None when nothing is verified. Raises ArchiveError."""
    phases = tuple(phase for phase in plan.phases if phase.verify)
    if not phases:
        return None
    path = run_folder.path.absolute() / FOLDER
    files = []
    for file in layout.files:
        inode, generation = _identity(file.path) if plan.target.kind != "block" else (None, None)
        files.append(JournalFile(file.path, file.size_bytes, inode, generation))
    description = Description(secrets.randbits(63), block_bytes(phases), tuple(files), _boot_id())
    try:
        folder = run_folder.folder(FOLDER)
        journal = Journal(path, description, folder.create("journal.bin"))
        try:
            journal.forget()
            folder.put("journal.json", msgspec.json.format(msgspec.json.encode(description), indent=1))
        except BaseException:
            journal.close()
            raise
        return journal
    except OSError as error:
        raise _unusable(path, error.strerror or str(error)) from error


def on_target(plan: Plan, run_folder: Path) -> bool:
    """True when the run folder is on the very storage that is tested."""
    if plan.target.kind == "block":
        return False
    place = plan.target.path if os.path.isdir(plan.target.path) else os.path.dirname(plan.target.path)
    return os.stat(place).st_dev == os.stat(run_folder).st_dev


def _lay_out(descriptor: int, description: Description, folder: Path) -> None:
    size = _HEADER_BYTES + description.entries * _ENTRY_BYTES
    head = _MAGIC + struct.pack("<QQQ", description.run_id, description.block_bytes, description.entries)
    try:
        os.ftruncate(descriptor, 0)
        # All of it now: a mapped file that finds no room later kills the process.
        os.posix_fallocate(descriptor, 0, size)
        os.pwrite(descriptor, head, 0)
        os.fsync(descriptor)
    except OSError as error:
        what = f"its journal needs {size:,} bytes: {error.strerror}"
        raise _unusable(folder, what) from error


def _unusable(folder: Path, why: str) -> ArchiveError:
    return ArchiveError(f"cannot write a journal in {folder}: {why}", "choose another directory with --out DIR")


def read_description(run_folder: Path) -> Description:
    """The journal.json of a run. Raises ArchiveError when the run verified nothing."""
    path = run_folder / FOLDER / "journal.json"
    try:
        return parsed(regular_bytes(path), Description)
    except FileNotFoundError as error:
        raise ArchiveError(
            f"{run_folder} has no journal: no phase wrote with verify",
            "set verify = true in the phases that write",
        ) from error
    except (OSError, *BROKEN) as error:
        raise ArchiveError(f"{path} is invalid: {error}", "the file was modified or truncated") from error


def same_boot(description: Description) -> bool:
    """True when this machine has not been down since the run began."""
    return bool(description.boot_id) and description.boot_id == _boot_id()


def read_back(
    run_folder: Path, description: Description, durable_only: bool, on_tick: Callable[[int, int], bool]
) -> Verification:
    """Reads everything back that the run wrote. `on_tick(elapsed_ns, blocks)` is told how many blocks of the files are
    behind it, those included that nobody wrote, and returns False to stop.

    Raises TargetError when a file is not the one that was written, LoadError when it cannot be read at all.
    """
    for file in description.files:
        _check_same(file)
    journal = str((run_folder / FOLDER / "journal.bin").absolute())
    verify = VerifyPlan(journal, description.run_id, description.block_bytes, description.first_blocks)
    arguments = {
        "verify": verify,
        "files": [(file.path, file.size_bytes) for file in description.files],
        "durable_only": durable_only,
    }
    started = unix_ns()
    module = core()
    try:
        result = msgspec.json.decode(module.read_back(msgspec.json.encode(arguments).decode(), on_tick), type=_ReadBack)
    except module.CoreError as error:
        message, hint, _errno = error.args
        raise LoadError(f"verify: {message}", hint) from error
    return Verification(
        files=tuple(file.path for file in description.files),
        block_bytes=description.block_bytes,
        started_unix_ns=started,
        durable_only=durable_only,
        **msgspec.structs.asdict(result),
    )


class _ReadBack(Struct, frozen=True, forbid_unknown_fields=True):
    """What the core hands back (verify/read_back.rs)."""

    blocks: int
    intact: int
    undecided: int
    outstanding: int
    ahead: int
    bad: tuple[int, int, int, int, int]
    places: tuple[BadBlock, ...]
    direct: bool
    complete: bool
    elapsed_ns: int


def _check_same(file: JournalFile) -> None:
    try:
        now = _identity(file.path) if file.inode is not None else (None, None)
    except OSError as error:
        raise TargetError(
            f"cannot open {file.path}, which the run wrote: {error.strerror}", "mount its file system"
        ) from error
    if now != (file.inode, file.generation):
        raise TargetError(
            f"{file.path} is not the file that the run wrote: it was replaced",
            "verify before work files are removed or laid out again",
        )


def _identity(path: str) -> tuple[int, int | None]:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        return identity(descriptor)[:2]
    finally:
        os.close(descriptor)


def _boot_id() -> str:
    try:
        return BOOT_ID.read_text().strip()
    except OSError:
        return ""
