"""The scale of 2012: four tests, each with a letter for its time and one for how the time grows with the load."""

from __future__ import annotations

import math
from typing import NamedTuple

from iocast.analyse.facts import Facts, RowFacts
from iocast.analyse.statistics import enough_beyond
from iocast.diagnose.grades.gradable import KIB, only_size, ungraded
from iocast.diagnose.grades.scales import letter_scale
from iocast.model.codes import AspectCode, StatisticCode
from iocast.model.finding import Examination
from iocast.model.grading import Graded, Letter
from iocast.model.run import PhaseRecord
from iocast.model.workload import Op, Sequential
from iocast.text import counted

MS = 1e6
USABLE = ("A", "B", "C")


class ClassicTest(NamedTuple):
    """One of the four: which rows, and which loads are compared."""

    code: AspectCode
    scale: str  # in scales.toml
    op: Op
    sequential: bool
    size_bytes: int
    base_users: int
    scaled_users: int


TESTS = (
    ClassicTest("random_read_8k", "randread_8k", "read", False, 8 * KIB, 16, 32),
    ClassicTest("sequential_read_1m", "read_1m", "read", True, 1024 * KIB, 1, 8),
    ClassicTest("write_1k", "write_1k", "write", True, KIB, 4, 16),
    ClassicTest("write_128k", "write_128k", "write", True, 128 * KIB, 4, 16),
)
STATISTICS: tuple[tuple[StatisticCode, float | None], ...] = (("mean", None), ("p95", 0.95), ("p99", 0.99))
HEADLINE: StatisticCode = "p95"


class ClassicLetters(NamedTuple):
    """Time letter, scaling letter and value of one statistic: "C-/A- 13.0/0.1" in the words of 2012."""

    time: Letter
    scaling: Letter
    base_ms: float
    scaling_value: float

    @property
    def line(self) -> str:
        """As grade.r printed it."""
        return f" {self.time:<2}/{self.scaling:<2} {self.base_ms:4.1f}/{self.scaling_value:2.1f}"


def classic_letters(test: ClassicTest, base_ms: float, scaled_ms: float) -> ClassicLetters:
    """The two letters of one statistic at the base load and at the scaled load (ms)."""
    load = test.scaled_users / test.base_users
    value = (scaled_ms / base_ms - 1) / load
    scale, growth = letter_scale("hailey2012", test.scale), letter_scale("hailey2012", "scaling")
    return ClassicLetters(scale.letter(base_ms), growth.letter(value), base_ms, value)


def classic(facts: Facts, examination: Examination) -> tuple[Graded, ...]:
    """Mean, p95 and p99 of the four tests; what has no rows says which it needs."""
    return tuple(graded for test in TESTS for graded in _test(test, facts, examination))


def _test(test: ClassicTest, facts: Facts, examination: Examination) -> list[Graded]:
    base, scaled = _row(test, facts, test.base_users), _row(test, facts, test.scaled_users)
    if base is None or scaled is None:
        missing = [str(users) for users, row in ((test.base_users, base), (test.scaled_users, scaled)) if row is None]
        users = "user" if missing == ["1"] else "users"
        return [ungraded(test.code, f"no row of this test with {' and '.join(missing)} {users}.", statistic=HEADLINE)]
    return [_statistic(test, name, q, base, scaled, examination) for name, q in STATISTICS]


def _statistic(
    test: ClassicTest, name: StatisticCode, q: float | None, base: RowFacts, scaled: RowFacts, examination: Examination
) -> Graded:
    phases = (base.name, scaled.name)
    for row in (base, scaled):
        trust = examination.trust[row.name]
        if trust.grade not in USABLE:
            why_not = f"trust in {row.name} is {trust.grade}. {trust.reason}".strip()
            return ungraded(test.code, why_not, phases, name)
    out = next((row.name for row in (base, scaled) if row.name in examination.excluded), None)
    if out is not None:
        why_not = f"{out} met the storage in another state: {examination.excluded[out].why}."
        return ungraded(test.code, why_not, phases, name)
    responses = [row.response(test.op) for row in (base, scaled)]
    fewest = min(response.total for response in responses)
    if q is not None and not any(response.coarse for response in responses) and not enough_beyond(fewest, q):
        return ungraded(test.code, f"{fewest} I/Os are too few for {name}.", phases, name)
    low, high = _ms(base, test.op, q), _ms(scaled, test.op, q)
    if math.isnan(low) or math.isnan(high):
        return ungraded(test.code, f"the source of these rows states no {name}.", phases, name)
    letters = classic_letters(test, low, high)
    remark = " It falls as the load grows: a cache or read-ahead answers." if letters.scaling_value < 0 else ""
    says = (
        f"{letters.line.strip()}: {low:.3g} ms with {counted(test.base_users, 'user')}, {high:.3g} ms with"
        f" {test.scaled_users}, scaling {letters.scaling}.{remark}"
    )
    figures = {"base_ms": low, "scaled_ms": high, "scaling": letters.scaling_value}
    source = letter_scale("hailey2012", test.scale).source
    return Graded(
        code=test.code,
        letter=letters.time,
        says=says,
        statistic=name,
        phases=phases,
        figures=figures,
        source=source,
    )


def _row(test: ClassicTest, facts: Facts, users: int) -> RowFacts | None:
    return next((row for row in facts.rows if _is(test, row.record, users) and row.measurement.ios), None)


def _is(test: ClassicTest, record: PhaseRecord, users: int) -> bool:
    workload = record.phase.workload
    ops = {item.op for item in workload.mix if item.size_bytes}
    sequential = isinstance(workload.locality, Sequential)
    return (
        ops == {test.op}
        and only_size(record) == test.size_bytes
        and sequential == test.sequential
        and workload.asked_depth == users
    )


def _ms(row: RowFacts, op: Op, q: float | None) -> float:
    response = row.response(op)
    return (response.mean_ns if q is None else response.quantile_ns(q)) / MS
