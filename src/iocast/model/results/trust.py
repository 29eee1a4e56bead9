"""Why rows have their letters of trust, in cards and in answers that rest on rows."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from iocast.model.codes import TrustCode
from iocast.model.finding import Grade
from iocast.model.results.shown import shown


class TrustReason(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why rows have the letter of trust that they have."""

    trust: Annotated[Grade, shown("trust", "grade")]
    component: Annotated[TrustCode, shown("aspect", "code")]
    phases: Annotated[tuple[str, ...], shown("rows", "names")]
    reason: Annotated[str, shown("reason")]
