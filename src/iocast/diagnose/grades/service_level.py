"""The workload-relative scale: the response at the peak load over what the service level allows."""

from __future__ import annotations

import re

from iocast.analyse.facts import Facts
from iocast.analyse.ladder import Curve
from iocast.diagnose.grades import gradable as pick
from iocast.diagnose.grades.modern_scale import USABLE
from iocast.diagnose.grades.scales import letter_scale
from iocast.errors import SpecError
from iocast.model.finding import Examination
from iocast.model.grading import Graded, ServiceLevel
from iocast.model.run import PhaseRecord
from iocast.text import brief_percent, brief_time, number
from iocast.units import parse_duration, parse_rate

EXAMPLE = "for example --slo 'p99<5ms', or --slo 'p99<5ms@4000/s' for the load at the peak"


def parse_slo(text: str) -> ServiceLevel:
    """ "p99<5ms" or "p99.9<20ms@4000/s". Raises SpecError."""
    match = re.fullmatch(r"p(\d{1,2}(?:\.\d+)?)\s*(?:<=?|=)\s*([^@]+?)\s*(?:@\s*(.+))?", text.strip())
    if not match:
        raise SpecError(f'--slo "{text}" is not a service level', EXAMPLE)
    try:
        limit_ns = parse_duration(match[2])
        rate = float(parse_rate(match[3])) if match[3] else None
    except SpecError as error:
        raise SpecError(f'--slo "{text}": {error.message}', EXAMPLE) from None
    if limit_ns <= 0 or float(match[1]) <= 0:
        raise SpecError(f'--slo "{text}": the percentile and the time must be above 0', EXAMPLE)
    return ServiceLevel(float(match[1]) / 100, limit_ns, rate)


def against(level: ServiceLevel, facts: Facts, examination: Examination) -> Graded:
    """The letter of the measured response at the least load that reaches the rate (at the knee without one)."""
    curve = pick.by_load(facts, pick.random_reads)
    if not curve.points:
        return pick.ungraded("service_level", "no row of 4 to 16 KiB random reads.")
    at = _row(level, curve)
    if at is None:
        most = curve.peak.rate_per_s
        says = f"No row reached the peak of {number(level.rate_per_s or 0)} IOPS; the highest is {number(most)} IOPS."
        figures = {"most_per_s": most, "peak_per_s": level.rate_per_s or 0.0}
        return Graded(code="service_level", letter="F", says=says, figures=figures)
    trust = examination.trust[at.phase.name]
    if trust.grade not in USABLE:
        why_not = f"trust in {at.phase.name} is {trust.grade}. {trust.reason}".strip()
        return pick.ungraded("service_level", why_not, (at.phase.name,))
    estimate = facts.row(at).quantile("read", level.q)
    name = f"p{level.q * 100:g}"
    if not estimate.enough:
        return pick.ungraded("service_level", f"{estimate.total} I/Os are too few for {name}.", (at.phase.name,))
    if not estimate.known:
        return pick.ungraded("service_level", f"the source of {at.phase.name} states no {name}.", (at.phase.name,))
    scale, used = letter_scale("slo", "response"), estimate.value_ns / level.limit_ns
    letter = scale.letter(used)
    says = (
        f"The {name} of {at.phase.name} is {brief_time(estimate.value_ns)} at {number(at.measurement.rate_per_s)} IOPS:"
        f" {brief_percent(used)} of the {brief_time(level.limit_ns)} allowed."
    )
    ends = [
        letter if end is None else scale.letter(end / level.limit_ns) for end in (estimate.low_ns, estimate.high_ns)
    ]
    return Graded(
        code="service_level",
        letter=letter,
        says=says,
        phases=(at.phase.name,),
        best=ends[0],
        worst=ends[1],
        figures={"used": used},
        source=scale.source,
    )


def _row(level: ServiceLevel, curve: Curve) -> PhaseRecord | None:
    if level.rate_per_s is None:
        return pick.up_to_knee(curve)[-1]
    return next((row for row in curve.rows if row.measurement.rate_per_s >= (level.rate_per_s or 0.0)), None)
