"""Rows that belong into one chart: the same test, operation and size at different loads."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from iocast import text
from iocast.analyse.facts import Facts, RowFacts, facts_of
from iocast.analyse.ladder import Curve, Point, one_for_each
from iocast.archive import course_after, warm_up_of
from iocast.model.finding import Examination, Finding
from iocast.model.histogram import Histogram
from iocast.model.measurement import Course
from iocast.model.run import PhaseRecord, Run
from iocast.model.workload import Op
from iocast.report.unique_names import numbered
from iocast.results.measured_rows import OPS, row_name, times_of


class Member(Struct, frozen=True):
    """One operation of one row: its load, what it did, and its course over time."""

    record: PhaseRecord
    op: Op
    size_bytes: int | None  # None where several were mixed
    course: Course  # of this operation only
    times: Histogram  # response times
    rate_per_s: float
    bytes_per_s: float
    findings: tuple[Finding, ...] = ()  # of the row, where their time is known and no experiment rejected them

    @property
    def at_once(self) -> int:
        """I/Os that were asked to be in flight: users x depth."""
        return self.record.measurement.asked_depth

    @property
    def load(self) -> tuple[int, int]:
        """(users, depth)."""
        return self.record.plan.users, self.record.plan.depth

    @property
    def load_text(self) -> str:
        """The load as it is written at an axis: "8x1", "4x16"."""
        return text.load(*self.load)


class Family(Struct, frozen=True):
    """Members of ascending load. `key` is fit for a file name."""

    key: str
    title: str
    members: tuple[Member, ...]
    mixed: bool = False  # rows that have nothing in common, shown together only to save room

    @property
    def ladder(self) -> tuple[Member, ...]:
        """One member for each load, the first that was measured; none in a mixed family."""
        if self.mixed:
            return ()
        return one_for_each(self.members, lambda member: member.at_once)

    def name(self, member: Member) -> str:
        """What tells a member from the others of the family: its load, or its row's name."""
        loads = [each.load_text for each in self.members]
        if not self.mixed and len(set(loads)) == len(loads):
            return member.load_text
        several = sum(each.record is member.record for each in self.members) > 1
        return row_name(member.record, member.op, several=several)

    def spoken(self, member: Member) -> str:
        """The same in front of a sentence: "At 8x1", "On scan 128k 1x1"."""
        name = self.name(member)
        return f"At {name}" if name == member.load_text else f"On {name}"


def families(run: Run | Facts, examination: Examination, courses: dict[int, Course]) -> tuple[Family, ...]:
    """The families of a run in the order of their first rows. Void rows are no measurement and in none."""
    facts = facts_of(run)
    groups: dict[tuple[str, int | None, Op], list[Member]] = {}
    for number, record in enumerate(facts.run.phases):
        if record.phase.role != "measure" or examination.trust[record.phase.name].void:
            continue
        for member in _members(
            facts.row(record), course_after(courses.get(number, ()), warm_up_of(record)), _timed(record, examination)
        ):
            groups.setdefault((record.phase.test, member.size_bytes, member.op), []).append(member)
    mixed = {test for test, _, op in groups if len({o for t, _, o in groups if t == test}) > 1}
    grouped = [
        _family(test, size, op if test in mixed else None, members) for (test, size, op), members in groups.items()
    ]
    # Names may differ only in what a file name should not have.
    keys = numbered(family.key or "rows" for family in grouped)
    return tuple(replace(family, key=key) for family, key in zip(grouped, keys, strict=True))


def curve_of(ladder: tuple[Member, ...]) -> Curve:
    """The curve of members of ascending load."""
    return Curve(
        tuple(Point(each.record, each.at_once, each.rate_per_s, each.bytes_per_s, each.times) for each in ladder)
    )


def pooled(singles: Iterable[Family], title: str) -> Family | None:
    """Families of one load each, put together so that their rows can be seen side by side."""
    members = tuple(member for family in singles for member in family.members)
    return Family("other-rows", title, members, mixed=True) if members else None


def _family(test: str, size: int | None, op: Op | None, members: list[Member]) -> Family:
    words = [test, text.size(size) if size else "", f"{op}s" if op else ""]
    title = " ".join(filter(None, words))
    ordered = tuple(sorted(members, key=lambda member: member.at_once))
    return Family(re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-"), title, ordered)


def _timed(record: PhaseRecord, examination: Examination) -> tuple[Finding, ...]:
    own = (each for each in examination.findings if each.phase == record.phase.name)
    return tuple(each for each in own if each.spans and each.state != "rejected")


def _members(row: RowFacts, course: Course, findings: tuple[Finding, ...]) -> Iterable[Member]:
    record, did = row.record, row.measurement
    seconds = did.elapsed_ns / 1e9
    for op in OPS:
        parts = [part for part in did.classes if part.op == op and part.ios]
        times = times_of(row, op)
        # What another tool states may be too little to draw.
        if not parts or not seconds or not times.spread_known or _unknown(times):
            continue
        sizes = {part.size_bytes for part in parts}
        yield Member(
            record,
            op,
            sizes.pop() if len(sizes) == 1 else None,
            tuple(interval for interval in course if interval.op == op),
            times,
            sum(part.ios for part in parts) / seconds,
            sum(part.bytes for part in parts) / seconds,
            findings,
        )


def _unknown(times: Histogram) -> bool:
    return any(math.isnan(each) for each in (times.mean_ns, times.most_ns, *map(times.quantile_ns, (0.5, 0.95, 0.99))))
