"""What device tests need of the machine: commands that must succeed, root, programs; else they are skipped."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Mount = Callable[..., Path]


def command(*words: object) -> str:
    """Runs a command that must succeed; returns what it printed."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"{words[0]}: {done.stderr.strip()}")
    return done.stdout.strip()


def need(*programs: str) -> None:
    """Skips the test where root or a program is missing."""
    if os.geteuid():
        pytest.skip("needs root")
    for program in programs:
        if shutil.which(program) is None:
            pytest.skip(f"needs {program}")
