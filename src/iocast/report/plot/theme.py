"""Themes: which colour each role in a chart has, on light and dark pages, on paper, and as in fio.r."""

from __future__ import annotations

from msgspec import Struct

# fio.r's sixteen bucket colours, from the fastest to the slowest.
CLASSIC_BUCKETS = (
    "#00007F", "#0000BB", "#0000F7", "#00ACFF", "#00E8FF", "#25FFD9", "#61FF9D", "#9DFF61",
    "#FFE800", "#FFAC00", "#FF7000", "#FF3400", "#F70000", "#BB0000", "#7F0000", "#4F0000",
)  # fmt: skip
# The same from blue over sand to dark red, told apart by people who do not see red and green, too.
CLEAR_BUCKETS = (
    "#13386b", "#1d4f91", "#2a69b5", "#4585cb", "#6ba1da", "#93bce6", "#bcd6ef", "#e0e6e8",
    "#f6e6c4", "#fbd08f", "#f8b25f", "#ef8e3f", "#de6a2c", "#c34a20", "#9c3219", "#6f2113",
)  # fmt: skip
CLEAR_BUCKETS_DARK = (
    "#2b5c9e", "#3671bd", "#4886d2", "#629de0", "#82b4ea", "#a3caf1", "#c4ddf5", "#dfe7ea",
    "#f3e3bf", "#f8cd8c", "#f6b061", "#ee8f45", "#e07238", "#cc5733", "#b5423a", "#a0353f",
)  # fmt: skip
# Loads from light to heavy.
RAMP = ("#9cc5ea", "#5b9bd5", "#2f6fb7", "#1f4e8c", "#13305c", "#0a1c3a")
RAMP_DARK = ("#35598a", "#4779b8", "#619bdd", "#8abbf0", "#b5d6fa", "#e0effd")


class Theme(Struct, frozen=True):
    """Colours by role. A colour is anything that SVG takes, on a page a variable of its style sheet."""

    ink: str
    muted: str
    line: str
    ground: str  # behind the chart
    accent: str  # the median
    tail: str  # p99
    peak: str  # the maximum
    warn: str  # a limit, a change
    shade: str  # between percentiles
    fast: str  # bands of response time
    middling: str
    slow: str
    faster: str
    slower: str
    lost: str
    buckets: tuple[str, ...]
    ramp: tuple[str, ...]

    def tone(self, at: int, of: int) -> str:
        """The colour of one of several loads: from light to dark with the load; of a single one the accent."""
        if of == 1:
            return self.accent
        usable = self.ramp[1:] if of < len(self.ramp) else self.ramp
        return usable[round(at * (len(usable) - 1) / (of - 1))]


LIGHT = Theme(
    ink="#1b2430",
    muted="#5c6876",
    line="#e2e7ed",
    ground="#ffffff",
    accent="#1f66b0",
    tail="#c2570c",
    peak="#b3261e",
    warn="#b45f06",
    shade="#8793a1",
    fast="#5b9bd5",
    middling="#bcd6ef",
    slow="#f0a04b",
    faster="#2a69b5",
    slower="#eba294",
    lost="#9c2718",
    buckets=CLEAR_BUCKETS,
    ramp=RAMP,
)
DARK = Theme(
    ink="#e6ebf1",
    muted="#9aa7b5",
    line="#2c3642",
    ground="#171d25",
    accent="#62a5ec",
    tail="#f0944a",
    peak="#f0786e",
    warn="#e2a03f",
    shade="#8b99a8",
    fast="#619bdd",
    middling="#35506f",
    slow="#d9772c",
    faster="#5b9be0",
    slower="#b8685c",
    lost="#f0584a",
    buckets=CLEAR_BUCKETS_DARK,
    ramp=RAMP_DARK,
)
PRINT = LIGHT
CLASSIC = Theme(
    ink="#000000",
    muted="#333333",
    line="#dddddd",
    ground="#ffffff",
    accent="#000000",
    tail="#666666",
    peak="#cc0000",
    warn="#ff8c00",
    shade="#777777",
    fast="#C6D4F8",
    middling="#C9FACF",
    slow="#FFF6A0",
    faster="#4f6fd0",
    slower="#f0a0a0",
    lost="#8b0000",
    buckets=CLASSIC_BUCKETS,
    ramp=RAMP,
)


def _variables() -> Theme:
    fields: dict[str, str] = {
        name: f"var(--c-{name})" for name in Theme.__struct_fields__ if name not in ("buckets", "ramp")
    }
    return Theme(
        **fields,
        buckets=tuple(f"var(--c-b{at})" for at in range(len(CLEAR_BUCKETS))),
        ramp=tuple(f"var(--c-r{at})" for at in range(len(RAMP))),
    )


# On a page the colours are variables: it changes from light to dark without drawing anything again.
PAGE = _variables()
THEMES = {"light": LIGHT, "dark": DARK, "print": PRINT, "classic": CLASSIC}


def style_variables(theme: Theme) -> str:
    """The variables of `PAGE` with the colours of a theme, as CSS declarations."""
    plain = [(name, getattr(theme, name)) for name in Theme.__struct_fields__ if name not in ("buckets", "ramp")]
    many = [(f"b{at}", colour) for at, colour in enumerate(theme.buckets)]
    many += [(f"r{at}", colour) for at, colour in enumerate(theme.ramp)]
    return "".join(f"--c-{name}:{colour};" for name, colour in (*plain, *many))
