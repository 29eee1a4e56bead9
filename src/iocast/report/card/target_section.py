"""The target section of a report: what was tested, on which machine, down to the disks, what was not seen."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence

from msgspec.structs import replace

from iocast import text
from iocast.model.finding import FailedDetector
from iocast.model.measurement import EngineReport
from iocast.model.report import Section, Table
from iocast.model.results.layers import LayerRow
from iocast.model.run import Host, Maintenance, PhaseRecord, Run, Source
from iocast.model.target import Target
from iocast.report.card.simulated_device_text import describe
from iocast.report.database import database_text
from iocast.report.prices import price_line, price_of
from iocast.report.result_tables import filled, result_table
from iocast.report.wording import section, words

# What the source of an imported run may leave out, as one says it.
UNSTATED = {
    "users": "the number of users",
    "depth": "the queue depth",
    "direct": "direct or buffered I/O",
    "sync": "synchronous or asynchronous writes",
    "size": "the I/O size",
    "length": "the duration",
    "ios": "the number of I/Os",
}

ENGINES = {"uring": "io_uring", "sync": "sync", "sim": "simulated"}


def target_section(run: Run, layers: Sequence[LayerRow], void: Container[str] = ()) -> Section:
    """File system, machine, device stack, and what stayed out of sight."""
    if run.source is not None:
        return section("source", tuple(_source(run, run.source)))
    target = run.plan.target
    paragraphs = [_place(target, run.host.memory_bytes), _machine(run.host), engine_line(run)]
    paragraphs.append(price_line(price_of(run, void)))
    tables = (_layers(layers),) if layers else ()
    return section("target", tuple(line for line in paragraphs if line), tables)


def _source(run: Run, source: Source) -> Iterator[str]:
    """Whose figures these are, and what is said of the place and the machine where they were taken."""
    tool = f"{source.tool} {source.version}".rstrip()
    yield f"Imported from {tool}: {', '.join(source.files)}. iocast did not measure this."
    host, parts = run.host, []
    parts += [run.host.name] if host.name else []
    parts += [f"{host.cpus} CPU" + ("s" if host.cpus != 1 else "")] if host.cpus else []
    parts += [host.kernel] if host.kernel else []
    machine = f"Machine {', '.join(parts)}." if parts else ""
    moment = "" if run.started_unix_ns else "Start time unknown."
    path = run.plan.target.path
    yield from _unstated(run.measured)
    yield " ".join(filter(None, [f"Target: {path}." if path else "", machine, moment, engine_line(run)]))


def _unstated(records: Sequence[PhaseRecord]) -> Iterator[str]:
    """What no row says, and what some of them leave out."""
    names = dict.fromkeys(name for each in records for name in each.unstated if name in UNSTATED)
    in_all = [name for name in names if all(name in each.unstated for each in records)]
    in_some = [name for name in names if name not in in_all]
    if in_all:
        yield f"Not stated: {', '.join(UNSTATED[name] for name in in_all)}."
    if in_some:
        yield f"Not stated of some rows: {', '.join(UNSTATED[name] for name in in_some)}."


def blind_section(run: Run, failed: tuple[FailedDetector, ...] = ()) -> Section | None:
    """What could not be seen, and what the workshop wants known; None when there is nothing to say."""
    shown = {f"Engine: {note}" for note in _engine_notes(run)}
    lines = [
        *map(_failure, failed),
        *map(_maintenance, run.maintenance),
        *(warning for warning in run.warnings if warning not in shown),
        *(f"Not observed by {blind.observer}: {blind.why}" for blind in run.blind),
        *run.plan.target.notes,
    ]
    return section("remarks", tuple(dict.fromkeys(map(_sentence, lines)))) if lines else None


def _maintenance(task: Maintenance) -> str:
    where = "" if task.below_target else ", which may not be below this target"
    return f"Maintenance before the first row: {text.maintenance(task.task, task.subject, task.done)}{where}"


def _failure(failed: FailedDetector) -> str:
    why = f"{failed.why} ({failed.where})"
    if failed.step == "confirm":
        suspected = " and ".join(map(words, failed.codes))
        says = f"The detector {failed.detector} failed to plan its experiment: {why}"
        return f"{says}; {suspected} is untested, please report"
    return f"The detector {failed.detector} failed: {why}; its findings are missing, please report"


def engine_line(run: Run) -> str:
    """Which engine ran, how it was set up, and what it had to do without; "" when nothing was measured."""
    engines = [record.measurement.engine for record in run.measured]
    ran = []
    for name in dict.fromkeys(engine.name for engine in engines):
        same = [engine for engine in engines if engine.name == name]
        setup = [flag for flag in same[0].flags if all(flag in each.flags for each in same)]
        pages = dict.fromkeys(_pages(engine) for engine in same if engine.buffers not in ("", "none"))
        how = [", ".join(setup), f"buffers in {' or '.join(pages)}" if pages else ""]
        said = "; ".join(filter(None, how))
        ran.append(ENGINES.get(name, name) + (f" ({said})" if said else ""))
    if not ran:
        return ""
    return "; ".join([f"Engine: {' and '.join(ran)}", *_engine_notes(run)]).rstrip(".") + "."


def _pages(engine: EngineReport) -> str:
    """What the buffers lie in; that they are registered is among the flags, that small ones need no more is plain."""
    pages = engine.buffers.removeprefix("registered, ")
    return pages.removesuffix(" (small buffers)").removesuffix(" (small enough for them)")  # as version 0.1 wrote it


def _engine_notes(run: Run) -> tuple[str, ...]:
    return tuple(dict.fromkeys(note for record in run.phases for note in record.measurement.engine.notes))


def _sentence(line: str) -> str:
    return line if line.endswith((".", "!", "?")) else f"{line}."


def _place(target: Target, memory_bytes: int) -> str:
    if target.kind == "sim":
        what = f" {describe(target.simulated)}." if target.simulated else ""
        return f"{target.path} is a simulated device: virtual time, exact answers.{what}"
    if target.kind == "block":
        size = f" of {text.capacity(target.size_bytes)}" if target.size_bytes else ""
        return f"{target.path} is a block device{size}, tested without a file system."
    if target.database is not None:
        return database_text.place(target, memory_bytes)
    words = [f"{target.path} is on {target.filesystem or 'an unknown file system'}"]
    if target.mount_source and target.mount_source != target.filesystem:  # tmpfs has no source but its name
        words.append(f"of {target.mount_source}")
    if target.mount_options:
        words.append(f"({target.mount_options})")
    room = ""
    if target.free_bytes is not None and target.total_bytes:
        room = f"; {text.capacity(target.free_bytes)} of {text.capacity(target.total_bytes)} are free"
    direct = (
        "" if target.direct is not False else f" Direct I/O is not available: {target.direct_why_not or 'refused'}."
    )
    return " ".join(words) + room + "." + direct


def _machine(host: Host) -> str:
    cpus = f"{host.cpus} CPU" + ("s" if host.cpus != 1 else "")
    virtual = f", guest of {host.virtualisation}" if host.virtualisation else ""
    limit = host.memory_limit_bytes
    group = "" if limit is None else f" ({text.capacity(limit)} for this test's control group)"
    model = f" ({host.cpu_model})" if host.cpu_model else ""
    system = f"{host.kernel}{virtual}"
    return f"Machine {host.name}: {cpus}{model}, {text.capacity(host.memory_bytes)} of memory{group}, {system}."


def _layers(layers: Sequence[LayerRow]) -> Table:
    words: dict[str, Callable[[LayerRow], str]] = {
        "spins": lambda each: "" if each.spins is None else "yes" if each.spins else "no"
    }
    table = filled(result_table(LayerRow, layers, key="layers", words=words))
    below = (replace(row, part=each.level > 0) for row, each in zip(table.rows, layers, strict=True))
    return replace(table, rows=tuple(below))
