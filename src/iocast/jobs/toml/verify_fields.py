"""The fields of a job file that ask for verification; tables.py has all others, and says how they are described."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType


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
