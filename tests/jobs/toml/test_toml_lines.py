"""Lines of TOML keys, against texts that are awkward on purpose."""

from __future__ import annotations

import tomllib

from hypothesis import given
from hypothesis import strategies as st

from iocast.jobs.toml.line_numbers import key_lines, line_of

TEXT = '''# name = "not this"
name = "a # [[phase]] b"
description = """
[[phase]]
users = 1
"""

[files]
size = "1M"   # comment = 3

[[phase]]
users = [
  1,  # one
  8,
]
"time" = '10s'
[phase.region]
start = "0"
[[phase]]
region.size = "4k"
size = {"4k" = 60, "users" = 40}
  [[phase.mix]]
  op = "read"
  [[phase.mix]]
  op = "write"
'''


def test_every_key_has_its_line() -> None:
    tomllib.loads(TEXT)
    lines = key_lines(TEXT)
    assert lines == {
        (): 1,
        ("name",): 2,
        ("description",): 3,
        ("files",): 8,
        ("files", "size"): 9,
        ("phase",): 11,
        ("phase", 0): 11,
        ("phase", 0, "users"): 12,
        ("phase", 0, "time"): 16,
        ("phase", 0, "region"): 17,
        ("phase", 0, "region", "start"): 18,
        ("phase", 1): 19,
        ("phase", 1, "region"): 20,
        ("phase", 1, "region", "size"): 20,
        ("phase", 1, "size"): 21,
        ("phase", 1, "mix"): 22,
        ("phase", 1, "mix", 0): 22,
        ("phase", 1, "mix", 0, "op"): 23,
        ("phase", 1, "mix", 1): 24,
        ("phase", 1, "mix", 1, "op"): 25,
    }
    assert line_of(lines, ("phase", 1, "size", "4k")) == 21
    assert line_of(lines, ("nowhere", "at", "all")) == 1


def test_line_ends_of_other_systems() -> None:
    assert key_lines('a = 1\r\n\r\n[b]\r\nc = """x\r\ny"""\r\nd = 2\r\n') == {
        (): 1,
        ("a",): 1,
        ("b",): 3,
        ("b", "c"): 4,
        ("b", "d"): 6,
    }


@given(
    st.lists(
        st.sampled_from(
            [
                '"""a"b""" ',
                "'''x'y''''",
                '"\\""',
                "'#'",
                "[1, [2, # c ]\n 3]]",
                '"""\n\n""""',
                "{a = 1, b = [1]}",
            ]
        ),
        min_size=1,
        max_size=8,
    )
)
def test_the_last_key_is_found_after_any_values(values: list[str]) -> None:
    text = "".join(f"k{index} = {value}\n" for index, value in enumerate(values)) + "last = 1"
    tomllib.loads(text)
    assert key_lines(text)[("last",)] == text.count("\n") + 1
