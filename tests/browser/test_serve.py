"""The runs in a real browser: list, filter, sort, open, compare, follow; and who is let in."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from makers.served import browser_page, served

from iocast import archive
from iocast.model.summary import Notes
from iocast.web.access import is_loopback, name_asked_for

pytestmark = [pytest.mark.slow, pytest.mark.long]


def _card(target: str, out: Path) -> None:
    command = [sys.executable, "-m", "iocast", "card", target, "--time", "100ms", "--out", str(out)]
    subprocess.run(command, check=True, capture_output=True)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs")
    for target in ("sim:hdd", "sim:nvme", "sim:sata-ssd"):
        _card(target, out)
    return out


def _get(address: str, **options: Any) -> tuple[int, str]:
    request = urllib.request.Request(address, **options)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode()


def test_list_filter_sort_open_compare(runs: Path) -> None:
    with served(runs) as address, browser_page() as page:
        page.goto(address)
        page.wait_for_selector("#runs tr")
        assert page.inner_text("#count") == "3 runs"
        page.fill("#q", "NVMe")
        assert page.inner_text("#count") == "1 of 3 runs"
        assert page.locator("#runs tr").count() == 1
        page.fill("#q", "")
        page.click("th[data-key=best_rate_per_s] button")
        assert "sim:nvme" in page.locator("#runs tr").first.inner_text()
        page.click("th[data-key=best_rate_per_s] button")
        assert "sim:hdd" in page.locator("#runs tr").first.inner_text()
        assert page.get_attribute("th[data-key=best_rate_per_s]", "aria-sort") == "ascending"
        assert page.is_disabled("#compare")
        for at in (0, 1):
            page.locator("#runs input").nth(at).check()
        assert page.inner_text("#compare") == "Compare 2"
        page.click("#compare")
        page.wait_for_selector("h1")
        assert "comparison" in page.inner_text("header").lower()
        page.click("text=All runs")
        page.wait_for_selector("#runs tr")
        assert page.inner_text("#compare") == "Compare 2", "the way back leads to the list as it was left"
        assert page.get_attribute("th[data-key=best_rate_per_s]", "aria-sort") == "ascending"
        page.click("#runs tr a >> nth=0")
        page.wait_for_selector("h1")
        assert "card quick" in page.inner_text("header").lower()


@pytest.mark.parametrize("width", [1280, 1024, 390])
def test_long_names_push_nothing_out_of_sight(runs: Path, tmp_path: Path, width: int) -> None:
    """Targets and hosts of a data centre, tags and a note: letters and status stay in sight without scrolling."""
    folder = Path(shutil.copytree(next(runs.iterdir()), tmp_path / "2026-11-21T013045-experiment-concurrent-readers"))
    summary = json.loads((folder / "summary.json").read_text())
    summary |= {"target": "postgresql://iocast@db-prod-0412/postgres?host=/var/run/postgresql", "status": "interrupted"}
    summary |= {"host": "db-prod-ora-0412.fra2.example.net", "rows": 12, "planned": 36, "grade": "A+"}
    (folder / "summary.json").write_text(json.dumps(summary))
    archive.change_notes(str(folder), "before the firmware update of the array, write cache off", add=("firmware-4.2",))
    wide = "all => all.filter(each => each.scrollWidth > each.clientWidth).map(each => each.id || each.className)"
    with served(tmp_path) as address, browser_page(width) as page:
        page.goto(address)
        page.wait_for_selector("#runs tr")
        assert "interrupted" in page.inner_text("#runs tr")
        assert page.locator("html, #list, #tools, #actions, #runs td, #runs th").evaluate_all(wide) == []


def test_a_reload_and_a_shared_address_show_the_same(runs: Path, tmp_path: Path) -> None:
    """Filters, order, selection and folded groups; and what to do where nothing is found."""
    made = next(path for path in runs.iterdir() if path.is_dir())
    group = tmp_path / "2026-11-23T010000-repeat-card"
    for name, letter in (("one", "A"), ("two", "B-"), ("three", None)):
        _copy(made, group / name if name != "one" else tmp_path / name, letter)
    archive.save_notes(str(tmp_path / "one"), Notes(note="new <b>firmware</b>", tags=("prod",)))

    def seen(page: Any) -> tuple[object, ...]:
        lines = [page.locator("#runs tr").nth(at).inner_text() for at in range(page.locator("#runs tr").count())]
        chosen = [page.input_value(f"#{name}") for name in ("q", "target", "grade", "trust", "tag")]
        return lines, chosen, page.inner_text("#compare"), page.inner_text("#count")

    with served(tmp_path) as address, browser_page() as page:
        page.goto(address)
        page.wait_for_selector("tr.group")
        assert page.locator("tr.group + tr.inner + tr.inner").count() == 1, "the runs of a repeat stand together"
        page.click("th[data-key=name] button")
        page.check(f'input[aria-label="select {group.name}"]')
        page.check('input[aria-label="select one"]')
        page.click(".fold")
        assert page.locator("tr.inner").count() == 0
        before = seen(page)
        page.reload()
        page.wait_for_selector("tr.group")
        assert seen(page) == before
        page.click(".tag")
        page.select_option("#grade", "A")
        shared = page.url
        assert page.inner_text("#count") == "1 of 3 runs"
        assert page.inner_text("#runs .note") == "new <b>firmware</b>"
        filtered = seen(page)
        page.goto("about:blank")
        page.goto(shared)
        page.wait_for_selector("#runs tr")
        assert seen(page) == filtered
        page.select_option("#trust", "none")
        assert page.is_visible("#unmatched")
        page.click("#unmatched button")
        assert page.inner_text("#count") == "3 runs"
        assert page.inner_text("#compare") == "Compare 2", "the selection is kept"


def _copy(made: Path, folder: Path, letter: str | None) -> None:
    shutil.copytree(made, folder)
    facts = json.loads((made / "summary.json").read_text())
    (folder / "summary.json").write_text(json.dumps({**facts, "grade": letter}))


def test_notes_are_written_a_run_is_renamed_and_deleted_in_the_browser(runs: Path, tmp_path: Path) -> None:
    """Read-only without the token; with it, each change is asked of the server and shown."""
    shutil.copytree(next(path for path in runs.iterdir() if path.is_dir()), tmp_path / "one")
    with served(tmp_path) as address, browser_page() as page:
        page.goto(f"{address}edit/one")
        page.wait_for_selector("#denied:visible")
        assert page.is_disabled("#note")
        page.goto(f"{address.for_changes}")
        page.wait_for_selector("#runs tr")
        assert "token" not in page.url
        page.goto(f"{address}edit/one")
        page.fill("#note:enabled", "after the\nupgrade")
        page.fill("#tags", "prod, fw2")
        page.click("#notes button")
        page.wait_for_selector("#notes output:has-text('Saved.')")
        assert archive.load_notes(str(tmp_path / "one")) == Notes(note="after the\nupgrade", tags=("prod", "fw2"))
        page.fill("#to", "two words")
        page.click("#rename button")
        page.wait_for_selector("h1:text-is('two words')")
        assert not (tmp_path / "one").exists()
        page.fill("#confirm:enabled", "two word")
        assert page.is_disabled("#delete button")
        page.fill("#confirm", "two words")
        page.click("#delete button")
        page.wait_for_selector("#none:visible")
        assert list(tmp_path.iterdir()) == []


def test_letters_sort_as_grades_and_what_has_none_comes_last(runs: Path, tmp_path: Path) -> None:
    made = next(path for path in runs.iterdir() if path.is_dir())
    facts = json.loads((made / "summary.json").read_text())
    for letter in ("A-", "B", "A+", "A", None):
        folder = tmp_path / f"run {letter}"
        shutil.copytree(made, folder)
        (folder / "summary.json").write_text(json.dumps({**facts, "grade": letter}))
    with served(tmp_path) as address, browser_page() as page:
        page.goto(address)
        page.wait_for_selector("#runs tr")
        orders = []
        for _ in range(2):
            page.click("th[data-key=grade] button")
            orders.append(page.locator("#runs tr td.grade:nth-child(9)").all_inner_texts())
    assert orders == [["B", "A-", "A", "A+", ""], ["A+", "A", "A-", "B", ""]]


def test_the_keyboard_keeps_its_place_and_a_pick_that_is_gone_is_dropped(runs: Path, tmp_path: Path) -> None:
    made = next(path for path in runs.iterdir() if path.is_dir())
    for name in ("one", "two", "three"):
        shutil.copytree(made, tmp_path / name)
    with served(tmp_path) as address, browser_page() as page:
        page.goto(address)
        page.wait_for_selector("#runs tr")
        for name in ("two", "one"):
            page.check(f'input[aria-label="select {name}"]')
        page.focus('input[aria-label="select one"]')
        shutil.rmtree(tmp_path / "two")
        page.wait_for_selector('#runs:not(:has(input[aria-label="select two"]))')
        assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "select one"
        assert page.inner_text("#compare") == "Compare 1"
        assert page.is_disabled("#compare")


def test_a_run_is_followed_while_it_happens(tmp_path: Path) -> None:
    """Rows appear one after the other, then the page says that the run is done."""
    job = tmp_path / "slow.toml"
    job.write_text(
        'name = "slow"\n[files]\nsize = "4MiB"\n[defaults]\ntime = "3s"\nsize = "8k"\npattern = "random"\n'
        'direct = false\n[[phase]]\ntest = "one"\n[[phase]]\ntest = "two"\n[[phase]]\ntest = "three"\n'
    )
    (tmp_path / "db").mkdir()
    out = tmp_path / "runs"
    command = [sys.executable, "-m", "iocast", "run", str(job), str(tmp_path / "db"), "--out", str(out)]
    with served(out) as address, browser_page() as page:
        running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            page.goto(address)
            page.wait_for_selector(".status.running", timeout=20_000)
            page.click("#runs tr a")
            page.wait_for_selector("#left:has-text('left')", timeout=20_000)
            page.wait_for_selector("#live polyline", timeout=20_000)
            page.wait_for_selector("#rows tr")
            # Filling the files is a step, and no row: the list counts rows.
            assert page.inner_text("#phase").startswith("Step ")
            page.wait_for_selector("#phase:has-text('done')", timeout=30_000)
            assert page.locator("#rows tr").count() == 3
            page.click("#report a")
            page.wait_for_selector("h1")
        finally:
            assert running.wait(30) == 0


def test_ten_thousand_runs_are_usable(runs: Path, tmp_path: Path) -> None:
    """All are listed and filtered; only some are drawn at once."""
    import os

    made = next(path for path in runs.iterdir() if path.is_dir())
    for number in range(10_000):
        folder = tmp_path / f"run-{number:05}"
        folder.mkdir()
        for name in ("run.json", "summary.json"):
            os.link(made / name, folder / name)
    with served(tmp_path) as address, browser_page() as page:
        page.goto(address)
        page.wait_for_selector("#runs tr", timeout=30_000)
        assert page.inner_text("#count") == "10000 runs"
        assert page.locator("#runs tr").count() == 200
        page.fill("#q", "run-09999")
        assert page.locator("#runs tr").count() == 1


def test_it_only_reads_and_nothing_outside_is_shown(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "run.json").write_text("{}")
    before = sorted((path, path.stat().st_mtime_ns) for path in runs.rglob("*"))
    with served(runs) as address:
        for name in ("../secret", "..%2Fsecret", str(tmp_path / "secret"), "nothing"):
            assert _get(f"{address}run/{name}")[0] == 404, name
        for method, status in (("POST", 401), ("PUT", 405), ("DELETE", 405)):
            assert _get(address, method=method)[0] == status
        assert _get(f"{address}compare?run=one")[0] == 404
        assert _get(f"{address}static/../app.py")[0] == 404
        assert _get(address, headers={"Host": "evil.example"})[0] == 403
        listed = json.loads(_get(f"{address}api/runs")[1])["runs"]
        assert {run["target"] for run in listed} == {"sim:hdd", "sim:nvme", "sim:sata-ssd"}
    assert sorted((path, path.stat().st_mtime_ns) for path in runs.rglob("*")) == before


def test_other_machines_need_the_token(runs: Path) -> None:
    with served(runs, "--host", "0.0.0.0") as shown:
        address, _, token = shown.partition("?token=")
        assert "0.0.0.0" not in address, "on another machine that is the other machine"
        assert len(token) >= 32
        for path in ("", "api/runs", "static/style.css"):
            assert _get(address + path)[0] == 401
        assert _get(f"{address}?token={'x' * len(token)}")[0] == 401
        with browser_page() as page:
            page.goto(f"{address}?token={token}")
            page.wait_for_selector("#runs tr")
            assert "token" not in page.url
            assert page.inner_text("#count") == "3 runs"


def test_odd_names_neither_hide_the_list_nor_break_a_page(runs: Path, tmp_path: Path) -> None:
    made = next(path for path in runs.iterdir() if path.is_dir())
    names = ["plain", "a&b=c?d#e%41", "<script>x", "two\nlines"]
    for name in names:
        shutil.copytree(made, tmp_path / name)
    shutil.copytree(made, os.fsdecode(os.fsencode(tmp_path) + b"/odd-\xff"))
    with served(tmp_path) as address, browser_page() as page:
        listed = [run["name"] for run in json.loads(_get(f"{address}api/runs")[1])["runs"]]
        assert sorted(listed) == sorted([*names[:3], "two�lines", "odd-�"])
        for name in [*names[:3], "two�lines"]:
            page.goto(address)
            page.click(f'th a:text-is("{name}")')
            page.wait_for_selector("h1")
            assert "card quick" in page.inner_text("header").lower(), name
        for asked in ("run/%00", "api/progress/%00", "compare?run=plain&run=%00", f"run/{quote('odd-�')}"):
            assert _get(address + asked)[0] == 404, asked


def test_the_token_follows_a_click_elsewhere_and_two_servers_do_not_disturb_each_other(runs: Path) -> None:
    import http.server

    with served(runs, "--host", "0.0.0.0") as one, served(runs, "--host", "0.0.0.0") as two:
        addresses = [one, two]
        link = f"<a href='{addresses[0]}'>the runs</a>".encode()

        class Chat(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(link + b"<link rel=icon href='data:,'>")

            def log_message(self, *_: object) -> None:
                """Says nothing."""

        chat = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Chat)
        threading.Thread(target=chat.serve_forever, daemon=True).start()
        try:
            with browser_page() as page:
                page.goto(f"http://localhost:{chat.server_port}/")
                page.click("a")
                page.wait_for_selector("#runs tr")
                page.goto(addresses[1])
                page.wait_for_selector("#runs tr")
                page.goto(addresses[0].partition("?")[0])
                page.wait_for_selector("#runs tr")
        finally:
            chat.shutdown()
            chat.server_close()
        for cookie in ('iocast_token="é"', "a=1; =; ;;", "x" * 4000):
            assert _get(addresses[0].partition("?")[0], headers={"Cookie": cookie.encode().decode("latin-1")})[0] == 401


def test_a_port_in_use_is_named(runs: Path) -> None:
    with served(runs) as address:
        port = address.rstrip("/").rsplit(":", 1)[1]
        command = [sys.executable, "-m", "iocast", "serve", str(runs), "--port", port]
        refused = subprocess.run(command, capture_output=True, text=True, timeout=20)
    assert refused.returncode == 2
    assert "--port" in refused.stderr


@pytest.mark.parametrize(
    ("host", "local"),
    [
        *((host, True) for host in ("localhost", "127.0.0.1", "127.9.9.9", "::1", "[::1]")),
        *((host, False) for host in ("0.0.0.0", "192.168.1.7", "localhost.evil.example", "")),
    ],
)
def test_what_only_this_machine_can_reach(host: str, local: bool) -> None:
    assert is_loopback(host) == local


@pytest.mark.parametrize(
    ("header", "name"),
    [
        *((header, "localhost") for header in ("localhost", "localhost:8080", "LOCALHOST:8080")),
        *((header, "::1") for header in ("[::1]", "[::1]:8080")),
        ("127.0.0.1:8080", "127.0.0.1"),
        ("evil.example:80", "evil.example"),
        *((header, "") for header in ("", ":8080", "[::1", "::1")),
    ],
)
def test_the_name_that_a_browser_asked_for(header: str, name: str) -> None:
    assert name_asked_for(header) == name


def test_many_readers_at_once(runs: Path) -> None:
    answers: list[int] = []
    with served(runs) as address:
        threads = [threading.Thread(target=lambda: answers.append(_get(f"{address}api/runs")[0])) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert answers == [200] * 16
