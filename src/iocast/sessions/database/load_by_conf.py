"""A load of SLOB or pgio on a data set of ours: as many sessions as its tables ask for, if it is the data they mean."""

from __future__ import annotations

from iocast.errors import SpecError
from iocast.model.database.database_load import LoadRamp
from iocast.sessions.database.database_finding import find_database
from iocast.tools.conf_reading import ConfLoad as ConfLoad
from iocast.tools.conf_reading import read_conf
from iocast.tools.database_address import AskPassword

__all__ = ["ConfLoad", "ramp_on", "read_conf"]


def ramp_on(conf: ConfLoad, url: str, ask: AskPassword | None = None) -> LoadRamp:
    """The load on the data set at `url`. Raises SpecError where that is not of the size that the file says."""
    server = find_database(url, ask).database
    assert server is not None
    built, blocks = server.table_blocks * server.block_bytes, conf.table_bytes // server.block_bytes
    if blocks != server.table_blocks:
        raise SpecError(
            f"{conf.path}: SCALE is {blocks:,} blocks of {server.block_bytes} bytes, the tables at the URL have"
            f" {server.table_blocks:,} ({built >> 20} MiB)",
            f"iocast load-db drop, then build with --conf {conf.path}; or change SCALE",
        )
    if conf.tables is not None and conf.tables != server.tables:
        raise SpecError(
            f"{conf.path}: NUM_SCHEMAS is {conf.tables}, the data set has {server.tables}",
            f"iocast load-db drop, then build with --conf {conf.path}; or change NUM_SCHEMAS",
        )
    return conf.ramp(server.tables)
