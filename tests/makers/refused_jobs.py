"""Job files that must be refused, and what their refusals list."""

from __future__ import annotations

import pytest

from iocast.errors import SpecError
from iocast.jobs import parse_job

HEAD = 'name = "j"\n'  # line 1


SIZES = "sizes are written 4096, 8k or 8KiB (1024 each), 8kB (1000 each), and so on with M, G, T, P"


TIMES = "times are written 100us, 500ms, 10s, 1.5s, 2m, 1h, 1d"


RATES = "rates are written 500/s, 2.5k/s (k = 1000), 30/min, 100/h"


PHASE_FIELDS = (
    "test, role, steps, pauses, together, follows, engine, verify, verify_block, "
    "operations, select, stop_after, passes, begins, cold, "
    "read, write, trim, fsync, fdatasync, size, mix, pattern, start, backwards, repeats, theta, "
    "space_percent, access_percent, stride, users, depth, direct, sync, "
    "fsync_every, fdatasync_every, payload, compressible, dedupable, "
    "rate, arrival, burst, every, think, "
    "time, until, at_least, at_most, rule, ios, bytes, region"
)


def refusal(text: str) -> SpecError:
    with pytest.raises(SpecError) as refused:
        parse_job(text, "job.toml")
    return refused.value


def phase(fields: str) -> str:
    """A job of one good phase and `fields`, which start on line 3; the phase is on line 2."""
    given = {line.partition("=")[0].strip() for line in fields.splitlines()}
    good = {"size": 'size = "8k"', "time": 'time = "10s"'}
    rest = "".join(f"{line}\n" for name, line in good.items() if name not in given)
    return f"{HEAD}[[phase]]\n{fields}\n{rest}"
