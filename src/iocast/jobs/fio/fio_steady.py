"""fio's steadystate: what it asks for, said with `until`; where fio's own criterion would mislead, a note says so."""

from __future__ import annotations

import re

from iocast.jobs.fio.fio_settings import Reader
from iocast.units import duration_text

_CRITERION = re.compile(r"(iops|bw|lat)(_slope)?:(\d+(?:\.\d+)?)(%?)")
_S = 1_000_000_000
LEAST_NS = 60 * _S
OVER_ALL_PERCENT = 5.0  # what the rule b3 allows over all that it keeps


def steady_ns(reader: Reader, runtime_ns: int | None) -> int | None:
    """The time after which a section is first judged, None when it ends by its time alone."""
    text = reader.text("steadystate")
    found = _CRITERION.fullmatch(text)
    if not text or text == "none":
        return None
    if found is None:
        reader.refuse("steadystate", "expected a figure and a limit", "steadystate=iops_slope:0.1%")
        return None
    figure, is_slope, limit, share = found.groups()
    if figure == "lat" or not share:
        why = "a closed loop is judged by its rate, against the rate's own mean"
        reader.refuse("steadystate", why, "nearest: steadystate=iops:5%")
        return None
    if runtime_ns is None:
        reader.refuse("steadystate", "for how long at the most?", "give runtime")
        return None
    window_ns = reader.time("steadystate_duration", "s")
    if window_ns is None:
        reader.note("steadystate without steadystate_duration does nothing, as in fio")
        return None
    first_ns = max(LEAST_NS, window_ns)
    if runtime_ns < first_ns:
        reader.refuse(
            "steadystate", "the runtime is over before it can be judged (60 s, or the window)", "a longer runtime"
        )
        return None
    reader.note(
        f"steadystate={text}: judged by the rule b3 after {duration_text(first_ns)}, then twice and four times that"
    )
    if is_slope:
        _warn_of_drift(reader, float(limit), window_ns)
    return first_ns


def _warn_of_drift(reader: Reader, limit: float, window_ns: int) -> None:
    """fio's slope is that of one check, one second by default: the window may drift by as many times it."""
    check_ns = reader.time("steadystate_check_interval", "s") or _S
    drift = limit * window_ns / check_ns
    if drift > OVER_ALL_PERCENT:
        reader.note(
            f"fio counts the slope of {limit:g}% for each check of {duration_text(check_ns)}: over its window of "
            f"{duration_text(window_ns)} it lets {drift:g}% pass; here all of it may drift by {OVER_ALL_PERCENT:g}%"
        )
