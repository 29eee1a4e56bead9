"""The small tables of a job file, [files], region and mix, and the words in which a field is described."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from iocast.model.workload import MOST_USERS

MOST_MIX_ITEMS = 64


def about(description: str, expects: str, unit: str = "", **limits: Any) -> Meta:
    """What a field means, what it expects in words, and the unit of its text."""
    return Meta(description=description, extra={"expects": expects, "unit": unit}, **limits)


Unset = UnsetType
Weight = Annotated[float, Meta(ge=0)]
Crowd = Annotated[int, Meta(ge=1, le=MOST_USERS)]
Crowds = Crowd | Annotated[list[Crowd], Meta(min_length=1)]
Mixed = dict[str, Weight]
Sizes = int | str | Mixed | Annotated[list[int | str | Mixed], Meta(min_length=1)]
Rates = str | Annotated[list[str], Meta(min_length=1)]
OpName = Literal["read", "write", "trim", "fsync", "fdatasync"]
PatternName = Literal["sequential", "random", "zipf", "hotspot", "stride"]

WEIGHT = "a weight, 0 or more"
SIZE = 'a size such as "8k"'
AMOUNT = 'a size such as "1GiB"'
SIZES = 'a size such as "8k", a list of sizes, or a table such as {"4k" = 60, "64k" = 40}'
CROWD = f"a whole number from 1 to {MOST_USERS}, or a list of them"
PERCENT = "a number above 0, up to 100"
TIME = 'a time such as "10s"'


Together = Annotated[
    str,
    about(
        "Adjacent phases with the same name here run concurrently, each with its own row.",
        "a name of 1 to 32 letters, digits and - _ . + or spaces",
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+ -]{0,31}$",
        examples=["database"],
    ),
]
Runs = Annotated[
    int,
    about(
        "How many runs of the whole job the results need: `iocast plan` counts them, `iocast repeat` makes them.",
        "a whole number from 1 to 1000",
        ge=1,
        le=1000,
    ),
]
Follows = Annotated[bool, about("Instead of a length: it ends when the phases that run with it end.", "true or false")]


class RegionTable(Struct, forbid_unknown_fields=True):
    """The part of each file, or of the device, that I/O may touch."""

    start: Annotated[int | str, about("First byte. Default 0.", SIZE, "size")] | Unset = UNSET
    size: Annotated[int | str, about("Length from there. Default: to the end.", AMOUNT, "amount")] | Unset = UNSET


class MixTable(Struct, forbid_unknown_fields=True):
    """One operation of an exact mix."""

    op: Annotated[OpName, about("The operation.", "an operation")] | Unset = UNSET
    size: Annotated[int | str, about("Its size; only of read, write and trim.", SIZE, "io_size")] | Unset = UNSET
    weight: Annotated[float, about("Weight relative to the others. Default 1.", WEIGHT, ge=0)] | Unset = UNSET


class FilesTable(Struct, forbid_unknown_fields=True):
    """The work files to lay out in a directory; ignored on devices, existing files and simulated targets."""

    count: Annotated[int, about("Number of files. Default 1.", "a whole number, 1 or more", ge=1)] | Unset = UNSET
    size: (
        Annotated[
            int | str,
            about(
                "Size of each file, or a multiple of this machine's RAM.",
                'a size such as "2GiB", or "2xRAM"',
                "file_size",
                examples=["2GiB", "2xRAM"],
            ),
        ]
        | Unset
    ) = UNSET
    layout: (
        Annotated[
            Literal["concatenated", "striped"],
            about(
                'How several files form one address range: one after the other, or striped. Default "concatenated".',
                "a layout",
            ),
        ]
        | Unset
    ) = UNSET
    stripe: (
        Annotated[
            int | str,
            about(
                "striped: stripe size; a multiple of every I/O size.",
                AMOUNT,
                "amount",
                examples=["1MiB"],
            ),
        ]
        | Unset
    ) = UNSET
