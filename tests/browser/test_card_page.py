"""The page of a card in a real browser, offline: seen, pointed at, sorted, printed, held in a hand."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from makers import card_runs
from makers.card_pages import page_of
from msgspec.structs import replace

pytestmark = pytest.mark.long

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
SETTLED = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
if CHROMIUM is None:
    pytest.skip("there is no chromium here (apt install chromium)", allow_module_level=True)


@pytest.fixture(scope="module")
def card(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of the page of a simulated disk."""
    place = tmp_path_factory.mktemp("card")
    command = [sys.executable, "-m", "iocast", "card", "sim:hdd", "--time", "2s", "--page"]
    subprocess.run(command, cwd=place, check=True, capture_output=True, timeout=120)
    (page,) = Path(place).glob("iocast-runs/*/report.html")
    return page.as_uri()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as running:
        opened = running.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield opened
        opened.close()


class Opened:
    """The page in a window, with all that it complained about and asked the network for."""

    def __init__(self, browser: Any, address: str, width: int = 1200, **context: Any) -> None:
        self.context = browser.new_context(viewport={"width": width, "height": 900}, reduced_motion="reduce", **context)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(address)

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()


def test_it_opens_offline_without_complaint(browser: Any, card: str) -> None:
    with Opened(browser, card, offline=True) as opened:
        assert opened.complaints == []
        assert [url for url in opened.asked if not url.startswith(("file:", "data:"))] == []
        assert opened.page.title() == "card quick · sim:hdd"
        assert opened.page.locator("figure svg").count() == opened.page.locator("figure").count() > 10
        heat = opened.page.locator("figure.wide svg image").first
        assert heat.bounding_box()["width"] > 600


def test_the_pointer_shows_values(browser: Any, card: str) -> None:
    with Opened(browser, card) as opened:
        tip = opened.page.locator("#tip")
        assert not tip.is_visible()
        mark = opened.page.locator("#overview svg [aria-label]").nth(1)
        mark.scroll_into_view_if_needed()
        opened.page.evaluate(SETTLED)  # a tip goes when the page scrolls
        mark.hover()
        assert tip.is_visible()
        assert tip.inner_text().startswith("randread 8k 8x1: p50 ")
        box = tip.bounding_box()
        assert 0 <= box["x"] <= box["x"] + box["width"] <= 1200
        opened.page.mouse.move(2, 2)
        assert not tip.is_visible()


def test_the_arrow_keys_show_values_one_after_the_other(browser: Any, card: str) -> None:
    with Opened(browser, card) as opened:
        opened.page.locator("#overview .plot").focus()
        opened.page.keyboard.press("ArrowRight")
        first = opened.page.locator("#tip").inner_text()
        opened.page.keyboard.press("ArrowRight")
        second = opened.page.locator("#tip").inner_text()
        assert first.startswith("randread 8k 1x1: ")
        assert second.startswith("randread 8k 8x1: ")
        assert opened.page.locator("#spoken").inner_text() == second
        opened.page.keyboard.press("Escape")
        assert not opened.page.locator("#tip").is_visible()


def test_columns_sort_both_ways_and_parts_stay_with_their_row(browser: Any, card: str) -> None:
    with Opened(browser, card) as opened:
        table = opened.page.locator("table.sorts", has=opened.page.locator("text=IOPS")).first

        def tests() -> list[str]:
            return table.locator("tbody tr:not(.note) th").all_inner_texts()

        before = tests()
        head = table.locator("thead th", has_text="IOPS")
        head.locator("button").click()
        assert head.get_attribute("aria-sort") == "ascending"
        values = table.locator("tbody tr:not(.part):not(.note)").evaluate_all(
            "(rows, at) => rows.map(row => Number(row.cells[at].dataset.v))", head.evaluate("cell => cell.cellIndex")
        )
        assert values == sorted(values)
        after = tests()
        assert after != before
        assert sorted(after) == sorted(before)
        at = after.index("mixed")
        assert after[at + 1 : at + 3] == ["read", "write"]
        head.locator("button").click()
        assert head.get_attribute("aria-sort") == "descending"


