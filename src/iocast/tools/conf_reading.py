"""slob.conf and pgio.conf become a data set and a load; what does nothing here is noted, what cannot be is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from iocast.errors import SpecError
from iocast.model.database.database_load import DatabaseLoad, DataSet, HotSpot, LoadRamp, Think
from iocast.tools.line_problems import LineProblems
from iocast.tools.pgio import pgio_conf
from iocast.tools.slob import slob_conf
from iocast.tools.source_files import read_text

_CONFS = "a slob.conf of SLOB 2.x or a pgio.conf (docs/guide/slob-and-pgio.md)"


class ConfLoad(Struct, frozen=True, kw_only=True):
    """What a file of settings asks for. `tables` None: SLOB takes it on its command line."""

    path: str
    tool: Literal["SLOB", "pgio"]
    table_bytes: int
    tables: int | None
    sessions_per_table: int
    seconds: float
    load: DatabaseLoad
    notes: tuple[str, ...]

    def data_set(self, tables: int | None = None, seed: int = 1) -> DataSet:
        """What is to be built: `tables` of it, if the file does not say how many."""
        count = tables or self.tables or 1
        return DataSet(size_bytes=count * self.table_bytes, tables=count, seed=seed)

    def ramp(self, tables: int) -> LoadRamp:
        """The load on a data set of so many tables. Raises SpecError beyond the tool's own limit of sessions."""
        if self.tool == "SLOB":
            slob_conf.check_sessions(tables, self.sessions_per_table, self._refuse)
        return LoadRamp(load=self.load, sessions=(tables * self.sessions_per_table,), seconds=self.seconds)

    def _refuse(self, _line: int, message: str, way_out: str) -> None:
        raise SpecError(f"{self.path}: {message}", way_out)


def read_conf(path: str) -> ConfLoad:
    """The settings in a file. Raises SpecError with every problem and its line, SourceError where it cannot be read."""
    text = read_text(path)
    if pgio_conf.looks_like_pgio(text):
        return _pgio(path, text)
    if slob_conf.looks_like_slob(text):
        return _slob(path, text)
    raise SpecError(f"{path} assigns nothing that only SLOB or pgio has", f"give {_CONFS}")


def _slob(path: str, text: str) -> ConfLoad:
    problems = LineProblems(path)
    conf = slob_conf.read_slob_conf(text, problems.add, problems.note)
    if conf.hot_schema_every:
        problems.add(conf.lines["HOT_SCHEMA_FREQUENCY"], "HOT_SCHEMA_FREQUENCY: iocast has no hot schema", "write 0")
    if conf.loops:
        problems.note(f"line {conf.lines['WORK_LOOP']}: WORK_LOOP has no effect: rows end by RUN_TIME")
    _notes(problems, conf.lines, {**slob_conf.INERT, "LOAD_PARALLEL_DEGREE": "iocast builds one table after another"})
    problems.refuse()
    return ConfLoad(
        path=path,
        tool="SLOB",
        table_bytes=conf.scale_blocks * conf.block_bytes,
        tables=None,
        sessions_per_table=conf.threads_per_schema,
        seconds=float(conf.run_s),
        load=DatabaseLoad(
            update_pct=conf.update_percent,
            scan_pct=conf.scan_percent,
            scan_blocks=conf.scan_table_blocks,
            work_unit=conf.work_unit_blocks,
            hot=HotSpot(**_fields(conf.hot_spot)) if conf.hot_spot else None,
            think=Think(**_fields(conf.think)) if conf.think else None,
            redo=conf.redo,
        ),
        notes=problems.notes,
    )


def _pgio(path: str, text: str) -> ConfLoad:
    problems = LineProblems(path)
    conf = pgio_conf.read_pgio_conf(text, problems.add)
    if 0 < conf.update_percent < 100 and conf.update_work_unit_blocks != conf.work_unit_blocks:
        said = f"UPDATE_WORK_UNIT={conf.update_work_unit_blocks}: updates touch as many blocks here as reads"
        problems.add(conf.lines.get("UPDATE_WORK_UNIT", 1), said, f"write WORK_UNIT={conf.update_work_unit_blocks} too")
    work_unit = conf.update_work_unit_blocks if conf.update_percent == 100 else conf.work_unit_blocks
    _notes(problems, conf.lines, pgio_conf.INERT)
    problems.refuse()
    return ConfLoad(
        path=path,
        tool="pgio",
        table_bytes=conf.scale_blocks * pgio_conf.BLOCK_BYTES,
        tables=conf.schemas,
        sessions_per_table=conf.threads_per_schema,
        seconds=float(conf.run_s),
        load=DatabaseLoad(update_pct=conf.update_percent, work_unit=work_unit),
        notes=problems.notes,
    )


def _fields(of: Struct) -> dict[str, int]:
    return {name: getattr(of, name) for name in of.__struct_fields__}


def _notes(problems: LineProblems, lines: Mapping[str, int], inert: Mapping[str, str]) -> None:
    """What the file assigns and does nothing here, in its order."""
    for name, line in lines.items():
        if name in inert:
            problems.note(f"line {line}: {name} has no effect: {inert[name]}")
