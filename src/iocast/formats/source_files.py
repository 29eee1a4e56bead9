"""Files of other tools: their text, their first lines, and refusals that name the line."""

from __future__ import annotations

import codecs
import gzip
import os
import zlib
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from iocast.errors import SourceError

HEAD_CHARACTERS = 65_536  # sar -A tells of every processor before the first disk
LARGEST_BYTES = 1 << 30
LARGEST_NUMBER = float(1 << 64)  # counters of every tool end here
WRONG_FILE = "give the file exactly as the tool wrote it"


class Head(Struct, frozen=True):
    """What a file is recognised by: its name, and how it begins."""

    name: str
    text: str

    def lines(self) -> Iterator[str]:
        """The lines that are not blank, the last one left out when it is cut."""
        whole = self.text.splitlines()
        yield from (line for line in whole if line.strip())


def read_text(path: str) -> str:
    """The whole text of a file, gunzipped where it is a gzip. Raises SourceError."""
    try:
        if os.path.getsize(path) > LARGEST_BYTES:
            raise SourceError(f"{path} is larger than 1 GiB", "cut it into parts, or give the tool's summary")
        raw = Path(path).read_bytes()
        if raw[:2] == b"\x1f\x8b":
            raw = gzip.decompress(raw)
    except (OSError, EOFError, zlib.error) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise SourceError(f"cannot read {path}: {why}", "give result files of another tool") from error
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):  # as a shell of Windows redirects it
        return raw.decode("utf-16", "replace")
    if b"\x00" in raw[:HEAD_CHARACTERS]:
        raise SourceError(f"{path} is not a text file", WRONG_FILE)
    return raw.decode("utf-8", "replace").removeprefix("\ufeff")


def head_of(path: str, text: str) -> Head:
    """The head of a file that was read."""
    return Head(os.path.basename(path), text[:HEAD_CHARACTERS])


def refuse(path: str, line: int, what: str, hint: str = WRONG_FILE) -> SourceError:
    """The refusal of one line (0: of the whole file)."""
    return SourceError(f"{path}:{line}: {what}" if line else f"{path}: {what}", hint)


def number(path: str, line: int, text: str, what: str) -> float:
    """A number as it stands in the file. Raises SourceError for anything else: not-a-number, below 0, beyond 2**64."""
    try:
        value = float(text)
    except ValueError:
        raise refuse(path, line, f'{what} is "{text.strip()[:40]}", not a number') from None
    if value != value or value in (float("inf"), float("-inf")):
        raise refuse(path, line, f"{what} is {text.strip()[:40]}: the tool measured nothing there")
    return bounded(path, line, value, what)


def bounded(path: str, line: int, value: float, what: str) -> float:
    """The same value. Raises SourceError when no tool can have measured it: below 0, or beyond 2**64."""
    if not 0 <= value <= LARGEST_NUMBER:
        shown = "below 0" if value < 0 else "larger than any counter"
        raise refuse(path, line, f"{what} is {shown}: the file is damaged")
    return value
