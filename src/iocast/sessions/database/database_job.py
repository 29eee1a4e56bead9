"""A job file that loads a database meets its data set: its tables become rows."""

from __future__ import annotations

from msgspec.structs import replace

from iocast.errors import SpecError, TargetError
from iocast.load.database.servers import connect
from iocast.model.job import Job
from iocast.model.target import Target
from iocast.sessions.database.database_guards import refuse_disturbing
from iocast.sessions.database.database_rows import rows_of


def on_data_set(job: Job, target: Target, *, dry: bool) -> tuple[Job, list[str]]:
    """The job with the rows of its loads on the data set of a target, and what is to be said of the server; with `dry`
    others who work there are not looked for. Raises TargetError, SpecError."""
    if target.database is None:
        raise TargetError(
            f'{target.path} is not a database, which job "{job.name}" loads',
            "give the URL of one, such as postgresql://loader@db1/shop or mariadb://loader@db1/",
        )
    try:
        rows = rows_of(job.database, target.database)
    except SpecError as error:
        raise SpecError(f"{job.source}: {error.message}", error.hint) from None
    said = ["the size of work files does nothing here: `iocast load-db build` sets that of the data set"]
    said = said if job.file_size else []
    if not dry:
        server = connect(target.path)
        try:
            beside_others = any(ramp.beside_others for ramp in job.database)
            said += refuse_disturbing(
                server, beside_others=beside_others, way_out="set beside_others = true in [[database]]"
            )
        finally:
            server.close()
    return replace(job, phases=rows, database=(), file_size=None), said
