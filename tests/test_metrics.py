"""Metric names are said in one place: no file that samples or reads counters spells one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from iocast import metrics

ROOT = Path(__file__).parents[1]
# Modules that make or read samples; importers of other tools' reports and the table of these have their own names.
ROOMS = ("observe", "analyse", "runner", "load", "diagnose/trust", "diagnose/detectors")
NAMES = {value for name, value in vars(metrics).items() if name.isupper() and isinstance(value, str)}
# Also words for other things: a kind of device, a file of the kernel, a detector, what a finding counts.
WORDS = {metrics.BLOCK, metrics.CPU, metrics.MD, metrics.LIMITS, metrics.MAINTENANCE, metrics.PRESSURE}
FILE_SYSTEMS = {metrics.BTRFS, metrics.ZFS}
IN_FINDINGS = {metrics.IOS, metrics.BYTES, metrics.READS, metrics.WRITES, metrics.DISKSTATS, metrics.PAGECACHE}


def spelt(text: str, names: set[str]) -> Iterator[tuple[int, str]]:
    """Line and name of each literal that is one; keys of a finding's figures are its own words."""
    tree = ast.parse(text)
    keys = {id(key) for node in ast.walk(tree) if isinstance(node, ast.Dict) for key in node.keys}
    keys |= {id(key) for node in ast.walk(tree) if isinstance(node, ast.Subscript) for key in ast.walk(node.slice)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node.value in names and id(node) not in keys:
            yield node.lineno, str(node.value)


@pytest.mark.parametrize("room", ROOMS)
def test_no_metric_is_spelt_where_counters_are_sampled_or_read(room: str) -> None:
    names = NAMES - WORDS - FILE_SYSTEMS - (IN_FINDINGS if room.startswith("diagnose") else set())
    found = []
    for path in sorted((ROOT / "src/iocast" / room).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        reads = "Sample(" in text or ".metric" in text or "views(" in text or "DeviceIo" in text
        if reads:
            found += [f"{path.relative_to(ROOT)}:{line}: {name}" for line, name in spelt(text, names)]
    assert found == []


def test_a_literal_is_found() -> None:
    text = 'sample = Sample(0, NAME, "sda", "read_bytes", 1.0)\nfigures = {"read_bytes": 1}\n'
    assert list(spelt(text, NAMES)) == [(1, "read_bytes")]


def test_names_are_unique() -> None:
    named = [value for name, value in vars(metrics).items() if name.isupper() and isinstance(value, str)]
    assert len(named) == len(set(named))
