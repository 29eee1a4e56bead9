"""Least squares of a law with few parameters, each within bounds, and how sure each parameter is.

Levenberg and Marquardt's steps, cut at the bounds; a parameter that lies on a bound and wants beyond it is held. For
laws with two to five parameters and some dozen points: matrices are lists. Held against scipy's by tests.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from msgspec import Struct

STEPS = 400
ENOUGH = 1e-15  # of the cost, gained by a step: no more is to be had

Vector = list[float]
Matrix = list[list[float]]
Law = Callable[[Vector], tuple[Vector, Matrix]]


class Fit(Struct, frozen=True):
    """The parameters, half the sum of the squared misses, and their covariance for misses of variance 1."""

    parameters: tuple[float, ...]
    cost: float
    covariance: tuple[tuple[float, ...], ...]


def least_squares(law: Law, start: Sequence[float], low: Sequence[float], high: Sequence[float]) -> Fit:
    """The parameters between `low` and `high` that miss least, from `start` on.

    `law` gives the misses and their slopes, one row a miss, at some parameters.
    """
    at = [min(max(value, least), most) for value, least, most in zip(start, low, high, strict=True)]
    misses, slopes = law(at)
    cost, damping = _cost(misses), 1e-3
    for _ in range(STEPS):
        gradient, normal = _normal(misses, slopes)
        free = [
            n
            for n, pull in enumerate(gradient)
            if not ((at[n] <= low[n] and pull > 0) or (at[n] >= high[n] and pull < 0))
        ]
        step = _step(gradient, normal, free, damping)
        if step is None:
            damping *= 10
            continue
        there = [min(max(value + by, low[n]), high[n]) for n, (value, by) in enumerate(zip(at, step, strict=True))]
        new_misses, new_slopes = law(there)
        new = _cost(new_misses)
        if new < cost:
            gained, at, misses, slopes, cost, damping = cost - new, there, new_misses, new_slopes, new, damping / 10
            if gained <= ENOUGH * (cost + ENOUGH):
                break
        else:
            damping *= 10
            if damping > 1e15:
                break
    return Fit(tuple(at), cost, tuple(map(tuple, inverse(_normal(misses, slopes)[1]))))


def _cost(misses: Vector) -> float:
    return math.fsum(miss * miss for miss in misses) / 2


def _normal(misses: Vector, slopes: Matrix) -> tuple[Vector, Matrix]:
    """The gradient of the cost, and the normal matrix."""
    size = range(len(slopes[0]))
    gradient = [math.fsum(row[n] * miss for row, miss in zip(slopes, misses, strict=True)) for n in size]
    return gradient, [[math.fsum(row[n] * row[m] for row in slopes) for m in size] for n in size]


def _step(gradient: Vector, normal: Matrix, free: list[int], damping: float) -> Vector | None:
    """The damped step of the free parameters; None where the equations have no answer."""
    step = [0.0] * len(gradient)
    if not free:
        return step
    matrix = [[normal[n][m] * (1 + damping if n == m else 1) for m in free] for n in free]
    solved = _solved(matrix, [-gradient[n] for n in free])
    if solved is None:
        return None
    for n, by in zip(free, solved, strict=True):
        step[n] = by
    return step


def _solved(matrix: Matrix, right: Vector) -> Vector | None:
    """The solution of some linear equations, largest pivots first; None for a singular matrix."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    size = len(rows)
    for column in range(size):
        pivot = max(range(column, size), key=lambda n: abs(rows[n][column]))
        if not abs(rows[pivot][column]) > 0:
            return None
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for below in range(column + 1, size):
            factor = rows[below][column] / rows[column][column]
            rows[below] = [value - factor * above for value, above in zip(rows[below], rows[column], strict=True)]
    answer = [0.0] * size
    for n in reversed(range(size)):
        rest = math.fsum(rows[n][m] * answer[m] for m in range(n + 1, size))
        answer[n] = (rows[n][size] - rest) / rows[n][n]
    return answer


def inverse(matrix: Matrix) -> Matrix:
    """The inverse, scaled to a unit diagonal first; infinite where the data do not tell the parameters apart."""
    size = range(len(matrix))
    scale = [math.sqrt(matrix[n][n]) for n in size]
    if not all(scale):
        return [[math.inf] * len(matrix) for _ in size]
    even = [[matrix[n][m] / scale[n] / scale[m] for m in size] for n in size]
    columns = [_solved(even, [1.0 if n == m else 0.0 for n in size]) for m in size]
    if any(column is None for column in columns):
        return [[math.inf] * len(matrix) for _ in size]
    return [[(columns[m] or [])[n] / scale[n] / scale[m] for m in size] for n in size]
