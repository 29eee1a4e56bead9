"""Who may change a run by the browser, and what changes: only with the token, from a page of this server, by POST."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from makers import card_runs
from makers.asked import TOKEN, Asker

from iocast import archive
from iocast.archive import RunFolder
from iocast.web.access import is_same_origin


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return RunFolder.create(str(tmp_path / "runs"), card_runs.quick_card()).path


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


CHANGES = [("notes", {"note": "x", "tags": []}), ("rename", {"to": "new"}), ("delete", {"confirm": "{name}"})]


@pytest.mark.parametrize("read_freely", [True, False])
def test_nothing_changes_without_the_token_or_from_elsewhere(run: Path, read_freely: bool) -> None:
    """Each of them alone is refused; the run is as it was, and so is what stands beside it."""
    asker, before = Asker(run.parent, read_freely=read_freely), _files(run.parent)
    for what, change in CHANGES:
        path = f"/api/{what}/{run.name}"
        change = {
            key: value.format(name=run.name) if isinstance(value, str) else value for key, value in change.items()
        }
        assert asker.post(path, change, token="").status == 401
        assert asker.post(path, change, token="wrong").status == 401
        assert asker.post(f"{path}?token={TOKEN}", change, token="").status == 401, "not by the address alone"
        assert asker.post(path, change, origin="http://evil.example").status == 403
        assert asker.post(path, change, origin="null").status == 403
        assert asker.post(path, change, origin="").status == 403
        assert asker.post(path, change, sec_fetch_site="cross-site").status == 403
        assert asker.post(path, change, content_type="text/plain").status == 415
        evil = {"host": "evil.example", "origin": "http://evil.example"}
        assert not read_freely or asker.post(path, change, **evil).status == 403, "a name that points here"
        assert asker.get(path, token=TOKEN, method="DELETE").status == 405
        assert what == "notes" or asker.get(path, token=TOKEN).status == 405, "never by GET"
        for broken in (b"{", b"[]", b'{"note": 1, "to": 1, "confirm": 1}', b"\xff", b"[" * 100_000):
            assert asker.post(path, broken).status in (400, 413)
    assert _files(run.parent) == before


def test_notes_are_kept_and_escaped_wherever_they_are_shown(run: Path) -> None:
    asker, evil = Asker(run.parent), "<script>alert(1)</script>"
    kept = asker.post(f"/api/notes/{run.name}", {"note": evil, "tags": ["prod", "<b>"]})
    assert (kept.status, kept.json) == (200, {"note": evil, "tags": ["prod", "<b>"]})
    (line,) = asker.get("/api/runs").json["runs"]
    assert (line["note"], line["tags"]) == (evil, ["prod", "<b>"])
    page = asker.get(f"/run/{run.name}").text
    assert "&lt;script&gt;alert(1)" in page
    assert evil not in page
    refused = asker.post(f"/api/notes/{run.name}", {"note": "", "tags": ["two words"]})
    assert (refused.status, refused.json["error"]) == (400, '"two words" is not a tag')
    assert asker.get(f"/api/notes/{run.name}").json["may_change"] is False
    assert asker.get(f"/api/notes/{run.name}", token=TOKEN).json["may_change"] is True


def test_a_run_is_renamed_and_deleted_when_its_name_confirms_it(run: Path) -> None:
    asker = Asker(run.parent)
    assert asker.post(f"/api/rename/{run.name}", {"to": "../out"}).status == 400
    assert asker.post(f"/api/rename/{run.name}", {"to": "new name"}).json == {"name": "new name"}
    (line,) = asker.get("/api/runs").json["runs"]
    assert line["name"] == "new name"
    for confirm in ("", "yes", "New name"):
        refused = asker.post("/api/delete/new name", {"confirm": confirm})
        assert (refused.status, refused.json["error"]) == (400, "not deleted: the name does not match")
    (run.parent / "new name/mine.txt").touch()
    assert asker.post("/api/delete/new name", {"confirm": "new name"}).json == {"left": ["mine.txt"]}
    assert asker.get("/api/runs").json["runs"] == []
    assert [path.name for path in run.parent.rglob("*")] == ["new name", "mine.txt"]


def test_unproven_files_are_deleted_by_a_second_word(run: Path) -> None:
    """A file of somebody that had the name of one of ours went with the run."""
    asker, mine = Asker(run.parent), run / "report.html"
    mine.write_text("mine")
    refused = asker.post(f"/api/delete/{run.name}", {"confirm": run.name})
    assert (refused.status, "iocast wrote report.html" in refused.json["error"]) == (400, True)
    assert (mine.read_text(), (run / "run.json").exists()) == ("mine", True)
    assert asker.post(f"/api/delete/{run.name}", {"confirm": run.name, "unproven": True}).json == {"left": []}


def test_a_directory_of_somebody_with_a_run_json_is_not_changed(run: Path) -> None:
    (folder := run.parent / "training").mkdir()
    (folder / "run.json").write_text('{"experiment": "bert"}')
    (folder / "notes.json").write_text('{"mine": 1}')
    before = _files(folder)
    for what, change in (
        ("notes", {"note": "", "tags": []}),
        ("rename", {"to": "x"}),
        ("delete", {"confirm": folder.name}),
    ):
        assert Asker(run.parent).post(f"/api/{what}/training", change).status == 400
    assert _files(folder) == before


def test_nothing_outside_and_not_the_directory_itself_is_changed(run: Path, tmp_path: Path) -> None:
    outside, before = RunFolder.create(str(tmp_path / "outside"), card_runs.quick_card()).path, _files(tmp_path)
    asker = Asker(run.parent)
    for name in (f"../outside/{outside.name}", f"..%2Foutside%2F{outside.name}", str(outside), ".", "..", "%00", ""):
        for what, change in (("rename", {"to": "x"}), ("delete", {"confirm": name}), ("notes", {"note": "x"})):
            assert asker.post(f"/api/{what}/{name}", change).status == 400, (what, name)
    itself = Asker(run)
    for what, change in (("rename", {"to": "x"}), ("delete", {"confirm": run.name})):
        assert "the served directory itself" in itself.post(f"/api/{what}/{run.name}", change).json["error"]
    assert _files(tmp_path) == before


def test_notes_from_several_readers_leave_one_whole(run: Path) -> None:
    asker = Asker(run.parent)

    def write(number: int) -> None:
        assert asker.post(f"/api/notes/{run.name}", {"note": f"{number}" * 2000, "tags": []}).status == 200

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    note = archive.load_notes(str(run)).note
    assert note == note[0] * 2000


def test_who_may_read_and_the_token_leaves_the_address(run: Path) -> None:
    free, closed = Asker(run.parent), Asker(run.parent, read_freely=False)
    assert (free.get("/").status, closed.get("/").status) == (200, 401)
    assert closed.get("/", token=TOKEN).status == 200
    assert free.get("/", host="evil.example").status == 403
    assert free.get("/?token=wrong").status == closed.get("/?token=wrong").status == 401
    for asker in (free, closed):
        for token in ("", TOKEN):
            moved = asker.get(f"/?token={TOKEN}&tag=prod", token=token)
            assert (moved.status, moved.headers["location"]) == (303, "/?tag=prod"), "even where the cookie is there"
            assert "HttpOnly" in moved.headers["set-cookie"]
    assert free.get(f"//evil.example?token={TOKEN}").headers["location"] == "/evil.example"
    assert free.get("/api/runs").json["may_change"] is False
    assert free.get("/api/runs", token=TOKEN).json["may_change"] is True


@pytest.mark.parametrize(
    ("headers", "same"),
    [
        ({"host": "localhost:8077", "origin": "http://localhost:8077"}, True),
        ({"host": "LOCALHOST:8077", "origin": "http://localhost:8077", "sec-fetch-site": "same-origin"}, True),
        ({"host": "localhost:8077", "origin": "http://localhost:8078"}, False),
        ({"host": "localhost:8077", "origin": "http://localhost:8077", "sec-fetch-site": "same-site"}, False),
        *(
            ({"host": "localhost:8077", "origin": origin}, False)
            for origin in ("null", "", "http://[", "localhost:8077")
        ),
        ({"host": "", "origin": ""}, False),
    ],
)
def test_a_page_of_this_server(headers: dict[str, str], same: bool) -> None:
    assert is_same_origin(headers) == same
