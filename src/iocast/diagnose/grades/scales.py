"""Reads the limits of the letters from scales.toml and finds the letter of a value."""

from __future__ import annotations

import math
import tomllib
from functools import cache
from importlib import resources
from typing import Literal

import msgspec

from iocast.model.grading import LETTERS, Letter


class LetterScale(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The limits of one aspect, best letter first; values are in `unit` ("ms", "MB/s", "" for a ratio)."""

    what: str
    rule: Literal["below", "at_most", "at_least"]
    unit: str
    limits: dict[str, float]
    beyond: Letter
    source: str

    def letter(self, value: float) -> Letter:
        """The letter of a value in this scale's unit; the last one for what is not a number."""
        for letter in LETTERS:
            if letter in self.limits and self._earns(value, self.limits[letter]):
                return letter
        return self.beyond

    def _earns(self, value: float, limit: float) -> bool:
        if math.isnan(value):
            return False
        if self.rule == "below":
            return value < limit
        hair = 1e-9 * abs(limit)  # arithmetic, not the storage
        return value >= limit - hair if self.rule == "at_least" else value <= limit + hair

    def limit_words(self, letter: Letter) -> str:
        """What earns the letter: "below 8 ms", "at most 0.2", "at least 400 MB/s", "beyond 14 ms"."""
        unit = f" {self.unit}" if self.unit else ""
        if letter in self.limits:
            return f"{self.rule.replace('_', ' ')} {self.limits[letter]:g}{unit}"
        last = list(self.limits.values())[-1]
        return {"below": f"{last:g}{unit} or more", "at_most": f"above {last:g}{unit}"}.get(
            self.rule, f"less than {last:g}{unit}"
        )


@cache
def letter_scale(family: str, aspect: str) -> LetterScale:
    """The scale of one aspect: `letter_scale("modern", "commit")`."""
    return _all()[family][aspect]


@cache
def _all() -> dict[str, dict[str, LetterScale]]:
    text = resources.files("iocast.diagnose.grades").joinpath("scales.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), dict[str, dict[str, LetterScale]])
