"""Files changed at random, as damage and malice change them.

`make test` makes the same changes each time; `make fuzz` and `make safety` draw anew, many times as many.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

ANEW = "IOCAST_FUZZ" in os.environ
TIMES = int(os.environ.get("IOCAST_FUZZ", "1"))

# In place of a number, a word or a line.
ODD = (
    *(b"", b"0", b"-1", b"-0", b"1e308", b"1e999", b"nan", b"NaN", b"Infinity", b"-inf", b"0x1f", b"1_000", b"1.5.2"),
    *(b"9" * 19, b"9" * 30, b"9" * 400, b"9" * 4400, b"99999-12-31", b"0000-00-00T25:61:61Z", b"\xd9\xa3", b"\xc2\xb2"),
    *(b"null", b"true", b"[]", b"{}", b'"x"', b"\xff\xfe\xfd", b"\x00", b"%s", b"=", b"[", b"]", b",", b";", b":"),
)
_NUMBER = re.compile(rb"\d+(?:\.\d+)?")
_WORD = re.compile(rb"[^\s,;:=\"\[\]{}]+")


def fuzzing(examples: int) -> settings:
    """So many examples, and as many times that as `make fuzz` asks for."""
    return settings(
        max_examples=examples * TIMES, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )


def examples(most: int) -> pytest.MarkDecorator:
    """The parameter `examples`: 25 in `make test`, which are the first of the `most` that `make test-all` tries."""
    return pytest.mark.parametrize("examples", [25, pytest.param(most, marks=pytest.mark.long)])


class Mutation(NamedTuple):
    """One change: which, where (a part of the whole), and with what."""

    kind: str
    where: float
    with_what: bytes


def mutations() -> st.SearchStrategy[list[Mutation]]:
    """A few changes, of all kinds."""
    kinds = st.sampled_from(("flip", "cut", "twice", "drop", "number", "number", "number", "word", "insert"))
    places = st.floats(0, 1, exclude_max=True)
    return st.lists(st.builds(Mutation, kinds, places, st.sampled_from(ODD)), min_size=1, max_size=4)


def mutated(content: bytes, changes: Sequence[Mutation]) -> bytes:
    """The content after all changes, one after the other."""
    for kind, where, with_what in changes:
        at = int(where * len(content))
        lines = content.splitlines(keepends=True)
        place = int(where * len(lines))
        match kind:
            case "flip":
                content = (
                    content[:at] + bytes([content[at] ^ (1 << at % 8)]) + content[at + 1 :] if content else content
                )
            case "cut":
                content = content[:at]
            case "insert":
                content = content[:at] + with_what + content[at:]
            case "twice":
                content = b"".join([*lines[:place], *lines[place : place + 1], *lines[place:]])
            case "drop":
                content = b"".join([*lines[:place], *lines[place + 1 :]])
            case _:
                found = list((_NUMBER if kind == "number" else _WORD).finditer(content))
                if found:
                    start, end = found[int(where * len(found))].span()
                    content = content[:start] + with_what + content[end:]
    return content
