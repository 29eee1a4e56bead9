"""`--anonymous`: names planted on a real machine are in no byte of what is written, and its figures are the same."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
from pathlib import Path

import duckdb
import pytest
from makers.command_line import IOCAST, iocast
from makers.database_servers import NoServer, postgres
from makers.left_out import long_after
from makers.planted_names import ON_SECRET_HOST, figures_of, planted_in
from makers.rootly import need

pytestmark = pytest.mark.slow
JOB = """
name = "secret job"
[files]
size = "4MiB"
[defaults]
time = "100ms"
direct = false
[[phase]]
test = "secret-test"
size = "8k"
[[phase]]
test = "randread"
size = "4k"
users = 2
"""
STUDY = """
name = "secret study"
description = "what a secret customer asked for"
repeats = 1
labels = ["secret label", "bare"]
[defaults]
direct = true
time = "100ms"
[axis.data.secret-value]
size = "8k"
[axis.data.disk]
size = "4k"
[view.secret]
data = "secret-value"
"""
ORACLE = """\
Oracle Database 12c Release 12.1.0.1.0 - 64bit Production
Unix process pid: 41, image: oracle@secret-host
*** SESSION ID:(409.215) 2013-08-26 14:40:23.035
PARSING IN CURSOR #7 len=28 dep=0 uid=0 oct=3 lid=0 tim=2000000 hv=99 ad='x' sqlid='secret0sqlid'
select secret from secret_table
END OF STMT
WAIT #7: nam='db file sequential read' ela= 900 file#=4 block#=29 blocks=1 obj#=8 tim=2001000
WAIT #7: nam='latch free' ela= 100 address=1 number=2 tries=3 obj#=8 tim=2001500
FETCH #7:c=100,e=1500,p=1,cr=3,cu=0,mis=0,r=1,dep=0,og=1,plh=5,tim=2002000
WAIT #7: nam='SQL*Net message from client' ela= 5000 driver id=1 #bytes=1 p3=0 obj#=8 tim=2007000
"""
# A program of that name that writes to a file of that name which it keeps open, so that a capture can name it.
WRITES = """
import time
with open("data/secret-file.dat", "wb", buffering=0) as file:
    time.sleep(0.2)
    for _ in range(40):
        file.write(bytes(8192))
        time.sleep(0.01)
"""


def said(*words: str | Path, cwd: Path, before: tuple[str, ...] = ()) -> str:
    """What `iocast` prints; it must succeed."""
    done = iocast(*words, cwd=cwd, before=before)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of a machine on which names are planted, with a run that was noted and tagged."""
    need("unshare")
    here = tmp_path_factory.mktemp("secret-dir")
    (here / "data").mkdir()
    (here / "secret.toml").write_text(JOB)
    said("run", "secret.toml", "data", "--layers", cwd=here, before=ON_SECRET_HOST)
    said("note", "last", "secret-note\nof a secret", "--tag", "secret-tag", cwd=here)
    return here


def the_run(place: Path) -> Path:
    (folder,) = (place / "iocast-runs").iterdir()
    return folder


@pytest.mark.parametrize("suffix", long_after(1, ["html", "json", "csv", "md", "txt", "flatfile"]))
def test_a_report_of_a_run_has_no_name(suffix: str, place: Path, tmp_path: Path) -> None:
    plain, hidden = tmp_path / f"plain.{suffix}", tmp_path / f"hidden.{suffix}"
    said("report", "last", "-o", plain, cwd=place)
    said("report", "last", "--anonymous", "-o", hidden, cwd=place)
    if suffix != "flatfile":
        assert planted_in(plain) == [str(plain)]
    assert planted_in(hidden) == []
    if suffix == "json":
        assert figures_of(hidden) == figures_of(plain)


@pytest.mark.parametrize(
    "form", long_after(1, ["terminal", "classic", "r", "json", "csv", "markdown", "vdbench", "flatfile"])
)
def test_what_a_terminal_shows_of_a_run_has_no_name(form: str, place: Path) -> None:
    assert "secret" not in said("report", "last", "--anonymous", "--format", form, cwd=place).lower()


@pytest.mark.long
def test_pictures_have_no_name(place: Path, tmp_path: Path) -> None:
    said("report", "last", "--anonymous", "-o", tmp_path / "hidden.svg", cwd=place)
    assert planted_in(tmp_path) == []


