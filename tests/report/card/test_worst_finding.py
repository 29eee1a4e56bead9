"""The worst finding of a card is the one that went furthest of the gravest kind, not the first of it."""

from __future__ import annotations

from makers import card_runs
from msgspec.structs import replace

from iocast.analyse.facts import Facts
from iocast.diagnose.examination import examine
from iocast.model.finding import Examination, Excluded, FailedDetector, Finding, Span
from iocast.model.run import Run
from iocast.report.card.conclusions import conclusions
from iocast.report.card.verdict import verdict

S = 1_000_000_000


def _stalled(phase: str, *lengths_s: float) -> Finding:
    spans = tuple(Span(10 * S * at, round((10 * at + length) * S)) for at, length in enumerate(lengths_s))
    return Finding(
        code="stalls",
        severity="warn",
        phase=phase,
        says=f"I/O stalled: {', '.join(f'{each:g} s' for each in lengths_s)}.",
        evidence={"longest_ns": max(lengths_s) * S, "stalled_ns": sum(lengths_s) * S},
        spans=spans,
    )


def _run() -> Run:
    return card_runs.run(*(card_runs.reads(name) for name in ("one", "two", "three")))


def _worst(*findings: Finding) -> str:
    run = _run()
    return _finding(run, replace(examine(run), findings=findings))


def _finding(run: Run, examined: Examination) -> str:
    return next(each.says for each in conclusions(run, examined, None, frozenset(), ()) if each.code == "finding")


def test_the_worst_finding_is_the_longest_stall() -> None:
    said = _worst(_stalled("one", 0.2), _stalled("two", 1.9), _stalled("three", 0.7, 0.7, 0.7))
    assert said == "stalls (warn, confirmed): I/O stalled: 1.9 s. On two, the worst of 3 rows."


def test_a_longer_stall_of_a_lesser_kind_is_not_the_worst() -> None:
    suspected = replace(_stalled("three", 9.0), state="suggested")
    assert "On one." in _worst(_stalled("one", 0.2), suspected)
    assert "On two." in _worst(_stalled("one", 9.0), replace(_stalled("two", 0.2), severity="severe"))


def test_what_has_no_figure_to_compare_by_is_named_on_most_rows() -> None:
    link = Finding(code="link_limit", severity="note", phase="one", says="It moves 110 MB/s.", state="suggested")
    other = "2 rows of 1 kind of I/O level off."
    rows = [replace(link, phase=name, says=other) for name in ("two", "three")]
    assert f"{other} On two, three." in _worst(link, *rows)


def test_the_verdict_calls_the_longest_stall_the_longest() -> None:
    """Three of 0.7 s are longer together, and none of them is."""
    run = _run()
    found = (_stalled("one", 0.7, 0.7, 0.7), _stalled("two", 1.9))
    assert "longest on two: 1 stall of 1.9 s" in verdict(Facts(run), replace(examine(run), findings=found))


def test_none_found_says_what_may_hide_a_finding() -> None:
    """It was "none found" of a card that compared five of its twelve rows with no others."""
    run = _run()
    examined = replace(examine(run), findings=())
    told = _finding(run, examined)
    assert told == "none found"
    out = {"one": Excluded("trust D", "trust is D"), "three": Excluded("stalled", "it stood still")}
    assert _finding(run, replace(examined, excluded=out)) == (
        "none found; left out of comparisons: one (trust D), three (stalled)"
    )
    busy = replace(examined, excluded={"two": Excluded("short of CPU", "CPU first")}, unsuspected=("two",))
    assert _finding(run, busy) == "none found; 1 row not judged for lack of free CPU"
    broken = FailedDetector(detector="stalls", codes=("stalls",), why="ZeroDivisionError", where="stalls.py:1")
    assert _finding(run, replace(examined, failed=(broken,))).endswith("not looked for, as a detector failed: stalls")
