"""What is asked of `iocast profile`: traces, what is known of them, and how blocks are cut."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from iocast.model.anonymity.pseudonyms import Pseudonyms
from iocast.model.codes import CountingEngine
from iocast.sessions.requests.option import argument, option
from iocast.tools.traces import Columns

PROFILES = "iocast-profiles"


class ProfileRequest(Struct, frozen=True, kw_only=True):
    """Traces, or a profile that was made before; None: as the traces themselves say."""

    traces: Annotated[tuple[str, ...], argument(metavar="TRACE...")]
    format: Annotated[
        str | None, option("Format of the traces, where it is not recognised.", "NAME", spelt="--input-format")
    ] = None
    block_size: Annotated[str | None, option("Size of a database block in Oracle traces, e.g. 8k.", "SIZE")] = None
    oracle_release: Annotated[str | None, option("Release of Oracle, where the trace does not say it.", "RELEASE")] = (
        None
    )
    latency_unit: Annotated[str | None, option("Unit of latencies in old fio logs: us or ns.", "UNIT")] = None
    block: Annotated[
        str | None,
        option(
            "Size of a block for working set and caches; `request`: a request is one block. Default: the usual page "
            "size.",
            "SIZE",
        ),
    ] = None
    caches: Annotated[
        tuple[str, ...], option("A cache to add to the miss ratios, e.g. 40GiB.", "SIZE", spelt="--cache")
    ] = ()
    engine: Annotated[
        CountingEngine,
        option("Who counts; spark for tables that outgrow this machine (needs the extra `spark`, and Java)."),
    ] = "duckdb"
    out: Annotated[str, option("Directory for profiles.", "DIR")] = PROFILES
    columns: Columns | None = None  # of a table of text that no reader knows
    names: Pseudonyms | None = None  # what names become; None: they stay
