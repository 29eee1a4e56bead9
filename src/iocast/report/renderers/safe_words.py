"""Words of files as every form can show them: a report, or an output, without what terminals and pages would obey."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any, TextIO, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from iocast.model.report import Column
from iocast.text import harmless, harmless_line

T = TypeVar("T")
PLAIN = (int, float)


def safe(value: T) -> T:
    """The same report, or part of one, each of its words on one line and harmless: the same object where all are."""
    plain: T = _safe(value)
    return plain


def _safe(value: Any) -> Any:
    if isinstance(value, str):
        return harmless_line(value)
    if value is None or isinstance(value, int | float):  # most of a report
        return value
    if isinstance(value, Column):  # whose title may be of two lines
        titled = harmless(value.title)
        rest = {name: _safe(getattr(value, name)) for name in ("key", "explain")}
        same = titled is value.title and all(new is getattr(value, name) for name, new in rest.items())
        return value if same else replace(value, title=titled, **rest)
    if isinstance(value, Struct):
        changed = {name: new for name in _fields(type(value)) if (new := _safe(old := getattr(value, name))) is not old}
        return replace(value, **changed) if changed else value
    if isinstance(value, tuple):
        if all(type(each) in PLAIN for each in value):  # the counts of a heat map
            return value
        several = tuple(map(_safe, value))
        return value if all(new is old for new, old in zip(several, value, strict=True)) else several
    if isinstance(value, list):
        return [_safe(each) for each in value]
    if isinstance(value, dict):
        pairs = {_safe_key(key): _safe(each) for key, each in value.items()}
        same = len(pairs) == len(value) and all(pairs.get(key) is each for key, each in value.items())
        return value if same else pairs
    return value


@lru_cache(1000)
def _safe_key(key: str) -> str:
    """A key, which many rows share."""
    return harmless_line(key)


@cache
def _fields(kind: type[Struct]) -> tuple[str, ...]:
    return kind.__struct_fields__


class SafeLines:
    """An output that keeps its lines and nothing else that a terminal would obey."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def write(self, words: str) -> int:
        """Writes the words, harmless."""
        return self._out.write(harmless(words))
