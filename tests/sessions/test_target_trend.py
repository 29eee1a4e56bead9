"""`iocast trend`: a job on a target over time; what is not there is refused with what there is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from makers.card_runs import START_UNIX_NS, lognormal, reads, run
from makers.command_line import iocast
from msgspec.structs import replace

from iocast.archive import RunFolder
from iocast.archive.catalogue import runs_below
from iocast.archive.followed_runs import Followed, finished_runs, jobs_beside, runs_like
from iocast.archive.summary_file import save_summary
from iocast.model.run import Run
from iocast.model.summary import summary_of

DAY_NS = 86_400 * 10**9
SLOWER = 6  # the day from which on it is


def _saved(base: Path, day: int, median_ns: float, **changes: str) -> Run:
    """A run of a day, with its letters, in a folder."""
    one = run(reads("randread", times=lognormal(4000, median_ns, 0.3)), started_unix_ns=START_UNIX_NS + day * DAY_NS)
    target = replace(one.plan.target, path=changes.get("target", "/mnt/db"))
    host = replace(one.host, name=changes.get("host", "db01"))
    plan = replace(one.plan, target=target, name=changes.get("job", "nightly"))
    done = replace(one, plan=plan, host=host)
    folder = RunFolder.create(str(base), done)
    save_summary(folder.held, replace(summary_of(replace(done, run_id=folder.run_id)), grade="B", trust="B"))
    return done


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A job once a day, slower by half from a day on; before, another job; and another host."""
    base = tmp_path_factory.mktemp("trend")
    runs = base / "iocast-runs"
    _saved(runs, 0, 240_000, job="first look")
    _saved(runs, 0, 240_000, host="db02", target="/mnt/other")
    for day in range(1, 13):
        _saved(runs, day, 240_000 * (1.5 if day >= SLOWER else 1.0) * (1 + 0.01 * (day % 3)))
    return base


def test_the_change_and_its_day_are_shown(place: Path) -> None:
    shown = iocast("trend", "/mnt/db", cwd=place)
    assert shown.returncode == 0, shown.stderr
    assert "Trend · nightly on /mnt/db" in shown.stdout
    assert "1 of 1 row changed. Largest change: p99 of randread rose by 50%" in " ".join(shown.stdout.split())
    assert 'iocast trend /mnt/db iocast-runs --job "first look"'.replace('"', "'") in " ".join(shown.stdout.split())
    document = json.loads(iocast("trend", "/mnt/db", "--json", cwd=place).stdout)
    assert {change["since_unix_ns"] for change in document["changes"]} == {START_UNIX_NS + SLOWER * DAY_NS}


def test_a_path_from_here_is_the_target(place: Path) -> None:
    target = place / "db"
    _saved(place / "more", 1, 240_000, target=str(target))
    shown = iocast("trend", "db", "more", cwd=place)
    assert shown.returncode == 0, shown.stderr
    assert "1 run on db01" in shown.stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("/mnt/dv",), "hint: there are runs on /mnt/db"),
        (("/mnt/db", "--job", "weekly"), 'hint: there are runs of "nightly" on db01, "first look" on db01'),
        (("/mnt/db", "--host", "db02"), "error: no finished run by db02 on /mnt/db"),
        (("/mnt/db", "nowhere"), "error: nowhere cannot be listed"),
    ],
)
def test_what_is_not_there_is_refused_with_what_there_is(place: Path, words: tuple[str, ...], says: str) -> None:
    refused = iocast("trend", *words, cwd=place)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert says in " ".join(refused.stderr.split())


def test_what_is_left_open_is_that_of_the_newest_run(place: Path) -> None:
    known = finished_runs(runs_below(str(place / "iocast-runs")))
    assert len(known) == 14
    newest = runs_like(known, Followed())
    assert {(line.target, line.host, line.name) for _, line in newest} == {("/mnt/db", "db01", "nightly")}
    assert len(newest) == 12
    assert jobs_beside(known, Followed(target="/mnt/db", host="db01", job="nightly")) == [
        Followed(target="/mnt/db", host="db01", job="first look")
    ]
    assert runs_like(known, Followed(target="/mnt/nothing")) == []


def test_the_files_of_a_run_need_no_room(place: Path) -> None:
    """The rows of a damaged run are a gap, and cost nothing else."""
    damaged = place / "damaged"
    for day in range(2):
        _saved(damaged, day, 240_000)
    for folder in sorted(damaged.iterdir())[:1]:
        (folder / "run.json").write_text("{")
    shown = iocast("trend", "/mnt/db", "damaged", "--json", cwd=place)
    assert shown.returncode == 0, shown.stderr
    assert [row["runs"] for row in json.loads(shown.stdout)["rows"]] == [1]
