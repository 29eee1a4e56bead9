"""Which page of vdbench a text is: one with results of all, one with those of a part, or one without results."""

from __future__ import annotations

import re

ORDER = ("flatfile", "summary", "totals", "part", "histogram", "part histogram", "other")  # who says most comes first
HEAD = 20_000
_TABLE = re.compile(r"\binterval\s+i/o\s+MB/sec\b|\.Interval\.+\s+\.+ReqstdOps\.", re.IGNORECASE)
_BUCKETS = re.compile(r"^[^\S\n]*min\(ms\)\s*<\s*max\(ms\)\s+count\b", re.MULTILINE)
_TOTALS = re.compile(r"^Run totals\s*$", re.MULTILINE)
_WHOLE = "Total response time histogram"
_OTHER = re.compile(  # pages of its folder, and its own files beside them
    r"<title>Vdbench |^\* Contents of parameter file|^Vdbench distribution: |^Link to Run Definitions:"
    r"|^\* 'flatfile\.html' contains",
    re.MULTILINE,
)


def kind_of(text: str) -> str:
    """One of ORDER, or "" for a text that vdbench did not write."""
    head = text[:HEAD]
    links = "Link to Run Definitions" in head
    if _BUCKETS.search(head) or _WHOLE in head[:200]:
        return "histogram" if _WHOLE in head or not links else "part histogram"
    if any(is_flat_heading(line) for line in head.splitlines()):
        return "flatfile"
    if "Vdbench summary report" in head[:1000]:
        return "summary"
    if _TABLE.search(head):
        if _TOTALS.search(head[:1000]):
            return "totals"
        return "part" if links else "summary"
    return "other" if _OTHER.search(head[:2000]) else ""


def is_flat_heading(line: str) -> bool:
    """Whether this is the heading of a flatfile, with blanks or as a CSV."""
    words = line.replace('"', " ").replace(",", " ").split() if "Interval" in line else []
    return {"Run", "Interval"} <= {*words} and ("reqrate" in words or "Reqrate" in words)
