"""slob.conf of SLOB 2.x: every parameter with the defaults, limits and refusals of SLOB 2.5.4's own scripts.

A parameter that is not in the file has the default of runit.sh (25 % updates, work unit 256, ...), which is not always
what the shipped slob.conf says (10 %, 64). The number of schemas is no parameter: both scripts take it as an argument.
SLOB's own block size, where BLOCK_SZ is not set, is 8192 in setup.sh and 16384 in runit.sh: here it is that of
setup.sh, which builds the data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from msgspec import Struct

from iocast.tools.shell_conf import Assignment, ConfValues, Fault, read_assignments

LEAST_BLOCKS: Final = 10_000
LEAST_SCAN_BLOCKS: Final = 4
LEAST_RUN_S: Final = 30
WORK_UNITS: Final = (3, 1024)
MOST_SCHEMAS: Final = 4_096
MOST_SESSIONS: Final = 16_384
BLOCK_BYTES: Final = 8_192
MIB: Final = 1 << 20

Note = Callable[[str], None]
# Names that do not change what is measured, and why not.
INERT: Final = {
    "DATABASE_STATISTICS_TYPE": "iocast samples the server itself",
    "ADMIN_SQLNET_SERVICE": "the URL says where the server is",
    "SQLNET_SERVICE_BASE": "the URL says where the server is",
    "SQLNET_SERVICE_MAX": "all sessions connect to the URL",
    "DBA_PRIV_USER": "no privileged user is needed",
    "SYSDBA_PASSWD": "no privileged user is needed, and passwords are not read from files of settings",
    "EXTERNAL_SCRIPT": "iocast runs no scripts: run it before and after",
    "UNIQUE_INDEX": "the index is the primary key",
    "OBFUSCATE_COLUMNS": "the data of iocast are incompressible, whatever is asked for",
    "NO_OS_PERF_DATA": "iocast watches the machine itself, without programs",
}
READ: Final = (
    *("UPDATE_PCT", "SCAN_PCT", "RUN_TIME", "WORK_LOOP", "SCALE", "SCAN_TABLE_SZ", "WORK_UNIT", "REDO_STRESS"),
    *("LOAD_PARALLEL_DEGREE", "THREADS_PER_SCHEMA", "BLOCK_SZ", "DO_HOTSPOT", "HOTSPOT_MB", "HOTSPOT_OFFSET_MB"),
    *("HOTSPOT_FREQUENCY", "HOT_SCHEMA_FREQUENCY", "THINK_TM_FREQUENCY", "THINK_TM_MIN", "THINK_TM_MAX"),
)
# Names of earlier 2.x, the ones that took their place, and the value that says "off".
FORMER: Final = {
    "SHARED_DATA_MODULUS": ("HOT_SCHEMA_FREQUENCY", "0"),
    "THINK_TM_MODULUS": ("THINK_TM_FREQUENCY", "0"),
    "DO_UPDATE_HOTSPOT": ("DO_HOTSPOT", "FALSE"),
    "HOTSPOT_PCT": ("HOTSPOT_MB", ""),
}


class HotSpot(Struct, frozen=True):
    """Every `every`-th operation goes to `size_bytes` from `offset_bytes` of its table on."""

    size_bytes: int
    offset_bytes: int
    every: int


class ThinkTime(Struct, frozen=True):
    """On average every `every`-th operation waits from `least_ns` to `most_ns`."""

    least_ns: int
    most_ns: int
    every: int


class SlobConf(Struct, frozen=True, kw_only=True):
    """What a slob.conf asks for. `lines`: the names that it assigns, with theirs."""

    update_percent: int
    scan_percent: int
    run_s: int
    loops: int  # of each session; 0: as many as fit into run_s
    scale_blocks: int  # of each schema, one row a block
    block_bytes: int
    scan_table_blocks: int
    work_unit_blocks: int
    redo: Literal["lite", "heavy"]
    load_parallel: int
    threads_per_schema: int
    hot_spot: HotSpot | None
    hot_schema_every: int  # 0: never
    think: ThinkTime | None
    lines: dict[str, int]


def looks_like_slob(text: str) -> bool:
    """Whether a file assigns what only slob.conf has."""
    names = {each.name for each in read_assignments(text, lambda *_: None)}
    return "UPDATE_PCT" in names and bool(names & {"REDO_STRESS", "WORK_LOOP", "THREADS_PER_SCHEMA"})


def read_slob_conf(text: str, fault: Fault, note: Note) -> SlobConf:
    """All of the file. Each fault is told with its line; `note` is told what the user should know."""
    assigned = read_assignments(text, fault)
    values = ConfValues(_renamed(assigned, fault, note), fault)
    values.only((*READ, *INERT), "SLOB")
    block_bytes = values.whole("BLOCK_SZ", BLOCK_BYTES, least=2_048, most=32_768)
    work_unit = values.whole("WORK_UNIT", 256, least=WORK_UNITS[0], most=WORK_UNITS[1])
    scale = values.blocks("SCALE", str(LEAST_BLOCKS), block_bytes=block_bytes, least=LEAST_BLOCKS)
    conf = SlobConf(
        update_percent=values.share("UPDATE_PCT", 25),
        scan_percent=values.share("SCAN_PCT", 0),
        run_s=values.whole("RUN_TIME", 300, least=LEAST_RUN_S),
        loops=values.whole("WORK_LOOP", 0),
        scale_blocks=scale,
        block_bytes=block_bytes,
        scan_table_blocks=values.blocks("SCAN_TABLE_SZ", "1M", block_bytes=block_bytes, least=LEAST_SCAN_BLOCKS),
        work_unit_blocks=work_unit,
        redo="heavy" if values.choice("REDO_STRESS", "LITE", ("LITE", "HEAVY")) == "HEAVY" else "lite",
        load_parallel=values.whole("LOAD_PARALLEL_DEGREE", 1, least=1),
        threads_per_schema=values.whole("THREADS_PER_SCHEMA", 1, least=1, most=MOST_SESSIONS),
        hot_spot=_hot_spot(values, scale * block_bytes, work_unit * block_bytes, note),
        hot_schema_every=values.whole("HOT_SCHEMA_FREQUENCY", 0),
        think=_think(values),
        lines=values.lines,
    )
    _check_connection(values)
    return conf


def check_sessions(schemas: int, threads: int, fault: Fault) -> None:
    """SLOB's limits on what stands on its command line: the number of schemas, and of all sessions."""
    if not 1 <= schemas <= MOST_SCHEMAS:
        fault(0, f"{schemas:,} schemas: SLOB takes 1 to {MOST_SCHEMAS:,}", "give fewer")
    elif schemas * threads > MOST_SESSIONS:
        sessions = f"{schemas:,} schemas with {threads:,} sessions each"
        fault(0, f"{sessions} are more than the {MOST_SESSIONS:,} sessions of SLOB", "lower THREADS_PER_SCHEMA")


