"""Which latency histograms a watch has, the busiest first: what a heat map can be drawn of."""

from __future__ import annotations

from iocast.analyse.live.latency_columns import Latencies, latencies
from iocast.metrics import LATENCY_MAP, PART, bucket_upper_ns
from iocast.model.live.moment import Interval, Moment

Choice = tuple[str, str]  # observer, subject


def histograms(interval: Interval) -> list[Choice]:
    """All subjects with buckets, those that gained most in this interval first."""
    choices: list[tuple[int, Choice]] = []
    for observer in interval.observers:
        for subject, view in interval.views(observer).items():
            if (one := latencies(view)) is not None:
                choices.append((one.total, (observer, subject)))
    return [choice for _, choice in sorted(choices, key=lambda each: (-each[0], each[1]))]


def latencies_of(interval: Interval, choice: Choice) -> Latencies | None:
    """What it gained; None where it is unknown."""
    view = interval.views(choice[0]).get(choice[1])
    return None if view is None else latencies(view)


def bounds_of(moment: Moment, choice: Choice) -> list[int]:
    """The upper bounds of its buckets in ns, also of those without counts."""
    counters = moment.values(choice[0]).get(choice[1], {})
    return [upper_ns for metric in counters if (upper_ns := bucket_upper_ns(metric)) is not None]


def label(choice: Choice) -> str:
    """In words: the observer's name and the parts of the subject; of a database the event comes first."""
    observer, subject = choice
    if observer == LATENCY_MAP:  # its labels say what they are of
        return subject
    database, _, view = observer.partition(".")
    if view and subject:
        *others, event = subject.split(PART)
        return f"{event} ({', '.join((database, *others))})"
    return f"{observer.replace('_', ' ')}: {subject.replace('|', ', ')}" if subject else observer.replace("_", " ")
