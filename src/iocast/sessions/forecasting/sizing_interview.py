"""The interview before a sizing: the questions of a good storage administrator (Kolk); capacity alone is refused."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from iocast import units
from iocast.errors import SpecError
from iocast.sessions.forecasting.sizing_need import limit_of
from iocast.sessions.requests.size import SizeRequest

MOST_TRIES = 3


class Question(Struct, frozen=True):
    """One question. `usual` is what Enter answers; "" where only an answer will do, "-" where none is one."""

    name: str
    text: str
    usual: str
    check: Callable[[str], object]


def _number(text: str) -> float:
    """A number above 0, with k or M. Raises SpecError."""
    from iocast.sessions.forecasting.model_inputs import rate

    return rate("answer", text)


def _count(text: str) -> int:
    from iocast.sessions.forecasting.model_inputs import whole

    return whole("answer", text)


QUESTIONS = (
    Question(
        "iops", "How many IOPS does the database do at peak (reads and writes a second)? - if unknown", "-", _number
    ),
    Question("mbps", "How many MB/s do scans, loads and backups move at peak? - for none", "-", _number),
    Question(
        "transaction",
        "What is the longest response time of the most critical transaction (e.g. 200ms)? - if unknown",
        "-",
        units.parse_duration,
    ),
    Question("ios", "How many I/Os does that transaction wait for, one after another?", "", _count),
    Question("slo", "What response time must one I/O have (5ms is p99; mean=5ms)? - for none", "-", limit_of),
    Question("read", "What share of the I/Os are reads?", "70%", units.parse_percent),
    Question("size", "How large is one I/O?", "8k", units.parse_size),
    Question("capacity", "How much data must it hold (e.g. 2TB)?", "", units.parse_size),
)


class Interview:
    """Asks what a request lacks. Each answer is checked; three wrong ones end it."""

    def __init__(self, request: SizeRequest) -> None:
        self._request = request
        self._left = list(QUESTIONS)
        self._said: dict[str, str] = {}
        self._wrong = 0

    def question(self) -> Question | None:
        """The next question; None when all is known. Raises SpecError where capacity is all there is."""
        while self._left and not self._asks(self._left[0]):
            self._left.pop(0)
        asks_load = bool(self._left) and self._left[0].name in ("iops", "mbps")
        if not asks_load and not self._load():
            raise SpecError(
                "capacity alone does not size storage, and neither IOPS nor MB/s are known",
                "measure the database at its peak: iostat -x, AWR 'physical read/write total IO requests', pg_stat_io",
            )
        return self._left[0] if self._left else None

    def answer(self, text: str) -> str:
        """Takes an answer; what was wrong with it, "" when it is taken. Raises SpecError after several wrong ones."""
        question = self._left[0]
        text = text.strip()
        if text == "-" and question.usual == "-":
            self._left.pop(0)
            return ""
        try:
            question.check(text)
        except SpecError as error:
            self._wrong += 1
            if self._wrong >= MOST_TRIES:
                raise
            return f"{error.message}; {error.hint}"
        self._wrong = 0
        self._said[question.name] = text
        self._left.pop(0)
        return self._derived() if question.name == "ios" else ""

    def request(self) -> SizeRequest:
        """The request with all answers."""
        said = self._said
        numbers = {name: _number(said[name]) for name in ("iops", "mbps") if name in said}
        texts = {name: said[name] for name in ("read", "size", "capacity", "slo") if name in said}
        return replace(self._request, **numbers, **texts)

    def _asks(self, question: Question) -> bool:
        if question.name in ("iops", "mbps", "capacity", "read", "size", "slo") and getattr(
            self._request, question.name
        ):
            return False
        about_ios = question.name in ("transaction", "ios", "slo", "read", "size")
        if about_ios and not (self._request.iops or "iops" in self._said):
            return False
        if question.name in ("transaction", "ios") and self._request.slo:
            return False
        return question.name != "ios" or "transaction" in self._said

    def _load(self) -> bool:
        return bool(self._request.iops or self._request.mbps or {"iops", "mbps"} & self._said.keys())

    def _derived(self) -> str:
        """What the transaction leaves for one I/O, offered as the answer to the next question."""
        each_ns = units.parse_duration(self._said["transaction"]) / _count(self._said["ios"])
        usual = f"mean={each_ns / 1e6:.3f}ms"
        for at, question in enumerate(self._left):
            if question.name == "slo":
                self._left[at] = replace(question, usual=usual)
        return f"That leaves {each_ns / 1e6:.3g} ms for each I/O on average, if nothing else takes time."
