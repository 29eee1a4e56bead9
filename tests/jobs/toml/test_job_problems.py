"""A job file is refused once for all its problems, and whatever it holds it is read or refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iocast.errors import SpecError
from iocast.jobs import load_job, parse_job
from iocast.jobs.toml.field_checks import fields_of
from iocast.jobs.toml.job_tables import PhaseTable
from iocast.units import SIZES

HEAD = 'name = "j"\n'  # line 1
TOP = "allowed at the top: name, phase, database, description, runs, files, tree, interval, defaults"
PHASE_FIELDS = ", ".join(fields_of(PhaseTable))


def test_all_problems_at_once_in_the_order_of_lines() -> None:
    text = f"""{HEAD}tiem = 5
[defaults]
time = "10s"
[[phase]]
size = "8kib"
users = [0]
[[phase]]
size = "8k"
theta = 1
rate = "1/s"
think = "1s"
[[phase]]
bs = "8k"
"""
    with pytest.raises(SpecError) as caught:
        parse_job(text, "job.toml")
    refused = caught.value
    assert refused.message.splitlines() == [
        "job.toml has 6 problems",
        '  job.toml:2: unknown field "tiem"',
        '  job.toml:6: phase 1: size: "8kib" is not a size: "kib" may mean bits or bytes: '
        "write KiB (1024) or kB (1000), with this capitalisation",
        "  job.toml:7: phase 1: users = [0]: expected a whole number from 1 to 4096, or a list of them",
        '  job.toml:10: phase 2: theta with pattern = "random": it belongs to pattern = "zipf"',
        "  job.toml:12: phase 2: rate and think: with a rate the clock decides when the next I/O is due, "
        "not the last completion (keep one: rate for an open loop, think for a closed one)",
        '  job.toml:14: phase 3: unknown field "bs"; did you mean "size"?',
    ]
    assert refused.hint.splitlines() == [TOP, SIZES, f"allowed in [[phase]]: {PHASE_FIELDS}"]


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"name = \xff")
    table, result = tmp_path / "db.parquet", tmp_path / "fio.json"
    table.write_bytes(b"PAR1\x15\x04\xff")
    result.write_text('{"fio version": "fio-3.33"}')
    for path, message, hint in [
        (
            "card-quik",
            'no job file or preset called card-quik; did you mean "card-quick"?',
            None,
        ),
        (str(tmp_path), f"{tmp_path} is a directory, not a job file", "name the .toml file in it"),
        (str(binary), f"{binary} is not a job file: byte 7 is not UTF-8", "job files are TOML text"),
        (str(table), f"{table} is a Parquet table, not a job file", f"a trace: iocast replay {table}"),
        (str(result), f"{result} is JSON, not a job file", f"a result of another tool: iocast import {result}"),
        (
            "a\0b",
            "a\0b cannot be read: embedded null byte",
            "give a preset, or a job file that is a regular file",
        ),
    ]:
        with pytest.raises(SpecError) as refused:
            load_job(path)
        assert refused.value.message == message
        assert refused.value.hint == (
            hint
            if hint is not None
            else "presets: card-quick, card-standard, card-full, hailey, database, metadata, survey, virtualisation"
        )


_VALUES = st.recursive(
    st.sampled_from(['"8k"', "8", "0", "-1", "nan", "true", '"x"', '"10s"', '"5/s"', "1979-05-27", "9" * 40, '"read"']),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]")
        | st.tuples(st.sampled_from(["size", "op", "weight", "start", '"4k"', "x"]), inner).map(
            lambda kv: f"{{{kv[0]} = {kv[1]}}}"
        )
    ),
    max_leaves=5,
)
_NAMES = st.sampled_from([*PHASE_FIELDS.split(", "), "bs"])


@given(st.dictionaries(_NAMES, _VALUES, max_size=6), st.dictionaries(_NAMES, _VALUES, max_size=3))
def test_any_fields_make_a_job_or_a_refusal(own: dict[str, str], defaults: dict[str, str]) -> None:
    tables = [("[defaults]", defaults), ("[[phase]]", own)]
    text = HEAD + "".join(f"{head}\n" + "".join(f"{k} = {v}\n" for k, v in table.items()) for head, table in tables)
    try:
        said = "" if parse_job(text, "job.toml").phases else "no phase"
    except SpecError as error:
        said = error.message
    assert said == "" or said.startswith("job.toml")


@given(st.text(max_size=60))
def test_any_text_is_refused_without_a_crash(text: str) -> None:
    with pytest.raises(SpecError):
        parse_job(text, "job.toml")


@pytest.mark.parametrize("table", ["files", "defaults", "tree", "database"])
def test_a_job_that_lacks_its_name_is_not_read_as_one_of_fio(table: str, tmp_path: Path) -> None:
    """`[tree]` at the top made it a job file of fio, with eight errors about keys that fio does not have."""
    job = tmp_path / "job"
    job.write_text(f'[{table}]\n\n[[phase]]\ntest = "t"\n')
    with pytest.raises(SpecError) as refused:
        load_job(str(job))
    assert "fio" not in refused.value.message + refused.value.hint
    job.write_text(f"[{table}]\nrw=randread\nbs=8k\nsize=1m\n")
    assert load_job(str(job)).phases
