"""Size: how many devices of the library, of a device file or as a run measured them carry a need."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from iocast import units
from iocast.analyse.facts import Facts
from iocast.diagnose.excluded_rows import met_another_state
from iocast.diagnose.stalled_rows import stall_caution, stalled_rows
from iocast.errors import AnalysisError, SpecError
from iocast.forecast.laws.disks import raid_level
from iocast.forecast.storage.measured_device import MeasuredDevice, measured_device
from iocast.forecast.storage.size_storage import RatedDevice, TooSlow, size_storage
from iocast.forecast.storage.size_volumes import size_volumes
from iocast.forecast.storage.storage_device import StorageDevice, built_in, built_in_devices, read_device
from iocast.forecast.storage.storage_need import Layout, StorageNeed
from iocast.model.codes import NeedCode
from iocast.model.report import Report
from iocast.model.run import PhaseRecord
from iocast.report.forecast.size_report import NotSized, SizedDevice, overview, size_report
from iocast.sessions.forecasting.sizing_need import assumptions, need_of
from iocast.sessions.in_notebook import InNotebook
from iocast.sessions.requests.size import SizeRequest
from iocast.sessions.run_card import open_card

USUAL_GROUP = {"raid5": 8, "raid6": 10}  # [J] devices of a parity group: larger ones take long to rebuild
BELIEVED = ("A", "B", "C")  # trust of the rows that a sizing may stand on


class Sizing(Struct, InNotebook, frozen=True):
    """A sizing: of one device, or of all of the library where none was named."""

    answers: tuple[SizedDevice | NotSized, ...]
    notes: tuple[str, ...]
    one: bool
    need: StorageNeed

    @property
    def devices(self) -> int | None:
        """How many devices at the end of the growth; None where several kinds were sized."""
        return self._only.final.devices if self._only else None

    @property
    def binding(self) -> NeedCode | None:
        """What makes it that many."""
        return self._only.final.binding if self._only else None

    @property
    def _only(self) -> SizedDevice | None:
        return first if self.one and isinstance(first := self.answers[0], SizedDevice) else None

    def report(self, *, charts: bool = False) -> Report:
        """The sizing as tables, with its chart if asked for."""
        return size_report(self._only, charts=charts) if self._only else overview(self.need, self.answers, self.notes)


def size(size_request: SizeRequest) -> Sizing:
    """Sizes one device, or all of the library. Raises IocastError."""
    need, notes = need_of(size_request), tuple(assumptions(size_request))
    if size_request.device:
        return Sizing((_sized(size_request, need, _device(size_request, need), notes),), notes, one=True, need=need)
    sized_devices: list[SizedDevice | NotSized] = []
    for name, device in built_in_devices().items():
        fitting = replace(size_request, raid="") if device.volume else size_request
        try:
            sized_devices.append(_sized(fitting, need, device, notes))
        except TooSlow as error:
            sized_devices.append(NotSized(name, f"idle {error.limit.name} {error.idle_s * 1e3:.3g} ms"))
        except AnalysisError as error:
            sized_devices.append(NotSized(name, error.message))
    return Sizing(tuple(sized_devices), notes, one=False, need=need)


def _device(size_request: SizeRequest, need: StorageNeed) -> StorageDevice | MeasuredDevice:
    """A device by its name, its file or its run. Raises IocastError."""
    path = Path(size_request.device)
    if size_request.device in built_in_devices():
        return built_in(size_request.device)
    if path.suffix == ".toml":
        return read_device(path)
    if path.is_dir():
        return _measured(size_request, need)
    return built_in(size_request.device)  # which says what is known


def _measured(size_request: SizeRequest, need: StorageNeed) -> MeasuredDevice:
    """The device of a run folder, from rows of trust C or better."""
    card = open_card(size_request.device)
    facts, trust = Facts(card.run), card.examination.trust
    refused = {**met_another_state(facts), **stalled_rows(card.examination)}

    def believed(record: PhaseRecord) -> bool:
        row = trust.get(record.phase.name)
        return row is not None and not row.void and row.grade in BELIEVED and record.phase.name not in refused

    curves = [kept for curve in facts.curves if (kept := curve.only(believed))]
    target = card.run.plan.target
    whole = target.device.size_bytes if target.device else None
    size_bytes = (
        units.parse_size(size_request.device_capacity) if size_request.device_capacity else whole or target.size_bytes
    )
    device = measured_device(Path(size_request.device).name, curves, need.size_bytes, size_bytes)
    return replace(device, caution=stall_caution(card.examination))


def _sized(
    size_request: SizeRequest, need: StorageNeed, device: StorageDevice | MeasuredDevice, notes: tuple[str, ...]
) -> SizedDevice:
    """Today, and each year of growth."""
    years = range(need.years + 1)
    layout = _layout(size_request, device)
    assert isinstance(layout, Layout)
    if isinstance(device, MeasuredDevice):
        if size_request.price is not None:
            device = replace(device, prices=replace(device.prices, each=size_request.price))
        plans = tuple(size_storage(need.after(year), device, layout) for year in years)
        wanted = [op for op, share in (("read", need.read_fraction), ("write", 1 - need.read_fraction)) if share]
        rows = [row for op, names in device.rows if op in wanted for row in names]
        return SizedDevice(
            name=device.name,
            about="The device as this run measured it",
            source=f"rows {', '.join(rows)}",
            years=plans,
            notes=(*notes, *_doubts(device, need.read_fraction)),
            measured=True,
        )
    if size_request.price is not None:
        device = replace(device, prices=replace(device.prices, each=size_request.price))
    if device.volume:
        volumes = tuple(size_volumes(need.after(year), device, layout) for year in years)
        return SizedDevice(name=device.name, about=device.about, source=_source(device), years=volumes, notes=notes)
    plans = tuple(size_storage(need.after(year), RatedDevice(device), layout) for year in years)
    return SizedDevice(name=device.name, about=device.about, source=_source(device), years=plans, notes=notes)


def _source(device: StorageDevice) -> str:
    return f"{device.source} (read {device.checked.isoformat()})"


def _doubts(device: MeasuredDevice, read_fraction: float) -> Iterator[str]:
    """What a reader of a measured sizing should know."""
    used = device.used(read_fraction)
    yield "Only rows of trust A to C are used; response times are the upper end of the forecast for random arrivals."
    if device.caution:
        yield device.caution
    if not all(side.saturated for side in used):
        yield "A ladder was not measured until more load gained nothing: the device may do more."
    if len(used) > 1:
        yield "Reads and writes were measured apart: capacity is divided by 1.3, response times are doubled."


def _layout(size_request: SizeRequest, device: StorageDevice | MeasuredDevice) -> Layout:
    """How devices of a medium are put together unless something else is asked for."""
    medium = device.medium if isinstance(device, StorageDevice) else "ssd"
    usual = "raid0" if medium == "volume" else "raid10"
    none = size_request.raid.lower() in ("none", "no")
    level = raid_level("0" if none else size_request.raid) if size_request.raid else raid_level(usual)
    most = 0.6 if medium == "disk" else 0.7
    if size_request.utilisation:
        most = units.parse_percent(size_request.utilisation) / 100
    if size_request.spares < 0 or (size_request.group or 0) < 0:
        raise SpecError("spares and devices of a group are 0 or more", "for example --spares 1 --group 8")
    group = USUAL_GROUP.get(level, 0) if size_request.group is None else size_request.group
    return Layout(level=level, group=group, most_utilisation=most, spares=size_request.spares)
