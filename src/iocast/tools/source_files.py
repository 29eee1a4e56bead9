"""Files of other tools: their text, their first lines, and refusals that name the line."""

from __future__ import annotations

import codecs
import contextlib
import csv
import gzip
import os
import re
import stat
import zlib
from collections.abc import Iterator
from typing import IO, cast

from msgspec import Struct

from iocast.errors import SourceError

HEAD_CHARACTERS = 65_536  # sar -A tells of every processor before the first disk
HEAD_LINE = 8_192  # characters of a line by which it is recognised
LARGEST_BYTES = 1 << 28  # unpacked: a gzip of 3 MB may hold 3 GB
MOST_LINES = 10_000_000  # blank ones take eight times their size in memory
LINE_ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"  # as splitlines() sees them
GZIP = b"\x1f\x8b"
_COLOURS = re.compile(r"\x1b\[[\d;]{0,20}[mK]")  # and ends of lines, as terminals are told
WRONG_FILE = "give the file exactly as the tool wrote it"
_SAR = (b"\x96\xd5", b"\xd5\x96")  # sysstat's magic number, of a machine of either byte order
_PARQUET = b"PAR1"


class Head(Struct, frozen=True):
    """What a file is recognised by: its name, and how it begins."""

    name: str
    text: str

    def lines(self) -> Iterator[str]:
        """The beginnings of the lines that are not blank."""
        yield from (line[:HEAD_LINE] for line in self.text.splitlines() if line.strip())


def read_text(path: str) -> str:
    """The whole text of a file, gunzipped where it is a gzip. Raises SourceError, also for more than the limits."""
    raw = read_bytes(path, LARGEST_BYTES + 1)
    if len(raw) > LARGEST_BYTES:
        size = f"{LARGEST_BYTES >> 20} MiB"
        unpacked = " unpacked" if is_gzip(path) else ""
        raise SourceError(f"{path} is larger than {size}{unpacked}", "cut it into parts, or give the tool's summary")
    text = _decoded(path, raw)
    if len(text) > MOST_LINES and sum(map(text.count, LINE_ENDS)) > MOST_LINES:
        raise SourceError(f"{path} has more than {MOST_LINES:,} lines", "cut it into parts, or give the tool's summary")
    return text


def read_head(path: str) -> Head:
    """How a file begins. Raises SourceError."""
    return Head(os.path.basename(path), _decoded(path, read_bytes(path, 4 * HEAD_CHARACTERS))[:HEAD_CHARACTERS])


def read_bytes(path: str, most: int) -> bytes:
    """The first `most` bytes of a file, unpacked where it is a gzip. Raises SourceError."""
    with opened(path) as file:
        return file.read(most) or b""


def _unwaiting(path: str, flags: int) -> int:
    """An `opener` for files: what passes for a regular one and has nothing to give (/proc/kmsg) gives None then."""
    return os.open(path, flags | os.O_NONBLOCK)


def is_gzip(path: str) -> bool:
    """Whether a file begins as a gzip does."""
    with open(path, "rb", opener=_unwaiting) as file:
        return file.read(len(GZIP)) == GZIP


@contextlib.contextmanager
def opened(path: str) -> Iterator[IO[bytes]]:
    """The bytes of a file, unpacked where it is a gzip. What fails while it is read becomes a SourceError too."""
    try:
        # A pipe can be read only once, and reading waits for its writer.
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise SourceError(f"{path} is not a regular file", "save the results to a file, and give that")
        with cast("IO[bytes]", gzip.open(path, "rb") if is_gzip(path) else open(path, "rb", opener=_unwaiting)) as file:
            yield file
    except (OSError, EOFError, zlib.error) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise SourceError(f"cannot read {path}: {why}", "give result files of another tool") from error


def _decoded(path: str, raw: bytes) -> str:
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):  # as a shell of Windows redirects it
        return raw.decode("utf-16", "replace")
    if raw.startswith(_SAR):
        hint = f"let sar print it: sar -d -f {path} > sar.txt (or sadf -j {path} -- -d)"
        raise SourceError(f"{path} is the binary file that `sar -o` writes", hint)
    if path.endswith(".log.fz"):
        hint = f"let fio unpack it: fio --inflate-log={path} > {path.removesuffix('.fz')}"
        raise SourceError(f"{path} is a compressed log of fio", hint)
    if raw.startswith(_PARQUET):
        raise SourceError(
            f"{path} is a Parquet table, no result", f"a trace: iocast profile {path}, iocast replay {path}"
        )
    if b"\x00" in raw[:HEAD_CHARACTERS]:
        raise SourceError(f"{path} is not a text file", WRONG_FILE)
    text = raw.decode("utf-8", "replace").removeprefix("\ufeff")
    return _COLOURS.sub("", text) if "\x1b" in text else text


def refuse(path: str, line: int, what: str, hint: str = WRONG_FILE) -> SourceError:
    """The refusal of one line (0: of the whole file)."""
    return SourceError(f"{path}:{line}: {what}" if line else f"{path}: {what}", hint)


def whole_lines(path: str, text: str, warnings: list[str], whole: re.Pattern[str] | None = None) -> list[str]:
    """The lines of a text. A last one without its end may have lost digits: it is left out and told in `warnings`,
    unless it is like `whole`, which a line that was cut is not.
    """
    lines = text.splitlines()
    if lines and whole is not None and whole.fullmatch(lines[-1]):
        return lines
    if lines and not text.endswith(("\n", "\r")) and any(char.isdigit() for char in lines[-1]):
        unended = f"{path}:{len(lines)}: the last line does not end, so it may be truncated: left out"
        warnings.append(f"{unended} (if it is whole, end it with a line break)")
        lines.pop()
    return lines


def read_whole_lines(path: str, warnings: list[str], whole: re.Pattern[str] | None = None) -> str:
    """The text of a file of lines, without a last one that does not end. Raises SourceError."""
    return "\n".join([*whole_lines(path, read_text(path), warnings, whole), ""])


def csv_cells(path: str, line: int, text: str) -> list[str]:
    """The cells of one line with quotes. Raises SourceError."""
    try:
        return next(csv.reader([text]), [])
    except csv.Error as error:
        raise refuse(path, line, f"not a row of a CSV file: {error}") from None
