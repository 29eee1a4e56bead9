"""Which cases of a parameter `make test` tries: the others bear `long`, and `make test-rest` tries them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def long_but(values: Iterable[Any], *kept: Any) -> list[Any]:
    """All values, of which `make test` tries only the kept; a tuple has a value for each of several parameters."""
    values = list(values)
    assert set(kept) <= set(values), f"unknown: {set(kept) - set(values)}"
    return [value if value in kept else _left_out(value) for value in values]


def long_after(count: int, values: Iterable[Any]) -> list[Any]:
    """All values, of which `make test` tries the first `count`."""
    values = list(values)
    assert count < len(values), "none is left out"
    return values[:count] + [_left_out(value) for value in values[count:]]


def _left_out(value: Any) -> Any:
    if isinstance(value, pytest.ParameterSet):
        return pytest.param(*value.values, marks=[*value.marks, pytest.mark.long], id=value.id)
    return pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.long)