def _renamed(assigned: list[Assignment], fault: Fault, note: Note) -> list[Assignment]:
    """Names of earlier versions under those of today; what has none is a fault, unless it is off."""
    assignments = []
    for each in assigned:
        now, off = FORMER.get(each.name, ("", ""))
        if not now:
            assignments.append(each)
        elif each.value == off or each.name == "HOTSPOT_PCT":
            continue  # HOTSPOT_PCT alone does nothing
        elif each.name == "DO_UPDATE_HOTSPOT":
            way_out = f"write {now}, HOTSPOT_MB and HOTSPOT_FREQUENCY"
            fault(each.line, f"{each.name}={each.value} is of SLOB 2.2", way_out)
        else:
            note(f"line {each.line}: {each.name} is of an earlier SLOB: read as {now}")
            assignments.append(each._replace(name=now))
    return assignments


def _hot_spot(values: ConfValues, size_bytes: int, work_unit_bytes: int, note: Note) -> HotSpot | None:
    """The hot spot, if it is on and within the table."""
    on = values.flag("DO_HOTSPOT", False)
    size = values.whole("HOTSPOT_MB", 10) * MIB
    offset = values.whole("HOTSPOT_OFFSET_MB", 0) * MIB
    every = values.whole("HOTSPOT_FREQUENCY", 0)
    if not on:
        return None
    if size + offset > size_bytes:
        said = f"{offset // MIB} MB + {size // MIB} MB is beyond SCALE, which is {size_bytes // MIB} MB"
        values.fault("HOTSPOT_MB", said, "lower HOTSPOT_MB or HOTSPOT_OFFSET_MB")
        return None
    if size <= work_unit_bytes:
        values.fault("HOTSPOT_MB", "the hot spot is smaller than a work unit", "raise it, or lower WORK_UNIT")
        return None
    if not every:
        note("HOTSPOT_FREQUENCY=0: only the first operation of SLOB would go to the hot spot: read as none")
        return None
    return HotSpot(size, offset, every)


def _think(values: ConfValues) -> ThinkTime | None:
    every = values.whole("THINK_TM_FREQUENCY", 0)
    least, most = values.seconds_ns("THINK_TM_MIN", ".1"), values.seconds_ns("THINK_TM_MAX", ".5")
    if least > most:
        values.fault("THINK_TM_MIN", "more than THINK_TM_MAX", "write the smaller one here")
    return ThinkTime(least, most, every) if every else None


def _check_connection(values: ConfValues) -> None:
    """What SLOB refuses of the parameters that do not matter here, so that one file serves both."""
    values.choice("DATABASE_STATISTICS_TYPE", "statspack", ("statspack", "awr"))
    base, service = values.text("SQLNET_SERVICE_BASE", ""), values.text("ADMIN_SQLNET_SERVICE", "")
    if values.text("SQLNET_SERVICE_MAX", ""):
        values.whole("SQLNET_SERVICE_MAX", 1, least=1)
        if not base:
            values.fault("SQLNET_SERVICE_MAX", "SQLNET_SERVICE_BASE is not set", "set both, or none")
    if service and not base:
        values.fault("ADMIN_SQLNET_SERVICE", "SQLNET_SERVICE_BASE is not set", "set both, or none")
