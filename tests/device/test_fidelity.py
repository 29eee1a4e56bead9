"""The engine tells the truth about devices whose answers are known: stalls, tails, and the knee."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from makers.command_line import iocast, run_folder
from makers.lab import hold, lab, near, patiently, run

from iocast import archive
from iocast.model.workload import Constant

pytestmark = [pytest.mark.device, pytest.mark.alone]

MS = 1_000_000
LAG_MOST_MS = 20


@pytest.mark.parametrize("depth", [1, 1024])
def test_an_open_loop_does_not_hide_a_stall(tmp_path: Path, depth: int) -> None:
    """500 reads a second of 1 ms, 10 s, two stalls of 1 s: a fifth of the arrivals waits from 0 to 1 s."""
    with lab(tmp_path / "device", "read_latency=1ms", "stall=1s/5s"):

        def attempt() -> tuple[bool, str, str]:
            measured = run(tmp_path / "device", depth=depth, seconds=10.0, arrival=Constant(500.0))
            response, service = measured.response(), measured.service()
            p50, p90, p99, top = (response.quantile_ns(q) / MS for q in (0.5, 0.9, 0.99, 0.999))
            hidden = service.quantile_ns(0.99) / MS
            # The slowest I/O of each stall was sent at its beginning.
            began = sorted({round(slow.time_ns / 1e9) for slow in measured.slow if slow.service_ns > 900 * MS})
            figures = (
                f"response p50 {p50:.2f} p90 {p90:.0f} p99 {p99:.0f} p99.9 {top:.0f} ms, service p99 {hidden:.2f} ms"
            )
            right = p50 < 2 and 400 <= p90 <= 600 and 880 <= p99 <= 1010 and top >= 950 and began == [4, 9]
            # One I/O at a time: only two were in the device when it stalled, and service times show only those.
            right = right and (hidden < 10 if depth == 1 else hidden > 880)
            # Only a generator that itself came far too late can make tenths of seconds wrong.
            lag = measured.lag.quantile_ns(0.99) / MS
            return right, f"{figures}, stalls at {began}", f"lag p99 {lag:.0f} ms" if lag > LAG_MOST_MS else ""

        patiently(attempt)


def test_the_card_says_how_often_and_when_it_stood_still(tmp_path: Path) -> None:
    """The same device and load, from the command line to the sentence."""
    job = tmp_path / "stall.toml"
    job.write_text(
        'name = "stall"\n[defaults]\nengine = "uring"\n[[phase]]\nsize = "4k"\ndepth = 1024\n'
        'rate = "500/s"\narrival = "constant"\ntime = "10s"\n'
    )
    with lab(tmp_path / "device", "read_latency=1ms", "stall=1s/5s"):

        def attempt() -> tuple[bool, str, str]:
            shutil.rmtree(tmp_path / "runs", ignore_errors=True)
            done = iocast("run", job, "device", "--full", "--out", "runs", cwd=tmp_path)
            assert done.returncode == 0, done.stderr
            said = " ".join(done.stdout.split())
            (record,) = archive.load(str(run_folder(tmp_path / "runs"))).measured
            lag = record.measurement.lag.quantile_ns(0.99) / MS
            right = "2 stalls of about 1 s, at t=4 s and t=9 s" in said  # the 64 slowest I/Os know it so well
            return right, said, f"lag p99 {lag:.0f} ms" if lag > LAG_MOST_MS else ""

        patiently(attempt)


@pytest.mark.parametrize("depth", [1, 8])
def test_both_modes_of_a_device_are_found(tmp_path: Path, depth: int) -> None:
    """98 % of the reads take 308 us, 2 % take 20 ms."""
    with lab(tmp_path / "device", "read_latency=308us", "tail=2%:20ms") as device:

        def attempt() -> tuple[bool, str]:
            response = run(tmp_path / "device", depth=depth, seconds=4.0).response()
            p50, p99 = response.quantile_ns(0.5) / 1e3, response.quantile_ns(0.99) / 1e3
            return near(p50, 308) and near(p99, 20_000), f"p50 {p50:.0f} us, p99 {p99:.0f} us"

        hold(attempt, device)


def test_the_knee_is_at_the_number_of_servers(tmp_path: Path) -> None:
    """4 servers of 1 ms: up to depth 4 the rate grows and the time stays, from there the other way round."""
    with lab(tmp_path / "device", "read_latency=1ms", "servers=4") as device:

        def attempt() -> tuple[bool, str]:
            measured = {depth: run(tmp_path / "device", depth=depth) for depth in (1, 2, 4, 8, 16)}
            rates = {depth: m.rate_per_s for depth, m in measured.items()}
            times = {depth: m.response().quantile_ns(0.5) / MS for depth, m in measured.items()}
            right = all(
                near(rates[depth], 1000 * min(depth, 4)) and near(times[depth], max(depth, 4) / 4) for depth in measured
            )
            return right, ", ".join(f"d{d}: {rates[d]:.0f}/s {times[d]:.2f} ms" for d in measured)

        hold(attempt, device)
