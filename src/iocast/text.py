"""Figures, names and words as people read them: raw nanoseconds, bytes and rates become text here and nowhere else."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import UTC, datetime

from iocast.units import size_text

_TIMES = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))
_BINARY = ((1 << 40, "T"), (1 << 30, "G"), (1 << 20, "M"), (1 << 10, "k"))

_FAMILIES = {"lvm": "LVM", "zfs": "ZFS"}

EXACT = 5  # signs
MANY_TIMES = 10.0  # from so much on a change is told as a factor: 49,270% says nothing [J]
STRIP_LEVELS = "·▁▂▃▄▅▆▇█"
UNSHOWN = "\N{REPLACEMENT CHARACTER}"
# What terminals, editors and browsers obey: controls but for tabs and ends of lines, other ends of lines, marks that
# turn the direction of text round, and halves of characters.
_OBEYED = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb"
_HARMFUL = re.compile(rf"[{_OBEYED}\ud800-\udfff]")
_UNESCAPED = re.compile(rf"[{_OBEYED}]")
_FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[+-]?[\d.,]+%?")


def maintenance(task: str, subject: str, done: float | None) -> str:
    """Work of the storage as people say it: "md resync on md127 (8.6% done)", "ZFS scrub on tank"."""
    family, _, action = task.partition("_")
    words = " ".join(filter(None, (_FAMILIES.get(family, family), action.replace("_", " "))))
    return f"{words} on {subject}" + (f" ({brief_percent(done)} done)" if done is not None else "")


def duration(value_ns: float | None, space: str = " ") -> str:
    """A time with three figures, so that a column of them lines up: "62.0 µs", "1.24 ms", "3.10 s"."""
    if _nothing(value_ns):
        return ""
    assert value_ns is not None
    if not value_ns:
        return f"0{space}s"
    if value_ns < 0:  # a difference
        return f"-{duration(-value_ns, space)}"
    for index, (factor, unit) in enumerate(_TIMES):
        # 999.6 µs is 1.00 ms: the unit is chosen by what will be printed, not by the raw value.
        if value_ns >= factor * 0.9995 or index == len(_TIMES) - 1:
            scaled = value_ns / factor
            text = f"{scaled:.0f}" if unit == "ns" else three_figures(scaled)
            return f"{text}{space}{unit}"
    raise AssertionError("unreachable: the last unit takes everything")


def milliseconds(value_ns: float) -> str:
    """A time in milliseconds as books print it, without the unit: "0.025", "2.000", "15.7", "257.1"."""
    if math.isinf(value_ns):
        return "never ends" if value_ns > 0 else ""
    scaled = value_ns / 1e6
    return f"{scaled:.3f}" if abs(scaled) < 9.9995 else f"{scaled:,.1f}"


def five_figures(value: float) -> str:
    """A number with five figures and no zeros behind: "140.85", "3076.9", "0.6", "30,000"."""
    if math.isinf(value):
        return "no limit"
    return f"{value:.5g}" if abs(value) < 9999.5 else f"{value:,.0f}"


def duration_between(low_ns: float, high_ns: float) -> str:
    """Two edges between which a time lies, in few letters: "4–10ms", "750µs–1ms", "over 2s"."""
    low, high = (_short(value_ns) for value_ns in (low_ns, high_ns))
    if math.isinf(high_ns):
        return f"over {''.join(low)}"
    return f"{low[0]}–{''.join(high)}" if low[1] == high[1] or not low_ns else f"{''.join(low)}–{''.join(high)}"


def _short(value_ns: float) -> tuple[str, str]:
    for factor, unit in _TIMES:
        if math.isfinite(value_ns) and value_ns >= factor * 0.9995:
            return f"{value_ns / factor:.3g}", unit
    return "0", "ns"


def brief_time(value_ns: float) -> str:
    """A time as one says it in a sentence, with two figures: "62 µs", "1.2 ms", "3 s"."""
    if not value_ns:
        return "0 s"
    if value_ns < 0:  # a difference
        return f"-{brief_time(-value_ns)}"
    for factor, unit in _TIMES:
        scaled = value_ns / factor
        if scaled >= 0.995:
            return f"{_two_figures(scaled)} {unit}"
    return f"{value_ns:.0f} ns"


def size(value_bytes: float | None) -> str:
    """A block size, binary as everyone writes it: "512", "8k", "1M"; others as they were asked for, where that is
    short: "2300"; averages keep three figures: "7.94k"."""
    if _nothing(value_bytes):
        return ""
    assert value_bytes is not None
    if isinstance(value_bytes, int) and value_bytes % 1024 and len(exact := size_text(value_bytes)) <= EXACT:
        return exact
    for factor, unit in _BINARY:
        # 1023.6k is 1.00M: the unit is chosen by what will be printed.
        if value_bytes >= factor * (1 - 0.5 / 1024):
            scaled = value_bytes / factor
            whole = abs(scaled - round(scaled)) < 0.005
            return (f"{scaled:.0f}" if whole else three_figures(scaled)) + unit
    return f"{value_bytes:.0f}"


def article(noun: str) -> str:
    """The indefinite article as the figure in front is spoken: "an 8k commit", "a 16k commit"."""
    return "an" if noun.startswith("8") or (noun[:2] in ("11", "18") and not noun[2:3].isdigit()) else "a"


def capacity(value_bytes: float | None) -> str:
    """The size of a file, a disk, a memory: "2.0 GiB"."""
    if _nothing(value_bytes):
        return ""
    assert value_bytes is not None
    for factor, unit in _BINARY:
        if value_bytes >= factor:
            scaled = value_bytes / factor
            return f"{scaled:.1f} {unit.upper() if unit != 'k' else 'K'}iB"
    return f"{value_bytes:.0f} bytes"


def megabytes_per_s(value_bytes_per_s: float | None) -> str:
    """Throughput in decimal megabytes per second, without the unit: "0.84", "12.1", "1240"."""
    if _nothing(value_bytes_per_s):
        return ""
    assert value_bytes_per_s is not None
    return three_figures(value_bytes_per_s / 1e6)


def brief_throughput(value_bytes_per_s: float) -> str:
    """Throughput in a sentence: "840 kB/s", "512 MB/s", "1.2 GB/s"."""
    for factor, unit in ((1e12, "TB/s"), (1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s")):
        scaled = value_bytes_per_s / factor
        if scaled >= 0.9995:
            return f"{_two_figures(scaled)} {unit}"
    return f"{value_bytes_per_s:.0f} bytes/s"


def rate(value_per_s: float | None) -> str:
    """A rate, without the unit: "3.5", "851", "12.4k", "1.24M"."""
    if _nothing(value_per_s):
        return ""
    assert value_per_s is not None
    for factor, unit in ((1e6, "M"), (1e3, "k")):
        # Up to 999 a rate is shown whole; from 1000 on with three figures.
        if value_per_s >= factor * 0.9995:
            return three_figures(value_per_s / factor) + unit
    return f"{value_per_s:.0f}" if value_per_s >= 9.995 else f"{value_per_s:.2g}"


def percent(share: float | None) -> str:
    """A share: "0.4%", "12%", "<0.1%"."""
    if _nothing(share):
        return ""
    assert share is not None
    if share < 0:  # a difference
        return f"-{percent(-share)}" if share <= -0.0005 else "0%"
    if 0 < share < 0.0005:
        return "<0.1%"
    return f"{share:.1%}" if 0 < share < 0.0995 else f"{share:.0%}"


def share_of(ratio: float) -> str:
    """What stands before a figure: "97% of", and from twice on "2.4 times", "49 times"."""
    if ratio < 2:
        return f"{percent(ratio)} of"
    return f"{ratio:.1f} times" if ratio < 9.95 else f"{ratio:,.0f} times"


def brief_percent(share: float) -> str:
    """A share in a sentence: "0.4%", "12%", "0.005%", "below 0.001%"."""
    if 0 < share < 0.0005:
        return f"{100 * share:.1g}%" if share >= 0.00001 else "below 0.001%"
    return percent(share).replace(".0%", "%")


def moved(share: float, more: str, less: str, than: str = "than", as_many: str = "as high") -> str:
    """A change in a sentence: "12% higher than", "30% lower than", and beyond ten times "493 times as high as"."""
    if share >= MANY_TIMES - 1:
        return f"{number(1 + share)} times {as_many}{' as' if than else ''}"
    return f"{brief_percent(abs(share))} {more if share > 0 else less}{f' {than}' if than else ''}"


def rose_or_fell(share: float) -> str:
    """A change of level as a verb: "rose by 12%", "fell by 30%", and beyond ten times "rose to 493 times"."""
    if share >= MANY_TIMES - 1:
        return f"rose to {number(1 + share)} times"
    return f"{'rose' if share > 0 else 'fell'} by {brief_percent(abs(share))}"


def number(value: float) -> str:
    """A number in a sentence, with three figures or all of the whole ones: "0.31", "7.98", "64", "12,400"."""
    return f"{value:.3g}" if value < 999.5 else f"{value:,.0f}"


def decimal(value: float | None) -> str:
    """A plain number with at most one decimal: "0.9", "15.8", "128"."""
    if _nothing(value):
        return ""
    assert value is not None
    return f"{value:.1f}" if value < 99.95 else f"{value:.0f}"


def whole(value: float | None) -> str:
    """A count, its thousands set apart: "12,400"."""
    return "" if _nothing(value) else f"{value:,.0f}"


def statistic(quantile: float | None) -> str:
    """The name of a figure of response times: "p99", "p99.9"; of None "mean"."""
    return "mean" if quantile is None else f"p{quantile * 100:g}"


def load(users: float, depth: float) -> str:
    """A load, users x queue depth: "8x1", "4x16"."""
    return f"{users:.0f}x{max(1.0, depth):.0f}"


def decimal_size(size_bytes: float) -> str:
    """A capacity as disks are sold: "2 TB", "960 GB"."""
    for factor, unit in ((1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if size_bytes >= factor:
            return f"{size_bytes / factor:.4g} {unit}"
    return f"{size_bytes:.0f} bytes"


def instant(unix_ns: int) -> str:
    """A moment, in UTC so that it reads the same everywhere: "2026-03-01 12:00 UTC"."""
    return datetime.fromtimestamp(unix_ns // 1_000_000_000, UTC).strftime("%Y-%m-%d %H:%M UTC")


def iso(unix_ns: int) -> str | None:
    """A moment by ISO 8601, in UTC, to the millisecond; None for 0: "2026-03-01T12:00:00.000Z"."""
    if not unix_ns:
        return None
    moment = datetime.fromtimestamp(unix_ns // 1_000_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{moment}.{unix_ns // 1_000_000 % 1000:03}Z"


def strip(shares: Sequence[float] | None) -> str:
    """Shares of the I/Os as one cell a bucket, "·" for none: "▁█▁·······"."""
    if not shares:
        return ""
    full = len(STRIP_LEVELS) - 1
    # Rounding up keeps the smallest share visible: one slow I/O in a million is still a mark.
    return "".join(STRIP_LEVELS[min(full, math.ceil(share * full - 1e-9))] for share in shares)


def strip_ascii(shares: Sequence[float] | None) -> str:
    """The same strip in digits: tenths, rounded down; "0" is less than a tenth, "." is none: "09........"."""
    if not shares:
        return ""
    return "".join("." if not share else str(min(9, int(share * 10 + 1e-9))) for share in shares)


def ratio(value: float, low: float | None, high: float | None) -> str:
    """A ratio with its interval where it has one: "1.13 (1.04..1.23)", "0.98", "0.0042"."""
    return _factor(value) if low is None or high is None else f"{_factor(value)} ({_factor(low)}..{_factor(high)})"


def _factor(value: float) -> str:
    return f"{value:.2g}" if 0 < value < 0.0995 else f"{value:.2f}"


def counted(amount: float, noun: str) -> str:
    """A number of things, whole: "1 row", "12,400 I/Os"."""
    return f"{amount:,.0f} {noun}" + ("" if round(amount) == 1 else "s")


def sentence(clause: str) -> str:
    """A clause as a sentence: with a capital and a full stop; "" stays empty."""
    return f"{clause[:1].upper()}{clause[1:]}." if clause else ""


def three_figures(value: float) -> str:
    """Three figures, and all of the whole ones: "0.84", "1.24", "62.0", "241", "1240"."""
    if value < 9.995:
        return f"{value:.2f}"
    return f"{value:.1f}" if value < 99.95 else f"{value:.0f}"


def _two_figures(value: float) -> str:
    if value < 9.95:
        return f"{value:.1f}".removesuffix(".0")
    return f"{value:.0f}"


def _nothing(value: float | None) -> bool:
    return value is None or math.isnan(value)


def is_text(name: str) -> bool:
    """False for a name that is not UTF-8, whose bytes Python has kept as surrogates."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def shown(name: str) -> str:
    """A name as it can be shown and sent: UNSHOWN for what is no text, and for what would move the cursor."""
    return name if name.isprintable() else "".join(each if each.isprintable() else UNSHOWN for each in name)


