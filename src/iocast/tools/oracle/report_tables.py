"""Tables of AWR and Statspack reports: by the rule of dashes under a text heading, by the cells of an HTML one."""

from __future__ import annotations

import html
import re
from itertools import pairwise
from typing import Final

from msgspec import Struct

from iocast.tools.foreign_numbers import number_of

LONGEST_CELL = 2_000  # characters
ELAPSED_HEAD = "Elapsed:"
_ELAPSED = re.compile(r"Elapsed: {0,80}([\d,]{1,12}\.\d{1,2}) \(mins\)")
_TAG = re.compile(r"<[^<>]{0,400}>")
_H3 = re.compile(r"<h3[^<>]{0,200}>([^<>]{1,120})</h3>")
_DASHES = re.compile(r"-{2,}")
_RULE = re.compile(r"^[- ]{10,}$")
_PAGE = re.compile(r" {2,}DB/Inst: ")


class Table(Struct):
    """One table under its title. Cells are as they stand, "" where blank."""

    title: str
    line: int
    notes: str
    head: list[str]
    rows: list[tuple[int, list[str]]]  # line, cells
    width: int | None = None  # characters of the first column, where longer names are cut
    ended: bool = True


def is_report(text: str) -> bool:
    """Whether a text is such a report."""
    return "STATSPACK report for" in text or "WORKLOAD REPOSITORY report for" in text or "<title>AWR Report" in text


def is_cluster_report(text: str) -> bool:
    """Whether a text is the report of all instances of a cluster: its tables are others."""
    return "WORKLOAD REPOSITORY REPORT (RAC)" in text or "<title>AWR RAC Report" in text


def is_html(text: str) -> bool:
    """Whether a report is one of HTML."""
    return "<html" in text[:2000].lower()


def elapsed_minutes(text: str) -> float | None:
    """The length of the interval; None when the report does not state it."""
    at = text.find(ELAPSED_HEAD)
    if at < 0:
        return None
    plain = " ".join(_TAG.sub(" ", text[at : at + 600]).replace("&#160;", " ").split())
    match = _ELAPSED.match(plain)
    return number_of(match[1].replace(",", "")) if match else None


def tables(text: str, titles: tuple[str, ...]) -> list[Table]:
    """The tables with one of these titles, in their order; a text table goes on over its pages."""
    return _html_tables(text, titles) if is_html(text) else _text_tables(text, titles)


def _text_tables(text: str, titles: tuple[str, ...]) -> list[Table]:
    table_list: list[Table] = []
    table: Table | None = None
    spans: list[tuple[int, int]] = []
    above = ""
    lines = text.splitlines()
    if lines and not text.endswith(("\n", "\r")):
        lines.pop()  # it may have lost digits
    for at, line in enumerate(lines, 1):
        title = _PAGE.split(line, maxsplit=1)[0].strip() if "DB/Inst: " in line else ""
        if title:
            table, spans = (Table(title, at, "", [], [], ended=False), []) if title in titles else (None, [])
            table_list += [table] if table else []
        elif table is None:
            continue
        elif line.startswith("->"):
            table.notes += f"{line} "
        elif not spans:
            if _RULE.match(line) and above.startswith(("Event", "Statistic")):
                spans = [each.span() for each in _DASHES.finditer(line)]
                table.head, table.width = cut(above, spans), spans[0][1] - spans[0][0]
        elif _RULE.match(line):
            table.ended, table = True, None
        elif line.strip() and spans:
            table.rows.append((at, cut(line, spans)))
        above = line
    return _pages_joined(table_list)


def cut(line: str, spans: list[tuple[int, int]]) -> list[str]:
    """The cells of a line: each reaches from the end of the column before it to the end of its own."""
    ends = [0, *(end for _, end in spans)]
    return [line[low:high].strip() for low, high in pairwise(ends)]


def _pages_joined(table_list: list[Table]) -> list[Table]:
    joined: dict[str, Table] = {}
    for each in table_list:
        if first := joined.get(each.title):
            first.rows += each.rows
            first.ended = each.ended
            first.head = first.head or each.head
        else:
            joined[each.title] = each
    return list(joined.values())


