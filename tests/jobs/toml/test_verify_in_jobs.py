"""Verification in job files: what it asks for, and every way to ask for what cannot be."""

from __future__ import annotations

import pytest

from iocast.errors import SpecError, TargetError
from iocast.jobs import parse_job, parse_target, plan
from iocast.jobs.toml.job_writing import toml_text
from iocast.load.verify_journal import block_bytes
from iocast.model.job import Job

WRITES = '[[phase]]\nwrite = 100\nsize = "64k"\nverify = true\ntime = "1s"\n'
BACK = '[[phase]]\nrole = "verify"\n'


def job(*parts: str) -> Job:
    return parse_job('name = "v"\n[files]\nsize = "1GiB"\n' + "".join(parts), "v.toml")


def test_phases_that_write_record_and_one_reads_back() -> None:
    made = job(
        "[defaults]\nverify = true\n", WRITES.replace("verify = true\n", ""), WRITES.replace("write", "read", 1), BACK
    )
    assert [(phase.name, phase.verify, phase.role) for phase in made.phases] == [
        ("randwrite 64k 1x1", True, "measure"),
        ("randread 64k 1x1", False, "measure"),
        ("verify", False, "verify"),
    ]
    assert parse_job(toml_text(made), "back.toml").phases == made.phases


def test_the_block_divides_all_writes_or_is_what_was_said() -> None:
    other = WRITES.replace("64k", "24k")
    assert block_bytes(job(WRITES).phases) == 65536
    assert block_bytes(job(WRITES, other).phases) == 8192
    assert block_bytes(job(WRITES + 'verify_block = "4k"\n').phases) == 4096
    assert block_bytes(job(WRITES + 'region = {start = "4k"}\n').phases) == 4096


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (WRITES + 'payload = "zeros"', "verify with payload"),
        (WRITES + 'compressible = "50%"', "verify with compressible"),
        (WRITES + "trim = 10", "verify with trims"),
        (WRITES + 'verify_block = "3k"', "writes of 65536 bytes are not whole multiples of verify_block"),
        (WRITES.replace("64k", "1000") + "direct = false", "not whole multiples of 512 bytes"),
        (WRITES + BACK + 'size = "8k"', "it reads back everything written with verify"),
        (BACK, "has nothing to read back"),
        (WRITES + WRITES.replace("verify = true\n", "") + BACK, "overwrites what"),
        (WRITES + WRITES + 'verify_block = "4k"\n', "set different verify_block"),
    ],
)
def test_what_cannot_be_verified_is_refused(text: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        job(text)


def test_what_is_written_after_the_reading_back_needs_no_verify() -> None:
    assert len(job(WRITES, BACK, WRITES.replace("verify = true\n", "")).phases) == 3


def test_a_simulated_device_is_refused() -> None:
    with pytest.raises(TargetError, match="stores no data"):
        plan(job(WRITES, BACK), parse_target("sim:nvme"), seed=1, memory_bytes=1 << 30)
