"""The report of a sizing: the verdict first, what binds, the years, JSON by its schema, every device of the library."""

from __future__ import annotations

import io
from typing import Any

import msgspec
import pytest

from iocast.errors import SpecError
from iocast.model.report import Report
from iocast.report.renderers import RENDERERS, documents, json_report
from iocast.sessions.forecasting.size_devices import size
from iocast.sessions.forecasting.sizing_need import growth_of, limit_of
from iocast.sessions.requests.size import SizeRequest

ASKED = SizeRequest(capacity="2TB", iops=30_000, mbps=800, read="70%", size="8k", slo="5ms")


def report(**changes: Any) -> Report:
    from msgspec.structs import replace

    return size(replace(ASKED, **changes)).report(charts=True)


def told(made: Report) -> Any:
    out = io.StringIO()
    json_report.render(made, out)
    return msgspec.json.decode(out.getvalue(), type=documents.DOCUMENTS["size"])


def test_the_verdict_says_how_many_what_binds_and_how_it_stands() -> None:
    made = report(device="sata-ssd")
    assert made.verdict == (
        "6 sata-ssd in RAID 10: limited by capacity. At peak 22% busy, p99 247 µs of 5 ms; throughput 27% of the limit;"
        " after one failure 29%, p99 243 µs of 5 ms."
    )
    found = told(made)
    assert [(each.need, each.devices, each.binds) for each in found.counts] == [
        ("capacity", 6, True),
        ("iops", 2, False),
        ("throughput", 2, False),
        ("latency", 2, False),
        ("failure", 3, False),
    ]
    assert [(each.failed, each.met) for each in found.states] == [(False, True), (True, True)]
    assert found.states[0].limit_ns == 5_000_000
    assert found.states[0].utilisation_share == pytest.approx(0.2158, abs=1e-4)
    assert found.library == ()


@pytest.mark.parametrize("device", ["sata-ssd", "gp3", ""])
def test_what_was_asked_for_is_repeated(device: str) -> None:
    first = report(device=device).sections[0].paragraphs[0]
    assert first == "Asked for: 2 TB; 30,000 IOPS, 70% reads of 8k; 800 MB/s; p99 5 ms."
    grown = report(device=device, growth="20%/year", years=3, iops=None, slo="").sections[0].paragraphs[0]
    assert grown == "Asked for: 2 TB; 800 MB/s, growing by 20% a year for 3 years."


def test_growth_is_sized_for_its_end_and_shown_by_year() -> None:
    made = report(device="sata-ssd", growth="20%/year", years=3, price=250.0)
    assert "for 3 years of growth (6 today)" in made.verdict
    years = told(made).years
    assert [each.devices for each in years] == [6, 6, 6, 8]
    assert years[3].capacity_bytes == pytest.approx(3.456e12)
    assert [each.cost for each in years] == [1500, 1500, 1500, 2000]


def test_a_failure_that_loses_the_data_is_said() -> None:
    made = report(device="sata-ssd", raid="0")
    assert "one failure loses the data" in made.verdict
    assert [each.failed for each in told(made).states] == [False]


def test_volumes_say_what_to_provision() -> None:
    made = report(device="gp3")
    assert made.verdict.startswith("1 gp3 volume of 1,863 GiB, 42,858 IOPS and ")
    (each,) = told(made).provisioned
    assert (each.size_gib, each.iops) == (1863, 42858)


def test_what_is_not_asked_for_has_no_row() -> None:
    made = report(device="nvme", iops=None, slo="")
    assert made.verdict == "2 nvme in RAID 10: the smallest RAID 10 is enough. Throughput 11% of the limit."
    found = told(made)
    assert [each.need for each in found.counts] == ["capacity", "throughput", "layout"]
    assert found.states == ()


def test_a_limited_mean_has_no_percentile() -> None:
    made = report(device="nvme", slo="mean=1ms")
    (states,) = (table for table in made.sections[0].tables if table.key == "states")
    assert "limited" not in {column.key for column in states.columns}