def harmless(words: str) -> str:
    """Words of a file as they can be printed: UNSHOWN for what a terminal would obey; tabs and ends of lines stay."""
    return words if words.isprintable() else _HARMFUL.sub(UNSHOWN, words)


def harmless_line(words: str) -> str:
    """The same on one line."""
    return words if words.isprintable() else " ".join(harmless(words).splitlines()).replace("\t", " ")


def harmless_json(document: str) -> str:
    """A JSON document that says the same with escapes for what a terminal would obey."""
    return document if document.isprintable() else _UNESCAPED.sub(lambda sign: f"\\u{ord(sign[0]):04x}", document)


def no_formula(words: str) -> str:
    """Words as a cell of a table that a spreadsheet does not compute: a quote in front of what it would."""
    return f"'{words}" if _FORMULA.match(words) and not _NUMBER.fullmatch(words) else words


def about(seconds: float) -> str:
    """A length of time as one plans with it: "40 s", "22 min", "2.1 h"."""
    if seconds < 99.5:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.0f} min" if seconds < 99.5 * 60 else f"{seconds / 3600:.1f} h"


def long_duration(value_ns: float) -> str:
    """A length of time that may be days, by its two largest units: "20.1 s", "5 min", "24 h", "3 d 4 h"."""
    if value_ns < 99.5e9:
        return duration(value_ns)
    left, parts = round(value_ns / 1e9), list[str]()
    days = ((86_400, "d"),) if left >= 2 * 86_400 else ()
    for seconds, unit in (*days, (3_600, "h"), (60, "min"), (1, "s")):
        whole, left = divmod(left, seconds)
        if whole and len(parts) < 2:
            parts.append(f"{whole} {unit}")
        elif parts:
            break
    return " ".join(parts)
