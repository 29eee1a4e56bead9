"""The process that draws: a specification in each line that comes in, for each the length of its SVG and the SVG.

It is run as a file, with the version of Vega-Lite as its argument, and imports nothing of iocast: it is wanted soon.
"""

from __future__ import annotations

import sys

# So small that it costs nothing, and after it the engine is warm.
NOTHING = '{"mark": "point", "data": {"values": [{}]}}'


def main(version: str) -> None:
    """Draws until nothing comes in any more."""
    import vl_convert

    vl_convert.vegalite_to_svg(NOTHING, vl_version=version)
    for line in sys.stdin.buffer:
        svg = vl_convert.vegalite_to_svg(line.decode(), vl_version=version).encode()
        sys.stdout.buffer.write(b"%d\n%b" % (len(svg), svg))
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(sys.argv[1])
