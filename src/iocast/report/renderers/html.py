"""Renders a report as one HTML page that needs nothing else: it opens from a file, prints, and works on a phone.

Charts are drawn beforehand (SVG) and take their colours from the page, so that light, dark and paper need no
script; a short script adds tips, sorting and a choice of colours.
"""

from __future__ import annotations

import re
from html import escape
from typing import TextIO

from iocast.model.codes import SectionCode
from iocast.model.report import Badge, Figure, Report, Section
from iocast.report.cells import cell_text
from iocast.report.renderers.page import policy, script, style
from iocast.report.renderers.page.page_tables import grade_html, table_html
from iocast.report.renderers.page.plots import charts_html, drawings

# A reader of the page wants results first; what was tested, and what to keep in mind, stand at the end.
LAST: tuple[SectionCode, ...] = ("target", "remarks")


def render(report: Report, out: TextIO, *, colour: bool = True, width: int = 0) -> None:
    """Writes the page. `colour` and `width` mean nothing here."""
    ordered = sorted(report.sections, key=lambda each: LAST.index(each.code) + 1 if each.code in LAST else 0)
    sections = [(_anchor(at, section), section) for at, section in enumerate(ordered)]
    out.write(
        '<!doctype html>\n<html lang="en" class="no-script"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy())}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(report.title)}</title>\n<style>{style()}</style></head>\n<body>"
        '<a class="skip" href="#main">To the results</a>\n<div class="wrap">'
    )
    out.write(_head(report, classic=any(chart.kind == "throughput" for chart in report.charts)))
    out.write(_contents(sections))
    out.write('<main id="main">\n')
    drawn = drawings(report.charts)
    for anchor, section in sections:
        out.write(_section(anchor, section, drawn))
    if report.next_steps:
        steps = "".join(f"<li>{escape(step)}</li>" for step in report.next_steps)
        out.write(f'<section id="next"><h2>Next</h2><ul class="steps">{steps}</ul></section>\n')
    out.write(
        "</main>\n<footer>Made by iocast. This page loads nothing and sends nothing.</footer></div>\n"
        '<div id="tip" role="tooltip" hidden></div><div id="spoken" class="sr" aria-live="polite"></div>\n'
        f"<script>{script()}</script></body></html>\n"
    )


def _head(report: Report, *, classic: bool) -> str:
    kind, _, title = report.title.partition(" · ")
    palette = '<button type="button" id="palette">Classic colours</button>' if classic else ""
    heads = "".join((*map(_badge, report.badges), *map(_figure, report.figures)))
    return (
        f'<header><div class="top"><div><p class="kind">{escape(kind)}</p><h1>{escape(title or kind)}</h1></div>'
        f'<div class="tools"><button type="button" id="theme">Dark</button>{palette}'
        '<button type="button" id="print">Print</button></div></div>\n'
        f'<p class="verdict">{escape(report.verdict)}</p>\n'
        + (f'<ul class="heads">{heads}</ul>' if heads else "")
        + "</header>\n"
    )


def _badge(badge: Badge) -> str:
    letter = badge.letter or "–"
    return (
        f'<li class="head badge">{grade_html(letter)}<span><span class="name">{escape(badge.title)}</span>'
        f'<span class="says">{escape(badge.says)}</span></span></li>'
    )


def _figure(figure: Figure) -> str:
    value, unit = _with_unit(figure)
    says = f'<span class="says">{escape(figure.says)}</span>' if figure.says else ""
    return (
        f'<li class="head"><span class="name">{escape(figure.title)}</span><span class="value">{escape(value)}'
        f'<span class="unit"> {escape(unit)}</span></span>{says}</li>'
    )


def _with_unit(figure: Figure) -> tuple[str, str]:
    shown = cell_text(figure.kind, figure.value)
    found = re.fullmatch(r"([\d.,]+)\s*([^\d.,]*)", shown)
    units = {"rate": "a second", "bytes_per_s": "MB/s"}
    value, unit = (found[1], found[2]) if found else (shown, "")
    if figure.kind in units:
        return shown, units[figure.kind]
    return value, unit


def _contents(sections: list[tuple[str, Section]]) -> str:
    if len(sections) < 2:
        return ""
    links = "".join(f'<li><a href="#{anchor}">{escape(section.title)}</a></li>' for anchor, section in sections)
    return f'<nav class="toc" aria-label="Contents"><ol>{links}</ol></nav>\n'


def _section(anchor: str, section: Section, drawn: dict[str, str]) -> str:
    parts = [f"<p>{escape(paragraph)}</p>" for paragraph in section.paragraphs]
    for table in section.tables:
        notes = "".join(f'<p class="hint">{escape(note)}</p>' for note in table.notes)
        title = table.title or section.title
        parts.append(f'<div class="card">{table_html(table, title, shown=bool(table.title))}{notes}</div>')
    if section.charts:
        parts.append(charts_html(section.charts, drawn))
    body = "\n".join(parts)
    head = f'<h2 id="{anchor}-h">{escape(section.title)}</h2>'
    return f'<section id="{anchor}" aria-labelledby="{anchor}-h">{head}\n{body}</section>\n'


def _anchor(at: int, section: Section) -> str:
    return f"s{at}-{section.code.replace('_', '-')}"
