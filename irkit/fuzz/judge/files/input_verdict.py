"""The verdict on one malformed file."""

import re
import time
from collections.abc import Callable
from typing import Literal

import msgspec

from irkit.core import IRKitError

FileStatus = Literal["refused", "accepted", "agrees", "excluded", "wrong"]

SECONDS = 1.0
"""Limit of processor time until an error."""


class InputVerdict(msgspec.Struct, frozen=True):
    """What became of a file: it was refused with an error, or accepted; its numbers agree with the
    reference, or could not be compared, for the reason in ``what``; or it is ``wrong``, a bug.

    Units: ``seconds`` of processor time.
    """

    status: FileStatus
    what: str
    message: str = ""
    seconds: float = 0.0


def verdict_of(work: Callable[[], InputVerdict], places: re.Pattern[str]) -> InputVerdict:
    """Run a check: an IRKitError in time refuses the file, any other exception is a bug.

    ``places`` finds the location in a message without a span.
    """
    verdict = _timed(work, places)
    if verdict.status == "refused" and verdict.seconds > SECONDS:
        again = _timed(work, places)  # Loading on the way, and other work, take time too.
        verdict = min(verdict, again, key=lambda each: each.seconds)
    if verdict.status == "refused" and verdict.seconds > SECONDS:
        return msgspec.structs.replace(verdict, status="wrong", what="slow error")
    return verdict


def _timed(work: Callable[[], InputVerdict], places: re.Pattern[str]) -> InputVerdict:
    begin = time.process_time()
    try:
        verdict = work()
    except IRKitError as error:
        verdict = refusal(error, places)
    except Exception as error:  # Any other exception is what is being looked for.
        verdict = InputVerdict("wrong", type(error).__name__, where(error))
    return msgspec.structs.replace(verdict, seconds=time.process_time() - begin)


def refusal(error: IRKitError, places: re.Pattern[str]) -> InputVerdict:
    """Check that an error has a location, and is not as long as its input."""
    text = str(error)
    if len(text) > 20_000:
        return InputVerdict("wrong", "endless message", f"{type(error).__name__}: {text[:200]}")
    if error.span is None and places.search(text) is None:
        return InputVerdict("wrong", "error without a place", text[:500])
    return InputVerdict("refused", type(error).__name__, text[:500])


def where(error: BaseException) -> str:
    """Return what was raised, and in which line."""
    at = error.__traceback__
    place = ""
    while at is not None:
        place = f"{at.tb_frame.f_code.co_filename}:{at.tb_lineno}"
        at = at.tb_next
    return f"{str(error)[:500]} ({place})"
