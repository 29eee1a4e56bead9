"""The report of a sizing: how many devices, what binds, how they stand the load, a failure and the years to come."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from iocast import text
from iocast.forecast.storage.size_storage import LARGE_GROUP, Carried, Sized
from iocast.forecast.storage.size_volumes import VolumePlan
from iocast.forecast.storage.storage_need import StorageNeed
from iocast.model.codes import NeedCode
from iocast.model.report import Chart, Report, Table
from iocast.model.results.size import Loaded, Needed, Provisioned, Size, SizedModel, Year
from iocast.report.charts import charts_at
from iocast.report.charts.subjects import SizedNeed
from iocast.report.result_tables import filled, result_table
from iocast.report.wording import LIMITED, NEEDS, section
from iocast.results.size import asked_counts, size_of, sized_model

LEVELS = {
    "raid0": "no RAID",
    "raid1": "RAID 1",
    "raid10": "RAID 10",
    "raid5": "RAID 5",
    "raid6": "RAID 6",
    "volumes": "volumes",
}
FULL = 0.95  # of the throughput: nothing is left
HOUR_S = 3600.0
NS = 1e9

Plan = Sized | VolumePlan


class SizedDevice(Struct, frozen=True, kw_only=True):
    """A sizing for one device: today and each year on, what was assumed, and where the device comes from."""

    name: str
    about: str
    source: str
    years: tuple[Plan, ...]  # today first
    notes: tuple[str, ...] = ()
    measured: bool = False  # by a run, whose name is `name`

    @property
    def final(self) -> Plan:
        """What the last year takes."""
        return self.years[-1]

    @property
    def noun(self) -> str:
        """What it is counted in."""
        return "volume" if isinstance(self.final, VolumePlan) else "device"


def size_report(sized: SizedDevice, *, charts: bool = False) -> Report:
    """What one device takes."""
    plan, result = sized.final, size_of(sized.years)
    tables = [_counts(sized, result.counts)]
    tables += [_states(plan, result.states)] if result.states else []
    tables += [_provisioned(result.provisioned)] if result.provisioned else []
    tables += [_years(plan, result.years)] if result.years else []
    return Report(
        title=f"Size · {sized.name}",
        verdict=_verdict(sized),
        sections=(
            section(
                "sizing",
                (needed(sized.years[0].need), f"{sized.about}. Source: {sized.source}."),
                tuple(tables),
                _charts(sized) if charts else (),
            ),
        ),
        next_steps=_steps(sized),
        kind="size",
        result=result,
    )


def _verdict(sized: SizedDevice) -> str:
    plan = sized.final
    years = len(sized.years) - 1
    when = f" for {text.counted(years, 'year')} of growth ({sized.years[0].devices} today)" if years else ""
    if isinstance(plan, VolumePlan):
        each = f"of {plan.size_gib:,} GiB, {plan.iops:,} IOPS and {plan.mib_per_s:,} MiB/s"
        if plan.devices == 1:
            return f"1 {sized.name} volume {each}{when}. {_stands(plan)}"
        volumes = f"{plan.devices} {sized.name} volumes {each} each{when}"
        return f"{volumes}: limited by {LIMITED[plan.binding]}. {_stands(plan)}"
    spares = f" and {text.counted(plan.layout.spares, 'spare')}" if plan.layout.spares else ""
    level = "without RAID" if plan.layout.level == "raid0" else f"in {LEVELS[plan.layout.level]}"
    name = "devices as measured" if sized.measured else sized.name
    return f"{plan.devices} {name} {level}{spares}{when}: {_why(plan)}. {_stands(plan)}"


def _why(plan: Plan) -> str:
    """Why so many: what binds, or that the fewest there can be are enough."""
    if plan.binding != "layout":
        return f"limited by {LIMITED[plan.binding]}"
    return "one is enough" if plan.devices == 1 else f"the smallest {LEVELS[plan.layout.level]} is enough"


def _stands(plan: Plan) -> str:
    """How it stands the peak, and a failure."""
    parts = []
    if plan.need.iops:
        parts.append(f"At peak {text.brief_percent(plan.normal.utilisation)} busy{_times(plan, plan.normal)}")
    if plan.throughput_utilisation is not None:
        parts.append(f"throughput {text.brief_percent(plan.throughput_utilisation)} of the limit")
    if isinstance(plan, Sized) and plan.failed and plan.need.iops:
        parts.append(f"after one failure {text.brief_percent(plan.failed.utilisation)}{_times(plan, plan.failed)}")
    elif isinstance(plan, Sized) and not plan.failed:
        parts.append("one failure loses the data")
    said = "; ".join(parts)
    return f"{said[:1].upper()}{said[1:]}."


def _times(plan: Plan, carried: Carried) -> str:
    if carried.limited_s is None:
        return ""
    if math.isinf(carried.limited_s):
        return ", response time unbounded"
    name = plan.need.latency.name if plan.need.latency else "p99"
    limit = f" of {text.brief_time(plan.need.latency.limit_s * NS)}" if plan.need.latency else ""
    return f", {name} {text.brief_time(carried.limited_s * NS)}{limit}"


def needed(need: StorageNeed) -> str:
    """All that was asked for, in a sentence: a sizing is read apart from the command that made it."""
    codes: list[NeedCode] = ["capacity"]
    codes += ["iops"] if need.iops else []
    codes += ["throughput"] if need.bytes_per_s else []
    codes += ["latency"] if need.latency else []
    grown = f", growing by {need.growth:.0%} a year for {text.counted(need.years, 'year')}" if need.years else ""
    return f"Asked for: {'; '.join(asked_for(code, need) for code in codes)}{grown}."


def asked_for(code: NeedCode, need: StorageNeed) -> str:
    """What is asked of one part, in words."""
    match code:
        case "capacity":
            return text.decimal_size(need.capacity_bytes)
        case "iops":
            return f"{need.iops:,.0f} IOPS, {need.read_fraction:.0%} reads of {text.size(need.size_bytes)}"
        case "throughput":
            return text.brief_throughput(need.bytes_per_s)
        case "latency":
            assert need.latency is not None
            return f"{need.latency.name} {text.brief_time(need.latency.limit_s * NS)}"
        case "failure":
            return "at most 85% busy with one device missing"
        case "layout":
            return "nothing asked for needs more"


def _counts(sized: SizedDevice, rows: tuple[Needed, ...]) -> Table:
    need = sized.final.need
    words: dict[str, Callable[[Needed], str]] = {
        "asked": lambda each: asked_for(each.need, need),
        "binds": lambda each: "limits" if each.binds else "",
    }
    title = f"{sized.noun.capitalize()}s for each need"
    return result_table(Needed, rows, key="counts", title=title, words=words, notes=tuple(_notes(sized)))


def _notes(sized: SizedDevice) -> Iterator[str]:
    plan = sized.final
    yield from sized.notes
    if isinstance(plan, Sized):
        layout = plan.layout
        times = text.three_figures(plan.usable_bytes / plan.need.capacity_bytes)
        yield (
            f"Usable: {text.decimal_size(plan.usable_bytes)}, {times} times the capacity asked for. Planned for at most"
            f" {layout.most_utilisation:.0%} of the IOPS."
        )
        group = min(layout.group or plan.devices, plan.devices)
        if layout.level in ("raid5", "raid6") and layout.group:
            yield f"Parity groups of {group} devices (--group)."
        elif layout.level in ("raid5", "raid6") and group > LARGE_GROUP:
            yield (f"All {group} devices are one parity group: a rebuild reads all of them. Divide it, e.g. --group 8.")
        if plan.rebuild_s:
            yield (
                f"A rebuild takes {plan.rebuild_s / HOUR_S:.2g} h at least, at full speed with no other load; until "
                "then another failure may lose data. Its own load is not in the figures after a failure."
            )
    if plan.throughput_utilisation is not None and plan.throughput_utilisation > FULL:
        yield "Throughput is at its limit: nothing is left for growth or bursts."
    if plan.cost is not None:
        yield f"Cost: {plan.cost:,.0f}, in the currency of the prices given."


def _states(plan: Plan, rows: tuple[Loaded, ...]) -> Table:
    limit = plan.need.latency
    leave: tuple[str, ...] = () if limit else ("limit_ns", "met")
    leave += ("limited_ns",) if limit and limit.quantile is None else ()
    words: dict[str, Callable[[Loaded], str]] = {
        "failed": lambda each: "one failed, busiest device" if each.failed else "at peak",
        "met": lambda each: "" if each.met is None else "yes" if each.met else "no",
    }
    headings = {"limited_ns": _limited_title(plan)}
    notes = ("Response times take random arrivals; bursts make them longer (iocast model ggc, burst).",)
    return result_table(
        Loaded, rows, key="states", title="Under load", headings=headings, words=words, notes=notes, leave=leave
    )


def _limited_title(plan: Plan) -> str:
    latency = plan.need.latency
    return "p99" if latency is None or latency.quantile is None else latency.name


def _provisioned(rows: tuple[Provisioned, ...]) -> Table:
    notes = ("The limits of the instance cap the sum of its volumes: check them too.",)
    table = result_table(Provisioned, rows, key="provisioned", title="Provision each volume with", notes=notes)
    return filled(table)


def _years(plan: Plan, rows: tuple[Year, ...]) -> Table:
    growth = plan.need.growth
    note = f"Capacity, IOPS and throughput grow together by {growth:.0%} a year; the response time stays as it is."
    return filled(result_table(Year, rows, key="years", title="Years", notes=(note,)))


def _charts(sized: SizedDevice) -> tuple[Chart, ...]:
    plan = sized.final
    counts = tuple((NEEDS[each.code], each.devices) for each in asked_counts(plan))
    subject = SizedNeed(sized.name, counts, NEEDS[plan.binding], plan.devices, _why(plan), sized.noun)
    return charts_at("sizing", subject)


def _steps(sized: SizedDevice) -> tuple[str, ...]:
    if sized.measured:
        return ("Test what you bought before production: iocast card PATH.",)
    return (
        "A data sheet is not a measurement: measure one device (iocast card PATH --preset standard) and size with"
        " --device RUN_FOLDER.",
    )


class NotSized(Struct, frozen=True):
    """A device that cannot carry the need, and why."""

    name: str
    why: str


def overview(need: StorageNeed, sized: Sequence[SizedDevice | NotSized], notes: Sequence[str]) -> Report:
    """All devices of the library beside each other."""
    able = [each for each in sized if isinstance(each, SizedDevice)]
    models = tuple(
        SizedModel(device=each.name, why=each.why) if isinstance(each, NotSized) else sized_model(each.name, each.final)
        for each in sized
    )
    headings = {"limited_ns": _limited_title(able[0].final)} if able else {}
    words: dict[str, Callable[[SizedModel], str]] = {"layout": lambda each: LEVELS.get(each.layout or "", "")}
    table = result_table(
        SizedModel,
        models,
        key="library",
        title="Devices",
        headings=headings,
        words=words,
        notes=tuple(notes),
    )
    said = ", ".join(f"{each.final.devices} {each.name} ({_why(each.final)})" for each in able)
    return Report(
        title="Size · devices of the library",
        verdict=f"{said}." if able else "No device of the library carries this need.",
        sections=(
            section(
                "sizing",
                (needed(need),),
                (filled(table),),
            ),
        ),
        next_steps=("For one of them in full: --device NAME. Your own: --device FILE.toml or --device RUN_FOLDER.",),
        kind="size",
        result=Size(library=models),
    )
