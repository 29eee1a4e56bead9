"""How latency grew with each step of the load, and whether throughput was gained: the second classic chart."""

from __future__ import annotations

from iocast import text
from iocast.analyse.latency_growth import ScalingStep
from iocast.model.report import Axis, Chart, Column, Row, Table
from iocast.report.charts.families import Family, Member, curve_of

LOADS = (Column("load", "users", "load"), Column("mean", "mean", "duration"), Column("p50", "p50", "duration"))
STEPS = (
    Column("before", "from users", "load"),
    Column("after", "to users", "load"),
    Column("ratio", "latency grew by / load grew by", "decimal", "1: the step brought nothing but waiting"),
    Column("bar", "2^(10 ratio) / 1024", "decimal"),
    Column("verdict", "so"),
)
WORDS = {
    "faster": "latency fell",
    "slower": "latency rose",
    "lost": "throughput fell",
}
NOTE = "A bar as high as the chart: the step added nothing but waiting. The stronger red: throughput fell as well."


def scaling(family: Family) -> Chart | None:
    """The chart of a ladder of at least two loads; none where means are 0, as a tool may state what took no tick."""
    ladder = family.ladder
    steps = curve_of(ladder).scaling
    if not steps or len(steps) < len(ladder) - 1:
        return None
    rows = tuple(_step_row(*each) for each in zip(steps, ladder, ladder[1:], strict=False))
    loads = tuple(
        Row({"load": each.load, "mean": each.times.mean_ns, "p50": each.times.quantile_ns(0.5)}) for each in ladder
    )
    return Chart(
        kind="scaling",
        key=f"{family.key}-scaling",
        title=f"{family.title}: what more users cost",
        summary=_summary(steps, ladder),
        x=Axis("users", "load"),
        y=Axis("mean and median", "duration"),
        tables=(Table("", STEPS, rows, key="steps"), Table("", LOADS, loads, key="loads")),
        notes=(NOTE,),
    )


def _step_row(step: ScalingStep, one: Member, other: Member) -> Row:
    return Row(
        {
            "before": one.load,
            "after": other.load,
            "ratio": step.ratio,
            "bar": step.bar,
            "verdict": WORDS[step.verdict],
            "colour": step.verdict,
        }
    )


def _summary(steps: tuple[ScalingStep, ...], ladder: tuple[Member, ...]) -> str:
    lost = [index for index, step in enumerate(steps) if step.verdict == "lost"]
    grown = ladder[-1].times.mean_ns / ladder[0].times.mean_ns
    more = ladder[-1].at_once / ladder[0].at_once
    times = text.whole(more) if more == int(more) else text.decimal(more)
    words = f"{times} times the load takes {text.decimal(grown)} times as long on average"
    if lost:
        at = ladder[lost[0]].load_text
        return f"{words}; throughput falls from {at} users on."
    return f"{words}, and throughput falls at no step."
