"""The test vectors of the design, where they are beside this checkout, and the generator of their data."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

WHERE = "shared/design/models-vectors.json"
MASK = (1 << 64) - 1


@cache
def all_vectors() -> tuple[Any, ...]:
    """Every vector; none where the design is not at hand."""
    for above in Path(__file__).resolve().parents:
        if (above / WHERE).exists():
            return tuple(json.loads((above / WHERE).read_text())["vectors"])
    return ()


def vectors_of(*names: str) -> list[Any]:
    """The vectors of some functions, as parameters; one that is skipped where there are none."""
    found = [pytest.param(each, id=each["id"]) for each in all_vectors() if each["fn"] in names]
    reason = "the test vectors of the design are not beside this checkout"
    return found or [pytest.param({}, marks=pytest.mark.skip(reason=reason))]


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
