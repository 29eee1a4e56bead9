"""load-db script: the same load as scripts for SQL*Plus, in files that iocast made and nobody changed since."""

from __future__ import annotations

from pathlib import Path

from iocast.archive.writing.named_outputs import check_output, make_directory, put_output
from iocast.errors import SpecError
from iocast.model.database.database_load import LEAST_BLOCKS, MOST_WORK_UNIT, DataSet, LoadRamp
from iocast.sessions.events import DatabaseNoted
from iocast.tools.oracle.load_scripts import BLOCK_BYTES, FILLER_BYTES, MOST_TABLES, NOT_TRIED, OracleLoad, scripts


def write_scripts(directory: str, data_set: DataSet, ramp: LoadRamp, *, force: bool = False) -> DatabaseNoted:
    """Writes them into a directory, which is made if it is missing; says what comes next. Raises IocastError."""
    texts = scripts(oracle_load(data_set, ramp))
    place = Path(directory)
    make_directory(place, "DIRECTORY")
    for name in texts:
        check_output(place / name, "DIRECTORY", force=force)
    for name, text in texts.items():
        mode = 0o777 if name.endswith(".sh") else 0o666
        put_output(place / name, text.encode(), "DIRECTORY", force=force, mode=mode)
    return DatabaseNoted(f"wrote {', '.join(texts)} into {place}, to be used in this order. {NOT_TRIED}")


def oracle_load(data_set: DataSet, ramp: LoadRamp) -> OracleLoad:
    """What the scripts are to do. Raises SpecError for what they cannot."""
    load, hot, think = ramp.load, ramp.load.hot, ramp.load.think
    blocks = data_set.blocks(BLOCK_BYTES)
    _refuse(
        (blocks < LEAST_BLOCKS, f"a table of {blocks} blocks", f"give at least {LEAST_BLOCKS} blocks of 8 KiB a table"),
        (data_set.tables > MOST_TABLES, f"{data_set.tables} tables", f"give at most {MOST_TABLES}"),
        (data_set.filling == "full", "--fill full", "give --fill row or half: a RAW of SQL has at most 2,000 bytes"),
        (load.zipf_theta is not None, "--zipf", "give --hot, which the scripts have"),
        (ramp.rate_per_s is not None, "--rate", "leave it out: the scripts have closed loops"),
        (ramp.until_steady, "--until-steady", "leave it out: the scripts run for --time"),
        (load.driver != "server", "--driver client", "leave it out: the loop runs on the server"),
        (not 1 <= load.work_unit <= min(MOST_WORK_UNIT, blocks), f"--work-unit {load.work_unit}", "give fewer blocks"),
        (ramp.seconds < 1, "--time below 1s", "give whole seconds"),
        (
            hot is not None and hot.offset_bytes + hot.size_bytes > blocks * BLOCK_BYTES,
            "a hot spot beyond the table",
            "make it smaller",
        ),
        (
            hot is not None and hot.size_bytes < load.work_unit * BLOCK_BYTES,
            "a hot spot smaller than a work unit",
            "make it larger",
        ),
    )
    return OracleLoad(
        table_blocks=blocks,
        tables=data_set.tables,
        filler_bytes=FILLER_BYTES[data_set.filling],
        seed=data_set.seed,
        sessions=ramp.sessions,
        seconds=round(ramp.seconds),
        update_pct=load.update_pct,
        scan_pct=load.scan_pct,
        scan_blocks=load.scan_blocks,
        work_unit=load.work_unit,
        heavy=load.redo == "heavy",
        hot_first=hot.offset_bytes // BLOCK_BYTES if hot else 0,
        hot_blocks=hot.size_bytes // BLOCK_BYTES if hot else 0,
        hot_every=hot.every if hot else 0,
        think_least_s=think.least_ns / 1e9 if think else 0.0,
        think_most_s=think.most_ns / 1e9 if think else 0.0,
        think_every=think.every if think else 0,
    )


def _refuse(*faults: tuple[bool, str, str]) -> None:
    for is_so, what, way_out in faults:
        if is_so:
            raise SpecError(f"the scripts for Oracle cannot do {what}", way_out)
