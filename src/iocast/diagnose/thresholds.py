"""The one table of thresholds behind every letter of trust, each with where it comes from.

"models" is the project's collection of measurement rules; [J] marks a judgement that real devices may yet
correct.
"""

from __future__ import annotations

from msgspec import Struct

from iocast.model.finding import GRADES, Grade


class Thresholds(Struct, frozen=True):
    """The worst values that still earn an A, a B, a C, a D. `falling`: less is worse, not more."""

    a: float
    b: float
    c: float
    d: float
    source: str
    falling: bool = False

    def grade(self, value: float) -> Grade:
        """The letter of a value; F beyond the last one, and for what is not a number."""
        for letter, limit in zip(GRADES, (self.a, self.b, self.c, self.d), strict=False):
            if (value >= limit) if self.falling else (value <= limit):
                return letter
        return "F"

    def next_better(self, grade: Grade) -> tuple[Grade, float]:
        """The letter to strive for from `grade`, and the worst value that earns it: at least a C, which is of use."""
        at = min(2, max(0, GRADES.index(grade) - 1))
        return GRADES[at], (self.a, self.b, self.c)[at]


LITTLE_ERROR = Thresholds(0.02, 0.05, 0.10, 0.30, "models C, trust table: integrity; the gate is 5 %")
HALF_WIDTH = Thresholds(0.05, 0.10, 0.20, 0.50, "models C, trust table: precision")
BEYOND = Thresholds(100, 30, 10, 10, "models B1 and C: n(1-q), 10 to publish, 100 for an A", falling=True)
LOAD = Thresholds(0.95, 0.90, 0.70, 0.50, "models C, trust table: load achieved", falling=True)
FOREIGN = Thresholds(0.01, 0.05, 0.10, 0.25, "models C, trust table: isolation")
OUTSIDE_WINDOW = Thresholds(0.10, 0.25, 0.50, 0.80, "[J] I/Os of many hosts that are no part of the sum")
STARTS_APART = Thresholds(0.01, 0.05, 0.10, 0.25, "[J] between the first and the last host, as a share of the row")
HOSTS_AGAINST_DEVICES = Thresholds(
    0.02, 0.05, 0.10, 0.25, "[J] the sum of hosts against the devices' own counters: 2 % is noise"
)
LAG = Thresholds(0.10, 0.25, 0.50, 0.80, "[J] lag over response at the headline percentile: what is not the target's")

# Steadiness (models B2, B3; the lengths by docs/guide/steadiness.md, decision 22): half a minute can be judged and
# earns a B, five minutes an A.
STEADY_B_NS, STEADY_A_NS = 30_000_000_000, 300_000_000_000
STEADY_LEAST_SECONDS, PLAIN_DRIFT = 20, 0.20  # [J] what plainly drifts is told after this many intervals
SERIES_LEAST_IOS = 5.0  # [J] an interval of an open loop with fewer says nothing of its mean response
CLIFF_WRITES = 2.0  # models B3, volume rule: writes >= 2 x the device

# What set the pace (models A: a doubling that gains less than 10 % is past saturation; C 3: a link is full from 90 %
# to 101 % of what it carries; what goes beyond did not come by it, C 1d).
DOUBLING_GAINS, LINK_FULL, LINK_AT_MOST = 1.10, 0.90, 1.01
MORE_THAN_LOAD = 1.15  # [J] times the added load: so many more I/Os it brings at most, but for chance
MOSTLY_SYSTEM = 0.60  # [J] of the generator's processor time
HANDED_OVER = 0.50  # [J] processors that kernel threads used for the test's I/Os

# What a file system writes for itself while a test writes; more than that is someone else's. [J]
METADATA_SHARE = 0.02  # of the bytes that the test writes
METADATA_BYTES_PER_S = 1 << 20
LATE_BYTES = 256 << 10  # of it some seconds later, when a row only reads
JOURNAL_BYTES = 32 << 10  # for each write or flush that waits until it is durable
SPLIT_MARGIN = 1.1  # requests beyond those that the device's largest size explains
QUEUE_FACTOR = 2.0  # a queue this many times what the test keeps outstanding, and one more, is not its own

BUSY_GENERATOR = 0.85  # models C 21: engine CPU > 85 % makes a timer and CPU artefact, a warning (C)
STEAL_TOLD = 0.01  # [J] of all processor time; less is in every virtual machine
DATA_OVER_MEMORY = 10.0  # models C, trust table: data >= 10 x cache
DATA_BARELY_OVER_MEMORY = 2.0  # models E, lru_uniform_hit: at 2 x half of all reads still hit

ANOMALY: dict[str, Grade] = {"void": "F", "severe": "D", "warn": "C", "note": "B"}  # models C, trust table


def worst(*grades: Grade) -> Grade:
    """The weakest link (models C: trust of a run = worst component)."""
    return max(grades, key=GRADES.index, default="A")
