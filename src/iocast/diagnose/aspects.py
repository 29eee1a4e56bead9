"""What the letters of a card are for, as it stands in a sentence."""

from __future__ import annotations

from iocast.model.codes import AspectCode

ASPECTS: dict[AspectCode, str] = {
    "random_read": "random read",
    "commit": "commit",
    "scan": "scan",
    "scaling": "scaling",
    "write_interference": "write interference",
    "service_level": "service level",
    "random_read_8k": "random read 8K",
    "sequential_read_1m": "sequential read 1M",
    "write_1k": "write 1K",
    "write_128k": "write 128K",
}
