"""A name that says what is done, and a row that does something else: reports would show reads as writes."""

from __future__ import annotations

import pytest

from iocast.errors import SpecError
from iocast.jobs import parse_job

JOB = 'name = "x"\n[[phase]]\ntest = "{name}"\nsize = "8k"\ntime = "1s"\n{more}\n'


@pytest.mark.parametrize(
    ("name", "more", "way_out"),
    [
        ("randwrite", "", "write = 100"),
        ("write", 'pattern = "sequential"', "write = 100"),
        ("read", "write = 100", "read = 100"),
        ("randrw", "", "read = 50 and write = 50"),
        ("trim", "", "trim = 100"),
    ],
)
def test_a_name_that_misleads_is_refused(name: str, more: str, way_out: str) -> None:
    with pytest.raises(SpecError, match=f'test "{name}" without') as refused:
        parse_job(JOB.format(name=name, more=more), "x.toml")
    assert way_out in refused.value.hint


@pytest.mark.parametrize(
    ("name", "more"),
    [("randwrite", "write = 100"), ("randrw", "read = 70\nwrite = 30"), ("overnight", ""), ("commit", "")],
)
def test_all_others_are_names(name: str, more: str) -> None:
    assert parse_job(JOB.format(name=name, more=more), "x.toml").phases[0].test == name
