"""Assignments as bash has them, held against bash itself; what it would compute or run is a fault with its line."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from iocast.tools.shell_conf import read_assignments

SOURCED = r"""
# a comment; with=signs
A=1
B=80M   # behind a value
C="two words" D='single $kept'
export E=5 F
G=a#b; H=x\ y
I=
J="quoted \"inside\" \$4"
K=ab"cd"'ef'
  L=indented
export M="" N=7
O=long\
er
A=again
"""
NAMES = "ABCDEGHIJKLMNO"


def read(text: str) -> tuple[dict[str, str], list[tuple[int, str]]]:
    faults: list[tuple[int, str]] = []
    found = read_assignments(text, lambda line, what, way_out: faults.append((line, what)))
    return {each.name: each.value for each in found}, faults


def test_every_value_is_what_bash_makes_of_it(tmp_path: Path) -> None:
    file = tmp_path / "slob.conf"
    file.write_text(SOURCED)
    script = f"source {file}; for name in {' '.join(NAMES)}; do printf '%s=%s\\n' $name \"${{!name}}\"; done"
    said = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout
    assert read(SOURCED) == (dict(line.split("=", 1) for line in said.splitlines()), [])


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("A=$B", "the value is computed by the shell"),
        ('A="${B:-4}"', "the value is computed by the shell"),
        ("A=`date`", "the value is computed by the shell"),
        ("A = 4", 'A: a blank before "=": the shell takes A for a command'),
        ("A= 4", 'A: a blank after "=": the shell takes what follows for a command'),
        ("A+=4", "A is added to by +="),
        ("A=(1 2)", "A is a list"),
        ("A=1 && rm -rf x", '"&&" is not an assignment'),
        ("A=1;rm -rf x", '"rm" is not an assignment'),
        ("if true; then", '"if" is not an assignment'),
        ('A="open', 'the quote " does not end on its line'),
        ("A='open", "the quote ' does not end on its line"),
        ("A=1|sh", '"|" runs something in a shell'),
        ("A=1\r", "the line ends as in Windows: to the shell a part of the value"),
    ],
)
def test_what_a_shell_would_do_is_a_fault_with_its_line(line: str, fault: str) -> None:
    values, faults = read(f"X=1\n{line}\nY=2\n")
    assert faults == [(2, fault)]
    assert (values["X"], values["Y"]) == ("1", "2")
