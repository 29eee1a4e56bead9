"""The settings of a section of a fio job file as numbers, sizes, times and words, and the problems of the file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from iocast.errors import SpecError
from iocast.tools.fio.job_file import Section
from iocast.tools.fio.job_options import OPTIONS
from iocast.tools.fio.quantities import read_flag, read_percent, read_size, read_time, read_whole
from iocast.tools.line_problems import LineProblems, meant
from iocast.units import LARGEST

Value = TypeVar("Value")


class FioProblems(LineProblems):
    """The problems, and the notes, of one fio job file."""


class Reader:
    """Reads the settings of one section; what it cannot read becomes a problem, and a default value."""

    def __init__(self, section: Section, problems: FioProblems) -> None:
        self.section, self.problems = section, problems
        self.kb_base = 1024
        self.kb_base = self.value("kb_base", self._read_base, 1024)

    def text(self, key: str) -> str:
        """The value as written, or fio's own default."""
        setting = self.section.settings.get(key)
        return setting.text if setting else _default(key)

    def has(self, key: str) -> bool:
        """True when the section, or [global], says it."""
        return key in self.section.settings

    def refuse(self, key: str, why: str, way_out: str = "", reference: str = "") -> None:
        """A problem of a setting that is there."""
        setting = self.section.settings[key]
        self.problems.add(setting.line, f"{setting.key}={setting.text}: {why}", way_out, reference)

    def note(self, text: str) -> None:
        """A note about this section."""
        self.problems.note(f"[{self.section.name}] {text}")

    def value(self, key: str, read: Callable[[str], Value], default: Value) -> Value:
        """The value read, or the default when it is not there or cannot be read."""
        if not self.has(key):
            return default
        try:
            return read(self.text(key))
        except SpecError as error:
            self.refuse(key, error.message, "", error.hint)
            return default

    def size(self, key: str) -> int | None:
        """Bytes of a size, None when it is not there."""
        return self.value(key, self.read_size, None)

    def read_size(self, text: str) -> int:
        """Bytes, in the section's own kb_base."""
        return read_size(text, self.kb_base)

    def share(self, key: str) -> tuple[int | None, int | None]:
        """Bytes and per cent of a size that may be either; 0 % counts as 0 bytes."""
        percent = self.value(key, read_percent, None)
        if percent is not None:
            return None, percent
        return (None, None) if self.text(key).endswith("%") else (self.size(key), None)

    def time(self, key: str) -> int | None:
        """Nanoseconds; 0 counts as not given."""
        return self.value(key, lambda text: read_time(text, OPTIONS[key].unit), None) or None

    def whole(self, key: str, least: int = 0, most: int = LARGEST, default: int | None = None) -> int:
        """A whole number."""
        default = int(_default(key)) if default is None else default
        return self.value(key, lambda text: read_whole(text, least, most), default)

    def flag(self, key: str) -> bool:
        """0 or 1; a key without a value is 1."""
        return self.value(key, read_flag, _default(key) == "1")

    def choice(self, key: str, choices: Mapping[str, Value]) -> Value:
        """One of some words."""
        text = self.text(key)
        if text in choices:
            return choices[text]
        self.refuse(key, f"not known{meant(text, choices)}", "", f"{key} is one of {', '.join(choices)}")
        return choices[_default(key)]

    def _read_base(self, text: str) -> int:
        if text not in ("1000", "1024"):
            raise SpecError(f"{text}: must be 1000 or 1024")
        return int(text)


def _default(key: str) -> str:
    return OPTIONS[key].default if key in OPTIONS else ""
