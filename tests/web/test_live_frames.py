"""A reel as a page asks for it: lines of one interval, columns after a number, in bounded memory."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest
from makers import card_runs
from makers.asked import Asker
from makers.live_moments import MadeLoad, tape_of_a_load

from iocast import archive
from iocast.web.live_frames import KEPT, Frames

DRIVER = "block_layer vda|driver|read|8192"


def read_through(every: int = 1) -> Frames:
    frames = Frames(MadeLoad(), "made", every).start()
    frames.wait(10)
    return frames


def test_columns_come_once_and_lines_are_of_the_interval_asked_for() -> None:
    frames = read_through()
    first = frames.frame(-1, None, 100, "")
    assert (first["newest"], first["oldest"], first["at"], first["over"]) == (20, 1, 20, "the tape is over")
    assert [column["number"] for column in first["columns"]] == list(range(1, 21))
    assert sum(first["columns"][0]["frequency"]) == pytest.approx(100)
    assert frames.frame(20, None, 100, DRIVER)["columns"] == []
    earlier = frames.frame(18, 7, 100, DRIVER)
    assert (earlier["at"], [column["number"] for column in earlier["columns"]]) == (7, [19, 20])
    text = "".join(piece for line in earlier["lines"] for piece, _ in line)
    assert "device read vda" in text
    assert all(sum(len(piece) for piece, _ in line) <= 100 for line in earlier["lines"])


def test_of_a_long_reel_every_so_manyth_moment_is_kept() -> None:
    found = read_through(every=5).frame(-1, None, 100, DRIVER)
    assert (found["newest"], len(found["columns"])) == (4, 4)
    assert sum(found["columns"][0]["frequency"]) == pytest.approx(100), "a rate, whatever the interval"
    assert KEPT == 900


def test_an_interval_that_is_not_there_is_the_next_one_that_is() -> None:
    frames = read_through()
    assert [frames.frame(-1, at, 100, DRIVER)["at"] for at in (-5, 0, 99)] == [1, 1, 20]


def test_tapes_play_in_the_browser_and_other_runs_do_not(tmp_path: Path) -> None:
    tape = Path(tape_of_a_load(tmp_path)).name
    other = archive.RunFolder.create(str(tmp_path), card_runs.quick_card()).path.name
    asker = Asker(tmp_path)
    found = asker.get(f"/api/watch/{tape}?after=x&width=80")
    assert (found.status, found.json["newest"]) == (200, 20)
    assert f'<a href="/watch/{tape}">Play</a>' in asker.get(f"/run/{tape}").text
    assert [asker.get(f"/api/watch/{name}").status for name in (other, "", "../..", "nothing")] == [404] * 4
    assert "no live data" in asker.get("/api/watch/").json["error"]
    assert asker.get("/watch/").status == 200
    assert asker.get("/api/runs").json["live"] is False


def test_a_live_watch_is_shown_beside_the_runs(tmp_path: Path) -> None:
    asker = Asker(tmp_path, live=read_through())
    assert asker.get("/api/runs").json["live"] is True
    assert asker.get(f"/api/watch/?after=18&width=100&chosen={quote(DRIVER)}").json["says"] == "made"
    closed = Asker(tmp_path, live=read_through(), read_freely=False)
    assert closed.get("/api/watch/").status == 401, "who may not read runs may not read the machine"
