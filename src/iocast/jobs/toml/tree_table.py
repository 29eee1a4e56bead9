"""The tables and fields of a tree of files in a job file: what the tree is like, and what phases do to its names."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from msgspec import UNSET, Meta, Struct, UnsetType

from iocast.jobs.toml.inner_tables import Mixed, Unset, about
from iocast.model.workload import TREE_OPS, Op


class VerifyTable(Struct, forbid_unknown_fields=True):
    """What [defaults] and [[phase]] say of verification."""

    verify: (
        Annotated[
            bool,
            Meta(
                description="Seal and record writes, so that a phase of role verify, or `iocast verify`, "
                "finds what is torn, lost or misplaced. Default false.",
                extra={"expects": "true or false", "unit": ""},
            ),
        ]
        | UnsetType
    ) = UNSET
    verify_block: (
        Annotated[
            int | str,
            Meta(
                description="verify: what must be written whole or not at all. Default: what divides all writes.",
                examples=["4k"],
                extra={"expects": 'a size such as "8k"', "unit": "io_size"},
            ),
        ]
        | UnsetType
    ) = UNSET


OPERATIONS: tuple[Op, ...] = ("read", "write", "fsync", "fdatasync", *TREE_OPS)
Begins = Literal["whole", "empty", "as_left"]
BEGINS: tuple[str, ...] = get_args(Begins)
_LISTED = ", ".join(OPERATIONS)


class TreeTable(Struct, forbid_unknown_fields=True):
    """A tree of files, in which all phases work, instead of work files; as vdbench describes them."""

    files: (
        Annotated[
            int,
            about("Files in each directory that has files.", "a whole number, 1 or more", ge=1, examples=[1000]),
        ]
        | Unset
    ) = UNSET
    depth: (
        Annotated[
            int,
            about("Levels of directories; 0: all files in one. Default 1.", "a whole number from 0 to 64", ge=0, le=64),
        ]
        | Unset
    ) = UNSET
    width: (
        Annotated[
            int,
            about("Directories in each directory but the lowest. Default 1.", "a whole number, 1 or more", ge=1),
        ]
        | Unset
    ) = UNSET
    files_in: (
        Annotated[
            Literal["leaves", "all"],
            about('Which directories have files: the lowest, or all. Default "leaves".', "a choice of directories"),
        ]
        | Unset
    ) = UNSET
    size: (
        Annotated[
            int | str | Mixed,
            about(
                "Size of the files, or a table of sizes by weight. Default 0: empty files.",
                'a size such as "8k", or a table such as {"4k" = 90, "1MiB" = 10}',
                "size",
                examples=["8k", {"4k": 90, "1MiB": 10}],
            ),
        ]
        | Unset
    ) = UNSET
    own: (
        Annotated[
            bool, about("Each user has a tree of that shape; else all share one. Default false.", "true or false")
        ]
        | Unset
    ) = UNSET


Operations = str | Mixed | Annotated[list[str | Mixed], Meta(min_length=1)]


class TreeFields(VerifyTable, forbid_unknown_fields=True):
    """What phases in a tree have beside all others."""

    operations: (
        Annotated[
            Operations,
            about(
                f"Of a [tree]: an operation, or a table of operations by weight; a list makes one phase for each. "
                f"Operations: {_LISTED}.",
                'an operation such as "stat", a table such as {create = 50, unlink = 50}, or a list of them',
                "operation",
                examples=["stat", {"create": 50, "unlink": 50}, ["create", "stat", "unlink"]],
            ),
        ]
        | Unset
    ) = UNSET
    select: (
        Annotated[
            Literal["sequential", "random"],
            about("Of a [tree]: the order in which users take files. Default sequential.", "an order"),
        ]
        | Unset
    ) = UNSET
    stop_after: (
        Annotated[
            int,
            about(
                "Of a [tree]: reads and writes of a file before the next one's turn. Default: sequential ones go "
                "through all of it, random ones are each in another file.",
                "a whole number, 1 or more",
                ge=1,
            ),
        ]
        | Unset
    ) = UNSET
    passes: (
        Annotated[
            int,
            about(
                "Of a [tree], instead of time: ends after this number of passes through all files, or directories.",
                "a whole number, 1 or more",
                ge=1,
            ),
        ]
        | Unset
    ) = UNSET
    begins: (
        Annotated[
            Begins,
            about(
                "Of a [tree]: with all files, with none, or with what the phase before left. What is missing is made "
                'first, and not measured. Default: "empty" for create without unlink, else "whole".',
                "a state of the tree",
            ),
        ]
        | Unset
    ) = UNSET
    cold: (
        Annotated[
            bool,
            about(
                "Of a [tree]: the kernel's cache of names, inodes and pages is dropped first (root). Default false.",
                "true or false",
            ),
        ]
        | Unset
    ) = UNSET


def operations_of(given: Any) -> dict[str, float]:
    """The weights of the operations that a field says, of all its values where it is a list."""
    if isinstance(given, str):
        return {given: 1.0}
    if isinstance(given, dict):
        return {op: float(weight) for op, weight in given.items()}
    return {op: weight for each in given for op, weight in operations_of(each).items()}
