"""What a rank tells whoever collects: lines of JSON, one after the other, on a way of its own.

Hydra keeps the output of every rank in a file of its own where it was started, so that lines never mix; nothing of MPI
is used, and what a rank has told stays when it dies.
"""

from __future__ import annotations

import base64
import os
import select
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from iocast.model.plan import Phase
from iocast.model.run import PhaseRecord, Run

_PIECE_BYTES = 1 << 20


class Hello(Struct, frozen=True, kw_only=True, tag=True, tag_field="message"):
    """The first: who speaks."""

    machine: str  # the same for two ranks on one machine
    version: str


class Said(Struct, frozen=True, kw_only=True, tag=True, tag_field="message"):
    """Lines for a person, of what will be done or has been noticed."""

    lines: tuple[str, ...]


class Checked(Struct, frozen=True, kw_only=True, tag=True, tag_field="message"):
    """What a host is and has, of `iocast hosts check`."""

    engine: str = ""  # "io_uring", or why it is another
    filesystem: str = ""
    free_bytes: int | None = None
    storage: tuple[str, ...] = ()  # as of a claim
    wall_ahead_ns: int = 0  # of its clock against that of the first, by what the ranks measured
    clock_error_ns: int = 0
    refused: str = ""
    hint: str = ""


class Begun(Struct, frozen=True, kw_only=True, tag=True, tag_field="message"):
    """Its run begins: what will be measured, and nothing yet."""

    run: Run


class PhaseBegun(Struct, frozen=True, kw_only=True, tag=True, tag_field="message"):
    """A phase begins."""

    phase: Phase
    number: int
    total: int
    seconds_left: float | None


class Moved(Struct, frozen=True, kw_only=True, tag=True, tag_field="message"):
    """How far it is, about twice a second, whatever it does; all nought between phases."""

    elapsed_ns: int = 0
    ios: int = 0
    bytes: int = 0
    errors: int = 0


class PhaseEnded(Struct, frozen=True, kw_only=True, tag=True, tag_field="message"):
    """A phase was measured and is saved. `started_ns` is on the clock of the first rank."""

    record: PhaseRecord
    number: int  # of its phases, as in names of tables
    started_ns: int
    clock_error_ns: int


class Piece(Struct, frozen=True, kw_only=True, tag=True, tag_field="message"):
    """A file of its run folder as it is now; of one that grows, what comes from byte `at` on."""

    file: str
    at: int
    data: str  # base64


class Ended(Struct, frozen=True, kw_only=True, tag=True, tag_field="message"):
    """The last: how its run ended."""

    status: str  # as of a run; "refused" where there is none
    error: str = ""
    hint: str = ""
    files_whole: bool = False
    warnings: tuple[str, ...] = ()


Message = Hello | Said | Checked | Begun | PhaseBegun | Moved | PhaseEnded | Piece | Ended
_decoder: msgspec.json.Decoder[Message] = msgspec.json.Decoder(Message)


def decoded(line: bytes) -> Message | None:
    """The message of a line; None for a line that is none, such as a greeting of a login shell."""
    try:
        return _decoder.decode(line)
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError, RecursionError):
        return None


class Channel:
    """Where a rank tells: each line in one go, from any of its threads."""

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self._write = write
        self._telling = threading.Lock()

    def tell(self, message: Message) -> None:
        """Tells it. A reader who has gone is no reason to end here: the launcher ends us."""
        line = msgspec.json.encode(message) + b"\n"
        with self._telling:
            self._write(line)


class PipeWriter:
    """Writes lines to a pipe, whole, until nobody is there to read them any more."""

    def __init__(self, descriptor: int) -> None:
        self.given_up: Callable[[], bool] = lambda: False  # asked while the pipe is full
        self._descriptor = descriptor
        os.set_blocking(descriptor, False)

    def __call__(self, line: bytes) -> None:
        """Writes a line; one that nobody reads is lost."""
        left = memoryview(line)
        while left and not self.given_up():
            try:
                left = left[os.write(self._descriptor, left) :]
            except BlockingIOError:
                select.select((), (self._descriptor,), (), 0.2)
            except BrokenPipeError:
                return


class FolderFeed:
    """Tells what is new in a run folder: after each phase, so that nothing of it is only on this host."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._told: dict[str, tuple[int, int, int]] = {}  # inode, size, time of the last change

    def tell(self, folder: Path, growing: str) -> None:
        """Files that have changed; of the one that is only ever appended to, what was appended."""
        for path in _files(folder):
            name = path.relative_to(folder).as_posix()
            try:
                with open(path, "rb") as file:
                    status = os.fstat(file.fileno())
                    stamp = (status.st_ino, status.st_size, status.st_mtime_ns)
                    before = self._told.get(name)
                    if stamp == before:
                        continue
                    goes_on = name == growing and before is not None and before[0] == stamp[0] and before[1] <= stamp[1]
                    at = before[1] if goes_on and before is not None else 0
                    file.seek(at)
                    data = base64.b64encode(file.read(stamp[1] - at)).decode()
                    self._channel.tell(Piece(file=name, at=at, data=data))
                    self._told[name] = stamp
            except FileNotFoundError:
                continue
        for name in [name for name in self._told if not (folder / name).exists()]:
            del self._told[name]


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if path.is_dir() and not path.is_symlink():
            yield from _files(path)
        elif path.is_file() and not path.is_symlink():
            yield path


class Lines:
    """The lines of a file that grows, as far as they are whole."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._at = 0
        self._cut = b""
        self.strays: list[str] = []  # lines that are no messages: what a shell or a library said

    def read(self) -> Iterator[Message]:
        """What has come since."""
        try:
            with open(self._path, "rb") as file:
                file.seek(self._at)
                while text := file.read(_PIECE_BYTES):
                    self._at += len(text)
                    *whole, self._cut = (self._cut + text).split(b"\n")
                    for line in whole:
                        message = decoded(line)
                        if message is not None:
                            yield message
                        elif line.strip():
                            self.strays.append(line.decode(errors="replace")[:500])
        except FileNotFoundError:
            return
