"""The report of a sizing: how many devices, what binds, how they stand the load, a failure and the years to come."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from msgspec import Struct

from iocast import text
from iocast.forecast.storage.size_storage import LARGE_GROUP, Carried, Count, Sized
from iocast.forecast.storage.size_volumes import VolumePlan
from iocast.forecast.storage.storage_need import StorageNeed
from iocast.model.codes import NeedCode
from iocast.model.report import Cell, Chart, Column, Report, Row, Table
from iocast.report.charts import charts_at
from iocast.report.charts.subjects.sized_need import SizedNeed
from iocast.report.forecast.model_tables import NS
from iocast.report.wording import NEEDS, section

LEVELS = {"raid0": "no RAID", "raid1": "RAID 1", "raid10": "RAID 10", "raid5": "RAID 5", "raid6": "RAID 6"}
FULL = 0.95  # of the throughput: nothing is left
HOUR_S = 3600.0

COUNTS = (
    Column("need", "for", "code"),
    Column("asked", "asked at peak"),
    Column("devices", "devices", "count"),
    Column("mark", "binds"),
)
STATES = (
    Column("state", "state"),
    Column("rate", "IOPS\neach", "rate"),
    Column("utilisation", "utilisation", "share"),
    Column("mean", "mean", "duration"),
    Column("limited", "limited", "duration"),
    Column("limit", "limit", "duration"),
    Column("verdict", "met"),
)
YEARS = (
    Column("year", "year", "count"),
    Column("capacity_text", "capacity"),
    Column("iops", "IOPS", "count"),
    Column("throughput", "MB/s", "bytes_per_s"),
    Column("devices", "devices", "count"),
    Column("binding", "binds", "code"),
    Column("cost", "cost", "count"),
)
EACH = (
    Column("size_gib", "GiB\neach", "count"),
    Column("iops", "IOPS\neach", "count"),
    Column("mib_per_s", "MiB/s\neach", "count"),
    Column("cost", "cost a month,\nall", "count"),
)

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
    plan = sized.final
    tables = [_counts(sized), *([_states(plan)] if plan.need.iops else [])]
    if isinstance(plan, VolumePlan):
        tables.append(_provisioned(plan))
    if len(sized.years) > 1:
        tables.append(_years(sized))
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
    )


def _verdict(sized: SizedDevice) -> str:
    plan = sized.final
    years = len(sized.years) - 1
    when = f" for {text.counted(years, 'year')} of growth ({sized.years[0].devices} today)" if years else ""
    if isinstance(plan, VolumePlan):
        each = f"of {plan.size_gib:,} GiB, {plan.iops:,} IOPS and {plan.mib_per_s:,} MiB/s"
        if plan.devices == 1:
            return f"1 {sized.name} volume {each}{when}. {_stands(plan)}"
        return f"{plan.devices} {sized.name} volumes {each} each{when}: {NEEDS[plan.binding]} binds. {_stands(plan)}"
    spares = f" and {text.counted(plan.layout.spares, 'spare')}" if plan.layout.spares else ""
    level = "without RAID" if plan.layout.level == "raid0" else f"in {LEVELS[plan.layout.level]}"
    name = "devices as measured" if sized.measured else sized.name
    return f"{plan.devices} {name} {level}{spares}{when}: {_why(plan)}. {_stands(plan)}"


def _why(plan: Plan) -> str:
    """Why so many: what binds, or that the fewest there can be are enough."""
    if plan.binding != "layout":
        return f"{NEEDS[plan.binding]} binds"
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
            return decimal_size(need.capacity_bytes)
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


def decimal_size(size_bytes: float) -> str:
    """A capacity as disks are sold: "2 TB", "960 GB"."""
    for factor, unit in ((1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if size_bytes >= factor:
            return f"{size_bytes / factor:.4g} {unit}"
    return f"{size_bytes:.0f} bytes"


def _asked_for(plan: Plan) -> list[Count]:
    """The counts of what is asked for."""
    nothing = {code for code, most in (("iops", plan.need.iops), ("throughput", plan.need.bytes_per_s)) if not most}
    return [each for each in plan.counts if each.code not in nothing]


def _counts(sized: SizedDevice) -> Table:
    plan = sized.final
    known = _asked_for(plan)
    rows = [
        Row(
            {
                "need": each.code,
                "asked": asked_for(each.code, plan.need),
                "devices": each.devices,
                "mark": "binds" if each.code == plan.binding else "",
                "binds": each.code == plan.binding,
            }
        )
        for each in known
    ]
    if plan.binding not in {each.code for each in known}:  # volumes that are given more than the rates alone need
        cells: dict[str, Cell] = {"need": plan.binding, "asked": asked_for(plan.binding, plan.need)}
        rows.append(Row({**cells, "devices": plan.devices, "mark": "binds", "binds": True}))
    return Table(
        f"{sized.noun.capitalize()}s for each need", COUNTS, tuple(rows), key="counts", notes=tuple(_notes(sized))
    )


def _notes(sized: SizedDevice) -> Iterator[str]:
    plan = sized.final
    yield from sized.notes
    if isinstance(plan, Sized):
        layout = plan.layout
        times = text.three_figures(plan.usable_bytes / plan.need.capacity_bytes)
        yield (
            f"Usable: {decimal_size(plan.usable_bytes)}, {times} times the capacity asked for. Planned for at most "
            f"{layout.most_utilisation:.0%} of the IOPS."
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


def _states(plan: Plan) -> Table:
    states = [(plan.normal, False)]
    if isinstance(plan, Sized) and plan.failed:
        states.append((plan.failed, True))
    columns = tuple(
        Column(each.key, _limited_title(plan), each.kind) if each.key == "limited" else each
        for each in STATES
        if plan.need.latency or each.key not in ("limit", "verdict")
    )
    if plan.need.latency and plan.need.latency.quantile is None:
        columns = tuple(each for each in columns if each.key != "limited")
    rows = tuple(_state(plan, each, failed=failed) for each, failed in states)
    notes = ("Response times take random arrivals; bursts make them longer (iocast model ggc, burst).",)
    return Table("Under load", columns, rows, key="states", notes=notes)


def _limited_title(plan: Plan) -> str:
    latency = plan.need.latency
    return "p99" if latency is None or latency.quantile is None else latency.name


def _state(plan: Plan, carried: Carried, *, failed: bool) -> Row:
    limit = plan.need.latency
    limited = carried.limited_s
    met = None if limit is None or limited is None else limited <= limit.limit_s
    cells: dict[str, Cell] = {
        "state": "one failed, busiest device" if failed else "at peak",
        "rate": carried.rate_per_s,
        "utilisation": carried.utilisation,
        "mean": _finite(carried.mean_s),
        "limited": _finite(limited) if limit is None or limit.quantile is not None else None,
        "limit": limit.limit_s * NS if limit else None,
        "failed": failed,
        "met": met,
        "verdict": "" if met is None else "yes" if met else "no",
    }
    return Row(cells)


def _finite(time_s: float | None) -> float | None:
    return time_s * NS if time_s is not None and math.isfinite(time_s) else None


def _provisioned(plan: VolumePlan) -> Table:
    cells: dict[str, Cell] = {
        "size_gib": plan.size_gib,
        "iops": plan.iops,
        "mib_per_s": plan.mib_per_s,
        "cost": plan.cost,
    }
    columns = EACH if plan.cost is not None else EACH[:-1]
    notes = ("The limits of the instance cap the sum of its volumes: check them too.",)
    return Table("Provision each volume with", columns, (Row(cells),), key="provisioned", notes=notes)


def _years(sized: SizedDevice) -> Table:
    rows = tuple(
        Row(
            {
                "year": year,
                "capacity_text": decimal_size(plan.need.capacity_bytes),
                "capacity_bytes": plan.need.capacity_bytes,
                "iops": round(plan.need.iops),
                "rate_per_s": plan.need.iops,
                "throughput": plan.need.bytes_per_s or None,
                "devices": plan.devices,
                "binding": plan.binding,
                "cost": plan.cost,
            }
        )
        for year, plan in enumerate(sized.years)
    )
    filled = tuple(each for each in YEARS if any(row.cells[each.key] is not None for row in rows))
    growth = sized.final.need.growth
    note = f"Capacity, IOPS and throughput grow together by {growth:.0%} a year; the response time stays as it is."
    return Table("Years", filled, rows, key="years", notes=(note,))


def _charts(sized: SizedDevice) -> tuple[Chart, ...]:
    plan = sized.final
    counts = tuple((NEEDS[each.code], each.devices) for each in _asked_for(plan))
    subject = SizedNeed(sized.name, counts, NEEDS[plan.binding], plan.devices, _why(plan), sized.noun)
    return charts_at("sizing", subject)


def _steps(sized: SizedDevice) -> tuple[str, ...]:
    if sized.measured:
        return ("Test what you bought before production: iocast card PATH.",)
    return (
        "A data sheet is no measurement: measure one device (iocast card PATH --preset standard) and size with"
        " --device RUN_FOLDER.",
    )


class NotSized(Struct, frozen=True):
    """A device that cannot carry the need, and why."""

    name: str
    why: str


OVERVIEW = (
    Column("device", "device"),
    Column("devices", "count", "count"),
    Column("level", "layout", spare=3),
    Column("binding", "binds", "code"),
    Column("utilisation", "busy", "share"),
    Column("mean", "mean", "duration", spare=1),
    Column("limited", "p99", "duration"),
    Column("failed", "busy, one\nfailed", "share"),
    Column("usable_text", "usable", spare=2),
    Column("why", "why not"),
)


def overview(need: StorageNeed, found: Sequence[SizedDevice | NotSized], notes: Sequence[str]) -> Report:
    """All devices of the library beside each other."""
    able = [each for each in found if isinstance(each, SizedDevice)]
    rows = [_overview_row(each) for each in found]
    limit = able[0].final.need.latency if able else None
    name = "p99" if limit is None or limit.quantile is None else limit.name
    columns = tuple(Column(each.key, name, each.kind) if each.key == "limited" else each for each in OVERVIEW)
    filled = tuple(each for each in columns if any(row.cells.get(each.key) not in (None, "") for row in rows))
    said = ", ".join(f"{each.final.devices} {each.name} ({_why(each.final)})" for each in able)
    return Report(
        title="Size · devices of the library",
        verdict=f"{said}." if able else "No device of the library carries this need.",
        sections=(
            section(
                "sizing",
                (needed(need),),
                (Table("Devices", filled, tuple(rows), key="library", notes=tuple(notes)),),
            ),
        ),
        next_steps=("For one of them in full: --device NAME. Your own: --device FILE.toml or --device RUN_FOLDER.",),
        kind="size",
    )


def _overview_row(each: SizedDevice | NotSized) -> Row:
    if isinstance(each, NotSized):
        return Row({"device": each.name, "why": each.why})
    plan = each.final
    quantile = plan.need.latency is None or plan.need.latency.quantile is not None
    failed = plan.failed if isinstance(plan, Sized) else None
    cells: dict[str, Cell] = {
        "device": each.name,
        "devices": plan.devices,
        "level": "volumes" if isinstance(plan, VolumePlan) else LEVELS[plan.layout.level],
        "binding": plan.binding,
        "utilisation": plan.normal.utilisation if plan.need.iops else None,
        "mean": _finite(plan.normal.mean_s) if plan.need.iops else None,
        "limited": _finite(plan.normal.limited_s) if plan.need.iops and quantile else None,
        "failed": failed.utilisation if failed and plan.need.iops else None,
        "usable_text": decimal_size(plan.usable_bytes),
        "usable_bytes": plan.usable_bytes,
    }
    return Row(cells)
