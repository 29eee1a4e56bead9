"""The [[database]] tables of a job file: what sessions do on the data set of a database."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Struct

from iocast.jobs.toml.inner_tables import CROWD, TIME, Crowds, Unset, about
from iocast.jobs.toml.step_table import NAME
from iocast.model.database.database_load import MOST_WORK_UNIT
from iocast.model.database.load_texts import HOT, THINK

OF_LOADS = (
    "driver", "update_pct", "scan_pct", "scan_blocks", "work_unit", "hot", "zipf", "think", "redo", "rate", "until",
    "at_least", "at_most",
)  # fmt: skip
OF_COMMITS = ("row_bytes", "floor")
_PERCENT = "a whole number from 0 to 100"
_BLOCKS = "a whole number of blocks, 1 or more"


class DatabaseTable(Struct, forbid_unknown_fields=True):
    """A load on the data set of `iocast load-db build`; each number of sessions makes one row."""

    work: (
        Annotated[
            Literal["load", "commit"],
            about('load: statements on the data set; commit: rows inserted and committed. Default "load".', "a work"),
        ]
        | Unset
    ) = UNSET
    test: (
        Annotated[
            str,
            about(
                'Short name by which reports group rows. Default: what it does, such as "db 20% update".',
                "a short name of letters, digits and - _ . +",
                pattern=NAME,
                examples=["oltp"],
            ),
        ]
        | Unset
    ) = UNSET
    sessions: (
        Annotated[
            Crowds,
            about("Sessions. A list makes one row for each. Default 1.", CROWD, examples=[8, [1, 4, 8, 16]]),
        ]
        | Unset
    ) = UNSET
    time: Annotated[str, about("Of each row; from 1s on.", TIME, "length", examples=["60s"])] | Unset = UNSET
    until: Annotated[Literal["steady"], about("Instead of time: a row ends when it is steady.", "a state")] | Unset = (
        UNSET
    )
    at_least: (
        Annotated[
            str,
            about(
                "until: judged after twice this time, then after four and eight times as long. Default an eighth of "
                "at_most.",
                TIME,
                "length",
                examples=["5s"],
            ),
        ]
        | Unset
    ) = UNSET
    at_most: Annotated[str, about("until: ends then, steady or not.", TIME, "length", examples=["2min"])] | Unset = (
        UNSET
    )
    driver: (
        Annotated[
            Literal["server", "client"],
            about(
                "Statements come from a loop on the server, or one by one from here, as those of an application. "
                'Default "server".',
                "a driver",
            ),
        ]
        | Unset
    ) = UNSET
    update_pct: Annotated[int, about("Share of updates. Default 0.", _PERCENT, ge=0, le=100)] | Unset = UNSET
    scan_pct: Annotated[int, about("Of the others: scans. Default 0.", _PERCENT, ge=0, le=100)] | Unset = UNSET
    scan_blocks: Annotated[int, about("Blocks of a scan. Default 128.", _BLOCKS, ge=1)] | Unset = UNSET
    work_unit: (
        Annotated[
            int,
            about(
                "Blocks of each other statement, exactly. Default 1.",
                f"a whole number from 1 to {MOST_WORK_UNIT}",
                ge=1,
                le=MOST_WORK_UNIT,
            ),
        ]
        | Unset
    ) = UNSET
    hot: (
        Annotated[
            str,
            about("Every so many-th statement goes to this part of the table.", HOT, "hot", examples=["1GiB@10GiB:3"]),
        ]
        | Unset
    ) = UNSET
    zipf: (
        Annotated[
            float,
            about("Some keys come more often: the skew.", "a number above 0, below 10", gt=0, lt=10, examples=[0.99]),
        ]
        | Unset
    ) = UNSET
    think: (
        Annotated[
            str,
            about("A pause before every so many-th statement.", THINK, "statement_pause", examples=["1ms..5ms:10"]),
        ]
        | Unset
    ) = UNSET
    redo: (
        Annotated[
            Literal["lite", "heavy"],
            about('What updates write: a counter, or a new filler too. Default "lite".', "an amount of redo"),
        ]
        | Unset
    ) = UNSET
    rate: (
        Annotated[
            str,
            about("Open loop: statements of all sessions.", 'a rate such as "500/s"', "rate", examples=["2000/s"]),
        ]
        | Unset
    ) = UNSET
    row_bytes: (
        Annotated[
            int,
            about("commit: bytes of the row that is inserted. Default 200.", "a whole number, 1 or more", ge=1),
        ]
        | Unset
    ) = UNSET
    floor: (
        Annotated[
            bool,
            about("commit: beside each row one that does not wait for the log. Default true.", "true or false"),
        ]
        | Unset
    ) = UNSET
    beside_others: (
        Annotated[
            bool,
            about("Although sessions of others are active there, or cannot be judged. Default false.", "true or false"),
        ]
        | Unset
    ) = UNSET
