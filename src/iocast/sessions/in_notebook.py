"""What a notebook shows of a result: the page of its report, in a frame of its own."""

from __future__ import annotations

import html
from io import StringIO

from iocast.model.report import Report

_STYLE = "width:100%;height:80vh;border:0"


class InNotebook:
    """A result that has a report: a cell of Jupyter that ends with one shows its page, charts and all."""

    __slots__ = ()

    def report(self, *, charts: bool = False) -> Report:
        """The result as sections and tables, with charts if asked for."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        """The page in a frame: its style and its script stay inside, and the notebook's outside."""
        from iocast.report.renderers import RENDERERS

        report, page = self.report(charts=True), StringIO()
        RENDERERS["html"].render(report, page, colour=False, width=0)
        title, document = html.escape(report.title), html.escape(page.getvalue())
        return f'<iframe title="{title}" style="{_STYLE}" srcdoc="{document}"></iframe>'
