"""The errors that iocast raises: a message that says what and where, and a hint that says the way out."""

from __future__ import annotations


class IocastError(Exception):
    """Anything iocast refuses or cannot do. `hint` is the next step for the person who reads it."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class SpecError(IocastError):
    """What was asked for cannot be understood: a job file, a unit, an option."""


class TargetError(IocastError):
    """The target cannot be tested as asked: missing, too small, not permitted, would be destroyed."""


class LoadError(IocastError):
    """The load engine could not start or had to give up."""


class ArchiveError(IocastError):
    """A run folder cannot be written or read."""


class AnalysisError(IocastError):
    """These runs cannot answer what was asked of them."""


class SourceError(IocastError):
    """A file of another tool cannot be read, or says what cannot be: the message starts with file and line."""


class DrawingError(IocastError):
    """A chart cannot be drawn here."""


class BlindError(IocastError):
    """An observer cannot see, or can see no longer; the message says why. It never stops the load."""

    @property
    def why(self) -> str:
        """The reason, in words that fit after "blind:"."""
        return self.message


class DatabaseError(BlindError):
    """A database cannot be reached, or does not let itself be watched."""
