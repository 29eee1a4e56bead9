"""The report of a fleet: slow hosts first, then what differs there, then all hosts, the fastest first."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from msgspec import Struct

from iocast import text
from iocast.analyse.host_ranks import CONFIDENCE, NO_MATTER
from iocast.analyse.slow_hosts import LEAST_HOSTS, LEVEL, SLOWER
from iocast.model.report import Report, Section
from iocast.model.results.fleet import Fleet, FleetDifference, FleetHost, SlowHost
from iocast.report.result_tables import filled, result_table
from iocast.report.wording import section

MOST_NAMED = 3  # hosts in the verdict


class FleetNotes(Struct, frozen=True, kw_only=True):
    """What else a reader must know: other jobs, runs that are left out, loads that nobody counted."""

    other_jobs: tuple[str, ...] = ()
    unfinished: int = 0
    load_unknown: bool = False
    directories: tuple[str, ...] = ()


def fleet_report(result: Fleet, notes: FleetNotes) -> Report:
    """What is known of the hosts that ran one job."""
    return Report(
        title=f"Fleet · {result.compared_job}",
        verdict=_verdict(result),
        sections=tuple(_sections(result, notes)),
        kind="fleet",
        result=result,
        next_steps=tuple(_next_steps(result, notes)),
    )


def _verdict(result: Fleet) -> str:
    """How many hosts are slow and which, how many are busy, and who is like whom."""
    judged = [host for host in result.hosts if host.judged_rows]
    if not judged and all(host.rank is None for host in result.hosts):
        if len(result.hosts) == 1:
            return f"Nothing to compare: only {_name(result.hosts[0])} ran {result.compared_job}."
        return f"Nothing to compare: no two of {len(result.hosts)} hosts share a row of {result.compared_job}."
    slow = [each for each in result.slow if each.standing == "slow"]
    if not judged:
        says = f"Too few hosts to find slow ones: {LEAST_HOSTS} with the same disk model are needed. Ranking only."
    elif not slow:
        says = f"No host of {len(judged)} is slow for its load."
    else:
        worst, are = slow[0], "is" if len(slow) == 1 else "are"
        whose = "Worst row:" if len(slow) == 1 else f"Worst: {_name(worst)},"
        says = (
            f"{len(slow)} of {text.counted(len(judged), 'host')} {are} slow: {_named(slow)}. {whose} {worst.phase},"
            f" {text.duration(worst.response_mean_ns)}, {text.three_figures(worst.times)} times the"
            f" {text.duration(worst.expected_ns)} expected at its load."
        )
    once, busy = ([each for each in result.slow if each.standing == code] for code in ("slow_once", "busy"))
    if once:
        says += f" Slow in a single row of a single run, so measure again: {_named(once)}."
    if busy:
        says += f" Busy, not slow: {_named(busy)}."
    return f"{says} {_ranks(result)}"


def _ranks(result: Fleet) -> str:
    runs, ranked = text.counted(result.runs, "run"), [host for host in result.hosts if host.rank is not None]
    if not ranked:
        return "No ranking: no two hosts share a closed-loop row."
    groups = max(host.group or 0 for host in ranked)
    if not groups:
        return f"{text.counted(len(ranked), 'host')} ranked by {runs}; groups need two runs of a host."
    if groups == 1:
        return f"All {len(ranked)} hosts are alike in {runs}."
    return f"{len(ranked)} hosts in {groups} groups of equals, by {runs}; fastest: {_name(ranked[0])}."


def _name(host: SlowHost | FleetHost) -> str:
    return host.host or host.target or "a host without a name"


def _named(hosts: list[SlowHost]) -> str:
    names = list(dict.fromkeys(map(_name, hosts)))
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def _sections(result: Fleet, notes: FleetNotes) -> Iterator[Section]:
    alike = ("target", "model")
    leave = tuple(name for name in alike if len({getattr(host, name) for host in result.hosts}) < 2)
    if result.slow:
        table = result_table(
            SlowHost,
            result.slow,
            key="slow",
            words={
                "rows": lambda each: f"{each.rows} of {each.judged_rows}",
                "runs_over": lambda each: "" if each.runs_over is None else f"{each.runs_over} of {each.runs}",
            },
            leave=leave,
            notes=tuple(_slow_notes(notes)),
        )
        yield section("slow_hosts", tables=(filled(table),))
    if any(each.standing == "slow" for each in result.slow):
        table = result_table(
            FleetDifference,
            result.differences,
            key="differences",
            words={
                "slow": lambda each: f"{each.slow} of {each.slow_known}",
                "others": lambda each: f"{each.others} of {each.others_known}",
            },
            notes=("Others: hosts with the same disk model that are not slow. A difference is not proof of a cause.",),
        )
        nothing = "No recorded setting differs: model, firmware, scheduler and kernel are those of the other hosts."
        yield section("setting", tables=(table,)) if result.differences else section("setting", (nothing,))
    if result.hosts:
        table = result_table(FleetHost, result.hosts, key="hosts", leave=leave, notes=tuple(_rank_notes(result, notes)))
        yield section("ranks", tables=(filled(table),))


def _slow_notes(notes: FleetNotes) -> Iterator[str]:
    yield (
        f"Slow: above the {LEVEL:.0%} prediction bound of the other hosts at the same load (for all hosts and rows at"
        f" once), and at least {SLOWER - 1:.0%} above the expected value, in most runs. Busy: slower than quiet hosts,"
        " and its load explains it."
    )
    if notes.load_unknown:
        yield "Other I/O was not counted on every host: there, a slow host may only be busy."


def _rank_notes(result: Fleet, notes: FleetNotes) -> Iterator[str]:
    if len(models := {host.model for host in result.hosts}) == 1 and (model := models.pop()):
        yield f"All hosts have the same disk model: {model}."
    yield (
        "Speed: IOPS relative to the median host, averaged over rows. Open-loop rows count only where there are no"
        " others, by the inverse of mean response time."
    )
    if any(host.group for host in result.hosts):
        yield (
            f"A new group starts where a host is slower than the fastest of its group by more than {NO_MATTER:.0%} and"
            f" by more than chance ({CONFIDENCE:.0%} for all pairs)."
        )
    if few := sum(not host.judged_rows for host in result.hosts):
        yield f"{text.counted(few, 'host')} not judged: fewer than {LEAST_HOSTS} have the same disk model."
    if alone := sum(host.rank is None for host in result.hosts):
        yield f"{text.counted(alone, 'host')} not ranked: no other host ran the same rows."
    if notes.unfinished:
        yield f"{text.counted(notes.unfinished, 'unfinished run')} left out."


def _next_steps(result: Fleet, notes: FleetNotes) -> Iterator[str]:
    slow = next((each for each in result.slow if each.standing in ("slow", "slow_once")), None)
    places = shlex.join(notes.directories)
    if slow is not None:
        host = next(each for each in result.hosts if (each.host, each.target) == (slow.host, slow.target))
        yield f"To see its last card: iocast report {shlex.quote(host.folder)}"
        words = ["iocast", "trend", slow.target or "", notes.directories[0]]
        words += ["--host", slow.host or "", "--job", result.compared_job]
        yield f"To see since when: {shlex.join(words)}"
    if notes.other_jobs:
        yield f"For another job of these hosts: iocast fleet {places} --job {shlex.quote(notes.other_jobs[0])}"
