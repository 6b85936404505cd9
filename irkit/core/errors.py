"""Errors a user can cause: one sentence of what and where, a second only for the remedy."""

from collections.abc import Callable
from functools import partial
from typing import Any

from irkit.core.span import Span

_LONGEST = 1 << 13
"""Characters of a message. What it quotes may come from a stranger's file, and be of any length."""


class IRKitError(Exception):
    """Report something the user can mend.

    ``message`` says what was wrong, what was expected and what was found; ``hint`` is the remedy;
    ``span`` says where.
    """

    def __init__(self, message: str, *, hint: str = "", span: Span | None = None) -> None:
        self.message = message = _shortened(message)
        self.hint = hint = _shortened(hint)
        self.span = span
        super().__init__(message, hint, span)

    def __reduce__(self) -> tuple[Any, ...]:
        # Errors come back from worker processes, and arguments of subclasses differ.
        return _restored, (type(self), self.args, self.picklable_state())

    def picklable_state(self) -> dict[str, Any]:
        """Return what goes along to another process; IR stays where it is."""
        return dict(self.__dict__)

    def __str__(self) -> str:
        where = f"{self.span}: " if self.span is not None else ""
        remedy = f"\n  {self.hint}" if self.hint else ""
        return f"{where}{self.message}{remedy}"


def _shortened(text: str) -> str:
    """Leave out the middle of a text that nobody would read to its end."""
    if len(text) <= _LONGEST:
        return text
    half = _LONGEST // 2
    left_out = len(text) - 2 * half
    return f"{text[:half]} ... ({left_out} characters left out) ... {text[-half:]}"


def _restored(cls: type[IRKitError], args: tuple[Any, ...], state: dict[str, Any]) -> IRKitError:
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class DTypeError(IRKitError, TypeError):
    """Operands whose types do not go together."""


class ShapeError(IRKitError, ValueError):
    """Tensors whose shapes do not go together."""


class InputError(IRKitError, ValueError):
    """An input that a model needs and was not given, or that it does not have."""


class ParseError(IRKitError):
    """IR text that is not well formed; the span carries file, line and column."""


class OptionError(IRKitError, TypeError):
    """A pass option that does not exist or has the wrong type."""


class ScheduleError(IRKitError):
    """A schedule primitive that would change the meaning, or cannot be proved to keep it.

    ``at`` is the statement that it is about; ``listing`` prints the program with that line marked.
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
    """A file (trace, package, model) that is damaged, too new, or not what it claims to be."""
