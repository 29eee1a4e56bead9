"""Every function of the design's vectors is somewhere in the product: the laws here, the rest by its own room."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from makers.card_runs import histogram
from makers.model_vectors import all_vectors, functions, normal, splitmix64, uniforms, vectors_of

from iocast.analyse import statistics, steady
from iocast.analyse.modes import coarse_modes, modes
from iocast.diagnose import thresholds
from iocast.diagnose.grades.scales import letter_scale
from iocast.forecast.laws import device_checks, link_payload, percentile_rules
from iocast.model.histogram import merge

TESTS = Path(__file__).resolve().parents[2]
Answer = dict[str, Any]

# Those whose vectors are run, or written out, by the test of their own room.
ELSEWHERE = {
    "forecast.flow_equivalent": "forecast/test_flow_equivalent.py",
    "forecast.refuse": "forecast/test_flow_equivalent.py",
    "knee.fit_open": "forecast/test_hockey_stick.py",
    "verdict": "forecast/test_outlook.py",
    "stats.ab_ratio": "analyse/test_comparison.py",
    "stats.percent_difference": "analyse/test_comparison.py",
    "stats.two_sample": "analyse/test_comparison.py",
    "stats.batch_means": "analyse/test_steady.py",
    "stats.mser5": "analyse/test_steady.py",
    "stats.changepoint": "analyse/test_changepoint.py",
}
# Those that the product does not have as a function of its own, and why.
NOT_HERE = {
    "hdr.bucket": "decision 8: our own log-linear layout, finer than three digits of HdrHistogram's",
    "co.open_loop": "the core counts response from when an I/O was due (crates/iocast-core, run/worker)",
}


def prng(of: Answer) -> Answer:
    raw, draws, normals = splitmix64(of["seed"]), uniforms(of["seed"]), uniforms(of["seed"])
    return {
        "u64_hex": [f"{next(raw):#x}" for _ in range(3)],
        "u": [next(draws) for _ in range(2)],
        "normal": [normal(normals) for _ in range(3)],
    }


def tcp(of: Answer) -> Answer:
    return {"MB_per_s": link_payload.tcp_payload_bytes_per_s(of["gbit"], of["mtu"]) / 1e6}


def serial(of: Answer) -> Answer:
    asked = of["gbaud"], of["code_num"], of["code_den"], of["lanes"]
    return {"MB_per_s": link_payload.serial_payload_bytes_per_s(*asked) / 1e6}


def little(of: Answer) -> Answer:
    ratio = statistics.littles_ratio(of["X"], of["R_s"] * 1e9, of["N"])
    return {"ratio": ratio, "grade": thresholds.LITTLE_ERROR.grade(abs(ratio - 1))}


def depth(of: Answer) -> Answer:
    grown = of["time_in_queue_ms_end"] - of["time_in_queue_ms_start"]
    found = device_checks.queue_depth(grown, of["elapsed_ms"], of["intended"])
    return {"aqd": found.mean, "ratio": found.ratio, "flag": found.flag}


def shape(of: Answer) -> Answer:
    names = ("engine_ios", "engine_size_B", "device_ios", "device_sectors", "merges")
    found = device_checks.request_shape(*(of[name] for name in names))
    ratios = {"size_ratio": found.size_ratio, "io_ratio": found.io_ratio, "byte_ratio": found.byte_ratio}
    return {"device_size_B": found.size_bytes, **ratios, "merge_fraction": found.merged, "flag": found.flag}


def cliff(of: Answer) -> Answer:
    values = [(value, count) for value, count in of["values_run_length"]]
    found = percentile_rules.percentile_cliff(values, of["q"], of["half_window"])
    return {"lo": found.low, "hi": found.high, "ratio": found.ratio, "on_cliff": found.on_cliff}


def ranks(of: Answer) -> Answer:
    low, high = statistics.quantile_ranks(of["n"], of["q"], of["confidence"])
    return {"lo_rank": "unbounded" if low is None else low, "hi_rank": "unbounded" if high is None else high}


def snia(of: Answer) -> Answer:
    at = steady.snia_round(of["y"])
    return {
        "first_round_index": "never" if at is None else at,
        "window_mean": sum(of["y"][at - 4 : at + 1]) / 5 if at is not None else "none",
    }


def fio(of: Answer) -> Answer:
    each = 100 * steady.fio_slope(of["y"])
    return {
        "deviation_pct": 100 * steady.fio_deviation(of["y"]),
        "slope_pct_per_interval": each,
        "slope_pct_over_window": each * (len(of["y"]) - 1),
    }


def merged(of: Answer) -> Answer:
    sides = {name: histogram(*((value, 1) for value in of[name])) for name in ("a", "b")}
    sides["merged"] = merge(sides.values())
    shares = (0.5, 0.9, 0.99)
    return {f"p_{name}": {str(q): made.quantile_ns(q) for q in shares} for name, made in sides.items()}


def corrected(of: Answer) -> Answer:
    found = list(percentile_rules.expected_interval(of["values"], of["interval"]))
    return {"corrected": found, "n": len(found)}


def density(of: Answer) -> Answer:
    made, draws = of["generator"], uniforms(of["generator"]["seed"])
    values: list[float] = []
    for _ in range(made["n"]):
        at, chosen = next(draws), made["parts"][-1]
        for part in made["parts"]:
            if at < part["weight"]:
                chosen = part
                break
            at -= part["weight"]
        varied = math.exp(chosen["sigma"] * normal(draws)) if chosen["sigma"] else -math.log(next(draws))
        values.append(chosen["median"] * varied)
    found = modes(histogram(*((value * 1e6, 1) for value in values)))
    return {"modes": len(found)}


def coarse(of: Answer) -> Answer:
    return {"modes": len(coarse_modes(of["upper_us"], of["counts"]))}


CLASSIC = {"seqread_1m": "read_1m"}
MODERN = {"read_8k_p99": "random_read", "commit_p99": "commit"}


def classic(of: Answer) -> Answer:
    aspect = CLASSIC.get(of["test"], of["test"])
    return {"grade": letter_scale("hailey2012", aspect).letter(of["p95_ms"])}


def scaling(of: Answer) -> Answer:
    load, grown = of["N_high"] / of["N_low"], of["lat_high_ms"] / of["lat_low_ms"] - 1
    old, new = grown / load, grown / (load - 1)
    return {
        "classic_score": old,
        "classic_grade": letter_scale("hailey2012", "scaling").letter(old),
        "serialisation": new,
        "modern_grade": letter_scale("modern", "scaling").letter(new),
    }


def slo(of: Answer) -> Answer:
    scale = letter_scale("slo", "response")
    low, middle, high = (of[name] / of["slo_p99_ms"] for name in ("ci_low", "p99_ms", "ci_high"))
    return {"ratio": middle, "grade": scale.letter(middle), "best": scale.letter(low), "worst": scale.letter(high)}


def confidence(of: Answer) -> Answer:
    grade = thresholds.worst(*of.values())
    return {"grade": grade, "trustworthy": grade in "AB", "binding": [name for name in of if of[name] == grade]}


HERE: dict[str, Callable[[Answer], Answer]] = {
    "prng.splitmix64": prng,
    "link.tcp_payload": tcp,
    "link.serial_payload": serial,
    "link.fibre_rtt_floor": lambda of: {"rtt_us": link_payload.fibre_round_trip_s(of["km"]) * 1e6},
    "check.littles_law": little,
    "check.device_queue_depth": depth,
    "check.request_shape": shape,
    "stats.percentile_cliff": cliff,
    "stats.min_n_for_percentile": lambda of: {"n_min": percentile_rules.least_total(of["q"], of["confidence"])},
    "stats.quantile_ci_ranks": ranks,
    "stats.snia_pts": snia,
    "stats.fio_steadystate": fio,
    "stats.harrell_davis": lambda of: {"value": percentile_rules.harrell_davis(of["x"], of["q"])},
    "hdr.merge": merged,
    "co.expected_interval": corrected,
    "modes.kde": density,
    "modes.coarse_histogram": coarse,
    "grade.classic": classic,
    "grade.absolute": lambda of: {"grade": letter_scale("modern", MODERN[of["test"]]).letter(of["ms"])},
    "grade.scan": lambda of: {"grade": letter_scale("modern", "scan").letter(of["MB_per_s"])},
    "grade.scaling": scaling,
    "grade.slo": slo,
    "grade.confidence": confidence,
}
PRINTED = 5e-8  # the vectors have eight figures
BUCKET = 1 / 64  # of a value: our own layout


@pytest.mark.parametrize("vector", vectors_of(*HERE))
def test_what_the_vector_says(vector: Answer) -> None:
    given = HERE[vector["fn"]](vector["in"])
    tolerance = BUCKET if vector["fn"] == "hdr.merge" else max(PRINTED, vector["rel_tol"])
    for name in given.keys() & vector["out"].keys():
        value = vector["out"][name]
        if (
            isinstance(value, str | bool | int)
            or value is None
            or (isinstance(value, list) and value and isinstance(value[0], str))
        ):
            assert given[name] == value, name
        else:
            assert given[name] == pytest.approx(value, rel=tolerance, abs=1e-9), name


def test_no_function_is_forgotten() -> None:
    laws = (Path(__file__).parent / "test_law_vectors.py").read_text("utf-8")
    covered = {*(name for name in functions() if f'"{name}": ' in laws), *HERE, *ELSEWHERE}
    assert functions() - covered == set(NOT_HERE)
    assert not covered & NOT_HERE.keys()
    assert covered <= functions()


def test_the_vectors_of_every_function_that_is_run_here_are_kept_here() -> None:
    kept = {each["fn"] for each in all_vectors()}
    assert kept <= functions()
    assert set(HERE) <= kept
    assert len(functions()) == 67


@pytest.mark.parametrize(("name", "file"), ELSEWHERE.items())
def test_the_test_elsewhere_names_it(name: str, file: str) -> None:
    assert name.split(".")[-1] in (TESTS / file).read_text("utf-8")
