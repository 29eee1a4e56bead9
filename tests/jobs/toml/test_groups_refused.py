"""Phases that run at once (`together`, `follows`): what they are refused for, in the exact words."""

from __future__ import annotations

import pytest
from makers.refused_jobs import HEAD, refusal

from iocast.jobs import parse_job

NEIGHBOURS = 'for example together = "database", here and in its neighbours'


def tables(*phases: str) -> str:
    """A job of phases of 8k, each with the fields given for it; the first one's begin on line 4."""
    return HEAD + "".join(f'[[phase]]\nsize = "8k"\n{fields}\n' for fields in phases)


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (
            tables('time = "1s"\nfollows = true'),
            "5: phase 1: follows without together: it has no other phase to end with",
            NEIGHBOURS,
        ),
        (
            tables("follows = true"),
            "4: phase 1: follows without together: it has no other phase to end with",
            NEIGHBOURS,
        ),
        (
            tables('together = "db"'),
            "2: phase 1: no length: give time, ios or bytes",
            'for example time = "10s"',
        ),
        (
            tables('together = "db"\nfollows = true', 'together = "db"\nfollows = true'),
            '2: phase 1: every phase of "db" follows the others: none has a length',
            "give one of them time",
        ),
        (
            tables('together = "db"\nfollows = true'),
            '2: phase 1: every phase of "db" follows the others: none has a length',
            "give one of them time",
        ),
        (
            tables('together = "db"\ntime = "1s"', 'time = "1s"', 'together = "db"\ntime = "1s"'),
            '11: phase 3: together = "db": phase 1 has it too, but other phases lie between them',
            "put them next to each other",
        ),
        (
            tables('together = "a"\ntime = "1s"', 'together = "b"\ntime = "1s"', 'together = "a"\ntime = "1s"'),
            '12: phase 3: together = "a": phase 1 has it too, but other phases lie between them',
            "put them next to each other",
        ),
        (
            tables('together = "db"\ntime = "1s"\ndepth = [1, 2]'),
            "2: phase 1: a list makes phases that run one after the other, together makes them run concurrently",
            "a [[phase]] for each value",
        ),
        (
            tables('together = "db"\nuntil = "steady"\nat_most = "10m"'),
            "5: phase 1: until with together: steadiness is not judged while phases run concurrently",
            "give it time",
        ),
        (
            tables('together = "db"\ntime = "1s"\nwrite = 100\nverify = true'),
            "7: phase 1: verify with together: with several writers the last write of a block is unknown",
            "set verify = false here, or move it to a separate phase",
        ),
        (
            tables('together = ""\ntime = "1s"'),
            '4: phase 1: together = "": expected a name of 1 to 32 letters, digits and - _ . + or spaces',
            "",
        ),
        (
            tables('together = "db"\ntime = "1s"\nfollows = "yes"'),
            '6: phase 1: follows = "yes": expected true or false',
            "",
        ),
        (
            f'{HEAD}together = "db"\n' + tables('time = "1s"').removeprefix(HEAD),
            '2: unknown field "together"; it belongs in [[phase]]',
            "allowed at the top: name, phase, database, description, runs, files, tree, interval, defaults",
        ),
    ],
)
def test_groups_that_cannot_be(text: str, message: str, hint: str) -> None:
    refused = refusal(text)
    assert refused.message == f"job.toml:{message}"
    assert refused.hint == hint


@pytest.mark.parametrize("field", ['together = "db"', "follows = true"])
def test_defaults_make_no_groups(field: str) -> None:
    refused = refusal(f"{HEAD}[defaults]\n{field}\n" + tables('time = "1s"').removeprefix(HEAD))
    name = field.split()[0]
    assert refused.message == f'job.toml:3: [defaults]: unknown field "{name}"; it belongs in [[phase]]'


def test_neighbours_of_one_name_are_a_group_and_others_are_not() -> None:
    job = parse_job(
        tables(
            'together = "db"\nfollows = true',
            'together = "db"\ntime = "1s"',
            'time = "2s"',
            'together = "other"\nios = 10',
        ),
        "job.toml",
    )
    lengths = [phase.length for phase in job.phases]
    assert [phase.together for phase in job.phases] == ["db", "db", "", "other"]
    assert [length.follows for length in lengths] == [True, False, False, False]
    assert [(length.seconds, length.ios) for length in lengths] == [(None, None), (1.0, None), (2.0, None), (None, 10)]
