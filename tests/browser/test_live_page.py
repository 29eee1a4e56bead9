"""A tape in a real browser: lines and heat maps, stepping in time, and no empty picture between two updates."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers.live_moments import tape_of_a_load
from makers.served import browser_page, served

pytestmark = pytest.mark.long

# Looks at the map before each picture of the screen: how often it was empty, or another element than before.
WATCH = """
() => {
  const copy = document.createElement("canvas");
  const map = document.querySelector("#frequency");
  const seen = (window.seen = { looks: 0, empty: 0, other: 0 });
  const look = () => {
    const now = document.querySelector("#frequency");
    copy.width = now.width;
    copy.height = now.height;
    const pen = copy.getContext("2d", { willReadFrequently: true });
    pen.drawImage(now, 0, 0);
    const cells = pen.getImageData(0, 0, copy.width, copy.height).data;
    let coloured = false;
    for (let at = 0; at < cells.length && !coloured; at += 4) coloured = Math.abs(cells[at] - cells[at + 2]) > 40;
    seen.looks += 1;
    seen.empty += coloured ? 0 : 1;
    seen.other += now === map ? 0 : 1;
    requestAnimationFrame(look);
  };
  look();
}
"""


def test_a_tape_plays_and_its_heat_maps_do_not_flicker(tmp_path: Path) -> None:
    tape = Path(tape_of_a_load(tmp_path)).name
    with served(tmp_path) as address, browser_page() as page:
        page.goto(f"{address}run/{tape}")
        page.click("text=Play")
        page.wait_for_selector("#lines:has-text('device read vda')")
        assert page.inner_text("#says") == f"Tape {tape}"
        assert "the tape is over" in page.inner_text("#state")
        page.evaluate(WATCH)
        for _ in range(6):
            page.click("#back")
            page.wait_for_timeout(200)
        page.wait_for_selector("#state:has-text('6 behind the newest')")
        page.click("#pause")
        page.wait_for_selector("#pause:has-text('Pause')")
        seen = page.evaluate("window.seen")
        assert seen["looks"] > 5
        assert (seen["empty"], seen["other"]) == (0, 0)
        assert "20 intervals" in page.get_attribute("#frequency", "aria-label")
        assert page.locator("#histogram option").count() == 1
