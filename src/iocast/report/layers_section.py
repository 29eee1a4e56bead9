"""The section that lines up the layers recorded beside a load, row by row, and names the one that loses the time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from iocast import text
from iocast.analyse.facts import Facts
from iocast.analyse.live.row_layers import RowLayers
from iocast.diagnose.live.layers_verdict import LayersVerdict
from iocast.model.codes import LostTimeCode
from iocast.model.report import Section
from iocast.model.results.layers import RowLayersRow
from iocast.report.result_tables import filled, result_table
from iocast.report.wording import section as titled
from iocast.results.row_layers import watched

NOTE = (
    "Block layer, request and device are all I/O of the devices below the load, from any process; calls are those of"
    " the load, or of the processes that were watched beside it."
)
LOST: dict[LostTimeCode, str] = {
    "none": "no layer",
    "unknown": "unknown",
    "cpu": "CPU",
    "throttle": "throttle",
    "file_system": "file system",
    "device_queue": "device queue",
    "device": "device",
    "journal": "journal",
    "nfs_slots": "NFS client",
    "nfs_server": "NFS server",
    "engine": "database engine",
    "client_path": "client or network",
    "late_statistics": "late statistics",
    "lock": "lock",
    "log": "log",
    "query": "query",
}


def section(facts: Facts, rows: Sequence[RowLayersRow]) -> Section | None:
    """None for a run beside which no layers were recorded."""
    layer_rows = watched(facts)
    if not layer_rows:
        return None
    words: dict[str, Callable[[RowLayersRow], str]] = {"code": lambda each: LOST[each.code] if each.code else ""}
    notes = (NOTE, *_notes([layers for _, layers, _ in layer_rows]))
    table = filled(result_table(RowLayersRow, rows, key="row_layers", words=words, notes=notes))
    verdicts = {layers.phase: lost for _, layers, lost in layer_rows}
    return titled("layers", tuple(_sentences(verdicts)), (table,))


def _sentences(verdicts: dict[str, LayersVerdict]) -> Iterator[str]:
    """Each layer that loses time, with the row that loses the most there; one sentence where none does."""
    losing = {name: times for name, times in verdicts.items() if times.rule}
    for code in dict.fromkeys(times.code for times in losing.values()):
        names = [name for name, times in losing.items() if times.code == code]
        worst = max(names, key=lambda name: losing[name].lost_share or 0.0)
        times = losing[worst]
        more = f" The same on {text.counted(len(names) - 1, 'more row')}." if len(names) > 1 else ""
        yield f"{worst}: {times.says} This is wrong if: {times.refuted_by}. {times.remedy}{more}"
    if not losing:
        codes = {times.code for times in verdicts.values()}
        yield "No layer loses time on any row." if codes == {"none"} else "Too little was seen to name a layer."


def _notes(layers: list[RowLayers]) -> Iterator[str]:
    traces = {each.phase: each.traced for each in layers if each.traced is not None}
    part = min((each.share for each in traces.values()), default=1.0)
    if any(not each.whole for each in traces.values()) and part < 1:
        yield (
            f"Layers were traced in windows, down to {text.percent(part)} of the time; each stands for what the"
            " devices did until the next."
        )
    if costs := [each.reader_share for each in traces.values() if each.reader_share is not None]:
        yield f"Reading the trace took up to {text.percent(max(costs))} of one CPU."
    if lost := [name for name, each in traces.items() if each.lost_events]:
        yield f"{', '.join(lost)}: the trace lost records; the figures cover those that were kept."
