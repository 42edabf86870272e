"""Why there is no answer: exceptions with the words of the command line."""

from __future__ import annotations


class ParallaxError(Exception):
    """Why there is no answer.

    ``message`` says what is wrong and where; ``hint`` says what to do, where that is known.
    """

    message: str
    hint: str | None

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\nhint: {self.hint}"


class MisuseError(ParallaxError, ValueError):
    """The question is wrong: an expression, an unresolved name, a field."""


class OpenError(ParallaxError, OSError):
    """A path holds nothing that can be opened."""


class ReadError(ParallaxError, OSError):
    """What is open cannot be read, or cannot answer this question."""


class CancelledError(ParallaxError):
    """The question was withdrawn."""


class ForkError(ParallaxError, RuntimeError):
    """This process was forked from one that had used Parallax."""


class DeviceError(ParallaxError, RuntimeError):
    """A device cannot be used, or has no room."""


class DefectError(ParallaxError, RuntimeError):
    """Parallax itself is wrong."""


class MissingLibraryError(ParallaxError, ImportError):
    """A library that is needed for a conversion is not installed."""


class ParallaxWarning(UserWarning):
    """Something was not opened, or not used."""


_KINDS: dict[str, type[ParallaxError]] = {
    "misuse": MisuseError,
    "open": OpenError,
    "read": ReadError,
    "unknown_item": ReadError,
    "cancelled": CancelledError,
    "device": DeviceError,
    "process": ForkError,
}


def failure(kind: str, message: str, hint: str | None) -> ParallaxError:
    """The exception for what the engine says."""
    # The command line has the hint on a line of its own.
    if hint is None and "\nhint: " in message:
        message, hint = message.split("\nhint: ", 1)
    return _KINDS.get(kind, DefectError)(message, hint)
