"""Which cases of a parameter `make test` tries: the others bear `long`, and `make test-rest` tries them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def long_but(values: Iterable[Any], *kept: Any) -> list[Any]:
    """All values, of which `make test` tries only the kept; a tuple has a value for each of several parameters."""
    values = list(values)
    assert set(kept) <= set(values), f"unknown: {set(kept) - set(values)}"
    left_out = pytest.mark.long
    return [
        value if value in kept else pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=left_out)
        for value in values
    ]