def test_what_was_not_given_is_named() -> None:
    notes = " ".join(told(report(device="nvme", read="", size="", slo="")).notes)
    assert "--read not given: 70% reads taken." in notes
    assert "I/Os of 8k taken" in notes
    assert "no response time is asked for" in notes


def test_without_a_device_the_whole_library_is_compared() -> None:
    found = told(report())
    by_name = {each.device: each for each in found.library}
    assert by_name["hdd-15k"].why == "idle p99 15 ms"
    assert by_name["hdd-15k"].devices is None
    assert by_name["sata-ssd"].devices == 6
    assert by_name["gp3"].binding == "layout"
    made = report().verdict
    assert "6 sata-ssd (limited by capacity), 2 nvme (the smallest RAID 10 is enough)" in made
    assert "1 gp3 (one is enough)" in made


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, "2 nvme in RAID 10: the smallest RAID 10 is enough."),
        ({"raid": "5"}, "3 nvme in RAID 5: the smallest RAID 5 is enough."),
        ({"raid": "0"}, "1 nvme without RAID: one is enough."),
        ({"capacity": "10TB"}, "4 nvme in RAID 10: limited by capacity."),
    ],
)
def test_nothing_binds_where_the_fewest_devices_are_enough(changes: dict[str, Any], verdict: str) -> None:
    made = report(device="nvme", **changes)
    assert made.verdict.startswith(verdict)
    bound = [each.need for each in told(made).counts if each.binds]
    assert bound == (["capacity"] if "limited by capacity" in verdict else ["layout"])
    (chart,) = made.charts
    assert chart.summary.casefold().startswith(verdict.partition(": ")[2][:-1].casefold())


@pytest.mark.parametrize("changes", [{}, {"device": "nvme"}, {"device": "gp2", "growth": "5%", "years": 2}])
def test_it_is_shown_in_every_form(changes: dict[str, Any]) -> None:
    for form in ("terminal", "markdown", "csv"):
        shown = io.StringIO()
        RENDERERS[form].render(report(**changes), shown, colour=False, width=80)
        assert form != "terminal" or max(map(len, shown.getvalue().splitlines())) <= 80


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"iops": None, "mbps": None}, "capacity alone does not size storage"),
        ({"capacity": ""}, "the capacity is missing"),
        ({"iops": -1.0}, "--iops: -1 makes no load"),
        ({"iops": float("nan")}, "--iops: nan makes no load"),
        ({"read": "70"}, "--read: "),
        ({"size": "0"}, "--size is 0"),
        ({"slo": "5"}, "--slo: .*unit is missing"),
        ({"slo": "p20=5ms"}, "p20 is not a percentile"),
        ({"growth": "20%/month", "years": 1}, "is not a growth a year"),
        ({"growth": "20%"}, "--growth needs a number of years"),
        ({"years": 3}, "--years needs the growth"),
        ({"device": "floppy"}, 'device "floppy" is unknown'),
        ({"device": "gp3", "raid": "5"}, "raid5 of cloud volumes"),
        ({"raid": "7", "device": "nvme"}, "RAID level '7' is unknown"),
        ({"utilisation": "120%", "device": "nvme"}, "more than 100"),
    ],
)
def test_what_cannot_be_sized_says_why_and_the_way_out(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(SpecError, match=says) as refused:
        report(**changes)
    assert refused.value.hint


def test_limits_and_growth_as_people_write_them() -> None:
    assert (limit_of("5ms").name, limit_of("5ms").limit_s) == ("p99", 0.005)
    assert (limit_of("mean=2ms").name, limit_of("p99.9 < 10ms").name, limit_of("p95<=1s").limit_s) == (
        "mean",
        "p99.9",
        1.0,
    )
    assert (growth_of("20%/year"), growth_of("150%"), growth_of("")) == (0.2, 1.5, 0.0)
