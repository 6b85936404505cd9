"""Errors that a user can cause: one sentence for what was wrong and where, one for the remedy."""

from collections.abc import Callable
from functools import partial
from typing import Any

from irkit.core.span import Span

_MAX_CHARACTERS = 1 << 13
"""The longest message in characters: it may quote an untrusted file at any length."""


class IRKitError(Exception):
    """Base class of errors that the user can fix.

    ``message`` states what was wrong, what was expected and what was found; ``hint`` is the remedy;
    ``span`` is the place.
    """

    def __init__(self, message: str, *, hint: str = "", span: Span | None = None) -> None:
        self.message = message = _shortened(message)
        self.hint = hint = _shortened(hint)
        self.span = span
        super().__init__(message, hint, span)

    def __reduce__(self) -> tuple[Any, ...]:
        # Errors come back from worker processes, and constructors of subclasses differ.
        return _restored, (type(self), self.args, self.picklable_state())

    def picklable_state(self) -> dict[str, Any]:
        """Return the attributes to send to another process; IR is left behind."""
        return dict(self.__dict__)

    def __str__(self) -> str:
        where = f"{self.span}: " if self.span is not None and not self._names_place() else ""
        remedy = f"\n  {self.hint}" if self.hint else ""
        return f"{where}{self.message}{remedy}"

    def _names_place(self) -> bool:
        """Return True if the message itself names the place, as one about an ONNX node does."""
        place = self.span
        return place is not None and place.kind == "onnx" and f"node {place.name!r}" in self.message


def _shortened(text: str) -> str:
    """Cut the middle out of a very long text."""
    if len(text) <= _MAX_CHARACTERS:
        return text
    half = _MAX_CHARACTERS // 2
    left_out = len(text) - 2 * half
    return f"{text[:half]} ... ({left_out} characters left out) ... {text[-half:]}"


def _restored(cls: type[IRKitError], args: tuple[Any, ...], state: dict[str, Any]) -> IRKitError:
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class DTypeError(IRKitError, TypeError):
    """Operands whose types cannot be combined."""


class ShapeError(IRKitError, ValueError):
    """Tensors whose shapes cannot be combined."""


class InputError(IRKitError, ValueError):
    """A missing or unknown input of a model."""


class ParseError(IRKitError):
    """Malformed IR text; the span has file, line and column."""


class OptionError(IRKitError, TypeError):
    """A pass option that does not exist or has the wrong type."""


class ScheduleError(IRKitError):
    """A schedule primitive that would change the result, or cannot be proved to preserve it.

    ``at`` is the statement concerned; ``listing`` prints the program with that line marked.
    """

    def __init__(
        self, message: str, *, hint: str = "", span: Span | None = None, at: object = None
    ) -> None:
        super().__init__(message, hint=hint, span=span or getattr(at, "span", None))
        self.at = at
        self.listing: Callable[[], str] | None = None

    def picklable_state(self) -> dict[str, Any]:
        text = self.listing() if self.listing is not None else ""
        return {**self.__dict__, "at": None, "listing": partial(str, text) if text else None}

    def __str__(self) -> str:
        text = self.listing() if self.listing is not None else ""
        return super().__str__() + (f"\n{text.rstrip()}" if text else "")


class FormatError(IRKitError):
    """A file (trace, package, model) that is damaged, too new, or not of the expected format."""
