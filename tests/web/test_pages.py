"""The pages know the way back to the list, trends and groups are found, and refusals are pages with a way out."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from makers import card_runs
from makers.asked import Asker
from msgspec.structs import replace

from iocast.archive import RunFolder


def _saved(out: Path, minutes: int = 0) -> Path:
    run = card_runs.quick_card()
    return RunFolder.create(
        str(out), replace(run, started_unix_ns=run.started_unix_ns + minutes * 60 * card_runs.SECOND_NS)
    ).path


def test_each_page_links_to_the_list_as_it_was_left(tmp_path: Path) -> None:
    one, other = _saved(tmp_path), _saved(tmp_path, 5)
    asker, state = Asker(tmp_path), 'tag=prod&sort=-name&q="><script>'
    kept = f"list={quote(state)}"
    pages = (
        f"/run/{one.name}?{kept}",
        f"/compare?run={one.name}&run={other.name}&{kept}",
        f"/trend?target=/mnt/db&{kept}",
        f"/run/nothing?{kept}",
        f"/compare?run={one.name}&{kept}",
    )
    for page in pages:
        text = asker.get(page).text
        assert '<a href="/?tag=prod&amp;sort=-name&amp;q=&#34;&gt;&lt;script&gt;">All runs</a>' in text, page
        assert "<script>" not in text.partition("<main")[0], page
    assert 'href="/?javascript:alert(1)"' in asker.get(f"/run/{one.name}?list=javascript:alert(1)").text
    plain = asker.get(f"/run/{one.name}").text
    assert '<a href="/">All runs</a>' in plain
    assert f'<a href="/edit/{one.name}">Notes, rename, delete</a>' in plain
    assert '<a href="/trend?target=%2Fmnt%2Fdb&amp;host=' in plain


def test_a_trend_is_of_one_target_host_and_job(tmp_path: Path) -> None:
    for day in range(3):
        _saved(tmp_path, day * 24 * 60)
    asker = Asker(tmp_path)
    text = asker.get("/trend?target=/mnt/db").text
    assert "Changes unknown: 3 runs with trust C or better; 10 needed." in text
    for asked in ("target=/elsewhere", "target=/mnt/db&job=other", "target=/mnt/db&host=other", ""):
        status = asker.get(f"/trend?{asked}").status
        assert status == (404 if asked else 200), "nothing asked for: the newest run's"


def test_a_trend_links_to_those_of_other_jobs_on_its_target(tmp_path: Path) -> None:
    """The list asks for a target only, and its newest run decides the job: the others must be found from there."""
    _saved(tmp_path)
    run = card_runs.quick_card()
    later = replace(run, started_unix_ns=run.started_unix_ns + card_runs.SECOND_NS)
    RunFolder.create(str(tmp_path), replace(later, plan=replace(run.plan, name="nightly & more")))
    asker = Asker(tmp_path)
    text = asker.get("/trend?target=/mnt/db&list=tag%3Dprod").text
    assert "nightly &amp; more on /mnt/db" in text
    assert f">{run.plan.name}</a>" in text
    assert "list=tag" in text.partition(f">{run.plan.name}</a>")[0].rpartition("<a ")[2]
    other = asker.get("/trend?target=/mnt/db&job=" + quote(run.plan.name)).text
    assert ">nightly &amp; more</a>" in other


def test_the_runs_of_a_repeat_are_one_side_and_one_page(tmp_path: Path) -> None:
    groups = [tmp_path / f"2026-11-23T0{at}0000-repeat-x" for at in (1, 2)]
    for group in groups:
        for minutes in range(3):
            _saved(group, minutes)
    asker = Asker(tmp_path)
    listed = asker.get("/api/runs").json["runs"]
    assert {(line["group"], line["group_kind"]) for line in listed} == {(each.name, "repeat") for each in groups}
    assert asker.get(f"/group/{groups[0].name}").status == 200
    assert asker.get(f"/compare?run={groups[0].name}&run={groups[1].name}").status == 200
    for name in (listed[0]["name"], "nothing", "..", "."):
        assert asker.get(f"/group/{name}").status == 404, name
