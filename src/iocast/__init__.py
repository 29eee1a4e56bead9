"""iocast: I/O performance testing, diagnosis and forecasting of database storage."""

from __future__ import annotations

__version__ = "0.1.0"
