"""No text of what iocast writes is forgotten: each is declared to be a name of a kind, or to say nothing."""

from __future__ import annotations

import typing
from collections.abc import Iterator

import pytest
from msgspec import Struct, structs

from iocast import metrics
from iocast.databases.mysql import mysql_queries
from iocast.databases.postgresql import pg_queries
from iocast.model.anonymity.name_fields import FIELDS, SUBJECTS
from iocast.model.anonymity.name_kinds import RULES
from iocast.model.copy_trials import CopyRun
from iocast.model.experiment import Diagnosis
from iocast.model.profiling.profile import Profile
from iocast.model.run import Run
from iocast.model.summary import Notes
from iocast.observe import OBSERVERS
from iocast.observe.live import LIVE_OBSERVERS
from iocast.tools.oracle.oracle_statements import STATEMENTS
from iocast.tools.traces import TraceReport

ROOTS: tuple[type[Struct], ...] = (Run, Profile, Notes, Diagnosis, CopyRun, TraceReport)
# By what the observer is, and not by their field.
OTHERWISE = {"Sample.subject", "Tape.texts"}


def structures(hint: object, known: set[type[Struct]]) -> Iterator[type[Struct]]:
    """A structure and all that it is made of."""
    for part in typing.get_args(hint):
        yield from structures(part, known)
    if isinstance(hint, type) and issubclass(hint, Struct) and hint not in known:
        known.add(hint)
        yield hint
        for each in typing.get_type_hints(hint).values():
            yield from structures(each, known)


def holds_text(hint: object) -> bool:
    """A text of its own, in a tuple or a mapping; a code of its own type is none."""
    if typing.get_origin(hint) is typing.Literal:
        return False
    return hint in (str, object, typing.Any) or any(map(holds_text, typing.get_args(hint)))


ALL = tuple(each for root in ROOTS for each in structures(root, set()))
TEXTS = {
    f"{each.__name__}.{field.name}"
    for each in ALL
    for field in structs.fields(each)
    if holds_text(typing.get_type_hints(each)[field.name])
}


def test_every_text_is_a_name_or_is_declared_to_say_nothing() -> None:
    assert TEXTS - set(FIELDS) - OTHERWISE == set()


def test_nothing_is_declared_that_is_not_there() -> None:
    fields = {f"{each.__name__}.{field.name}" for each in ALL for field in structs.fields(each)}
    assert set(FIELDS) - fields == set()


def test_a_declaration_is_of_one_structure() -> None:
    owners: dict[str, set[str]] = {}
    for each in ALL:
        for field in structs.fields(each):
            if holds_text(typing.get_type_hints(each)[field.name]):
                owners.setdefault(f"{each.__name__}.{field.name}", set()).add(each.__module__)
    assert {name: modules for name, modules in owners.items() if len(modules) > 1} == {}


def test_a_text_that_nobody_declared_is_hidden() -> None:
    from iocast.model.anonymity.anonymised import anonymised
    from iocast.model.anonymity.pseudonyms import Pseudonyms

    class Fresh(Struct, frozen=True):
        said: str
        names: dict[str, tuple[str, ...]]
        count: int = 3

    hidden = anonymised(Fresh("secret", {"secret": ("secret",)}), Pseudonyms())
    assert "secret" not in repr(hidden)
    assert hidden.count == 3


def observers() -> Iterator[str]:
    """Every observer whose samples have subjects."""
    yield from (module.NAME for module in (*OBSERVERS, *LIVE_OBSERVERS))
    yield from (metrics.LOAD, metrics.WATCH, metrics.BLOCK_LAYER, metrics.SYSTEM_CALLS, metrics.CALLS_BY_PROCESS)
    yield from (metrics.CALLS_BY_FILE, metrics.CALLS_BY_DEVICE, metrics.DEVICES_BELOW)
    yield from (metrics.RUN_DELAYS, metrics.LATENCY_MAP)
    extensions = {"pg_stat_statements": ("1.12", "public"), "pg_wait_sampling": ("1.1", "public")}
    for version in range(pg_queries.FIRST_VERSION, pg_queries.LAST_VERSION + 1):
        yield from (f"postgresql.{query.name}" for query in pg_queries.queries_of(version, extensions))
    histograms = frozenset(("events_statements_histogram_global", "query_response_time"))
    yield from (f"mysql.{query.name}" for query in mysql_queries.queries_of(instrumented=True, histograms=histograms))
    yield from (f"oracle.{statement.name}" for statement in STATEMENTS)
    for database in ("postgresql", "mysql", "oracle"):
        for kind in (metrics.WAITS, metrics.ANSWER, metrics.ACTIVE_SQL, metrics.SESSIONS, metrics.SESSION_WAITS):
            yield f"{database}.{kind}"


@pytest.mark.parametrize("observer", sorted(set(observers())))
def test_the_subjects_of_every_observer_are_known(observer: str) -> None:
    assert observer in SUBJECTS


def test_the_parts_of_a_subject_are_as_many_as_its_query_has() -> None:
    queries = [
        *(("postgresql", each) for each in pg_queries.queries_of(18, {"pg_stat_statements": ("1.12", "public")})),
        *(("mysql", each) for each in mysql_queries.queries_of(instrumented=True, histograms=frozenset())),
        *(("oracle", each) for each in STATEMENTS),
    ]
    for database, query in queries:
        kinds = SUBJECTS[f"{database}.{query.name}"]
        if any(kind != "kept" for kind in kinds):
            assert len(kinds) == len(query.shape.key), query.name


def test_every_kind_that_keeps_a_part_of_a_name_has_a_rule() -> None:
    kinds = {kind for told in FIELDS.values() for kind in (told if isinstance(told, tuple) else (told,))}
    kinds |= {kind for told in SUBJECTS.values() for kind in told}
    whole = kinds - set(RULES)  # hidden as a whole
    assert whole == {
        *("reason", "note", "warning", "tag", "hypothesis", "question", "outcome", "run", "serial", "digest"),
        *("generation", "label"),
    }
