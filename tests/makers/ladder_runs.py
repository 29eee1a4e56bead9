"""Runs of simulated storage for forecasts: a ladder of closed rows, open-loop rows beside it, in memory."""

from __future__ import annotations

from collections.abc import Sequence

from iocast import archive, jobs
from iocast.analyse.facts import Facts
from iocast.forecast.answer import Question, answer
from iocast.forecast.measured_ladder import RequestedLoad
from iocast.load import PlannedGroup, loader_of
from iocast.model.report import Chart
from iocast.model.run import Host, PhaseRecord, Run
from iocast.report.forecast.forecast_report import forecast_report

HOST = Host(name="", kernel="", cpus=1, cpu_model="", memory_bytes=1 << 34)
LOADS = (1, 2, 4, 8, 16, 32, 64)
PHASE = '[[phase]]\ntest = "{test}"\nread = {read}\nwrite = {write}\n{load}\n'


def pool(servers: int, law: str = "exponential:1ms", more: str = "") -> str:
    """A simulated device of servers that share a queue."""
    return f"sim:nvme,bandwidth=none,servers={servers},service={law}{more}"


def ladder_run(
    device: str,
    *,
    loads: Sequence[int] = LOADS,
    rates: Sequence[float] = (),
    reads: Sequence[int] = (100,),
    seconds: float = 20.0,
    seed: int = 1,
    size: str = "8k",
    sizes: Sequence[str] = (),
) -> Facts:
    """A run with a ladder, and rows of random arrivals, for each share of reads in percent, and for each of `sizes`."""
    rows = [f"users = 1\ndepth = {load}" for load in loads]
    rows += [f'rate = "{rate}/s"\narrival = "poisson"\nusers = 1\ndepth = 4096' for rate in rates]
    text = f'name = "ladder"\n[defaults]\nsize = "{size}"\npattern = "random"\ntime = "{seconds}s"\n'
    for read in reads:
        test = {100: "randread", 0: "randwrite"}.get(read, "mixed")
        for each in sizes or (size,):
            loads_of = [f'{row}\nsize = "{each}"' for row in rows]
            text += "".join(PHASE.format(test=test, read=read, write=100 - read, load=row) for row in loads_of)
    target = jobs.parse_target(device)
    plan = jobs.plan(jobs.parse_job(text, "ladder"), target, seed=seed, memory_bytes=1 << 34)[0]
    loader = loader_of(plan)
    layout = loader.lay_out()
    records = []
    for at, phase in enumerate(plan.phases):
        told = loader.phase_plan(phase, layout.files, seed * 1000 + at)
        ((done, did, intervals),) = loader.measure(PlannedGroup((told,), None), lambda *_: True)
        series = archive.series(intervals, done.interval_ns, did)
        records.append(PhaseRecord(phase=phase, plan=done, measurement=did, series=series))
    return Facts(Run(plan=plan, host=HOST, started_unix_ns=0, status="done", phases=tuple(records)))


def forecast_charts() -> tuple[Chart, ...]:
    """The charts of a forecast."""
    asked = Question(rate_per_s=4000, load=RequestedLoad(size_bytes=8192), q=0.99, limit_s=0.008)
    given = answer(asked, ladder_run(pool(8), rates=(2400, 4800), seconds=5.0), {}, {})
    return forecast_report(given, (), {}, charts=True).charts
