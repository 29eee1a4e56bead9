"""What is asked of `iocast matrix`, beside the options that are ORION's own."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from iocast.model.grading import GradeRequest
from iocast.sessions.requests.option import argument, option
from iocast.sessions.requests.run_options import RUNS, Force, Out, Page, Seed, size_of_files
from iocast.tools.orion.command_line import Settings


class MatrixRequest(Struct, frozen=True, kw_only=True):
    """An ORION run: on the paths, or on those of TESTNAME.lun."""

    settings: Settings
    paths: Annotated[
        tuple[str, ...], argument("A directory, existing files or block devices, or a simulated device.", "[PATH]...")
    ] = ()
    luns: Annotated[int | None, option("Work files in a directory; default 1."), Meta(ge=1, le=1024)] = None
    size_bytes: Annotated[
        int | None,
        option("Size of each work file in a directory; default 1GiB.", "SIZE", spelt="--size", read=size_of_files),
    ] = None
    seed: Seed = 1
    destroy: Annotated[
        tuple[str, ...],
        option("Allow the block device with this identity to be overwritten; once for each device.", "IDENTITY"),
    ] = ()
    out: Out = RUNS
    files: Annotated[str, option("Write ORION's files into DIR: summary, iops, mbps, lat, …", "DIR")] = ""
    force: Force = False
    page: Page = False
    grade_request: GradeRequest = GradeRequest()
