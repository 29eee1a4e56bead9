"""The tables of a session's steps in a job file: what each does, where, what pause follows and what comes next."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct

from iocast.jobs.toml.inner_tables import AMOUNT, PERCENT, Mixed, OpName, RegionTable, Unset, Weight, about

MOST_STEPS = 64
NAME = r"^[A-Za-z0-9][A-Za-z0-9_.+-]{0,31}$"


class StepTable(Struct, forbid_unknown_fields=True):
    """One kind of I/O of a session."""

    step: Annotated[
        str, about("Name of the step.", "a short name of letters, digits and - _ . +", pattern=NAME, examples=["log"])
    ]
    op: Annotated[OpName, about("The operation.", "an operation")]
    size: (
        Annotated[
            int | str | Mixed,
            about(
                "Its size, or a table of sizes by weight; not for fsync and fdatasync.",
                'a size such as "8k", or a table such as {"8k" = 90, "16k" = 10}',
                "io_size",
            ),
        ]
        | Unset
    ) = UNSET
    region: (
        Annotated[
            RegionTable,
            about(
                "The part of the files, as one line of bytes, that it uses; in one file. Default: the first, or the "
                "region of the step that it joins.",
                'a table such as {start = 0, size = "1GiB"}',
            ),
        ]
        | Unset
    ) = UNSET
    pattern: (
        Annotated[
            Literal["random", "zipf", "hotspot", "sequential", "append"],
            about(
                "Access pattern; append continues where the last I/O ended of the steps that it joins. "
                'Default "random".',
                "a pattern",
            ),
        ]
        | Unset
    ) = UNSET
    theta: Annotated[float, about("zipf: the skew. Default 0.99.", "a number above 0", gt=0, le=5)] | Unset = UNSET
    space_percent: (
        Annotated[float, about("hotspot: the hot per cent. Default 20.", "a number above 0, below 100", gt=0, lt=100)]
        | Unset
    ) = UNSET
    access_percent: (
        Annotated[float, about("hotspot: per cent of the I/Os to it. Default 80.", PERCENT, gt=0, le=100)] | Unset
    ) = UNSET
    again: (
        Annotated[
            int | str,
            about("append: the last block of this size, not full, is written again by some.", AMOUNT, "amount"),
        ]
        | Unset
    ) = UNSET
    again_percent: (
        Annotated[float, about("append: per cent of the I/Os that do. Default 100.", PERCENT, gt=0, le=100)] | Unset
    ) = UNSET
    joins: (
        Annotated[
            str,
            about(
                "The step with which it shares the end of the last I/O: an append goes on there.", "the name of a step"
            ),
        ]
        | Unset
    ) = UNSET
    pause: (
        Annotated[
            str,
            about(
                "The pause after it: a time, or a law as of simulated devices. Default none.",
                'a pause such as "5us", "exponential:2ms" or "table:50%=5us/100%=1ms"',
                "pause",
                examples=["5us", "exponential:2ms"],
            ),
        ]
        | Unset
    ) = UNSET
    next: (
        Annotated[
            str | Annotated[dict[str, Weight], Meta(min_length=1)],
            about(
                "What comes next: a step, or a table of steps by weight. Default: the step below, the first after the "
                "last.",
                'a step, or a table such as {"page" = 3, "log" = 1}',
            ),
        ]
        | Unset
    ) = UNSET


Steps = Annotated[
    list[StepTable],
    about(
        "What each user does one after the other, instead of a mix, a pattern and a depth: a session that reads pages, "
        "writes a log and syncs it.",
        'a list of tables such as {step = "page", op = "read", size = "8k"}',
        min_length=1,
        max_length=MOST_STEPS,
        examples=[[{"step": "log", "op": "write", "size": "8k"}, {"step": "commit", "op": "fdatasync"}]],
    ),
]
Pauses = Annotated[
    Literal["after", "between"],
    about(
        'steps: pauses count from the end of an I/O ("after": a closed loop), or from when it was due ("between": '
        'the rate holds whatever the storage does). Default "after".',
        "a way to count",
    ),
]
