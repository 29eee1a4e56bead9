"""The vectors of all laws and statistics, as the design states them, and the generator of their data."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from makers.forecast_vectors import VECTORS

MEASURING = Path(__file__).with_name("measuring_vectors.json")  # of statistics, links, checks and grades
MASK = (1 << 64) - 1


@cache
def functions() -> frozenset[str]:
    """The names of all functions that the design has vectors for."""
    return frozenset(json.loads(MEASURING.read_text("utf-8"))["functions"])


@cache
def all_vectors() -> tuple[Any, ...]:
    """Every vector that is kept here: those of the forecast's own, and the rest."""
    return (*VECTORS, *json.loads(MEASURING.read_text("utf-8"))["vectors"])


def vectors_of(*names: str) -> list[Any]:
    """The vectors of some functions, as parameters."""
    return [pytest.param(each, id=each["id"]) for each in all_vectors() if each["fn"] in names]


def splitmix64(seed: int) -> Iterator[int]:
    """The portable generator of all synthetic data."""
    state = seed
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        yield z ^ (z >> 31)


def uniforms(seed: int) -> Iterator[float]:
    """Numbers between 0 and 1."""
    return (((each >> 11) + 0.5) / 2**53 for each in splitmix64(seed))


def normal(draws: Iterator[float]) -> float:
    """A normal number: the sine is thrown away."""
    first, second = next(draws), next(draws)
    return math.sqrt(-2 * math.log(first)) * math.cos(2 * math.pi * second)
