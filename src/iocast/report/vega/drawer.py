"""The process that draws: a specification in each line that comes in, for each the length of its SVG and the SVG.

It is run as a file, with the version of Vega-Lite as its argument, and imports nothing of iocast: it is wanted soon.
"""

from __future__ import annotations

import os
import sys

# A little of all that charts are made of: after it the engine is warm. A drawer does this while its work is computed.
EVERYTHING = """{"data": {"values": [{"x": 1, "y": 2}, {"x": 9, "y": 5}]}, "encoding":
{"x": {"field": "x", "type": "quantitative", "scale": {"type": "log"}}, "y": {"field": "y", "type": "quantitative"}},
"layer": [{"mark": "area"}, {"mark": "line"}, {"mark": "bar"}, {"mark": "rule"}, {"mark": "point"},
{"mark": "text", "encoding": {"text": {"field": "y", "format": ".2s"}, "color": {"field": "x", "type": "nominal"}}}]}"""


def main(version: str) -> None:
    """Draws until nothing comes in any more."""
    import vl_convert

    vl_convert.vegalite_to_svg(EVERYTHING, vl_version=version)
    with os.fdopen(0, "rb") as specifications, os.fdopen(1, "wb") as drawings:
        for line in specifications:
            svg = vl_convert.vegalite_to_svg(line.decode(), vl_version=version).encode()
            drawings.write(b"%d\n%b" % (len(svg), svg))
            drawings.flush()


if __name__ == "__main__":
    main(sys.argv[1])
