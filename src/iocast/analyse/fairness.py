"""How evenly several hosts share what storage gives them."""

from __future__ import annotations

from collections.abc import Sequence


def jain_index(shares: Sequence[float]) -> float | None:
    """Jain's index of fairness: 1 where all have the same, 1/n where one has all; None without any.

    Jain, Chiu, Hawe: A Quantitative Measure of Fairness (DEC-TR-301, 1984).
    """
    squares = sum(share * share for share in shares)
    return sum(shares) ** 2 / (len(shares) * squares) if squares > 0 else None
