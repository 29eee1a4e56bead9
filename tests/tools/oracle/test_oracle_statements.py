"""Every statement for Oracle parses as Oracle's SQL and asks only for what the version has, by the catalogue."""

from __future__ import annotations

import pytest
from makers.oracle_catalogue import catalogue, columns_of

from iocast.tools.database_rows import Statistics, named
from iocast.tools.oracle import capture_script, oracle_statements
from iocast.tools.oracle.oracle_statements import STATEMENTS, Version, clock_ns, statements_of, version_of

sqlglot = pytest.importorskip("sqlglot")
VERSIONS: tuple[Version, ...] = ((11, 2), (12, 1), (12, 2), (18, 0), (19, 0), (21, 0), (23, 0))
OTHERS = {
    "instance": oracle_statements.INSTANCE,
    "own instance": oracle_statements.OWN_INSTANCE,
    "parameters": oracle_statements.PARAMETERS,
    "sql text": oracle_statements.SQL_TEXT,
    "sessions": oracle_statements.sessions(every_instance=True),
    "own sessions": oracle_statements.sessions(every_instance=False),
}


def asked(sql: str) -> tuple[str, set[str], list[str]]:
    """The view of a statement without its prefix, the columns that it names, and the names of its results."""
    tree = sqlglot.parse_one(sql, read="oracle")
    (table,) = [each.name.lower() for each in tree.find_all(sqlglot.exp.Table)]
    columns = {each.name.lower() for each in tree.find_all(sqlglot.exp.Column)}
    return table.removeprefix("g").removeprefix("v$"), columns, [each.lower() for each in tree.named_selects]


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: "{}.{}".format(*version))
@pytest.mark.parametrize("every_instance", [True, False])
def test_views_and_columns_are_there_in_the_version(version: Version, every_instance: bool) -> None:
    for statement in statements_of(version, packs=True):
        view, columns, results = asked(statement.sql(every_instance=every_instance))
        assert view == statement.name
        assert columns - columns_of(view, version) == set(), (statement.name, version)
        assert results == list(statement.columns), "a row on paper is read by this order"
    for sql in OTHERS.values():
        view, columns, _ = asked(sql)
        assert columns - columns_of(view, version) == set(), view


def test_texts_are_those_of_statements_that_run() -> None:
    tree = sqlglot.parse_one(oracle_statements.ACTIVE_TEXTS, read="oracle")
    assert {each.name.lower() for each in tree.find_all(sqlglot.exp.Table)} == {"gv$sqlstats", "gv$session"}
    columns = {each.name.lower() for each in tree.find_all(sqlglot.exp.Column)}
    for version in VERSIONS:
        assert columns <= columns_of("sqlstats", version) | columns_of("session", version)
    assert tuple(each.lower() for each in tree.named_selects) == oracle_statements.TEXT_COLUMNS


def test_a_column_that_is_not_there_yet_would_be_noticed() -> None:
    assert "wait_time_micro" not in columns_of("event_histogram_micro", (11, 2))
    assert "con_id" not in columns_of("event_histogram", (11, 2))
    assert "con_id" in columns_of("event_histogram", (12, 1))
    assert {each.known for each in catalogue()} == {"documented", "remembered"}


def test_one_histogram_a_version_the_finer_one_where_there_is_one() -> None:
    names = {version: {each.name for each in statements_of(version)} for version in ((11, 2), (12, 1), (23, 0))}
    assert "event_histogram" in names[11, 2]
    assert "event_histogram_micro" not in names[11, 2]
    assert all("event_histogram" not in names[version] for version in ((12, 1), (23, 0)))
    assert all("event_histogram_micro" in names[version] for version in ((12, 1), (23, 0)))


def test_views_that_cost_a_licence_are_asked_only_when_that_is_said() -> None:
    packs = {each.name for each in STATEMENTS if each.pack}
    assert packs == {"active_session_history"}
    for version in VERSIONS:
        assert not packs & {each.name for each in statements_of(version)}
        assert packs <= {each.name for each in statements_of(version, packs=True)}
    licensed = ("active_session_history", "dba_hist", "dbms_workload", "wrh$", "v$ash")
    texts = [each.sql(every_instance=True) for each in STATEMENTS if not each.pack] + list(OTHERS.values())
    assert [text for text in [*texts, capture_script.script()] if any(name in text.lower() for name in licensed)] == []


def test_everything_only_reads() -> None:
    for sql in [*(each.sql(every_instance=True) for each in STATEMENTS), *OTHERS.values(), oracle_statements.CLOCK]:
        assert isinstance(sqlglot.parse_one(sql, read="oracle"), sqlglot.exp.Select)


def test_the_clock_is_whole_seconds_with_the_fraction_of_its_minute() -> None:
    """A cast to a date may round up, over a minute too."""
    assert clock_ns(1_795_442_322.0, 42.25) == 1_795_442_322_250_000_000
    assert clock_ns(1_795_442_323.0, 42.75) == 1_795_442_322_750_000_000
    assert clock_ns(1_795_442_340.0, 59.9) == 1_795_442_339_900_000_000


def test_versions_are_numbers() -> None:
    assert [version_of(text) for text in ("11.2.0.4.0", "19.0.0.0.0", "23", "")] == [(11, 2), (19, 0), (23, 0), (0, 0)]


@pytest.mark.parametrize("text", ["²", "9" * 5000, "", "."])
def test_what_is_no_version_is_none(text: str) -> None:
    assert version_of(text) == (0, 0)
    assert version_of(f"19.{text}.3")[0] == 19


def test_the_script_that_is_shipped_is_what_the_statements_say() -> None:
    assert capture_script.shipped() == capture_script.script()


def test_the_script_holds_each_statement_as_the_live_watch_asks_it() -> None:
    """SQL*Plus ends a statement at a semicolon and at an empty line, and takes 2499 characters a line."""
    text = capture_script.shipped()
    assert max(len(line) for line in text.splitlines()) < 2499
    assert "\n\n" not in text
    assert "&" not in text.replace("define tape = &1", "").replace("spool &tape append", "")
    spoken = [" ".join(part.split()) for part in text.split(";")]
    for statement in (each for each in STATEMENTS if not each.pack):
        wanted = " ".join(statement.sql(every_instance=True).split())
        head = f"prompt #iocast {statement.name} {'|'.join(statement.columns)} "
        assert any(part.endswith(head + wanted) for part in spoken), statement.name
    for part in text.split(";"):
        _, found, sql = part.partition("\nselect ")
        if found:
            sqlglot.parse_one(f"select {sql}", read="oracle")


def test_no_two_statistics_are_added_up_as_one() -> None:
    """`redo synch time` in centiseconds and in microseconds became one metric: the time of log syncs was double."""
    shapes = [each.shape for each in STATEMENTS if each.name == "sysstat"]
    (units,) = [each.units for each in shapes if isinstance(each, Statistics)]
    names = [named(name.lower(), units.get(name.lower(), "")) for name in oracle_statements.SYSTEM_STATISTICS]
    assert sorted(names) == sorted(set(names))
