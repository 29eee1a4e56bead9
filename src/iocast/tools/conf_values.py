"""Values of assignments, checked against a tool's own limits; each fault names the line where it stands."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence

from iocast.tools.foreign_numbers import number_of, whole_of
from iocast.tools.shell_assignments import Assignment, Fault

_WHOLE = re.compile(r"\d{1,15}", re.ASCII)
_SECONDS = re.compile(r"\d{0,9}\.?\d{1,9}|\d{1,9}\.", re.ASCII)
_SIZE = re.compile(r"(\d{1,12}) *([MGT]?)", re.ASCII)
_UNITS = {"M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_OCTAL = "write it without the leading 0: a shell reads 010 as 8"


class ConfValues:
    """The last assignment of each name, as in a shell; a name that is not assigned, or is empty, has the default."""

    def __init__(self, assignments: Sequence[Assignment], fault: Fault) -> None:
        self._last = {each.name: each for each in assignments}
        self._fault = fault

    @property
    def lines(self) -> dict[str, int]:
        """The names that are assigned something, in their order, each with its line."""
        return {name: each.line for name, each in self._last.items() if each.value}

    def line(self, name: str) -> int:
        """Where a name is assigned; 1 where it is not."""
        return self._last[name].line if name in self._last else 1

    def fault(self, name: str, message: str, way_out: str) -> None:
        """Notes a fault of a name, which the message begins with."""
        self._fault(self.line(name), f"{name}={self.text(name, '')}: {message}", way_out)

    def text(self, name: str, default: str) -> str:
        """As it stands."""
        return (self._last[name].value if name in self._last else "") or default

    def whole(self, name: str, default: int, *, least: int = 0, most: int | None = None) -> int:
        """A whole number within its limits; the default after a fault."""
        text = self.text(name, str(default)).strip()
        value = whole_of(text) or 0
        if not _WHOLE.fullmatch(text):
            self.fault(name, "not a whole number", f"write {name}={default}")
        elif len(text) > 1 and text.startswith("0"):
            self.fault(name, "a number of base 8 to the shell", _OCTAL)
        elif value < least:
            self.fault(name, f"the least is {least:,}", f"write {name}={max(least, default)}")
        elif most is not None and value > most:
            self.fault(name, f"the most is {most:,}", f"write {name}={min(most, default)}")
        else:
            return value
        return default

    def share(self, name: str, default: int) -> int:
        """Per cents as SLOB and pgio take them: 0 to 50, or 100."""
        percent = self.whole(name, default, most=100)
        if 50 < percent < 100:
            way_out = f"0 to 50, or 100; iocast itself takes every share: --{name.lower().replace('_', '-')} {percent}"
            self.fault(name, "51 to 99 are refused by SLOB and pgio, whose loop cannot hold them", way_out)
            return default
        return percent

    def blocks(self, name: str, default: str, *, block_bytes: int, least: int) -> int:
        """A number of blocks, stated as such or as a size in M, G or T (1024 each); the least after a fault."""
        found = _SIZE.fullmatch(self.text(name, default).strip())
        if not found:
            self.fault(name, "not a number of blocks, nor one with M, G or T", f"write {name}={default}")
            return least
        stated = whole_of(found[1]) or 0
        blocks = stated * _UNITS[found[2]] // block_bytes if found[2] else stated
        if blocks < least:
            size = f" of {block_bytes:,} bytes" if found[2] else ""
            said = f"{blocks:,} blocks{size}; the least is {least:,}"
            self.fault(name, said, f"write {name}={least}")
            return least
        return blocks

    def seconds_ns(self, name: str, default: str) -> int:
        """Seconds with a fraction, in nanoseconds."""
        text = self.text(name, default).strip()
        if not _SECONDS.fullmatch(text):
            self.fault(name, "not a number of seconds", f"write {name}={default}")
            text = default
        return round((number_of(text) or 0.0) * 1e9)

    def flag(self, name: str, default: bool) -> bool:
        """TRUE or FALSE, in capitals: the tools compare the text, so that "true" would be off."""
        return self.choice(name, "TRUE" if default else "FALSE", ("TRUE", "FALSE")) == "TRUE"

    def choice(self, name: str, default: str, allowed: tuple[str, ...]) -> str:
        """One of some words, exactly as they are."""
        word = self.text(name, default)
        if word in allowed:
            return word
        self.fault(name, "not a value that it has", f"write {' or '.join(allowed)}, exactly so")
        return default

    def only(self, known: Iterable[str], tool: str, gone: Mapping[str, str] | None = None) -> None:
        """A fault for each name that the tool does not have; `gone`: what to do about those that it had once."""
        names = {each.lower(): each for each in known}
        for name, each in self._last.items():
            if name.lower() in names and name == names[name.lower()]:
                continue
            way_out = (gone or {}).get(name, "")
            close = difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.6)
            meant = f'; did you mean "{names[close[0]]}"?' if close and not way_out else ""
            self._fault(each.line, f"{name} is not a parameter of {tool}{meant}", way_out or "remove the line")
