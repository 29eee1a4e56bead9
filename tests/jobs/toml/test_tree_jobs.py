"""Job files with a [tree]: what phases in it are, what they inherit, what is refused."""

from __future__ import annotations

import pytest

from iocast.errors import SpecError
from iocast.jobs.toml.job_reading import parse_job
from iocast.jobs.toml.job_writing import toml_text
from iocast.model.tree import Tree, TreeSize

HEAD = 'name = "t"\n[tree]\ndepth = 2\nwidth = 3\nfiles = 10\n'


def _phases(text: str, head: str = HEAD) -> list[object]:
    return [(phase.name, phase.length.ios, phase.from_nothing) for phase in parse_job(head + text, "t.toml").phases]


def test_a_list_of_operations_makes_a_phase_for_each() -> None:
    text = '[[phase]]\noperations = ["create", "stat", "readdir"]\nusers = [1, 2]\npasses = 2\n'
    assert _phases(text) == [
        ("create 1x1", 180, True),
        ("create 2x1", 180, True),
        ("stat 1x1", 180, False),
        ("stat 2x1", 180, False),
        ("readdir 1x1", 18, False),
        ("readdir 2x1", 18, False),
    ]


def test_own_trees_have_passes_of_all_users() -> None:
    text = '[[phase]]\noperations = "stat"\npasses = 1\nusers = 4\n'
    assert _phases(text, HEAD + "own = true\n") == [("stat 4x1", 4 * 90, False)]


def test_a_mix_that_removes_too_begins_with_all_files() -> None:
    text = '[[phase]]\noperations = {create = 1, unlink = 1}\ntime = "1s"\n'
    assert _phases(text) == [("create+unlink 1x1", None, False)]
    text += 'begins = "empty"\n'
    assert _phases(text) == [("create+unlink 1x1", None, True)]


def test_sizes_by_weight() -> None:
    job = parse_job(HEAD + 'size = {"4k" = 90, "1MiB" = 10}\n[[phase]]\noperations = "stat"\ntime = "1s"\n', "t")
    assert job.tree == Tree(depth=2, width=3, files=10, sizes=(TreeSize(4096, 90.0), TreeSize(1 << 20, 10.0)))


def test_what_is_written_reads_back() -> None:
    text = (
        'own = true\nsize = "8k"\n[[phase]]\noperations = {read = 3, stat = 1}\nsize = "4k"\nselect = "random"\n'
        'time = "1s"\n[[phase]]\noperations = "unlink"\nbegins = "as_left"\npasses = 1\ncold = true\n'
    )
    job = parse_job(HEAD + text, "t")
    again = parse_job(toml_text(job), "t")
    assert (again.phases, again.tree) == (job.phases, job.tree)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            '[[phase]]\noperations = "stats"\ntime = "1s"\n',
            't.toml:7: .*"stats" is not an operation.*did you mean "statfs"',
        ),
        ('[[phase]]\noperations = "stat"\nread = 1\ntime = "1s"\n', "operations already set what is done"),
        ('[[phase]]\noperations = "read"\ntime = "1s"\n', "read without size"),
        ('[[phase]]\nread = 1\nsize = "4k"\npasses = 2\n', "passes without operations"),
        ('[[phase]]\noperations = {stat = 0}\ntime = "1s"\n', "the weights are above 0"),
        ('[[phase]]\noperations = "stat"\n', "no length"),
    ],
)
def test_what_contradicts_itself_is_refused_with_its_line(text: str, said: str) -> None:
    with pytest.raises(SpecError, match=said):
        parse_job(HEAD + text, "t.toml")


def test_a_tree_needs_files_and_not_too_many() -> None:
    phase = '[[phase]]\noperations = "stat"\ntime = "1s"\n'
    with pytest.raises(SpecError, match="files is missing"):
        parse_job('name = "t"\n[tree]\ndepth = 1\n' + phase, "t")
    with pytest.raises(SpecError, match="more than 4,294,967,295 files"):
        parse_job('name = "t"\n[tree]\ndepth = 9\nwidth = 10\nfiles = 1000\n' + phase, "t")
