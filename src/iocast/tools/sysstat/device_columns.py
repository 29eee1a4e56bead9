"""What the columns of iostat and sar mean, by name, never by place; the machine that both name; their JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from iocast import metrics
from iocast.model.run import Host
from iocast.tools.foreign_numbers import number_of, whole, whole_of
from iocast.tools.source_files import refuse

KIB, MIB, SECTOR = 1024, 1 << 20, 512
MS_NS = 1_000_000
MOVED = (metrics.READ_BYTES_PER_S, metrics.WRITE_BYTES_PER_S, metrics.DISCARD_BYTES_PER_S)

# Column -> (metric, factor). Their kB and MB are of 1024; a column with 0 is known, and left out.
COLUMNS: Mapping[str, tuple[str, float]] = {
    "tps": (metrics.IOS_PER_S, 1),
    "r/s": (metrics.READS_PER_S, 1),
    "w/s": (metrics.WRITES_PER_S, 1),
    "d/s": (metrics.DISCARDS_PER_S, 1),
    "f/s": (metrics.FLUSHES_PER_S, 1),
    "rtps": (metrics.READS_PER_S, 1),
    "wtps": (metrics.WRITES_PER_S, 1),
    "dtps": (metrics.DISCARDS_PER_S, 1),
    "rrqm/s": (metrics.READ_MERGES_PER_S, 1),
    "wrqm/s": (metrics.WRITE_MERGES_PER_S, 1),
    "drqm/s": (metrics.DISCARD_MERGES_PER_S, 1),
    "rqm/s": (metrics.MERGES_PER_S, 1),
    **{f"{letter}kB/s": (metric, KIB) for letter, metric in zip("rwd", MOVED, strict=True)},
    **{f"{letter}MB/s": (metric, MIB) for letter, metric in zip("rwd", MOVED, strict=True)},
    "rsec/s": (metrics.READ_BYTES_PER_S, SECTOR),
    "wsec/s": (metrics.WRITE_BYTES_PER_S, SECTOR),
    "rd_sec/s": (metrics.READ_BYTES_PER_S, SECTOR),
    "wr_sec/s": (metrics.WRITE_BYTES_PER_S, SECTOR),
    "bread/s": (metrics.READ_BYTES_PER_S, SECTOR),
    "bwrtn/s": (metrics.WRITE_BYTES_PER_S, SECTOR),
    "bdscd/s": (metrics.DISCARD_BYTES_PER_S, SECTOR),
    "kB/s": (metrics.BYTES_PER_S, KIB),
    "MB/s": (metrics.BYTES_PER_S, MIB),
    "sec/s": (metrics.BYTES_PER_S, SECTOR),
    "kB_read/s": (metrics.READ_BYTES_PER_S, KIB),
    "kB_wrtn/s": (metrics.WRITE_BYTES_PER_S, KIB),
    "kB_dscd/s": (metrics.DISCARD_BYTES_PER_S, KIB),
    "MB_read/s": (metrics.READ_BYTES_PER_S, MIB),
    "MB_wrtn/s": (metrics.WRITE_BYTES_PER_S, MIB),
    "MB_dscd/s": (metrics.DISCARD_BYTES_PER_S, MIB),
    "Blk_read/s": (metrics.READ_BYTES_PER_S, SECTOR),
    "Blk_wrtn/s": (metrics.WRITE_BYTES_PER_S, SECTOR),
    "avgrq-sz": (metrics.SIZE_BYTES, SECTOR),
    "areq-sz": (metrics.SIZE_BYTES, KIB),
    "rareq-sz": (metrics.READ_SIZE_BYTES, KIB),
    "wareq-sz": (metrics.WRITE_SIZE_BYTES, KIB),
    "dareq-sz": (metrics.DISCARD_SIZE_BYTES, KIB),
    "avgqu-sz": (metrics.QUEUE_MEAN, 1),
    "aqu-sz": (metrics.QUEUE_MEAN, 1),
    "await": (metrics.AWAIT_NS, MS_NS),
    "r_await": (metrics.READ_AWAIT_NS, MS_NS),
    "w_await": (metrics.WRITE_AWAIT_NS, MS_NS),
    "d_await": (metrics.DISCARD_AWAIT_NS, MS_NS),
    "f_await": (metrics.FLUSH_AWAIT_NS, MS_NS),
    "%util": (metrics.UTIL_PERCENT, 1),
    "util": (metrics.UTIL_PERCENT, 1),
    # Totals since boot, shares of merges, and svctm, which never meant what its name says.
    **dict.fromkeys(
        ("kB_read", "kB_wrtn", "kB_dscd", "MB_read", "MB_wrtn", "MB_dscd", "Blk_read", "Blk_wrtn", "kB_w+d"), ("", 0)
    ),
    # The exports of sadf.
    "rd_sec": (metrics.READ_BYTES_PER_S, SECTOR),
    "wr_sec": (metrics.WRITE_BYTES_PER_S, SECTOR),
    "dc_sec": (metrics.DISCARD_BYTES_PER_S, SECTOR),
    **{f"{letter}kB": (metric, KIB) for letter, metric in zip("rwd", MOVED, strict=True)},
    "bread": (metrics.READ_BYTES_PER_S, SECTOR),
    "bwrtn": (metrics.WRITE_BYTES_PER_S, SECTOR),
    "bdscd": (metrics.DISCARD_BYTES_PER_S, SECTOR),
    "util-percent": (metrics.UTIL_PERCENT, 1),
    **dict.fromkeys(("%rrqm", "%wrqm", "%drqm", "%rqm", "rrqm", "wrqm", "drqm", "svctm"), ("", 0)),
}
# What no device does, and a counter that wrapped around between two looks does.
MOST: Mapping[str, float] = {
    **dict.fromkeys((metrics.IOS_PER_S, metrics.READS_PER_S, metrics.WRITES_PER_S), 1e10),
    **dict.fromkeys((*MOVED, metrics.BYTES_PER_S), 1e14),
    metrics.UTIL_PERCENT: 10_000.0,  # of a device that serves many at once some add up
}
_HUMAN = {"B": 1, "k": KIB, "M": MIB, "G": 1 << 30, "T": 1 << 40, "P": 1 << 50}
_LEADING_COMMA = re.compile(r"(\[\s{0,100}),(?=\s{0,100}\{)")  # sysstat 11.6 to 12.1 with -y
_SYSTEM = re.compile(
    r"^(?P<system>\w+) (?P<release>\S+) \((?P<host>[^)]*)\)\s+(?P<date>\S+)(?:\s+\S+)?(?:\s+\((?P<cpus>\d{1,6}) CPU\))?"
)


def host_of(line: str) -> Host | None:
    """The machine of the first line of both tools."""
    match = _SYSTEM.match(line)
    if not match:
        return None
    return Host(
        name=match["host"],
        kernel=f"{match['system']} {match['release']}",
        cpus=whole_of(match["cpus"]) or 0,
        cpu_model="",
        memory_bytes=0,
    )


def metrics_of(
    path: str, at: int, names: Sequence[str], values: Sequence[str], warnings: list[str]
) -> dict[str, float]:
    """The columns of one device that are known; the others are told. Raises SourceError for a value that is none."""
    by_metric = {}
    for name, text in zip(names, values, strict=True):
        if name not in COLUMNS:
            unknown = f'{path}: unknown column "{name[:40]}": left out'
            warnings += [] if unknown in warnings else [unknown]
            continue
        metric, factor = COLUMNS[name]
        if factor:
            by_metric[metric] = _value_of(path, at, name, text, factor)
    impossible = next((name for name, most in MOST.items() if by_metric.get(name, 0.0) > most), None)
    if impossible is None:
        return by_metric
    warnings.append(
        f"{path}{f':{at}' if at else ''}: {impossible} of {by_metric[impossible]:.3g} is impossible: a counter was"
        " reset; what this line says is unknown"
    )
    return {}


def _value_of(path: str, at: int, name: str, text: str, factor: float) -> float:
    """A value with the factor of its column; in --human output the suffix says the unit instead."""
    shown = text.replace(",", ".").removesuffix("%")  # a decimal comma: there are no thousands in these tools
    if shown[-1:] in _HUMAN and factor in (SECTOR, KIB, MIB):
        shown, factor = shown[:-1], _HUMAN[shown[-1:]]
    value = number_of(shown)
    if value is None:
        raise refuse(path, at, f'{name} is "{text[:40]}", not a number')
    if value < 0:
        raise refuse(path, at, f"{name} is {text[:40]}: the counter went back or was reset")
    return value * factor


def hosts_of(path: str, text: str) -> list[tuple[Host, list[dict[str, Any]]]]:
    """The machines of sysstat's JSON with their statistics. Raises SourceError."""
    try:
        return [
            (
                Host(
                    name=str(each.get("nodename", "")),
                    kernel=f"{each.get('sysname', '')} {each.get('release', '')}".strip(),
                    cpus=whole(path, 0, str(each.get("number-of-cpus", 0)), "number-of-cpus"),
                    cpu_model="",
                    memory_bytes=0,
                ),
                [dict(one) for one in each.get("statistics", [])],
            )
            for each in json.loads(_LEADING_COMMA.sub(r"\1", text))["sysstat"]["hosts"]
        ]
    except json.JSONDecodeError as error:
        raise refuse(path, error.lineno, f"the JSON is truncated or damaged: {error.msg}") from None
    except RecursionError:
        raise refuse(path, 0, "the JSON is damaged: it is nested too deeply") from None
    except (KeyError, IndexError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise refuse(path, 0, f"not the JSON of sysstat: {str(error)[:80]}") from None


def records(path: str, record: Any) -> list[dict[str, Any]]:
    """A list of objects. Raises SourceError for anything else."""
    if not isinstance(record, list) or not all(isinstance(each, dict) for each in record):
        raise refuse(path, 0, "not the JSON of sysstat: a list of devices is missing")
    return record


def device_name(path: str, at: int, record: Any) -> str:
    """The name of a device. Raises SourceError when there is none."""
    if not isinstance(record, str) or not record.strip():
        raise refuse(path, at, "a device without its name")
    return record
