"""What one verb prints or takes, the others take: names of runs, groups, PATH, -o, --json, CSV."""

from __future__ import annotations

import csv
import io
import json
import socket
from pathlib import Path

import click
import pytest
from makers.command_line import iocast
from makers.left_out import long_after

from iocast.commands import VERBS, load_verb
from iocast.load.filling import claimed_file, create
from iocast.load.work_files import WorkFile


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run, and a group of two repeats, in `runs` and as many in the default directory."""
    place = tmp_path_factory.mktemp("names")
    for out in ((), ("--out", "runs")):
        assert iocast("card", "sim:hdd", "--time", "1s", *out, cwd=place).returncode == 0
        made = iocast("repeat", "2", "card-quick", "sim:hdd", "--time", "1s", *out, cwd=place)
        assert made.returncode == 0, made.stderr
        assert "to see this again: iocast report " in made.stderr
    return place


@pytest.mark.parametrize("given", long_after(1, [(), pytest.param(("runs",))]))
def test_what_is_listed_can_be_shown_reported_and_compared(place: Path, given: tuple[str, ...]) -> None:
    inside = ("--in", *given) if given else ()
    listed = json.loads(iocast("runs", *given, "--json", cwd=place).stdout)["runs"]
    names = [run["run"] for run in listed]
    assert len(names) == 3
    for name in names:
        for verb in ("show", "report"):
            assert iocast(verb, name, *inside, cwd=place).stdout.startswith("card quick"), (verb, name)
    done = iocast("compare", names[0], names[1], *inside, cwd=place)
    assert done.returncode == 0, done.stderr
    hint = iocast("runs", *given, cwd=place).stdout
    assert f"iocast show RUN{' --in runs' if given else ''}." in hint


@pytest.mark.long
def test_repeats_are_shown_again_as_they_were(place: Path) -> None:
    (group,) = (place / "runs").glob("*-repeat-*")
    for words in (("report", group), ("report", group.name, "--in", "runs"), ("show", group.name, "--in", "runs")):
        done = iocast(*words, cwd=place)
        assert done.stdout.startswith(f"Repeats · {group.name}"), done.stderr
    assert iocast("report", group, "-o", "group.html", cwd=place).returncode == 0
    assert (place / "group.html").exists()
    done = iocast("report", group, "--fail-under", "A", cwd=place)
    assert (done.returncode, "has no grade" in done.stderr) == (2, True)


def test_dash_is_stdout_and_two_files_are_refused(place: Path) -> None:
    assert iocast("show", cwd=place).stdout == iocast("report", "last", "-o", "-", cwd=place).stdout != ""
    done = iocast("report", "last", "-o", "a.txt", "-o", "b.txt", cwd=place)
    assert done.returncode == 2
    assert done.stderr.startswith("error: -o is given 2 times: a.txt, b.txt\n")


def test_runs_are_csv(place: Path) -> None:
    shown = iocast("runs", "--format", "csv", cwd=place).stdout
    iocast("runs", "-o", "runs.csv", cwd=place)
    assert (place / "runs.csv").read_text() == shown
    lines = list(csv.DictReader(io.StringIO(shown)))
    assert [line["target"] for line in lines] == ["sim:hdd"] * 3
    assert all(line["started_unix_ns"] for line in lines)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_json_and_the_same_path(verb: str) -> None:
    command = load_verb(verb)
    leaves = list(command.commands.values()) if isinstance(command, click.Group) else [command]
    leaves = [leaf for leaf in leaves if not leaf.hidden]
    assert all(any("--json" in param.opts for param in leaf.params) for leaf in leaves)
    for param in command.params:
        argument = isinstance(param, click.Argument)  # --path of capture is a filter
        if argument and param.name == "path" and verb != "diagnose":  # there a run may stand for it
            assert param.default in (".", "")  # "": a job file may name its directory; else the current one


def test_json_of_verbs_without_a_report(place: Path) -> None:
    for words, keys in (
        (("plan",), {"card-quick", "hailey"}),
        (("spec", "card-quick"), {"format", "job", "notes"}),
        (("experiment",), {"cache", "read-ahead"}),
        (("clean",), {"dry_run", "removed", "kept"}),
    ):
        assert keys <= set(json.loads(iocast(*words, "--json", cwd=place).stdout)), words


@pytest.mark.parametrize(
    ("host", "hint"),
    [
        ("8077", "hint: give the port with --port 8077"),
        ("127.0.0.1:99", "hint: --host 127.0.0.1 --port 99"),
        ("192.0.2.1", "hint: --host is an address of this machine"),
    ],
)
def test_a_wrong_host_is_not_said_to_be_a_wrong_port(place: Path, host: str, hint: str) -> None:
    done = iocast("serve", "--host", host, cwd=place)
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: cannot listen on {host}: ")
    assert hint in done.stderr


def test_a_port_that_is_taken_is_said_so(place: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = iocast("serve", "--port", str(port), cwd=place)
    assert f"error: cannot listen on 127.0.0.1:{port}: " in done.stderr
    assert "hint: choose another port with --port" in done.stderr


@pytest.mark.parametrize(
    "path", sorted((Path(__file__).resolve().parents[2] / "src/iocast/commands").rglob("cmd_*.py"))
)
def test_a_path_that_may_be_left_out_says_what_it_then_is(path: Path) -> None:
    """One default everywhere, named in the help of every verb that has it."""
    text = path.read_text(encoding="utf-8")
    for default, told in (
        ('"path", default="."', "default: the current directory"),
        ('"directory", default=RUNS', "iocast-runs)"),
    ):
        if default in text:
            words = " ".join(text.split())
            assert told in words or "(default: the current one)" in words


def test_a_name_with_an_end_of_line_is_one_line_of_clean(tmp_path: Path) -> None:
    """`removed /etc/passwd` on a line of its own was the name of a file."""
    name = tmp_path / "x\nremoved _etc_passwd"
    with claimed_file(WorkFile(str(name), 4096, fill=True)):
        create(WorkFile(str(name), 4096, fill=True))
    done = iocast("clean", tmp_path, cwd=tmp_path)
    assert done.returncode == 0
    assert [line for line in done.stdout.splitlines() if line.startswith("removed ")] == done.stdout.splitlines()
    assert len(done.stdout.splitlines()) == 1
    assert not name.exists()
