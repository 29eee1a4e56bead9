"""The verdict of an interval: none in the first, whose calls are judged, what is said to whom is no root."""

from __future__ import annotations

import json

from makers.live_moments import histogram, moment

from iocast import metrics
from iocast.model.live.moment import Interval
from iocast.report.live.interval_json import interval_json
from iocast.report.live.verdict_lines import verdict_of


def interval(first: int, followed: int) -> Interval:
    """A second in which reads take long above their device, and one process made most of them."""

    def at(number: int) -> dict[tuple[str, str], dict[str, float]]:
        return {
            (metrics.KERNEL_LAYERS, ""): {"events": number * 9.0, metrics.FOLLOWED: float(followed)},
            (metrics.SYSTEM_CALLS, "fio|pread64|8192"): {"count": number * 1000.0, "sum_ns": number * 2e9},
            (metrics.BLOCK_LAYER, "vda|bio|read|8192"): {"count": number * 1000.0, "sum_ns": number * 3e8},
            (metrics.CALLS_BY_PROCESS, "4711|fio|pread64"): {"count": number * 900.0, "sum_ns": number * 18e8},
            (metrics.CALLS_BY_PROCESS, "17|postgres|pread64"): {"count": number * 100.0, "sum_ns": number * 2e8},
        }

    return Interval(moment(first, at(first)), moment(first + 1, at(first + 1)))


def test_whose_calls_are_judged_is_said_where_nobody_is_followed() -> None:
    answer = verdict_of(interval(1, followed=0))
    assert answer.code == "file_system"
    assert answer.says.endswith("The calls are those of all processes, 90% of their time of fio (4711).")
    assert "all processes" not in verdict_of(interval(1, followed=1)).says


def test_there_is_no_verdict_in_the_first_interval() -> None:
    answer = verdict_of(interval(0, followed=1))
    assert (answer.code, answer.rule) == ("unknown", None)
    assert answer.says.startswith("No verdict in the first interval")


def test_a_server_that_is_gone_is_said_with_the_time_since_when() -> None:
    def at(silent_ns: float) -> dict[tuple[str, str], dict[str, float]]:
        return {("postgresql.answer", ""): {metrics.SILENT_NS: silent_ns}, (metrics.DISKSTATS, "vda"): {"reads": 1.0}}

    gone = verdict_of(Interval(moment(1, at(0.0)), moment(2, at(9e9))))
    assert gone.says.startswith("postgresql does not answer since ")
    assert "(9 s)" in gone.says
    assert "answer" not in verdict_of(Interval(moment(1, at(9e9)), moment(2, at(0.0)))).says


def test_json_says_how_much_was_traced_and_how_far_means_may_be_off() -> None:
    def at(number: int) -> dict[tuple[str, str], dict[str, float]]:
        return {
            (metrics.KERNEL_LAYERS, ""): {metrics.TRACED_NS: number * 2e8, metrics.LOST_EVENTS: number * 3.0},
            (metrics.BLOCK_LAYER, "vda|driver|read|8192"): histogram({128: number * 900, 8192: number * 100}),
        }

    document = json.loads(interval_json(Interval(moment(1, at(1)), moment(2, at(2)))))
    assert (document["traced_share"], document["lost_events"]) == (0.2, 3)
    assert document["layers"][0]["mean_within"] > 0
    empty = json.loads(interval_json(Interval(moment(1, {}), moment(2, {}))))
    assert empty["traced_share"] is None
