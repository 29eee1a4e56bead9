"""What is asked of `iocast experiment`: which one, where, and what is changed about it."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from iocast.sessions.requests.option import argument, option, part
from iocast.sessions.requests.run_options import Page, RunOptions, option_value
from iocast.units import parse_size


def _size(text: str, name: str) -> int:
    return option_value(name, text, parse_size)


def _sizes(text: str, name: str) -> tuple[int, ...]:
    return tuple(option_value(name, each, parse_size) for each in text.split(",") if each.strip())


class TrialRequest(Struct, frozen=True, kw_only=True):
    """A named experiment; None, () or "": as the experiment has it. `methods` and `keep` are of `copy` alone."""

    name: Annotated[str, argument("Which experiment: `iocast experiment` lists them.")] = ""
    paths: Annotated[tuple[str, ...], argument("The paths that it is about; most take one.", "[PATH]...")] = ()
    rounds: Annotated[int | None, option("Repeats of each row; at least 3 for a verdict."), Meta(ge=1, le=100)] = None
    block_bytes: Annotated[
        int | None, option("I/O size, unless the experiment varies it.", "SIZE", spelt="--block", read=_size)
    ] = None
    depth: Annotated[int | None, option("Queue depth of each user."), Meta(ge=1, le=1024)] = None
    streams: Annotated[
        int | None, option("Writers of `noise`, readers of `concurrent-readers`."), Meta(ge=1, le=256)
    ] = None
    sync: Annotated[
        Literal["none", "sync", "dsync"],
        option(
            "dsync: each write of `noise` is durable before the next (O_DSYNC), as a log writer's; sync: O_SYNC.",
            quiet=True,
        ),
    ] = "none"
    sizes: Annotated[tuple[int, ...], option("Working-set sizes of `working-set`.", "SIZE,...", read=_sizes)] = ()
    files: Annotated[int | None, option("Files in the tree of `metadata`."), Meta(ge=10, le=100_000_000)] = None
    filesystems: Annotated[
        str,
        option(
            "File systems that `dio-matrix` makes on an image in PATH: raw, ext2 … none tests PATH itself.", "KIND,..."
        ),
    ] = "all"
    methods: Annotated[str, option("Ways of copying of `copy`; default: all.", "WAY,...")] = ""
    keep: Annotated[bool, option("Leave one copy at DESTINATION after `copy`.")] = False
    options: Annotated[RunOptions, part("size_bytes", "duration_ns", "seed", "destroy", "out")] = RunOptions()
    page: Page = False
