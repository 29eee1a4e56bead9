"""Hosts that ran the same job → who is slow for its load, who is busy, what slow ones have in common, the ranking."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from msgspec import Struct

from iocast.analyse.fleet_table import HostEntry, HostMedians, HostScore
from iocast.analyse.host_ranks import Ranked, ranked
from iocast.analyse.slow_hosts import LEAST_HOSTS, Judged, judged_class
from iocast.model.codes import DifferenceCode, StandingCode
from iocast.model.results.fleet import Fleet, FleetDifference, FleetHost, FleetRow, SlowHost

AGAIN = 2  # runs or rows, before a host is slow and not only was so once
VAGUE = 100  # times what is expected: a bound beyond says nothing, and is not shown
APART = 0.5  # of the hosts: how much more often slow ones must have what differs


class Member(Struct, frozen=True, kw_only=True):
    """A target of a host: the setting of its newest run, the name and the folder of that."""

    host: str
    target: str
    model: str | None
    setting: Mapping[DifferenceCode, str]
    runs: int
    run: str
    folder: str


def judged_rows(rows: Sequence[HostMedians]) -> list[Judged]:
    """Every row of every host in a class of at least LEAST_HOSTS; rows are in the order of their classes."""
    classes = [list(group) for _, group in groupby(rows, key=lambda row: (row.model, row.row, row.load))]
    large = [each for each in classes if len(each) >= LEAST_HOSTS]
    tests = sum(map(len, large))
    return [judged for each in large for judged in judged_class(each, tests)]


def slow_subjects(judged: Sequence[Judged]) -> set[int]:
    """The hosts of whose slow rows every run is looked at."""
    return {each.row.subject for each in judged if each.standing == "slow"}


def fleet_of(
    job: str,
    members: Sequence[Member],
    judged: Sequence[Judged],
    scores: Sequence[HostScore],
    entries: Sequence[HostEntry],
) -> Fleet:
    """The result. `members` are numbered as subjects are; `entries` are the runs of `slow_subjects`."""
    rows = list(_rows(members, judged, entries))
    by_subject: dict[int, list[FleetRow]] = {}
    for subject, row in rows:
        by_subject.setdefault(subject, []).append(row)
    counts = Counter(each.row.subject for each in judged)
    standings = {subject: _standing(by_subject.get(subject, ()), counts[subject]) for subject in range(len(members))}
    ranks: dict[int, Ranked | None] = {each.score.subject: each for each in (ranked(scores) if scores else ())}
    places = ranks | {subject: None for subject in range(len(members)) if subject not in ranks}
    hosts = (
        _host(members[subject], place, standings[subject], by_subject.get(subject, ()), counts[subject])
        for subject, place in places.items()
    )
    slow = (
        _slow(by_subject[subject], standings[subject], counts[subject])
        for subject in by_subject
        if standings[subject] in ("slow", "slow_once", "busy")
    )
    return Fleet(
        compared_job=job,
        runs=sum(member.runs for member in members),
        hosts=tuple(hosts),
        slow=tuple(sorted(slow, key=lambda each: (_ORDER[each.standing], -each.times))),
        rows=tuple(row for _, row in sorted(rows, key=lambda each: (_ORDER[each[1].standing], -each[1].times))),
        differences=tuple(_differences(members, standings)),
    )


_ORDER: dict[StandingCode, int] = {"slow": 0, "slow_once": 1, "busy": 2, "usual": 3, "not_judged": 4}


def _rows(
    members: Sequence[Member], judged: Sequence[Judged], entries: Sequence[HostEntry]
) -> Iterator[tuple[int, FleetRow]]:
    """Rows that stand out, with their hosts. A slow one is over its bound in most of its runs."""
    by_row: dict[tuple[int, str, str, str], list[float]] = {}
    for entry in entries:
        by_row.setdefault((entry.subject, entry.model, entry.row, entry.load), []).append(entry.mean_ns)
    for each in judged:
        row = each.row
        if each.standing == "usual":
            continue
        over = None
        if each.standing == "slow":
            over = sum(ns > each.bound_ns for ns in by_row[row.subject, row.model, row.row, row.load])
            if 2 * over <= row.runs:
                continue
        mean_ns = math.exp(row.log_ns)
        yield (
            row.subject,
            FleetRow(
                host=members[row.subject].host or None,
                target=members[row.subject].target or None,
                model=row.model or None,
                phase=row.row,
                standing=each.standing,
                response_mean_ns=mean_ns,
                expected_ns=each.expected_ns,
                bound_ns=each.bound_ns if each.bound_ns < VAGUE * each.expected_ns else None,
                times=mean_ns / each.expected_ns,
                busy_per_s=row.busy_per_s,
                response_p99_ns=row.p99_ns,
                runs=row.runs,
                runs_over=over,
            ),
        )


def _standing(rows: Sequence[FleetRow], judged: int) -> StandingCode:
    slow = [row for row in rows if row.standing == "slow"]
    if slow:
        again = len(slow) >= AGAIN or any((row.runs_over or 0) >= AGAIN for row in slow)
        return "slow" if again else "slow_once"
    if rows:
        return "busy"
    return "usual" if judged else "not_judged"


def _slow(rows: Sequence[FleetRow], standing: StandingCode, judged: int) -> SlowHost:
    """A host by its worst row of those that make it stand so."""
    alike = [row for row in rows if (row.standing == "busy") == (standing == "busy")]
    worst = max(alike, key=lambda row: row.times)
    return SlowHost(
        host=worst.host,
        target=worst.target,
        standing=standing,
        rows=len(alike),
        judged_rows=judged,
        phase=worst.phase,
        response_mean_ns=worst.response_mean_ns,
        expected_ns=worst.expected_ns,
        bound_ns=worst.bound_ns,
        times=worst.times,
        busy_per_s=worst.busy_per_s,
        runs_over=worst.runs_over,
        runs=worst.runs,
    )


def _host(
    member: Member, place: Ranked | None, standing: StandingCode, rows: Sequence[FleetRow], judged: int
) -> FleetHost:
    return FleetHost(
        rank=place.rank if place else None,
        group=place.group if place else None,
        host=member.host or None,
        target=member.target or None,
        model=member.model,
        runs=member.runs,
        rows=place.score.rows if place else 0,
        speed=place.speed if place else None,
        speed_low=place.low if place else None,
        speed_high=place.high if place else None,
        standing=standing,
        slow_rows=sum(row.standing == "slow" for row in rows) if judged else None,
        busy_rows=sum(row.standing == "busy" for row in rows) if judged else None,
        judged_rows=judged,
        run=member.run,
        folder=member.folder,
    )


def _differences(members: Sequence[Member], standings: Mapping[int, StandingCode]) -> Iterator[FleetDifference]:
    """What tells slow hosts from the others that were judged, on disks of the same models."""
    slow = [members[at] for at, standing in standings.items() if standing == "slow"]
    models = {member.model for member in slow}
    others = [
        members[at] for at, each in standings.items() if each in ("usual", "busy") and members[at].model in models
    ]
    pairs = (_difference(code, slow, others) for code in dict.fromkeys(code for each in slow for code in each.setting))
    known = [each for each in pairs if each is not None]
    yield from sorted(known, key=lambda each: each.others / each.others_known - each.slow / each.slow_known)


def _difference(code: DifferenceCode, slow: Sequence[Member], others: Sequence[Member]) -> FleetDifference | None:
    of_slow = Counter(member.setting[code] for member in slow if code in member.setting)
    of_others = Counter(member.setting[code] for member in others if code in member.setting)
    if not of_slow or not of_others:
        return None
    value = max(of_slow, key=lambda each: of_slow[each] / of_slow.total() - of_others[each] / of_others.total())
    if of_slow[value] / of_slow.total() - of_others[value] / of_others.total() < APART:
        return None
    return FleetDifference(
        code=code,
        value=value,
        slow=of_slow[value],
        slow_known=of_slow.total(),
        others=of_others[value],
        others_known=of_others.total(),
    )
