"""The HTML page as a document: well formed, sufficient by itself, and readable without its script."""

from __future__ import annotations

import io
import re
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

import pytest
from makers import card_runs
from makers.card_pages import courses_of, page_of, report_of

from iocast.diagnose.examination import examine
from iocast.model.histogram import Histogram
from iocast.model.report import Column, Row, Table
from iocast.report.card.card_report import card
from iocast.report.charts import overview
from iocast.report.renderers import html
from iocast.report.renderers.page.page_tables import table_html

VOID = {"area", "br", "col", "hr", "img", "input", "link", "meta", "wbr"}


class Document(HTMLParser):
    """Every element with its attributes; an element that is not closed in order is an error."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def all(self, tag: str) -> list[dict[str, Any]]:
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module")
def page() -> str:
    return page_of(card_runs.quick_card())


@pytest.fixture(scope="module")
def troubled() -> str:
    return page_of(card_runs.troubled_card())


def test_it_is_well_formed_and_its_names_are_its_own(page: str, troubled: str) -> None:
    for text in (page, troubled):
        document = Document(text)
        ids = [attributes["id"] for _, attributes in document.elements if "id" in attributes]
        assert len(ids) == len(set(ids))
        for attributes in document.all("a"):
            assert attributes["href"].removeprefix("#") in ids
        for _, attributes in document.elements:
            assert attributes.get("aria-labelledby", ids[0]) in ids


def test_it_loads_nothing(page: str) -> None:
    document = Document(page)
    for tag, attributes in document.elements:
        for name in ("src", "href", "data", "action", "srcset", "poster"):
            value = attributes.get(name)
            assert value is None or value.startswith(("#", "data:image/png;base64,")), (tag, name, value[:80])
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)
    assert style is not None
    assert not re.search(r"@import|url\(", style[1])
    assert not re.search(r"https?://", page)
    assert document.all("link") == []


def test_its_policy_allows_its_one_script_and_nothing_else(page: str) -> None:
    (policy,) = (each["content"] for each in Document(page).all("meta") if "http-equiv" in each)
    assert "default-src 'none'" in policy
    assert "unsafe-eval" not in policy
    assert "script-src 'sha256-" in policy
    assert page.count("<script>") == 1
    assert not re.search(r"\son[a-z]+=", re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL))


def test_who_cannot_see_it_is_told_the_same(page: str) -> None:
    document = Document(page)
    assert document.all("html")[0]["lang"] == "en"
    assert len(document.all("h1")) == 1
    assert len(document.all("main")) == 1
    assert document.all("a")[0] == {"class": "skip", "href": "#main"}
    plots = [each for each in document.all("div") if each.get("class") == "plot"]
    assert plots
    assert all(each["role"] == "img" and len(each["aria-label"]) > 30 and each["tabindex"] == "0" for each in plots)
    families = sum(each.get("class") == "family" for each in document.all("details"))
    assert families
    assert len(document.all("figure")) == len(plots) == len(document.all("details")) - families
    heads = document.all("th")
    assert heads
    assert all(each.get("scope") in ("col", "row") for each in heads)
    assert page.count("<caption>") == page.count("<table")
    levels = [int(tag[1]) for tag, _ in document.elements if re.fullmatch("h[1-6]", tag)]
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_what_it_says_is_what_the_report_says(troubled: str) -> None:
    from html import unescape

    words = unescape(re.sub(r"<[^>]+>", " ", troubled))
    report = report_of(card_runs.troubled_card())
    assert report.verdict in words
    for section in report.sections:
        assert section.title in words
        for chart in section.charts:
            assert chart.summary in words
    for step in report.next_steps:
        assert step in words


def test_void_rows_are_struck_and_say_why(troubled: str) -> None:
    row = re.search(r'<tr class="void">.*?</tr><tr class="note">.*?</tr>', troubled, re.DOTALL)
    assert row is not None
    assert "↳ void: The device delivered only 12%" in row[0]


def test_letters_sort_as_grades() -> None:
    rows = tuple(Row({"letter": letter}) for letter in ("", "B", "A-", "A+", "A"))
    shown = table_html(Table("", (Column("letter", "grade", "grade"),), rows), "letters")
    values = re.findall(r'data-v="([^"]*)"', shown)
    assert values[0] == ""
    assert sorted(range(1, 5), key=lambda at: float(values[at])) == [3, 4, 2, 1]


def test_names_from_outside_cannot_become_markup() -> None:
    nasty = card_runs.reads("<script>alert(1)</script> 'x' \"y\" \\ 8k")
    text = page_of(card_runs.run(nasty, card_runs.commits()))
    Document(text)
    assert "<script>alert" not in text
    assert text.count("<script>") == 1


def test_letters_and_figures_stand_at_the_head(page: str) -> None:
    head = page[: page.index("<main")]
    assert re.search(r'<span class="grade g-B">B</span><span><span class="name">Trust', head)
    assert re.search(r'Random 8k read</span><span class="value">240<span class="unit"> µs', head)


def test_a_page_is_light(page: str) -> None:
    assert len(page) < 1_000_000


@pytest.mark.long
def test_a_run_of_twenty_two_rows_of_a_minute_stays_below_three_megabytes() -> None:
    rows = [
        card_runs.reads(f"{test} {size >> 10}k {users}x1", size_bytes=size, users=users, times=_wide(users))
        for test, size in (("randread", 8192), ("read", 1 << 20), ("write", 4096), ("scan", 131072))
        for users in (1, 8, 16, 32, 64)
    ]
    run = card_runs.run(*rows, card_runs.commits(), card_runs.mixed())
    out = io.StringIO()
    html.render(card(run, examine(run), "", courses_of(run, 60)), out)
    assert len(out.getvalue()) < 3_000_000


def _wide(users: int) -> Histogram:
    return card_runs.lognormal(40_000, 240_000.0 * users, 0.9)


def test_a_run_of_which_nothing_was_measured_has_a_page() -> None:
    out = io.StringIO()
    run = card_runs.run()
    html.render(card(run, examine(run), "", {}), out)
    Document(out.getvalue())
    assert "Nothing was measured." in out.getvalue()


def test_the_sign_of_a_missing_series_is_a_missing_heat_map() -> None:
    run = card_runs.quick_card()
    kinds = {chart.kind for chart in card(run, examine(run), "", {}).charts}
    assert "heat" not in kinds
    assert {"overview", "latency_by_load", "distribution", "percentiles", "device"} <= kinds


def test_a_chart_that_fails_costs_its_own_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("float division by zero")

    run = card_runs.quick_card()
    whole = page_of(run)
    monkeypatch.setattr(overview, "draw", fail)
    text = page_of(run)
    assert text.count("<svg") == whole.count("<svg") - 1
    said = "This chart could not be drawn (ZeroDivisionError: float division by zero); these are its figures."
    assert text.count(said) == text.count("<details open>") == 1