def _html_tables(text: str, titles: tuple[str, ...]) -> list[Table]:
    table_list = []
    heads = list(_H3.finditer(text))
    for head, following in zip(heads, [*(each.start() for each in heads), len(text)][1:], strict=True):
        title = " ".join(head[1].split())
        begin = text.find("<table", head.end(), following)
        if title not in titles or begin < 0:
            continue
        end = text.find("</table>", begin, following)
        found_rows = _html_rows(text[begin : end if end >= 0 else following])
        line = text.count("\n", 0, begin) + 1
        notes = " ".join(_TAG.sub(" ", text[head.end() : begin]).split())
        at = next((at for at, each in enumerate(found_rows) if len(each) > 2 and each[0]), None)
        if at is None:
            continue
        rows = [(line, each) for each in found_rows[at + 1 :] if each]
        table_list.append(Table(title, line, notes, found_rows[at], rows, ended=end >= 0))
    return table_list


def _html_rows(table: str) -> list[list[str]]:
    """The rows of one table as text; a row without its end is not kept. In one pass, whatever stands there."""
    rows: list[list[str]] = []
    row: list[str] = []
    within = False
    for part in table.split("<"):
        tag, _, text = part.partition(">")
        name = tag[:8].split(" ", 1)[0].lower()
        if name == "tr":
            row = []
        elif name == "/tr":
            rows.append([" ".join(_plain(each).split()) for each in row])
            row = []
        elif name in ("td", "th"):
            row.append(text)
        elif within and row:
            row[-1] += text
        within = name in ("td", "th") or (within and name not in ("/td", "/th", "tr", "/tr"))
    return rows


def _plain(cell: str) -> str:
    """The text of a cell. One longer than any of a report is damage, and Python refuses references of 4,300 digits."""
    return html.unescape(cell) if len(cell) <= LONGEST_CELL else cell


NAMES: Final = ("Tablespace", "Filename")
_SECTION_RULE = re.compile(r"^-[- ]{9,}$")
_END = re.compile(r"^ {4,}-{20,}$")
_FIGURE = re.compile(r"[\d,.#]*")


class _Section(Struct):
    """A section being read. `heads`: its lines since the last rule."""

    table: Table
    names: list[tuple[int, int]] = []
    spans: list[tuple[int, int]] = []
    heads: list[str] = []
    tablespace: str = ""
    file: str = ""


def file_sections(text: str, titles: tuple[str, ...]) -> list[Table]:
    """The tables with one of these titles, each with `NAMES` before its own columns; in their order."""
    sections: dict[str, _Section] = {}
    section: _Section | None = None
    lines = text.splitlines()
    if lines and not text.endswith(("\n", "\r")):
        lines.pop()  # it may have lost digits
    for at, line in enumerate(lines, 1):
        if title := _title(line, titles):
            section = sections.setdefault(title, _Section(Table(title, at, "", [], [], ended=False)))
            section.names, section.spans, section.heads, section.file = [], [], [], ""
        elif section and _END.match(line):
            section.table.ended, section = True, None
        elif section and "DB/Inst: " in line:
            section = None  # the next one, whose own end is missing
        elif section and line.strip() and not line.startswith("->"):
            _take(at, line, section)
    return [each.table for each in sections.values() if each.table.head]


def _title(line: str, titles: tuple[str, ...]) -> str | None:
    """The title of a section that begins with this line: "File IO Stats  DB/Inst: ..." or "... for DB: ..."."""
    if "Snaps: " not in line and "DB/Inst: " not in line:
        return None
    return next((each for each in titles if line.startswith((f"{each} for", f"{each}  "))), None)


def _take(at: int, line: str, section: _Section) -> None:
    """One line that is not blank: of the heads, a rule, a name or figures."""
    if not section.spans:
        if not _SECTION_RULE.match(line):
            section.heads.append(line)
            return
        spans = [each.span() for each in _DASHES.finditer(line)]
        if not section.names:
            section.names = spans
        else:
            section.spans = spans
            section.table.head = [*NAMES, *_heads(section.heads, spans)]
        section.heads = []
        return
    cells = cut(line, section.spans)
    if section.file and all(_FIGURE.fullmatch(each) for each in cells):
        section.table.rows.append((at, [section.tablespace, section.file, *cells]))
        section.file = ""
        return
    tablespace, _, file = line[: section.names[0][1]].strip(), "", line[section.names[0][1] :].strip()
    section.tablespace = tablespace or section.tablespace
    section.file += file  # one that is longer than its column goes on below


def _heads(lines: list[str], spans: list[tuple[int, int]]) -> list[str]:
    """The heads of columns whose words stand one above the other: "Av", "Rd", "(ms)" is "Av Rd(ms)"."""
    words = zip(*(cut(line, spans) for line in lines), strict=True)
    return [" ".join(word for word in each if word).replace(" (", "(") for each in words]
