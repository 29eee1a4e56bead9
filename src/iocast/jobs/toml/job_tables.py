"""The shape of a job file, field by field with its meaning; the reader, the schema and the guide follow it.

Every field of a table may be left out, so that a phase can inherit from [defaults]. Its Meta says what it
accepts: `expects` in words, `unit` names the reader in fields.py for its text.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Struct

from iocast.jobs.toml.database.load_table import DatabaseTable
from iocast.jobs.toml.engine_field import Engine, Polling
from iocast.jobs.toml.inner_tables import (
    AMOUNT,
    CROWD,
    PERCENT,
    SIZE,
    SIZES,
    TIME,
    WEIGHT,
    Crowds,
    FilesTable,
    Follows,
    MixTable,
    PatternName,
    Rates,
    RegionTable,
    Runs,
    Sizes,
    Together,
    Unset,
    about,
)
from iocast.jobs.toml.step_table import Pauses, Steps
from iocast.jobs.toml.tree_table import TreeFields, TreeTable


class WorkloadTable(TreeFields, forbid_unknown_fields=True):
    """The fields that [defaults] and [[phase]] share."""

    read: Annotated[float, about("Weight of reads. Default 100 if no other weight is given.", WEIGHT, ge=0)] | Unset = (
        UNSET
    )
    write: Annotated[float, about("Weight of writes.", WEIGHT, ge=0)] | Unset = UNSET
    trim: (
        Annotated[
            float,
            about("Weight of trims: holes punched in a file, discards on a device.", WEIGHT, ge=0),
        ]
        | Unset
    ) = UNSET
    fsync: (
        Annotated[
            float,
            about(
                "Weight of fsync calls among the operations; after every so many writes: `fsync_every`.", WEIGHT, ge=0
            ),
        ]
        | Unset
    ) = UNSET
    fdatasync: (
        Annotated[
            float,
            about(
                "Weight of fdatasync calls among the operations; after every so many writes: `fdatasync_every`.",
                WEIGHT,
                ge=0,
            ),
        ]
        | Unset
    ) = UNSET
    size: (
        Annotated[
            Sizes,
            about(
                "I/O size. A list makes one phase for each size; a table mixes sizes by weight.",
                SIZES,
                "io_size",
                examples=["8k", ["8k", "64k"], {"4k": 60, "64k": 40}],
            ),
        ]
        | Unset
    ) = UNSET
    mix: (
        Annotated[
            list[MixTable],
            about(
                "Operations, each with a size, instead of read, write, trim, fsync, fdatasync and size.",
                'a list of tables such as {op = "read", size = "8k", weight = 70}',
                min_length=1,
                examples=[[{"op": "read", "size": "8k", "weight": 70}, {"op": "write", "size": "16k", "weight": 30}]],
            ),
        ]
        | Unset
    ) = UNSET
    pattern: Annotated[PatternName, about('Access pattern. Default "random".', "a pattern")] | Unset = UNSET
    start: (
        Annotated[
            Literal["own_region", "own_offset", "same"],
            about(
                "sequential: each user stays in its own part, or starts there and continues through the whole region, "
                'or all start at the beginning of the region. Default "own_region".',
                "a place to start",
            ),
        ]
        | Unset
    ) = UNSET
    backwards: (
        Annotated[bool, about("sequential: from the end towards the beginning. Default false.", "true or false")]
        | Unset
    ) = UNSET
    repeats: (
        Annotated[
            bool,
            about("random: false visits every block once before repeating any. Default true.", "true or false"),
        ]
        | Unset
    ) = UNSET
    theta: (
        Annotated[
            float,
            about(
                "zipf: the skew; the block of rank k is accessed in proportion to k^-theta. Default 0.99.",
                "a number above 0, up to 5",
                gt=0,
                le=5,
            ),
        ]
        | Unset
    ) = UNSET
    space_percent: (
        Annotated[
            float,
            about(
                "hotspot: per cent of the region that is hot. Default 20.",
                "a number above 0, below 100",
                gt=0,
                lt=100,
            ),
        ]
        | Unset
    ) = UNSET
    access_percent: (
        Annotated[float, about("hotspot: per cent of the I/Os to the hot part. Default 80.", PERCENT, gt=0, le=100)]
        | Unset
    ) = UNSET
    stride: (
        Annotated[int | str, about("stride: from the start of one I/O to the start of the next.", SIZE, "io_size")]
        | Unset
    ) = UNSET
    users: (
        Annotated[
            Crowds,
            about(
                "Concurrent users, each a thread. A list makes one phase for each. Default 1.",
                CROWD,
                examples=[8, [1, 8, 32]],
            ),
        ]
        | Unset
    ) = UNSET
    depth: (
        Annotated[
            Crowds,
            about("Queue depth: I/Os each user keeps outstanding. A list makes one phase for each. Default 1.", CROWD),
        ]
        | Unset
    ) = UNSET
    direct: (
        Annotated[bool, about("Direct I/O, bypassing the page cache (O_DIRECT). Default true.", "true or false")]
        | Unset
    ) = UNSET
    sync: (
        Annotated[
            Literal["none", "sync", "dsync", "rwf_dsync"],
            about(
                "Each write waits until it is durable: the file is opened with O_SYNC or O_DSYNC, or each write "
                'has RWF_DSYNC. Default "none".',
                "a way to be durable",
            ),
        ]
        | Unset
    ) = UNSET
    fsync_every: (
        Annotated[
            int,
            about(
                "Each user calls fsync after this number of writes. Default 0: never.",
                "a whole number, 0 or more",
                ge=0,
            ),
        ]
        | Unset
    ) = UNSET
    fdatasync_every: (
        Annotated[
            int,
            about(
                "The same with fdatasync, as a log writer does: 1 is a commit for each write. Default 0: never.",
                "a whole number, 0 or more",
                ge=0,
            ),
        ]
        | Unset
    ) = UNSET
    payload: (
        Annotated[
            Literal["unique", "zeros", "repeated"],
            about(
                'What is written: unique incompressible data, zeros, or one block again and again. Default "unique".',
                "a payload",
            ),
        ]
        | Unset
    ) = UNSET
    compressible: (
        Annotated[
            str,
            about(
                "Instead of payload: unique data that compresses by about this much.",
                'a percentage such as "50%"',
                "percent",
                examples=["50%"],
            ),
        ]
        | Unset
    ) = UNSET
    dedupable: (
        Annotated[
            str,
            about(
                "Instead of payload: this share of the 4 KiB blocks repeats one of sixteen, the others are unique.",
                'a percentage such as "40%"',
                "percent",
                examples=["40%"],
            ),
        ]
        | Unset
    ) = UNSET
    rate: (
        Annotated[
            Rates,
            about(
                "Open loop: I/Os of all users together are due at this rate, whether or not "
                "earlier ones have completed. A list makes one phase for each.",
                'a rate such as "500/s", or a list of them',
                "rate",
                examples=["500/s", ["100/s", "200/s", "400/s"]],
            ),
        ]
        | Unset
    ) = UNSET
    arrival: (
        Annotated[
            Literal["constant", "poisson"],
            about('With rate: at equal or at random intervals. Default "poisson".', "a way to arrive"),
        ]
        | Unset
    ) = UNSET
    burst: (
        Annotated[
            int,
            about(
                "Open loop in bursts: this number of I/Os of all users is due at the same moment, as at a checkpoint.",
                "a whole number, 1 or more",
                ge=1,
                examples=[500],
            ),
        ]
        | Unset
    ) = UNSET
    every: (
        Annotated[
            str,
            about(
                "With burst: from the start of one burst to the start of the next.",
                'a time such as "2s"',
                "length",
                examples=["2s"],
            ),
        ]
        | Unset
    ) = UNSET
    think: (
        Annotated[
            str,
            about(
                "Closed loop: the pause between a completion and the next I/O. Default none.",
                'a time such as "1ms"',
                "duration",
                examples=["1ms"],
            ),
        ]
        | Unset
    ) = UNSET
    time: Annotated[str, about("Ends after this time.", TIME, "length", examples=["10s"])] | Unset = UNSET
    until: (
        Annotated[
            Literal["steady"],
            about(
                "Instead of time: ends when steady. Closed loops are judged by their IOPS, open loops by "
                "their response time.",
                "a state",
            ),
        ]
        | Unset
    ) = UNSET
    at_least: (
        Annotated[
            str,
            about(
                "until: judged after twice this time, then after four and eight times as long: each doubling is "
                "compared with what came before it. Default 5min. For snia: the length of the five rounds.",
                'a time from "60s" on',
                "length",
                examples=["60s", "5min"],
            ),
        ]
        | Unset
    ) = UNSET
    at_most: (
        Annotated[
            str,
            about("until: ends then, steady or not. Default four times at_least.", TIME, "length", examples=["1h"]),
        ]
        | Unset
    ) = UNSET
    rule: (
        Annotated[
            Literal["b3", "snia"],
            about(
                "until: what steady means. b3: no warm-up left, mean known to 5 %, no drift, two results "
                'that agree; snia: five rounds of a fifth of at_least within 20 % of each other. Default "b3".',
                "a rule",
            ),
        ]
        | Unset
    ) = UNSET
    ios: (
        Annotated[
            int, about("Ends after this number of I/Os of all users together.", "a whole number, 1 or more", ge=1)
        ]
        | Unset
    ) = UNSET
    bytes: (
        Annotated[int | str, about("Ends after this amount of data.", AMOUNT, "amount", examples=["1GiB"])] | Unset
    ) = UNSET
    region: (
        Annotated[
            RegionTable,
            about(
                "The part of each file, or of the device, to use. Default: all of it.",
                'a table such as {start = 0, size = "1GiB"}',
            ),
        ]
        | Unset
    ) = UNSET


class DefaultsTable(WorkloadTable, forbid_unknown_fields=True):
    """Defaults that every phase inherits."""

    engine: Engine | Unset = UNSET
    polling: Polling | Unset = UNSET


class PhaseTable(WorkloadTable, forbid_unknown_fields=True):
    """One workload for one length; a list in it makes one phase for each value."""

    test: (
        Annotated[
            str,
            about(
                'Short name by which reports group rows. Default: from pattern and mix, such as "randread".',
                "a short name of letters, digits and - _ . +",
                pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+-]{0,31}$",
                examples=["randread", "commit"],
            ),
        ]
        | Unset
    ) = UNSET
    role: (
        Annotated[
            Literal["measure", "warm", "verify"],
            about(
                "measure: a row of the report; warm: runs, but is not reported; verify: reads back all that phases "
                'with verify = true wrote. Default "measure".',
                "a role",
            ),
        ]
        | Unset
    ) = UNSET
    steps: Steps | Unset = UNSET
    pauses: Pauses | Unset = UNSET
    together: Together | Unset = UNSET
    follows: Follows | Unset = UNSET
    engine: Engine | Unset = UNSET


class JobFile(Struct, forbid_unknown_fields=True):
    """An iocast job file: what I/O to do, in which order, for how long."""

    name: Annotated[
        str,
        about(
            "Name of the job in reports.",
            "a name of 1 to 80 characters on one line",
            pattern=r"^[^\x00-\x1f]{1,80}$",
        ),
    ]
    phase: (
        Annotated[
            list[PhaseTable],
            about(
                "The phases, in the order in which they run.",
                "tables headed [[phase]], in double brackets",
                min_length=1,
            ),
        ]
        | Unset
    ) = UNSET
    database: (
        Annotated[
            list[DatabaseTable],
            about(
                "Instead of phases: loads of a database, in the order in which they run.",
                "tables headed [[database]], in double brackets",
                min_length=1,
            ),
        ]
        | Unset
    ) = UNSET
    description: Annotated[str, about("Purpose of the job, in a sentence.", "a text")] | Unset = UNSET
    runs: Runs | Unset = UNSET
    files: Annotated[FilesTable, about("The work files to lay out in a directory.", "a [files] table")] | Unset = UNSET
    tree: (
        Annotated[
            TreeTable, about("A tree of files in which all phases work, instead of work files.", "a [tree] table")
        ]
        | Unset
    ) = UNSET
    interval: (
        Annotated[
            str,
            about("Length of the intervals that the run folder keeps. Default 1s.", TIME, "length", examples=["250ms"]),
        ]
        | Unset
    ) = UNSET
    defaults: Annotated[DefaultsTable, about("Defaults that every phase inherits.", "a [defaults] table")] | Unset = (
        UNSET
    )
