"""The vectors of the laws and of the forecast, as the design states them: a function, its input and its output."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

VECTORS: list[dict[str, Any]] = json.loads(Path(__file__).with_name("forecast_vectors.json").read_text())


def vectors(*functions: str) -> list[Any]:
    """The vectors of some functions, as parameters of a test."""
    return [pytest.param(each, id=each["id"]) for each in VECTORS if each["fn"] in functions]
