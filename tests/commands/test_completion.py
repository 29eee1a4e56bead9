"""Shells complete verbs, options and names of files by the script that iocast prints."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from makers.command_line import IOCAST, environment, iocast

# What a person would see after a tab: bash's own function, called as readline calls it.
TAB = """\
set -e
eval "$("$1" completion bash)"
shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
compopt() { echo "compopt $1 $2"; }
_iocast_completion "$PROGRAM"
printf '%s\\n' "${COMPREPLY[@]}"
"""


def _after_tab(place: Path, *words: str) -> list[str]:
    program = place / "iocast"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(IOCAST)} "$@"\n')
    program.chmod(0o755)
    command = ["bash", "-c", TAB, "bash", str(program), *words]
    shell = {**environment(), "PROGRAM": str(program)}
    done = subprocess.run(command, capture_output=True, text=True, cwd=place, env=shell, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1]


def test_verbs_options_and_choices_are_completed(tmp_path: Path) -> None:
    assert _after_tab(tmp_path, "iocast", "ca") == ["card", "calibrate", "capture"]
    assert _after_tab(tmp_path, "iocast", "ab", "--unt") == ["--until-sure"]
    assert _after_tab(tmp_path, "iocast", "completion", "z") == ["zsh"]
    assert _after_tab(tmp_path, "iocast", "load-db", "bu") == ["build"]


def test_names_of_files_are_left_to_the_shell(tmp_path: Path) -> None:
    assert _after_tab(tmp_path, "iocast", "card", "/mn") == ["compopt -o default", ""]
    assert _after_tab(tmp_path, "iocast", "card", ".", "-o", "x") == ["compopt -o default", ""]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_one_of_the_shell(tmp_path: Path, shell: str) -> None:
    done = iocast("completion", shell, cwd=tmp_path)
    assert done.returncode == 0
    assert "iocast" in done.stdout
    if shutil.which(shell) is None:
        return
    checked = subprocess.run([shell, "-n"], input=done.stdout, capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")