def test_it_is_dark_when_the_system_is_and_when_asked(browser: Any, card: str) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    label = "getComputedStyle(document.querySelector('#overview .axis text')).fill"
    with Opened(browser, card, color_scheme="light") as opened:
        light, light_label = opened.page.evaluate(ground), opened.page.evaluate(label)
        opened.page.click("#theme")
        dark, dark_label = opened.page.evaluate(ground), opened.page.evaluate(label)
        assert dark != light
        assert dark_label != light_label, "the drawing follows the page"
    with Opened(browser, card, color_scheme="dark") as opened:
        assert opened.page.evaluate(ground) == dark
        assert opened.page.locator("#theme").inner_text() == "Light"


def test_the_classic_colours_can_be_chosen(browser: Any, card: str) -> None:
    colour = "getComputedStyle(document.querySelector('.swatches i')).backgroundColor"
    with Opened(browser, card) as opened:
        assert opened.page.evaluate(colour) != "rgb(0, 0, 127)"
        opened.page.click("#palette")
        assert opened.page.evaluate(colour) == "rgb(0, 0, 127)"


@pytest.mark.parametrize("width", [320, 360, 768])
def test_nothing_hangs_over_the_edge_of_a_phone(browser: Any, card: str, width: int) -> None:
    with Opened(browser, card, width=width) as opened:
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
        for figure in opened.page.locator("figure").all()[:4]:
            assert figure.bounding_box()["width"] <= width


def test_a_hand_holds_sentences_and_whole_charts(browser: Any, card: str) -> None:
    """On a phone no sentence and no end of a chart has to be pulled into sight, and letters can be read."""
    hidden = """sel => [...document.querySelectorAll(sel)].filter(box => box.scrollWidth > box.clientWidth + 1)
        .map(box => box.getAttribute('aria-label'))"""
    with Opened(browser, card, width=390) as opened:
        opened.page.evaluate("document.querySelectorAll('details.family').forEach(each => { each.open = true })")
        assert opened.page.locator("section .card .scroll:has(td.words)").count() >= 3
        assert opened.page.evaluate(hidden, "section .card .scroll:has(td.words)") == []
        assert opened.page.locator(".column .plot").count() >= 10
        assert opened.page.evaluate(hidden, ".column .plot") == []
        letters = "each => Number(getComputedStyle(each).fontSize.slice(0, -2)) * each.getScreenCTM().a"
        label = opened.page.locator(".column .axis text").first
        assert label.evaluate(letters) > 8


def test_in_a_hand_charts_are_folded_until_somebody_opens_them(browser: Any, card: str) -> None:
    with Opened(browser, card, width=390) as opened:
        assert opened.page.evaluate("document.documentElement.scrollHeight") < 6000
        assert not opened.page.locator(".family figure").first.is_visible()
        opened.page.locator(".toc a", has_text="randread").first.click()
        opened.page.wait_for_function("document.querySelector('.family').open")
        assert opened.page.locator(".family figure").first.is_visible()
    with Opened(browser, card) as opened:
        assert opened.page.locator(".family figure").first.is_visible(), "a larger screen shows them all"


def test_words_without_a_space_are_broken(browser: Any, tmp_path: Path) -> None:
    options = ",".join(f"option{at}=/a/long/name/of/something" for at in range(12))
    run = card_runs.run(card_runs.reads(), target=replace(card_runs.TARGET, mount_options=options))
    (tmp_path / "long.html").write_text(page_of(run), encoding="utf-8")
    with Opened(browser, (tmp_path / "long.html").as_uri(), width=360) as opened:
        assert options in opened.page.content()
        opened.page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
        assert opened.page.evaluate("document.documentElement.scrollWidth") == 360


def test_every_label_lies_inside_of_its_drawing(browser: Any, card: str) -> None:
    outside = """() => [...document.querySelectorAll('.plot svg')].flatMap(svg => {
        const box = svg.getBoundingClientRect();
        return [...svg.querySelectorAll('text')].filter(text => {
            const at = text.getBoundingClientRect();
            return at.width && (at.left < box.left - 1 || at.right > box.right + 1);
        }).map(text => svg.closest('figure').id + ': ' + text.textContent);
    })"""
    with Opened(browser, card) as opened:
        assert opened.page.evaluate(outside) == []


