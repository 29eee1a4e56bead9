"""The process that draws: a specification in each line that comes in, for each the length of its SVG and the SVG.

It is run as a file, with the version of Vega-Lite as its argument, and imports nothing of iocast: it is wanted soon.
"""

from __future__ import annotations

import os
import sys

# So small that it costs nothing, and after it the engine is warm.
NOTHING = '{"mark": "point", "data": {"values": [{}]}}'


def main(version: str) -> None:
    """Draws until nothing comes in any more."""
    import vl_convert

    vl_convert.vegalite_to_svg(NOTHING, vl_version=version)
    with os.fdopen(0, "rb") as specifications, os.fdopen(1, "wb") as drawings:
        for line in specifications:
            svg = vl_convert.vegalite_to_svg(line.decode(), vl_version=version).encode()
            drawings.write(b"%d\n%b" % (len(svg), svg))
            drawings.flush()


if __name__ == "__main__":
    main(sys.argv[1])