@pytest.mark.long
def test_outputs_of_one_key_have_the_same_pseudonyms_and_others_have_not(place: Path, tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_bytes(bytes(range(32)))
    asked = ("report", "last", "--json")
    first, second = (json.loads(said(*asked, "--anonymous-key", key, cwd=place)) for _ in range(2))
    other = json.loads(said(*asked, "--anonymous", cwd=place))
    assert first["host"] == second["host"] != other["host"]
    key.write_bytes(b"short")
    refused = iocast(*asked, "--anonymous-key", key, cwd=place)
    assert (refused.returncode, "has 5 bytes, fewer than 16" in refused.stderr) == (2, True)
    missing = iocast(*asked, "--anonymous-key", tmp_path / "none", cwd=place)
    assert (missing.returncode, "head -c 32 /dev/urandom" in missing.stderr) == (2, True)


@pytest.mark.long
def test_two_runs_are_compared_without_a_name(place: Path, tmp_path: Path) -> None:
    run, other = the_run(place), tmp_path / "secret-copy"
    shutil.copytree(run, other)
    plain, hidden = tmp_path / "plain.json", tmp_path / "hidden.json"
    said("compare", run, other, "-o", plain, cwd=place)
    said("compare", run, other, "--anonymous", "-o", hidden, cwd=place)
    assert (planted_in(plain), planted_in(hidden)) == ([str(plain)], [])
    assert figures_of(hidden) == figures_of(plain)


@pytest.mark.long
def test_the_card_and_the_page_of_a_new_run_have_no_name(place: Path) -> None:
    out = place / "fresh"
    shown = said("run", "secret.toml", "data", "--page", "--anonymous", "--out", out, cwd=place, before=ON_SECRET_HOST)
    (folder,) = out.iterdir()
    assert "secret" not in shown.lower()
    assert planted_in(folder / "report.html") == []
    assert "secret-host" in (folder / "run.json").read_text()  # the folder is for those who have the machine


@pytest.mark.long
def test_repeats_and_a_named_experiment_have_no_name(tmp_path: Path) -> None:
    (tmp_path / "secret.toml").write_text(JOB)
    for words in (("repeat", "2", "secret.toml", "sim:nvme"), ("experiment", "arm", "sim:hdd", "--no-page")):
        out = tmp_path / f"secret-{words[0]}"
        said(*words, "--out", out, cwd=tmp_path)
        (folder,) = out.iterdir()
        plain, hidden = (said("report", folder, "--json", *how, cwd=tmp_path) for how in ((), ("--anonymous",)))
        assert ("secret" in plain, "secret" in hidden.lower()) == (True, False)
        assert figures_of(hidden) == figures_of(plain)


def test_a_study_has_no_name(tmp_path: Path) -> None:
    (tmp_path / "secret.toml").write_text(STUDY)
    for label, device in (("secret label", "sim:nvme"), ("bare", "sim:hdd")):
        said("study", "secret.toml", device, "--label", label, "--out", "secret-out", cwd=tmp_path)
    plain, hidden = (said("report", "secret-out", "--json", *how, cwd=tmp_path) for how in ((), ("--anonymous",)))
    assert ("secret" in plain, "secret" in hidden.lower()) == (True, False)
    assert figures_of(hidden) == figures_of(plain)


def test_copies_of_a_file_have_no_name(place: Path, tmp_path: Path) -> None:
    (place / "secret-source.dat").write_bytes(bytes(1 << 20))
    words = ("experiment", "copy", "secret-source.dat", tmp_path, "--rounds", "1", "--methods", "read-write-large")
    said(*words, "--no-page", "--out", place / "copied", cwd=place, before=ON_SECRET_HOST)
    (folder,) = (place / "copied").iterdir()
    plain, hidden = (said("report", folder, "--json", *how, cwd=place) for how in ((), ("--anonymous",)))
    assert ("secret" in plain, "secret" in hidden.lower()) == (True, False)
    assert figures_of(hidden) == figures_of(plain)


@pytest.mark.long
def test_a_capture_and_what_is_made_of_it_have_no_name(place: Path, tmp_path: Path) -> None:
    program = place / "secret-proc"
    shutil.copy(Path("/usr/bin/python3").resolve(), program)
    (place / "writes.py").write_text(WRITES)
    for how in ((), ("--anonymous",)):
        to = tmp_path / ("hidden.parquet" if how else "plain.parquet")
        done = iocast("capture", *how, "--json", "-o", to, "--", "./secret-proc", "writes.py", cwd=place)
        if done.returncode and ("tracing" in done.stderr or "mounted" in done.stderr):
            pytest.skip(done.stderr)
        assert done.returncode == 0, done.stderr
        assert ("secret-proc" in done.stdout, "secret-file" in done.stdout) == ((False, False) if how else (True, True))
    assert planted_in(tmp_path) == [str(tmp_path / "plain.parquet")]
    assert re.search(r"/path-[a-z2-7]{8}/data/path-[a-z2-7]{8}\.dat", repr(facts_of(tmp_path / "hidden.parquet")))

    # What was captured with its names is profiled without them: the rows are the same, and so is all that is counted.
    (tmp_path / "secret").mkdir()
    shutil.move(tmp_path / "plain.parquet", tmp_path / "secret/secret.parquet")
    plain = said("profile", "secret/secret.parquet", "--json", "--out", "secret/out", cwd=tmp_path)
    hidden = said("profile", "secret/secret.parquet", "--json", "--anonymous", "--out", "hidden", cwd=tmp_path)
    (made,) = (tmp_path / "secret/out").iterdir()
    again = said("profile", made, "--json", "--anonymous", "--out", "hidden", cwd=tmp_path)
    said("profile", made, "--anonymous", "--out", "hidden", "-o", "page.html", cwd=tmp_path)
    said("profile", made, "--anonymous", "--out", "hidden", "--to", "job.toml", cwd=tmp_path)
    assert planted_in(tmp_path / "hidden", tmp_path / "page.html", tmp_path / "job.toml") == []
    assert ("secret" in plain, "secret" in hidden, "secret" in again) == (True, False, False)
    assert figures_of(hidden) == figures_of(plain) == figures_of(again)
    for folder in (tmp_path / "hidden").iterdir():
        assert rows_of(folder / "events.parquet") == rows_of(made / "events.parquet")


def rows_of(table: Path) -> list[object]:
    return duckdb.sql(f"SELECT * FROM '{table}'").fetchall()


def facts_of(table: Path) -> list[object]:
    return duckdb.sql(f"SELECT * FROM parquet_kv_metadata('{table}')").fetchall()


def test_the_statements_of_a_profile_have_no_text(tmp_path: Path) -> None:
    (tmp_path / "secret.trc").write_text(ORACLE)
    said("profile", "secret.trc", "--out", "plain", "--block-size", "8k", cwd=tmp_path)
    said("profile", "secret.trc", "--out", "hidden", "--block-size", "8k", "--anonymous", cwd=tmp_path)
    (plain,), (hidden,) = (tmp_path / "plain").iterdir(), (tmp_path / "hidden").iterdir()
    tables = {file.name for file in hidden.iterdir()}
    assert tables == {"profile.json", "events.parquet", "calls.parquet"}
    assert {Path(file).name for file in planted_in(plain)} >= {"profile.json", "calls.parquet"}
    assert planted_in(tmp_path / "hidden") == []
    reports = [said("profile", each, "--json", cwd=tmp_path) for each in (plain, hidden)]
    assert "secret" not in reports[1]
    assert "statement-" in reports[1]
    assert figures_of(reports[0]) == figures_of(reports[1])


@pytest.mark.long
def test_a_tape_of_a_database_has_no_name(place: Path, tmp_path: Path) -> None:
    psycopg = pytest.importorskip("psycopg")
    try:
        with postgres(18) as server, psycopg.connect(server.url(), autocommit=True) as connection:
            connection.execute("create extension pg_stat_statements")
            connection.execute("create database secret_database")
            connection.execute("create table secret_table (secret_column int primary key)")
            connection.execute("insert into secret_table select generate_series(1, 1000)")
            client = subprocess.Popen(
                [server.programs / "psql", "-q", "-h", server.folder, "-U", server.user, "postgres"],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                text=True,
                env={"PGAPPNAME": "secret-program"},
            )
            assert client.stdin is not None
            client.stdin.write('select count(*), pg_sleep(30) as "secret-stmt" from secret_table;\n')
            client.stdin.flush()
            time.sleep(0.5)
            watching = ("watch", "--database", server.url(), "--interval", "300ms", "--count", "3")
            for where, how in (("plain", ()), ("hidden", ("--anonymous",))):
                said(*watching, "--record", tmp_path / where, *how, cwd=place, before=ON_SECRET_HOST)
            client.kill()
            client.wait()
    except NoServer as why:
        pytest.skip(str(why))
    planted = planted_in(tmp_path / "plain")
    assert {Path(file).suffix for file in planted} == {".json", ".parquet"}
    assert planted_in(tmp_path / "hidden") == []

    # And what is made of the tape with its names.
    (tape,) = (tmp_path / "plain").iterdir()
    plain, hidden = (said("report", tape, "--json", *how, cwd=place) for how in ((), ("--anonymous",)))
    assert ("secret" in plain, "secret" in hidden.lower()) == (True, False)
    assert figures_of(plain) == figures_of(hidden)
    for mode in ("pgmon", "ioh", "iostat"):
        assert "secret" not in said("watch", mode, "--tape", tape, "--anonymous", "--json", cwd=place)


@pytest.mark.long
def test_a_tape_whose_recording_was_killed_has_no_name(place: Path, tmp_path: Path) -> None:
    words = [
        *ON_SECRET_HOST,
        *IOCAST,
        "watch",
        "--record",
        str(tmp_path / "tapes"),
        "--interval",
        "200ms",
        "--anonymous",
    ]
    recording = subprocess.Popen(words, cwd=place, stderr=subprocess.DEVNULL)
    for _ in range(400):
        if list(tmp_path.glob("tapes/2*/under_way.json")):
            break
        time.sleep(0.05)
    time.sleep(1)
    recording.kill()
    recording.wait()
    (under_way,) = tmp_path.glob("tapes/2*/under_way.json")
    assert "host-" in under_way.read_text()
    assert planted_in(tmp_path) == []


def test_a_log_of_counters_calls_disks_by_the_names_of_the_kernel(tmp_path: Path) -> None:
    said("capture", "--iostat", "--seconds", "1", "--anonymous", "-o", "log", cwd=tmp_path)
    said("import", "log", "--out", "runs", cwd=tmp_path)
