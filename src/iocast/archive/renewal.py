"""An older folder whose run is saved again: its tables get the columns of today, for a folder has one schema."""

from __future__ import annotations

import os

from iocast.archive.file_names import INTERVALS, SAMPLES
from iocast.archive.interval_tables import INTERVAL_COLUMNS
from iocast.archive.parquet import Identity, reason, unreadable, write
from iocast.archive.sample_tables import SAMPLE_COLUMNS
from iocast.archive.writing.held_folder import HeldFolder
from iocast.model.run import Run

_TABLES = {INTERVALS: INTERVAL_COLUMNS, SAMPLES: SAMPLE_COLUMNS}


def renew_tables(folder: HeldFolder, run: Run, whose: Identity) -> None:
    """Writes every table of the run anew. Raises ArchiveError."""
    from iocast._core import CoreError, Tables

    for number, record in enumerate(run.phases):
        for name, columns in _TABLES.items():
            file = folder.place / name / f"{number:03}.parquet"
            if os.path.isfile(file):
                try:
                    rows = Tables([str(file)], [column.name for column in columns])
                except CoreError as error:
                    raise unreadable(file, reason(error), "this table") from error
                write(folder, f"{name}/{file.name}", columns, "rows", whose, record.phase.name, rows)
