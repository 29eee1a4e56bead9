"""The scripts of a load on Oracle: SQL that parses as Oracle's, an exact share of updates, and only its own schema."""

from __future__ import annotations

import math
import re
import subprocess
from pathlib import Path

import pytest
from makers.oracle_catalogue import catalogue

from iocast.tools.oracle.load_scripts import DUE, NOT_TRIED, OracleLoad, scripts

sqlglot = pytest.importorskip("sqlglot")
PLAIN = OracleLoad(table_blocks=65_536, tables=2, seed=7)
FULL = OracleLoad(
    table_blocks=12_345, update_pct=20, scan_pct=5, work_unit=8, heavy=True, hot_first=100, hot_blocks=50, hot_every=3,
    think_least_s=0.1, think_most_s=0.5, think_every=7,
)  # fmt: skip
_STATEMENT = re.compile(r"^\s*(select|insert|update|create table|create unique index)\b[^;]*;", re.MULTILINE)
_INTO = re.compile(r"\binto v_\w+(?:, v_\w+)*\b")


def statements(text: str) -> list[str]:
    """Those of SQL; where they are stored (pctfree, nologging) is not checked: sqlglot does not know it of indexes."""
    code = re.sub(r"--.*|^prompt .*|\bpctfree \d+|\binitrans \d+|\bnologging\b", "", text, flags=re.MULTILINE)
    return [_INTO.sub("", each[0]).replace("sys.dbms_crypto.", "").rstrip(";") for each in _STATEMENT.finditer(code)]


@pytest.mark.parametrize("load", [PLAIN, FULL], ids=["plain", "full"])
def test_every_statement_parses_as_that_of_oracle(load: OracleLoad) -> None:
    files = scripts(load)
    counts = {name: len(statements(text)) for name, text in files.items() if name.endswith(".sql")}
    assert counts["iocast_build.sql"] == 7 + 5 * load.tables
    assert counts["iocast_package.sql"] == load.tables * (6 if load.update_pct else 4)
    assert counts["iocast_drop.sql"] == 3
    for name in counts:
        for statement in statements(files[name]):
            tree = sqlglot.parse_one(statement, read="oracle")
            assert not isinstance(tree, sqlglot.exp.Command), statement


@pytest.mark.parametrize("load", [PLAIN, FULL], ids=["plain", "full"])
def test_what_is_dropped_is_known_by_number_and_each_object_is_noted_as_it_is_made(load: OracleLoad) -> None:
    """A name can be given again, and a DBA drops all of the schema."""
    files = scripts(load)
    for name in ("iocast_build.sql", "iocast_package.sql"):
        made = re.findall(r"^create (?:or replace )?(?:table|unique index|package) (?!body)(\w+)", files[name], re.M)
        assert made
        for each in made:
            after = files[name].split(f" {each} ", 1)[1]
            assert re.search(rf"insert into made_by_iocast .*\n.*\n.*'{each.upper()}'", after), each
    drop = files["iocast_drop.sql"]
    assert "m.object_id = o.object_id" in drop
    assert "regexp_like" not in drop
    for dependents in ("dba_dependencies", "dba_constraints"):
        assert drop.index(dependents) < drop.index("drop user")
    assert "m.object_id = o.object_id" in files["iocast_package.sql"].split("create or replace package")[0]


def test_the_share_of_updates_is_exact_in_every_prefix() -> None:
    assert DUE.format(n="v_done", due=20) in scripts(FULL)["iocast_package.sql"]
    for share in range(0, 101, 5):
        due = compile(DUE.format(n="n", due=share), "due", "eval")
        done = 0
        for n in range(10_000):
            done += eval(due, {"floor": math.floor, "n": n})
            assert abs(done - (n + 1) * share / 100) <= 1
        assert done == 100 * share


def test_keys_stay_within_the_table_and_the_hot_spot() -> None:
    """dbms_random.value(low, high) is at least low and less than high."""
    text = scripts(FULL)["iocast_package.sql"]
    ranges = [tuple(map(int, each)) for each in re.findall(r"trunc\(dbms_random\.value\((\d+), (\d+)\)\)", text)]
    assert ranges == [(101, 144), (1, 12_339)]
    assert [high - 1 + 8 - 1 for _, high in ranges] == [150, 12_345]  # the last row of the last work unit
    assert "between v_key and v_key + 7" in text
    assert "dbms_random.value(0.1, 0.5)" in text


def test_only_views_of_the_catalogue_are_asked() -> None:
    known = {each.view for each in catalogue()}
    for name, text in scripts(FULL).items():
        asked = {each.lower() for each in re.findall(r"\bg?v\$(\w+)", text, re.IGNORECASE)}
        assert asked <= known, name


def test_only_the_schema_of_iocast_is_touched_and_all_say_that_they_were_not_tried() -> None:
    files = scripts(PLAIN)
    made = re.compile(r"(?:create|drop|alter|insert into|update) (?:table|user|unique index) (\S+)")
    names = {name for text in files.values() for name in made.findall(text)}
    own = re.compile(r"iocast_load|blocks_\d(_id)?|scan_\d|made_by_iocast|load_results")
    assert {name for name in names if not own.fullmatch(name)} == set()
    for name, text in files.items():
        assert NOT_TRIED in text or name == "iocast_capture.sql"
        assert max(map(len, text.splitlines())) < 2499
        assert "execute immediate" not in text.lower()


def test_the_shell_script_starts_each_session_and_passes_no_password_on_a_command_line(tmp_path: Path) -> None:
    """With a sqlplus of our own that notes its words and what it is told."""
    for name, text in scripts(PLAIN).items():
        (tmp_path / name).write_text(text)
    noted, plus = tmp_path / "noted", tmp_path / "bin/sqlplus"
    plus.parent.mkdir()
    plus.write_text(f'#!/bin/bash\necho "words: $*" >> {noted}\ngrep -E "^(exec|select|connect)" | tee -a {noted}\n')
    plus.chmod(0o755)

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", str(tmp_path / "iocast_run.sh"), "shop"],
            env={"PATH": f"{plus.parent}:/usr/bin:/bin", "IOCAST_LOAD_PASSWORD": "open-sesame"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    done = run()
    assert done.returncode == 0, done.stderr
    lines = noted.read_text().splitlines()
    assert not [line for line in lines if line.startswith("words:") and "open-sesame" in line]
    calls = re.findall(r"exec load_(\d)\.run\((\d+), (\d+), ", noted.read_text())
    assert sorted((int(all_), int(each)) for _, each, all_ in calls) == [
        (count, each) for count in PLAIN.sessions for each in range(1, count + 1)
    ]
    assert {table for table, _, _ in calls} == {"1", "2"}
    assert lines.count("words: -S -L / as sysdba @iocast_capture.sql tape_16.txt") == 2
    (tmp_path / "tape_1.txt").touch()
    refused = run()
    assert (refused.returncode, refused.stderr) == (1, "tape_1.txt exists: move it away\n")