def test_the_keyboard_reaches_the_results_first(browser: Any, card: str) -> None:
    with Opened(browser, card) as opened:
        opened.page.keyboard.press("Tab")
        assert opened.page.evaluate("document.activeElement.className") == "skip"
        opened.page.keyboard.press("Enter")
        assert opened.page.url.endswith("#main")


def test_it_prints(browser: Any, card: str) -> None:
    with Opened(browser, card, color_scheme="dark") as opened:
        assert opened.page.pdf(format="A4", print_background=True).startswith(b"%PDF")
        opened.page.emulate_media(media="print")
        assert not opened.page.locator(".tools").is_visible()
        assert opened.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


ON_PAPER = 703  # pixels between the margins of A4


@pytest.mark.parametrize(("width", "media"), [(1200, "screen"), (1920, "screen"), (ON_PAPER, "print")])
def test_the_letters_of_a_whole_table_are_in_sight(browser: Any, tmp_path: Path, width: int, media: str) -> None:
    file = tmp_path / "card.html"
    file.write_text(page_of(card_runs.quick_card()), encoding="utf-8")
    with Opened(browser, file.as_uri(), width=width) as opened:
        opened.page.emulate_media(media=media)
        table = opened.page.locator("table.many").first
        assert table.locator("thead th").all_inner_texts()[-3:] == ["dev. size", "dev. queue", "trust"]
        box, letter = table.locator("..").bounding_box(), table.locator("tbody .grade").first.bounding_box()
        assert letter["x"] + letter["width"] <= box["x"] + box["width"]
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= width


def test_on_paper_figures_fit_their_boxes_and_remarks_are_no_larger_than_rows(
    browser: Any, card: str, tmp_path: Path
) -> None:
    file = tmp_path / "card.html"
    file.write_text(page_of(card_runs.troubled_card()), encoding="utf-8")
    with Opened(browser, file.as_uri(), width=ON_PAPER) as opened:
        opened.page.emulate_media(media="print")
        size = "each => Number(getComputedStyle(each).fontSize.slice(0, -2))"
        assert opened.page.locator("tr.note td").first.evaluate(size) <= opened.page.locator("tbody td").first.evaluate(
            size
        )
    with Opened(browser, card, width=ON_PAPER) as opened:
        opened.page.emulate_media(media="print")
        figures = opened.page.locator(".head:not(.badge)")
        assert figures.count() == 4
        figures.locator(".value").evaluate_all(
            """all => all.forEach(each => { each.innerHTML = '123.4k<span class="unit"> a second</span>' })"""
        )
        wide = "all => all.filter(each => each.scrollWidth > each.clientWidth).map(each => each.textContent)"
        assert figures.evaluate_all(wide) == []


def test_without_a_script_everything_is_there(browser: Any, card: str) -> None:
    with Opened(browser, card, java_script_enabled=False) as opened:
        assert opened.page.locator("figure svg").count() > 10
        assert not opened.page.locator(".tools").is_visible()
        opened.page.locator("details summary").first.click()
        assert opened.page.locator("details table").first.is_visible()


def test_it_uses_a_large_screen(browser: Any, card: str) -> None:
    with Opened(browser, card, width=1920) as opened:
        assert opened.page.locator("section").first.bounding_box()["width"] > 0.9 * 1920
        tops = [figure.bounding_box() for figure in opened.page.locator("section:has(.legend) figure:not(.wide)").all()]
        assert len({round(box["x"]) for box in tops}) == 3, "charts stand in three columns"


def test_on_paper_charts_stand_beside_each_other(browser: Any, card: str, tmp_path: Path) -> None:
    with Opened(browser, card) as opened:
        pages = opened.page.pdf(format="A4", path=str(tmp_path / "card.pdf")).count(b"/Type /Page\n")
        assert 0 < pages <= 5
