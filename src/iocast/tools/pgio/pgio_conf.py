"""pgio.conf of pgio 1.0: every parameter with the defaults, limits and refusals of its scripts and its function."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from iocast.tools.shell_conf import ConfValues, Fault, read_assignments

LEAST_BLOCKS: Final = 1_024
BLOCK_BYTES: Final = 8_192
# Names that do not change what is measured, and why not.
INERT: Final = {
    "DBNAME": "the URL says which database",
    "CONNECT_STRING": "the URL says where the server is",
    "CREATE_BASE_TABLE": "iocast builds its tables without a seed table",
}
READ: Final = ("UPDATE_PCT", "RUN_TIME", "NUM_SCHEMAS", "NUM_THREADS", "WORK_UNIT", "UPDATE_WORK_UNIT", "SCALE")


class PgioConf(Struct, frozen=True, kw_only=True):
    """What a pgio.conf asks for. `lines`: the names that it assigns, with theirs."""

    update_percent: int
    run_s: int
    schemas: int
    threads_per_schema: int
    work_unit_blocks: int  # a SELECT of pgio reads one row more
    update_work_unit_blocks: int
    scale_blocks: int  # of each table, one row a block of 8 KiB
    lines: dict[str, int]


def looks_like_pgio(text: str) -> bool:
    """Whether a file assigns what only pgio.conf has."""
    names = {each.name for each in read_assignments(text, lambda *_: None)}
    return "NUM_SCHEMAS" in names and bool(names & {"UPDATE_WORK_UNIT", "CONNECT_STRING", "NUM_THREADS"})


def read_pgio_conf(text: str, fault: Fault) -> PgioConf:
    """All of the file. Each fault is told with its line. A SCALE that is not stated is the 128G of runit.sh."""
    values = ConfValues(read_assignments(text, fault), fault)
    values.only((*READ, *INERT), "pgio")
    values.flag("CREATE_BASE_TABLE", True)
    conf = PgioConf(
        update_percent=values.share("UPDATE_PCT", 0),
        run_s=values.whole("RUN_TIME", 300, least=1),
        schemas=values.whole("NUM_SCHEMAS", 1, least=1),
        threads_per_schema=values.whole("NUM_THREADS", 1, least=1),
        work_unit_blocks=values.whole("WORK_UNIT", 255, least=1),
        update_work_unit_blocks=values.whole("UPDATE_WORK_UNIT", 255, least=1),
        scale_blocks=values.blocks("SCALE", "128G", block_bytes=BLOCK_BYTES, least=LEAST_BLOCKS),
        lines=values.lines,
    )
    for name in ("WORK_UNIT", "UPDATE_WORK_UNIT"):
        if getattr(conf, f"{name.lower()}_blocks") >= conf.scale_blocks:
            values.fault(name, f"not less than SCALE, which is {conf.scale_blocks:,} blocks", "lower it")
    return conf
