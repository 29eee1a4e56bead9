"""The load of a forecast as it is written on a command line, and back."""

from __future__ import annotations

import csv
import math
import re
import shlex
from pathlib import Path

from iocast.archive.regular_file import written_text
from iocast.errors import SpecError
from iocast.forecast.answer import Question
from iocast.forecast.laws.bursts import Stretch
from iocast.forecast.measured_ladder import RequestedLoad
from iocast.forecast.rate_profile import Profile, burst_profile
from iocast.sessions.requests.forecast import LoadOptions
from iocast.sessions.requests.run_options import option_value
from iocast.units import parse_duration, parse_percent, parse_rate, parse_size

SLO_FORMS = "for example --slo p99=5ms, or --slo mean=2ms"
BURST_FORMS = "for example --burst 9000/s:30s/10m: at 9000 IOPS for 30 s in every 10 minutes"
RATES_FORM = "lines of seconds and IOPS, as in 60,4000; a line with one number is a second of that rate"


def question_of(load: LoadOptions) -> Question:
    """The question of a load. Raises SpecError, which names the option."""
    if load.load is not None:
        return _of_profile(load)
    if (load.iops is None) == (load.rates is None):
        raise SpecError("give the load with --iops or with --rates", "for example --iops 4000")
    if load.rates is not None and load.burst is not None:
        raise SpecError("--burst does not go together with --rates, which has its own peaks", "omit one of them")
    profile = None
    if load.rates is not None:
        profile = read_rates(load.rates)
        rate = profile.mean_per_s
    else:
        rate = _iops(str(load.iops), "--iops")
    if load.burst is not None:
        profile = _burst(load.burst, rate)
    q, limit_s = parse_limit(load.slo)
    if not load.cv2 >= 0 or not math.isfinite(load.cv2):
        raise SpecError(
            f"--cv2 {load.cv2:g} is not a squared coefficient of variation", "1: random arrivals; 4: bursty"
        )
    return Question(
        rate_per_s=rate,
        load=RequestedLoad(
            size_bytes=option_value("--size", load.size, _size), read_share=_percent("--read", load.read) / 100
        ),
        q=q,
        limit_s=limit_s,
        arrival_cv2=load.cv2,
        profile=profile,
    )


def _of_profile(load: LoadOptions) -> Question:
    from iocast.sessions.profiling.profile_load import profile_load

    assert load.load is not None
    if load.iops is not None or load.rates is not None or load.burst is not None:
        raise SpecError("--load has its own rate and bursts", "omit --iops, --rates and --burst")
    load_found = profile_load(load.load)
    q, limit_s = parse_limit(load.slo)
    return Question(
        rate_per_s=load_found.rates.mean_per_s,
        load=RequestedLoad(size_bytes=load_found.size_bytes, read_share=load_found.read_share),
        q=q,
        limit_s=limit_s,
        arrival_cv2=load_found.arrival_cv2,
        profile=load_found.rates,
    )


def command_options(load: LoadOptions) -> str:
    """The options that ask for the same load."""
    if load.load is not None:
        return f"--load {shlex.quote(load.load)} --slo {load.slo}"
    rate = f"--rates {shlex.quote(load.rates)}" if load.rates is not None else f"--iops {load.iops}"
    parts = [rate, f"--read {load.read}", f"--size {load.size}", f"--slo {load.slo}"]
    parts += [f"--burst {load.burst}"] if load.burst is not None else []
    parts += [f"--cv2 {load.cv2:g}"] if load.cv2 != 1 else []
    return " ".join(parts)


def parse_limit(text: str) -> tuple[float | None, float]:
    """The percentile (None: the mean) and the seconds of "p99=5ms", "p99.9<20ms", "mean=2ms". Raises SpecError."""
    match = re.fullmatch(r"(mean|p(\d{1,2}(?:\.\d+)?))\s*(?:<=?|=)\s*(.+)", text.strip())
    if not match:
        raise SpecError(f'--slo "{text}" is not a service level', SLO_FORMS)
    try:
        limit_s = parse_duration(match[3]) / 1e9
    except SpecError as error:
        raise SpecError(f'--slo "{text}": {error.message}', SLO_FORMS) from None
    q = None if match[2] is None else float(match[2]) / 100
    if limit_s <= 0 or (q is not None and not q > 0):
        raise SpecError(f'--slo "{text}": the percentile and the time must be above 0', SLO_FORMS)
    return q, limit_s


def read_rates(path: str) -> Profile:
    """A profile from a CSV file. Raises SpecError, which names the line."""
    try:
        lines = list(csv.reader(written_text(path).splitlines()))
    except (OSError, ValueError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise SpecError(f"--rates {path} cannot be read: {reason}", RATES_FORM) from None
    stretches = []
    for number, cells in enumerate(lines, 1):
        if not any(cell.strip() for cell in cells):
            continue
        try:
            values = [float(cell) for cell in cells]
        except ValueError:
            if number == 1:
                continue  # a line of titles
            values = []
        seconds, rate = values if len(values) == 2 else (1.0, values[0]) if len(values) == 1 else (0.0, -1.0)
        if not (seconds > 0 and rate >= 0 and math.isfinite(seconds) and math.isfinite(rate)):
            raise SpecError(f"--rates {path}, line {number}: {','.join(cells)!r} is not understood", RATES_FORM)
        stretches.append(Stretch(seconds, rate))
    if not any(each.demand_per_s > 0 for each in stretches):
        raise SpecError(f"--rates {path} asks for nothing", RATES_FORM)
    return Profile(tuple(stretches), f"{len(stretches)} stretches of {Path(path).name}")


def _burst(text: str, base_per_s: float) -> Profile:
    match = re.fullmatch(r"([^:]+):([^:]+?)/([0-9.]+\s*[a-zµ]+)", text.strip())
    if not match:
        raise SpecError(f'--burst "{text}" is not understood', BURST_FORMS)
    rate = _iops(match[1], "--burst")
    seconds, every = (option_value("--burst", each, parse_duration) / 1e9 for each in match.groups()[1:])
    if rate <= base_per_s:
        raise SpecError(f'--burst "{text}" is no burst: --iops asks for {base_per_s:g} all the time', BURST_FORMS)
    return burst_profile(base_per_s, rate, seconds, every)


def _iops(text: str, option: str) -> float:
    plain = text.strip().replace(",", "")
    plain = plain if "/" in plain else f"{plain}/s"
    try:
        rate = parse_rate(plain)
    except SpecError as error:
        raise SpecError(f"{option}: {error.message}", "for example --iops 4000, 4k or 4000/s") from None
    if rate <= 0:
        raise SpecError(f"{option} {text}: the rate must be above 0", "for example --iops 4000")
    return rate


def _percent(option: str, text: str) -> float:
    try:
        return parse_percent(text if "%" in text else f"{text}%")
    except SpecError as error:
        raise SpecError(f"{option}: {error.message}", error.hint) from None


def _size(text: str) -> int:
    size = parse_size(text)
    if size < 1:
        raise SpecError(f'"{text}" is no size of an I/O', "for example --size 8k")
    return size
