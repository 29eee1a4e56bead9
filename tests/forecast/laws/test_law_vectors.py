"""Every law against the design's test vectors, to their tolerance."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from makers.model_vectors import vectors_of

from iocast.analyse.knee import closed_ladder
from iocast.analyse.scalability import Scalability, scalability
from iocast.errors import IocastError
from iocast.forecast.laws import (
    bursts,
    closed_queues,
    disks,
    knees,
    mixes,
    open_queues,
    sizing,
    volumes,
)

MIB, GIB = 1 << 20, 1 << 30
Answer = dict[str, Any]


def disk(of: Answer) -> Answer:
    did = disks.disk_service(
        of["seek_ms"] / 1e3, of["rpm"], of["size_kB"], of["rate_MBps"] * 1e3, of["controller_ms"] / 1e3
    )
    return {"service_ms": did.service_s * 1e3, "iops": did.iops, "half_rotation_ms": did.half_rotation_s * 1e3}


def working_set(of: Answer) -> Answer:
    seek_s = disks.short_stroke_seek_s(of["a_ms"] / 1e3, of["b_ms"] / 1e3, of["stroke_fraction"])
    did = disks.disk_service(seek_s, of["rpm"], of["size_kB"], of["rate_MBps"] * 1e3)
    return {"seek_ms": seek_s * 1e3, "service_ms": did.service_s * 1e3}


def controller(of: Answer) -> Answer:
    did = disks.controller_service(of["size_kB"], of["overhead_ms"] / 1e3, of["bus_MBps"] * 1e3)
    return {"transfer_ms": did.transfer_s * 1e3, "iops": did.iops, "bus_utilisation": did.bus_utilisation}


def raid(of: Answer) -> Answer:
    level = disks.raid_level(of["level"])
    penalty = disks.WRITE_PENALTY[level]
    return {"penalty": penalty, "backend_iops": disks.backend_iops(of["read_iops"], of["write_iops"], level)}


def single(of: Answer) -> Answer:
    load = of["lambda_per_s"], of["service_s"]
    queue = open_queues.mm1(*load)
    percentiles = {f"p{p}_s": open_queues.mm1_quantile_s(*load, p / 100) for p in (50, 95, 99)}
    return {"rho": queue.utilisation, "R_s": queue.response_s, "W_s": queue.wait_s, "L": queue.in_system, **percentiles}


def pool(of: Answer) -> Answer:
    load = of["lambda_per_s"], of["service_s"], of["servers"]
    queue = open_queues.mmc(*load)
    shares = {"p50_s": 0.5, "p95_s": 0.95, "p99_s": 0.99, "p999_s": 0.999}
    return {
        "rho": queue.utilisation,
        "C": open_queues.erlang(of["servers"], of["lambda_per_s"] * of["service_s"]).waits,
        "W_s": queue.wait_s,
        "R_s": queue.response_s,
        "L": queue.in_system,
        **{name: open_queues.mmc_quantile_s(*load, q) for name, q in shares.items()},
    }


def erlang(of: Answer) -> Answer:
    lost, waits = open_queues.erlang(of["servers"], of["offered"])
    return {"B": lost, "C": waits}


def any_queue(law: Callable[..., open_queues.OpenQueue], *names: str) -> Callable[[Answer], Answer]:
    def answer(of: Answer) -> Answer:
        queue = law(*(of[name] for name in names))
        return {"rho": queue.utilisation, "W": queue.wait_s, "R": queue.response_s}

    return answer


def exact(of: Answer) -> Answer:
    did = closed_queues.mva(of["demands_s"], of["N"], of["think_s"])
    return {"X": did.rate_per_s, "R_s": did.response_s, "Q": list(did.at_station)}


def approximate(of: Answer) -> Answer:
    did = closed_queues.schweitzer(of["demands_s"], of["N"], of["think_s"])
    return {"X": did.rate_per_s, "R_s": did.response_s}


def servers(of: Answer) -> Answer:
    did = closed_queues.mva_servers(of["demands_s"], of["servers"], of["N"], of["think_s"])
    half = closed_queues.mva_servers(of["demands_s"], of["servers"], of["N"] // 2, of["think_s"])
    return {"X": did.rate_per_s, "R_s": did.response_s, "X_half": half.rate_per_s}


def bounds(of: Answer) -> Answer:
    did = closed_queues.bounds(of["demands_s"], of["N"], of["think_s"])
    return {
        "X_upper": did.rate_high_per_s,
        "X_lower": did.rate_low_per_s,
        "N_star": did.saturation_users,
        "R_lower_s": did.response_low_s,
        "bjb_X_upper": did.balanced_high_per_s,
        "bjb_X_lower": did.balanced_low_per_s,
    }


def fitted_usl(of: Answer) -> Answer:
    law = scalability(of["N"], of["X"])
    assert law is not None
    return {
        "gamma": law.single_per_s,
        "alpha": law.contention,
        "beta": law.crosstalk,
        "N_peak": law.peak_load,
        "X_peak": law.rate_per_s(law.peak_load),
        "sse": sum((law.rate_per_s(n) - x) ** 2 for n, x in zip(of["N"], of["X"], strict=True)),
    }


def usl(of: Answer) -> Answer:
    law = Scalability(of["gamma"], of["alpha"], of["beta"], 0, 0)
    return {"X": law.rate_per_s(of["N"]), "N_peak": law.peak_load}


def max_power(of: Answer) -> Answer:
    at = knees.max_power_utilisation(of["servers"])
    return {"rho": at, "lambda_per_s": at * of["servers"] / of["service_s"]}


def slo(of: Answer) -> Answer:
    rate = knees.slo_rate_per_s(of["servers"], of["service_s"], of["slo_p99_s"])
    return {"lambda_max": rate, "rho": rate * of["service_s"] / of["servers"]}


def ladder(of: Answer) -> Answer:
    knee = closed_ladder(of["N"], of["X"])
    assert knee is not None
    return {
        "max_power_N": knee.max_power_load,
        "chord_knee_N": knee.chord_load,
        "chord_distance": knee.chord_distance,
        "N_star": knee.least_load,
        "saturated": knee.saturated,
    }


def mix(of: Answer) -> Answer:
    use = mixes.mix_use(of["class_lambda"], of["class_capacity"])
    return {
        "per_class": list(use.each),
        "U_sum": use.total,
        "U_max": use.highest,
        "mix_capacity_iops": use.capacity_per_s,
        "headroom": use.headroom,
    }


def surface(of: Answer) -> Answer:
    iops = mixes.capacity_at_size(of["sizes_B"], of["capacity_iops"], of["size_B"])
    return {"demand_s": 1 / iops, "capacity_iops": iops}


def lru(of: Answer) -> Answer:
    hit = mixes.uniform_hit_ratio(of["dataset"], of["cache"])
    return {"hit": hit, "hdd_mean_ms": hit * 0.02 + (1 - hit) * 7.0}  # of a disk of 7 ms and a cache of 20 us


def disk_count(of: Answer) -> Answer:
    demand = sizing.Demand(
        capacity_bytes=of["capacity_GB"] * 1e9,
        iops=of["iops"],
        write_fraction=of["write_fraction"],
        bytes_per_s=of["throughput_MBps"] * 1e6,
    )
    one = sizing.Disk(capacity_bytes=of["disk_GB"] * 1e9, iops=of["disk_iops"], bytes_per_s=of["disk_MBps"] * 1e6)
    did = sizing.size_disks(demand, one, disks.raid_level(of["level"]), of["max_utilisation"])
    return {name: getattr(did, name) for name in did.__struct_fields__}


def gp3(of: Answer) -> Answer:
    did = volumes.provisioned("gp3", of["size_GiB"] * GIB, of["iops"], of["throughput_MiBps"] * MIB)
    return {
        "iops": did.iops,
        "throughput_MiBps": did.bytes_per_s / MIB,
        "valid": did.as_asked,
        "crossover_size_KiB": did.crossover_bytes / 1024,
    }


def gp2(of: Answer) -> Answer:
    did = volumes.burst("gp2", of["size_GiB"] * GIB, of["demand_iops"])
    seconds = "inf" if math.isinf(did.burst_s) else did.burst_s
    return {
        "baseline": did.baseline_iops,
        "burst": did.burst_iops,
        "burst_seconds": seconds,
        "refill_seconds": did.refill_s,
    }


def bucket(of: Answer) -> Answer:
    demand = [bursts.Stretch(each["seconds"], each["demand"]) for each in of["phases"]]
    did = bursts.token_bucket(of["rate"], of["bucket"], demand)
    return {
        "first_empty_s": did.first_empty_s,
        "peak_backlog_io": did.peak_backlog_ios,
        "peak_delay_s": did.peak_delay_s,
        "final_balance": did.balance_ios,
        "final_backlog_io": did.backlog_ios,
    }


def backlog(of: Answer) -> Answer:
    did = bursts.fluid_backlog(of["lambda_high"], of["lambda_low"], of["capacity"], of["burst_s"])
    return {"peak_backlog": did.peak_ios, "peak_delay_s": did.peak_delay_s, "drain_s": did.drain_s}


def slow(of: Answer) -> Answer:
    did = bursts.slow_changes(
        [bursts.Level(p["time_fraction"], p["lambda_per_s"], p["servers"], p["service_s"]) for p in of["phases"]]
    )
    return {"R": did.response_s, "p99": did.p99_s, "R_at_average_rate": did.response_at_average_s}


LAWS: dict[str, Callable[[Answer], Answer]] = {
    "disk.service": disk,
    "disk.working_set": working_set,
    "controller.service": controller,
    "raid.backend_iops": raid,
    "raid.full_stripe_write": lambda of: {
        "backend_per_frontend": disks.full_stripe_writes(disks.raid_level(of["level"]), of["data_disks"])
    },
    "mm1": single,
    "mm1.refuse": single,
    "erlang": erlang,
    "mmc": pool,
    "mg1.pollaczek_khinchine": any_queue(open_queues.mg1, "lambda_per_s", "service_s", "cs2"),
    "gg1.kingman": any_queue(open_queues.kingman, "lambda_per_s", "service_s", "ca2", "cs2"),
    "ggc.allen_cunneen": any_queue(open_queues.allen_cunneen, "lambda_per_s", "service_s", "servers", "ca2", "cs2"),
    "ggc.sakasegawa": any_queue(open_queues.sakasegawa, "lambda_per_s", "service_s", "servers", "ca2", "cs2"),
    "mva.exact": exact,
    "mva.schweitzer": approximate,
    "mva.multiserver": servers,
    "bounds": bounds,
    "usl.fit": fitted_usl,
    "usl.eval": usl,
    "knee.maxpower_mmc": max_power,
    "knee.latency_multiple_mmc": lambda of: {"rho": knees.latency_multiple_utilisation(of["servers"], of["multiple"])},
    "knee.slo_p99_mmc": slo,
    "knee.closed_ladder": ladder,
    "mix.utilisation": mix,
    "surface.size_interp": surface,
    "sizing.disks": disk_count,
    "cloud.gp3": gp3,
    "cloud.gp2_burst": gp2,
    "cloud.token_bucket_fluid": bucket,
    "burst.fluid_backlog": backlog,
    "burst.quasi_stationary": slow,
    "cache.lru_uniform_hit": lru,
}


@pytest.mark.parametrize("vector", vectors_of(*LAWS))
def test_a_law_gives_what_its_vector_says(vector: Answer) -> None:
    law, wanted = LAWS[vector["fn"]], vector["out"]
    if wanted.get("refused"):
        with pytest.raises(IocastError, match="overloaded"):
            law(vector["in"])
        return
    given = law(vector["in"])
    for name, value in wanted.items():
        if isinstance(value, str | bool):
            assert given[name] == value, name
        else:
            assert given[name] == pytest.approx(value, rel=vector["rel_tol"], abs=1e-9), name
