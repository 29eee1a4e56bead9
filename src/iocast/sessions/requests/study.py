"""What is asked of `iocast study`."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from iocast.sessions.requests.option import argument, option, part
from iocast.sessions.requests.run_options import RunOptions


class StudyRequest(Struct, frozen=True, kw_only=True):
    """A study (a preset's name or a file), a path, and the name of the configuration that the path stands for."""

    study: Annotated[str, argument()] = ""
    path: Annotated[str, argument()] = "."
    label: Annotated[str | None, option("The configuration that PATH stands for, e.g. bare.", "NAME")] = None
    out: Annotated[str, option("Folder of the study; default: iocast-studies/NAME.", "DIR")] = ""
    options: Annotated[RunOptions, part("size_bytes", "duration_ns", "seed", "destroy")] = RunOptions()
