"""Job files that load a database: their tables become ramps; what contradicts itself is refused with its line."""

from __future__ import annotations

import pytest

from iocast.errors import SpecError
from iocast.jobs import parse_job
from iocast.model.database.database_load import CommitRamp, DatabaseLoad, HotSpot, LoadRamp, Think

WHOLE = """
name = "shop"

[[database]]
test = "oltp"
sessions = [1, 8]
time = "60s"
update_pct = 20
scan_pct = 5
scan_blocks = 64
work_unit = 4
hot = "1GiB@10GiB:3"
zipf = 0.9
think = "1ms..5ms:10"
redo = "heavy"
rate = "2000/s"
driver = "client"

[[database]]
until = "steady"
at_least = "5s"
at_most = "2m"
beside_others = true

[[database]]
work = "commit"
sessions = 4
time = "5s"
row_bytes = 100
floor = false
"""


def test_every_field_becomes_part_of_a_ramp() -> None:
    job = parse_job(WHOLE, "shop.toml")
    assert (job.phases, job.text) == ((), WHOLE)
    assert job.database == (
        LoadRamp(
            load=DatabaseLoad(
                driver="client", update_pct=20, scan_pct=5, scan_blocks=64, work_unit=4, zipf_theta=0.9, redo="heavy",
                hot=HotSpot(size_bytes=1 << 30, offset_bytes=10 << 30, every=3),
                think=Think(least_ns=1_000_000, most_ns=5_000_000, every=10),
            ),
            sessions=(1, 8), seconds=60.0, rate_per_s=2000.0, test="oltp",
        ),
        LoadRamp(sessions=(1,), seconds=120.0, until_steady=True, first_s=5.0, beside_others=True),
        CommitRamp(sessions=(4,), seconds=5.0, row_bytes=100, floor=False),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ("", "2: database 1: time is missing"),
        ('time = "100ms"', "3: database 1: time is below 1s"),
        ('time = "9s"\nuntil = "steady"', "3: database 1: time and until"),
        ('until = "steady"', "3: database 1: until has no at_most"),
        ('until = "steady"\nat_least = "9s"\nat_most = "9s"', "5: database 1: at_most is below twice at_least"),
        ('time = "9s"\nat_most = "9s"', '4: database 1: at_most without until = "steady"'),
        ('time = "9s"\nsessions = [4, 4]', "4: database 1: sessions has a number twice"),
        ('time = "9s"\nfloor = true', '4: database 1: floor is not of work = "load"'),
        ('time = "9s"\nwork = "commit"\nzipf = 0.9', '5: database 1: zipf is not of work = "commit"'),
        ('time = "9s"\nupdate_pct = 101', "4: database 1: update_pct = 101: expected a whole number from 0 to 100"),
        ('time = "9s"\nhot = "1GiB:x"', '4: database 1: hot: "1GiB:x" ends in ":x"'),
        ('time = "9s"\nthink = "5ms..1ms"', '4: database 1: think: "5ms..1ms": the shorter time comes first'),
        ('time = "9s"\nusers = 4', '4: database 1: unknown field "users"'),
        ('time = "9s"\n[[phase]]\nsize = "8k"', "4: [[database]] and phase in one file"),
    ],
)
def test_contradictions_are_refused_with_their_line(fields: str, says: str) -> None:
    with pytest.raises(SpecError) as refused:
        parse_job(f'name = "x"\n[[database]]\n{fields}\n', "shop.toml")
    assert refused.value.message.startswith(f"shop.toml:{says}")
    assert refused.value.hint or "expected" in refused.value.message


def test_intervals_are_those_in_which_servers_tell_what_they_did() -> None:
    with pytest.raises(SpecError, match="interval: a database tells what it did once a second"):
        parse_job('name = "x"\ninterval = "250ms"\n[[database]]\ntime = "9s"\n', "shop.toml")
