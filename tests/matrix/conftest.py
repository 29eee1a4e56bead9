"""Lets these tests use the runs made by hand that live beside the report's tests."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "report"))
