"""`iocast fleet` over planted folders: slow hosts are found, busy and equal ones are not; what is left out is said."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from makers.card_runs import START_UNIX_NS, lognormal, reads, run
from makers.command_line import iocast
from makers.planted_fleets import ROWS, planted_fleet, write_run
from msgspec.structs import replace

from iocast.archive import RunFolder
from iocast.archive.summary_file import read_figures
from iocast.errors import ArchiveError
from iocast.model.results.fleet import Fleet
from iocast.model.summary import Figures
from iocast.sessions.events import RunsReadWhole
from iocast.sessions.fleet import FleetRequest, fleet
from iocast.sessions.listener import Quiet

SLOW, BUSY = "db02", "db03"
TWO_ROWS = {name: ROWS[name] for name in list(ROWS)[:2]}


def fleet_of(*places: Path, **asked: Any) -> Fleet:
    result = fleet(FleetRequest(directories=tuple(map(str, places)), **asked)).result
    assert isinstance(result, Fleet)
    return result


def named(result: Fleet, standing: str) -> set[str | None]:
    return {each.host for each in result.slow if each.standing == standing}


def test_a_slow_host_is_found_in_at_least_nineteen_of_twenty_fleets(tmp_path: Path) -> None:
    """Beside one that is as slow because its device works for others; no other is slow in any."""
    results = [
        fleet_of(planted_fleet(tmp_path / str(seed), seed, runs=2, rows=TWO_ROWS, slow={2: 1.6}, busy={3: 0.6}))
        for seed in range(20)
    ]
    assert sum(named(each, "slow") == {SLOW} for each in results) >= 19
    assert set().union(*(named(each, "slow") | named(each, "slow_once") for each in results)) == {SLOW}
    assert sum(BUSY in named(each, "busy") for each in results) >= 19


def test_none_is_found_in_twenty_fleets_of_equals(tmp_path: Path) -> None:
    for seed in range(20):
        result = fleet_of(planted_fleet(tmp_path / str(seed), seed, runs=2, rows=TWO_ROWS))
        assert result.slow == ()
        assert len(result.hosts) == 10


def test_what_a_reader_is_told(tmp_path: Path) -> None:
    place = planted_fleet(tmp_path / "runs", 1, slow={2: 2.0}, busy={3: 1.0}, settings={2: {"firmware": "GDC5302Q"}})
    shown = iocast("fleet", "runs", cwd=tmp_path, COLUMNS="100")
    assert shown.returncode == 0, shown.stderr
    words = " ".join(shown.stdout.split())
    assert "1 of 10 hosts is slow: db02. Worst row: " in words
    assert "times the" in words
    assert "Busy, not slow: db03." in words
    assert "firmware GDC5302Q 1 of 1 0 of 9" in words
    assert "kernel" not in words, "it is the same everywhere"
    assert f"iocast report {place.name}/db02-02" in words
    assert "iocast trend /mnt/db runs --host db02 --job 'card quick'" in words
    document = json.loads(iocast("fleet", "runs", "--json", cwd=tmp_path).stdout)
    assert [each["host"] for each in document["slow"]] == ["db02", "db03"]
    assert document["slow"][0]["times"] == pytest.approx(2.0, rel=0.15)
    assert document["slow"][0]["runs_over"] == 3
    assert {(row["host"], row["standing"]) for row in document["rows"]} == {("db02", "slow"), ("db03", "busy")}
    assert document["hosts"][-1]["host"] in ("db02", "db03")
    head, *lines = iocast("fleet", "runs", "--format", "csv", cwd=tmp_path).stdout.splitlines()
    assert head.startswith("rank,group,host,")
    assert len(lines) == 10, "all hosts, whether one is slow or not"


@pytest.mark.parametrize(("outcomes", "code"), [("slow", 1), ("busy", 0), ("slow,busy", 1)])
def test_a_script_learns_by_the_exit_code(tmp_path: Path, outcomes: str, code: int) -> None:
    planted_fleet(tmp_path / "runs", 1, rows=TWO_ROWS, slow={2: 2.0})
    assert iocast("fleet", "runs", "--fail-on", outcomes, cwd=tmp_path).returncode == code


def test_a_row_that_was_slow_once_is_not_yet_a_slow_host(tmp_path: Path) -> None:
    rows = {"one": ROWS["randread 8k 1x1"]}
    once = fleet_of(planted_fleet(tmp_path / "once", 1, runs=1, rows=rows, slow={2: 2.0}))
    again = fleet_of(planted_fleet(tmp_path / "again", 1, runs=2, rows=rows, slow={2: 2.0}))
    assert (named(once, "slow_once"), named(once, "slow")) == ({SLOW}, set())
    assert (named(again, "slow_once"), named(again, "slow")) == (set(), {SLOW})


def test_disks_of_two_models_are_two_classes(tmp_path: Path) -> None:
    """Half of the hosts have disks that are by nature three times as slow: they are behind, and none is slow."""
    planted_fleet(tmp_path / "quick", 1, rows=TWO_ROWS, model="NVMe")
    planted_fleet(tmp_path / "far", 2, rows={name: 3 * ns for name, ns in TWO_ROWS.items()}, model="HDD")
    for folder in (tmp_path / "far").iterdir():
        line = folder / "summary.json"
        line.write_text(line.read_text().replace('"host":"db', '"host":"old').replace('"run_id":"', '"run_id":"old'))
    result = fleet_of(tmp_path)
    assert len(result.hosts) == 20
    assert result.slow == ()
    assert [host.model for host in result.hosts] == ["NVMe"] * 10 + ["HDD"] * 10
    assert result.hosts[0].group != result.hosts[-1].group


def test_too_few_hosts_are_ranked_only(tmp_path: Path) -> None:
    planted_fleet(tmp_path / "runs", 1, hosts=4, rows=TWO_ROWS, slow={2: 2.0})
    shown = iocast("fleet", "runs", cwd=tmp_path)
    verdict = " ".join(shown.stdout.split())
    assert "Too few hosts to find slow ones: 5 with the same disk model are needed. Ranking only." in verdict
    result = fleet_of(tmp_path / "runs")
    assert result.slow == ()
    assert (result.hosts[-1].host, result.hosts[-1].standing) == (SLOW, "not_judged")
    assert {host.slow_rows for host in result.hosts} == {None}


def test_hosts_without_a_common_row_are_not_compared(tmp_path: Path) -> None:
    for number, name in enumerate(("one", "two")):
        planted_fleet(tmp_path / name, number, hosts=1, runs=1, rows={name: 1e5})
    (tmp_path / "two/db00-00/summary.json").write_text(
        (tmp_path / "two/db00-00/summary.json").read_text().replace("db00", "db01")
    )
    report = fleet(FleetRequest(directories=(str(tmp_path),)))
    assert report.verdict == "Nothing to compare: no two of 2 hosts share a row of card quick."


def test_the_job_of_most_hosts_is_taken_and_others_are_named(tmp_path: Path) -> None:
    planted_fleet(tmp_path / "a", 1, hosts=6, runs=1, rows=TWO_ROWS)
    planted_fleet(tmp_path / "b", 2, hosts=2, runs=4, rows=TWO_ROWS, job="nightly")
    for folder in (tmp_path / "b").iterdir():
        line = folder / "summary.json"
        line.write_text(line.read_text().replace('"run_id":"', '"run_id":"b-'))
    report = fleet(FleetRequest(directories=(str(tmp_path),)))
    assert report.title == "Fleet · card quick"
    assert report.next_steps == (f"For another job of these hosts: iocast fleet {tmp_path} --job nightly",)
    assert fleet_of(tmp_path, job="nightly").runs == 8
    with pytest.raises(ArchiveError, match='no finished run of the job "weekly"') as refused:
        fleet_of(tmp_path, job="weekly")
    assert refused.value.hint == 'hosts ran "card quick", "nightly"'


def test_a_copy_counts_once_and_what_is_not_finished_not_at_all(tmp_path: Path) -> None:
    place = planted_fleet(tmp_path / "runs", 1, hosts=5, runs=2, rows=TWO_ROWS)
    shutil.copytree(place / "db00-00", tmp_path / "more/again")
    figures = read_figures(str(place / "db00-00"))
    write_run(
        tmp_path / "more/going", figures=figures, job="card quick", host="db09", started_unix_ns=1, status="interrupted"
    )
    report = fleet(FleetRequest(directories=(str(place), str(tmp_path / "more"))))
    assert isinstance(report.result, Fleet)
    assert report.result.runs == 10
    assert "1 unfinished run left out." in report.sections[-1].tables[0].notes


class _Hearing(Quiet):
    def __init__(self) -> None:
        self.events: list[object] = []

    def tell(self, event: object) -> None:
        self.events.append(event)


def test_runs_of_an_older_iocast_are_read_whole(tmp_path: Path) -> None:
    """Their summary has no figures, or is not there at all; a damaged one is left out."""
    for host in range(4):
        one = run(reads("randread", times=lognormal(4000, 240_000 + host, 0.3)), started_unix_ns=START_UNIX_NS + host)
        RunFolder.create(str(tmp_path), replace(one, host=replace(one.host, name=f"db{host}")))
    folders = sorted(tmp_path.iterdir())
    (folders[0] / "summary.json").unlink()
    (folders[1] / "run.json").write_text("{")
    listener = _Hearing()
    result = fleet(FleetRequest(directories=(str(tmp_path),)), listener).result
    assert isinstance(result, Fleet)
    assert len(result.hosts) == 3
    assert listener.events == [RunsReadWhole(4)]


def test_no_runs_are_refused_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for place, says in (("empty", "error: no finished runs in empty"), ("gone", "error: gone cannot be listed")):
        refused = iocast("fleet", place, cwd=tmp_path)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert says in refused.stderr
        assert "hint: " in refused.stderr


def test_a_name_that_a_shell_would_take_apart_is_quoted(tmp_path: Path) -> None:
    planted_fleet(tmp_path / "my runs", 1, rows=TWO_ROWS, slow={2: 2.0})
    assert "iocast report 'my runs/db02-02'" in iocast("fleet", "my runs", cwd=tmp_path).stdout


def test_rows_without_latency_are_no_rows(tmp_path: Path) -> None:
    for host in range(5):
        rows = planted_rows(tmp_path / str(host), host)
        write_run(tmp_path / f"r{host}", figures=rows, job="j", host=f"db{host}", started_unix_ns=host + 1)
    assert {host.rows for host in fleet_of(*[tmp_path / f"r{host}" for host in range(5)]).hosts} == {1}


def planted_rows(place: Path, seed: int) -> Figures:
    """A row that is known, and one of which only the rate is."""
    figures = read_figures(str(planted_fleet(place, seed, hosts=1, runs=1, rows={"one": 1e5, "two": 1e5}) / "db00-00"))
    assert figures is not None
    return replace(figures, rows=(figures.rows[0], replace(figures.rows[1], mean_ns=None)))


def test_open_loops_count_for_speed_only_where_there_is_nothing_else(tmp_path: Path) -> None:
    """Hosts have rates of their own: who is busier has the longer latency, and is no slower."""

    def speeds(name: str, *, with_closed: bool) -> list[float]:
        for host in range(3):
            figures = read_figures(str(planted_fleet(tmp_path / name / f"of{host}", 7, hosts=1, runs=1) / "db00-00"))
            assert figures is not None
            closed, *_, paced = figures.rows
            opened = replace(paced, is_open=True, mean_ns=(1 + host) * 1e5)
            rows = (closed, opened) if with_closed else (opened,)
            own = {"job": "j", "host": f"db{host}", "started_unix_ns": host + 1, "run_id": f"{name}{host}"}
            write_run(tmp_path / name / f"r{host}", figures=replace(figures, rows=rows), **own)
        hosts = fleet_of(*[tmp_path / name / f"r{host}" for host in range(3)]).hosts
        return [round(host.speed or 0, 6) for host in hosts]

    assert speeds("mixed", with_closed=True) == [1.0, 1.0, 1.0]
    assert speeds("open", with_closed=False) == [2.0, 1.0, round(2 / 3, 6)]


def test_one_host_has_nobody_to_be_compared_with(tmp_path: Path) -> None:
    planted_fleet(tmp_path / "runs", 1, hosts=1)
    report = fleet(FleetRequest(directories=(str(tmp_path),)))
    assert report.verdict == "Nothing to compare: only db00 ran card quick."
    assert isinstance(report.result, Fleet)
    assert [(host.host, host.rank, host.speed) for host in report.result.hosts] == [("db00", None, None)]


NO_NUMBER = '{"rows":[{"row":"a","load":"b","mean_ns":1e999}]}'


@pytest.mark.parametrize("figures", ['{"rows":[{"row":1}]}', '{"rows":7}', '{"rows":[{]}', NO_NUMBER])
def test_a_damaged_line_costs_its_own_run_only(tmp_path: Path, figures: str) -> None:
    place = planted_fleet(tmp_path / "runs", 1, hosts=6, runs=1, rows=TWO_ROWS)
    line = (place / "db05-00/summary.json").read_text()
    (place / "db05-00/summary.json").write_text(line.partition('"figures":')[0] + f'"figures":{figures}}}')
    assert [host.host for host in fleet_of(place).hosts if host.host == "db05"] == []
    assert len(fleet_of(place).hosts) == 5
