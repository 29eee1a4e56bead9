"""Defaults of options: which of several counts, what may not be set, and what `iocast config` says of them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from makers.command_line import iocast

JOB = 'name = "j"\n[[phase]]\ntest = "randread"\nsize = "8k"\ntime = "1s"\n'


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory with a job, and a home beside it."""
    (tmp_path / "job.toml").write_text(JOB)
    (tmp_path / "home/iocast").mkdir(parents=True)
    return tmp_path


def seconds(place: Path, *words: str, **env: str) -> float:
    """How long the row of a plan is."""
    done = iocast(
        "plan", "job.toml", "sim:nvme", "--json", *words, cwd=place, XDG_CONFIG_HOME=str(place / "home"), **env
    )
    assert done.returncode == 0, done.stderr
    return float(json.loads(done.stdout)["phases"][0]["length"]["seconds"])


def test_the_nearer_goes_before_the_farther(place: Path) -> None:
    assert seconds(place) == 1
    (place / "home/iocast/config.toml").write_text('time = "2s"\n')
    assert seconds(place) == 2
    (place / "home/iocast/config.toml").write_text('time = "2s"\n[plan]\ntime = "3s"\n[card]\ntime = "4s"\n')
    assert seconds(place) == 3
    (place / "iocast.toml").write_text('time = "5s"\n')
    assert seconds(place) == 5
    assert seconds(place, IOCAST_TIME="6s") == 6
    assert seconds(place, IOCAST_TIME="6s", IOCAST_PLAN_TIME="7s", IOCAST_RUN_TIME="8s") == 7
    assert seconds(place, "--time", "9s", IOCAST_PLAN_TIME="7s") == 9


def test_values_are_read_as_on_the_command_line(place: Path) -> None:
    (place / "iocast.toml").write_text('page = false\nseed = 7\nout = "kept"\n[run]\nformat = "json"\n')
    done = iocast("run", "job.toml", "sim:nvme", cwd=place, XDG_CONFIG_HOME="/nowhere")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["seed"] == 7
    (run,) = (place / "kept").iterdir()
    assert not (run / "report.html").exists()
    with (place / "iocast.toml").open("a") as file:
        file.write('slo = ["p99<1s@1/s", "p99<1us@1/s"]\nfail-on = "slo"\n')
    assert iocast("run", "job.toml", "sim:nvme", cwd=place, XDG_CONFIG_HOME="/nowhere").returncode == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('destroy = "loop:1"', "--destroy is given on the command line only"),
        ("[plan]\nforce = true", "plan has no option force"),
        ("[run]\nforce = true", ""),
        ("[plan]\ntiem = 1", 'plan has no option tiem; did you mean "time"?'),
        ("[plam]\ntime = 1", 'iocast has no verb [plam]; did you mean "plan"?'),
        ("time = true", "time is True"),
        ('[plan.time]\nx = "1s"', "[plan.time] is a table, and time an option"),
        ("time = ", "iocast.toml: Invalid value"),
        ('time = "soon"', '--time: "soon"'),
    ],
)
def test_what_cannot_be_a_default(place: Path, text: str, says: str) -> None:
    (place / "iocast.toml").write_text(text)
    done = iocast("plan", "job.toml", "sim:nvme", cwd=place, XDG_CONFIG_HOME="/nowhere")
    assert (done.returncode, says in done.stderr) == (2 if says else 0, True), done.stderr


def test_an_empty_variable_is_none(place: Path) -> None:
    assert seconds(place, IOCAST_TIME="") == 1


def test_a_common_name_means_the_same_for_all_verbs(place: Path) -> None:
    """`watch blk` had a flag of that name, and a time in the file made `iocast config` fail."""
    (place / "iocast.toml").write_text('time = "5s"\n')
    done = iocast("config", cwd=place, XDG_CONFIG_HOME="/nowhere")
    assert done.returncode == 0, done.stderr


def test_nothing_is_given_up_by_a_default(place: Path) -> None:
    for variable in ("IOCAST_DESTROY", "IOCAST_RUN_FORCE", "IOCAST_OUTPUT"):
        done = iocast("run", "job.toml", "sim:nvme", cwd=place, **{variable: "1"})
        assert (done.returncode, "on the command line only" in done.stderr) == (2, True), done.stderr


def test_a_file_of_another_user_sets_nothing(place: Path) -> None:
    if os.geteuid():
        pytest.skip("only root gives files away")
    (place / "iocast.toml").write_text('time = "5s"\n')
    os.chown(place / "iocast.toml", 65534, 65534)
    done = iocast("plan", "job.toml", "sim:nvme", cwd=place, XDG_CONFIG_HOME="/nowhere")
    assert (done.returncode, "belongs to user 65534" in done.stderr) == (2, True), done.stderr


def test_config_says_what_is_set_and_where(place: Path) -> None:
    named = {"XDG_CONFIG_HOME": str(place / "home")}
    nothing = iocast("config", cwd=place, **named)
    assert nothing.stdout.startswith("nothing is set: neither in iocast.toml, nor in ")
    (place / "home/iocast/config.toml").write_text('[card]\ntime = "2s"\n')
    (place / "iocast.toml").write_text('[load-db.run]\nsessions = "1,2"\n')
    done = iocast("config", "--json", cwd=place, IOCAST_PLAN_SEED="3", **named)
    told = {
        (each["verb"], each["option"]): (each["value"], each["source"]) for each in json.loads(done.stdout)["defaults"]
    }
    assert told == {
        ("card", "time"): ("2s", str(place / "home/iocast/config.toml")),
        ("load-db run", "sessions"): ("1,2", "iocast.toml"),
        ("plan", "seed"): ("3", "IOCAST_PLAN_SEED"),
    }
    blocks = iocast("config", "watch", "--json", cwd=place, IOCAST_WATCH_BLK_COUNT="3", **named)
    counts = [each for each in json.loads(blocks.stdout)["defaults"] if each["option"] == "count"]
    assert [(each["verb"], each["value"]) for each in counts] == [("watch", ""), ("watch blk", "3")]
    level, url = "p99<5ms@9/s", "mysql://a:secret@h/"
    urls = iocast("config", "--json", cwd=place, IOCAST_CARD_DATABASE=url, IOCAST_CARD_SLO=level)
    assert "secret" not in urls.stdout
    assert level in urls.stdout
    shown = iocast("config", "card", cwd=place, **named)
    assert any(line.startswith("card --time 2s ") for line in shown.stdout.splitlines()), shown.stdout
    assert any(line.split() == ["card", "--seed", "1", "iocast"] for line in shown.stdout.splitlines()), shown.stdout
    (place / "iocast.toml").write_text('siez = "1G"\n')
    wrong = iocast("config", cwd=place, **named)
    assert (wrong.returncode, 'no verb has an option siez; did you mean "size"?' in wrong.stderr) == (2, True)
