"""Reads what a fio section does: rw, block sizes, rates and the spread of its offsets, as fields of a job file."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from iocast.errors import SpecError
from iocast.model.workload import LARGEST_IO_BYTES
from iocast.tools.fio.fio_settings import Reader
from iocast.tools.fio.job_options import OPTIONS, POISSON, RW, Op, last_of, part_of
from iocast.tools.fio.quantities import read_size, read_whole, text_of
from iocast.tools.foreign_numbers import number_of
from iocast.tools.line_problems import meant

_DEFAULT_BS = read_size(OPTIONS["bs"].default)
_ZIPF_THETA = 1.1  # fio's own default
_RANGE = re.compile(r"^([0-9]{1,19}[kmg]?)[-:]([0-9]{1,19}[kmg]?)", re.IGNORECASE)
_TWO_ZONES = re.compile(r"([0-9]{1,3})/([0-9]{1,3}):([0-9]{1,3})/([0-9]{1,3})")

Sizes = dict[str, dict[int, float]]  # of each operation: size in bytes -> per cent


class Direction(NamedTuple):
    """Reads, writes or trims, and their share of the I/Os."""

    op: Op
    percent: float


def split_rw(reader: Reader) -> tuple[list[Direction], bool]:
    """The directions of rw, and whether it is random; a number after it is read by `distribution`."""
    kind = reader.text("rw").partition(":")[0]
    if kind not in RW:
        reader.refuse("rw", f"not known{meant(kind, RW)}", "", f"rw is one of {', '.join(RW)}")
        kind = "read"
    ops, random = RW[kind]
    if len(ops) == 1:
        return [Direction(ops[0], 100.0)], random
    if "trim" in ops:
        reader.note(
            f"rw={kind}: half of the I/Os trim, half write elsewhere; in fio each write follows a trim of its block"
        )
        return [Direction("trim", 50.0), Direction("write", 50.0)], random
    read = reader.whole("rwmixread", 0, 100)
    write = reader.whole("rwmixwrite", 0, 100, default=100 - read)
    if last_of(reader.section.settings, "rwmixread", "rwmixwrite") == "rwmixwrite":
        read = 100 - write
    directions = [Direction("read", float(read)), Direction("write", 100.0 - read)]
    return [direction for direction in directions if direction.percent], random


def sizes(reader: Reader, op: Op) -> dict[int, float]:
    """Per cent of each size of the I/Os of one direction; bssplit wins over bs, as in fio."""
    if reader.has("bsrange"):
        return _range(reader, op)
    if reader.has("bssplit"):
        return reader.value("bssplit", lambda text: _split(reader, part_of(text, op)), {_DEFAULT_BS: 100.0})
    return reader.value("bs", lambda text: _one(reader, part_of(text, op)), {_DEFAULT_BS: 100.0})


def _one(reader: Reader, text: str) -> dict[int, float]:
    size_bytes = reader.read_size(text) if text else _DEFAULT_BS
    if not 0 < size_bytes <= LARGEST_IO_BYTES:
        raise SpecError(f"{text} is not a valid I/O size", "an I/O has from 1 byte to 1g")
    return {size_bytes: 100.0}


def _split(reader: Reader, text: str) -> dict[int, float]:
    """ "4k/60:64k/40"; entries without a percentage share what is left."""
    given: dict[int, float] = {}
    blank: list[int] = []
    for entry in text.split(":"):
        size, _, percent = (part.strip() for part in entry.partition("/"))
        (size_bytes,) = _one(reader, size)
        if percent:
            given[size_bytes] = given.get(size_bytes, 0.0) + read_whole(percent.rstrip("%"), 0, 100)
        else:
            blank.append(size_bytes)
    left = 100 - sum(given.values())
    if left < 0 or (left and not blank):
        raise SpecError(f"the shares of {text} add up to {100 - left:g}, not to 100", "")
    for size_bytes in blank:
        given[size_bytes] = given.get(size_bytes, 0.0) + left / len(blank)
    return {size_bytes: percent for size_bytes, percent in given.items() if percent}


def _range(reader: Reader, op: Op) -> dict[int, float]:
    """One size, where the range holds no other. Else there is no finite list; the powers of two in it are near."""
    nearest = ""
    match = _RANGE.fullmatch(part_of(reader.text("bsrange"), op))
    if match:
        low, high = reader.read_size(match[1]), reader.read_size(match[2])
        if low == high:
            return reader.value("bsrange", lambda _: _one(reader, match[1]), {_DEFAULT_BS: 100.0})
        steps = [low << power for power in range(8) if 0 < low << power <= high]
        nearest = "nearest: bssplit=" + ":".join(f"{text_of(step)}/" for step in steps)
    reader.refuse("bsrange", "a range of sizes is not supported", nearest)
    return {_DEFAULT_BS: 100.0}


def distribution(reader: Reader, random: bool, mix: Sizes, load: dict[str, Any]) -> None:
    """The pattern and its parameters, into `load`."""
    step = reader.text("rw").partition(":")[2]
    load["pattern"] = "random" if random else "sequential"
    if step and random and step != "1":
        reader.refuse("rw", "sequential runs at random offsets are not supported", "nearest: a larger bs")
    if random:
        _spread(reader, load)
        if load["pattern"] == "random" and not reader.flag("norandommap"):
            load["repeats"] = False
        return
    if reader.has("random_distribution"):
        reader.note("random_distribution has no effect: the I/Os are sequential")
    if step:
        _step(reader, step, mix, load)


def _step(reader: Reader, step: str, mix: Sizes, load: dict[str, Any]) -> None:
    """rw=read:4k leaves 4 KiB out after every I/O; rw=read:-8k with bs=4k goes backwards."""
    every = {size for weights in mix.values() for size in weights}
    try:
        gap_bytes = reader.read_size(step.removeprefix("-"))
    except SpecError as error:
        reader.refuse("rw", error.message, "", error.hint)
        return
    if len(every) > 1:
        reader.refuse("rw", "a step between I/Os of several sizes is not supported", "take one bs")
    elif step.startswith("-"):
        back = 2 * max(every)
        if gap_bytes != back:
            kind = reader.text("rw").partition(":")[0]
            nearest = f"nearest: rw={kind}:-{text_of(back)}, backwards block by block"
            reader.refuse("rw", "backwards with gaps is not supported", nearest)
        load["backwards"] = True
    elif gap_bytes:
        load |= {"pattern": "stride", "stride": max(every) + gap_bytes}


def _spread(reader: Reader, load: dict[str, Any]) -> None:
    text = reader.text("random_distribution")
    kind, _, rest = text.partition(":")
    if kind == "zipf":
        theta, _, centre = rest.partition(":")
        if centre:
            reader.refuse("random_distribution", "the position of the hot blocks cannot be chosen", f"zipf:{theta}")
        elif (skew := number_of(theta or _ZIPF_THETA)) is None or not 0 < skew <= 5 or skew == 1:
            says = "theta is a number above 0 and up to 5, other than 1"
            reader.refuse("random_distribution", says, "for example zipf:0.99")
        else:
            load |= {"pattern": "zipf", "theta": skew}
    elif kind == "zoned":
        _zones(reader, rest, load)
    elif kind in ("pareto", "normal", "zoned_abs"):
        nearest = "nearest: zipf:0.99, or zoned:80/20:20/80 (a hot fifth)"
        reader.refuse("random_distribution", f"the {kind} distribution is not supported", nearest)
    elif text != "random":
        known = ("random", "zipf", "zoned")
        reader.refuse("random_distribution", f"not known{meant(kind, known)}", "for example zipf:0.99")


def _zones(reader: Reader, text: str, load: dict[str, Any]) -> None:
    """Two zones are a hot spot: zoned:80/20:20/80."""
    match = _TWO_ZONES.fullmatch(text)
    hot, space, cold, rest = map(int, match.groups()) if match else (0, 0, 0, 0)
    if hot + cold == 100 and space + rest == 100 and hot and 0 < space < 100:
        load |= {"pattern": "hotspot", "space_percent": float(space), "access_percent": float(hot)}
        return
    says = "only one hot and one cold zone are supported, the same for reads and writes"
    reader.refuse("random_distribution", says, "nearest: zoned:80/20:20/80")


def pace(
    reader: Reader, directions: list[Direction], mix: Sizes, load: dict[str, Any]
) -> tuple[list[Direction], float | None]:
    """I/Os a second of one user, None without a rate; with rates for reads and writes these are the shares."""
    key = "rate" if reader.has("rate") else "rate_iops"
    poisson = reader.choice("rate_process", POISSON)
    if not reader.has(key):
        return directions, None
    if reader.has("rate") and reader.has("rate_iops"):
        reader.refuse("rate_iops", "it contradicts rate", "keep one")
    no_rates: dict[str, float] = {}
    rates = reader.value(key, lambda text: _rates(reader, key, text, directions, mix, poisson), no_rates)
    limited = [op for op, rate in rates.items() if rate]
    if not limited:
        return directions, None
    if len(limited) < len(directions):
        way_out = "give both, such as rate_iops=700,300, or make two sections with a stonewall"
        reader.refuse(key, f"only {limited[0]}s have a limit; the other I/Os would run unlimited", way_out)
    total = sum(rates.values())
    load["arrival"] = "poisson" if poisson else "constant"
    shares = [Direction(direction.op, 100 * rates[direction.op] / total) for direction in directions]
    if any(abs(new.percent - old.percent) > 1 for new, old in zip(shares, directions, strict=True)) and (
        reader.has("rwmixread") or reader.has("rwmixwrite")
    ):
        reader.note(f"{key} makes {shares[0].percent:.0f} % of the I/Os reads, as in fio: the rates decide, not rwmix")
    return shares, total


def _rates(
    reader: Reader,
    key: str,
    text: str,
    directions: list[Direction],
    mix: Sizes,
    poisson: bool,
) -> dict[str, float]:
    """I/Os a second of each direction, as fio does them: it counts bytes, and with poisson the smallest size."""
    rates: dict[str, float] = {}
    for direction in directions:
        part = part_of(text, direction.op)
        rate = reader.read_size(part) if part else 0
        weights = mix[direction.op]
        mean = sum(size * percent for size, percent in weights.items()) / 100
        smallest = min(weights)
        if poisson:
            rates[direction.op] = rate if key == "rate_iops" else _whole_poisson(rate, smallest, mean)
        else:
            rates[direction.op] = (rate * smallest if key == "rate_iops" else rate) / mean
            if key == "rate_iops" and rate and mean != smallest:
                reader.note(
                    f"rate_iops={rate} makes {rates[direction.op]:.1f} {direction.op}s/s, as in fio, which "
                    "counts every I/O as the smallest size; rate_process=poisson counts I/Os"
                )
    return rates


def _whole_poisson(wanted: int, smallest: int, mean: float) -> float:
    """fio rounds down to whole I/Os a second here; what it loses must not matter."""
    exact, whole = wanted / mean, wanted // smallest
    if wanted and abs(whole - exact) > 0.05 * exact:
        raise SpecError(f"with poisson, fio runs it at {whole} IOPS, not {exact:.2f}", "write rate_iops")
    return exact
