"""The solver z3, which the extra ``prove`` installs; it is loaded when the first proof needs it."""

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from irkit.core import IRKitError


def has_z3() -> bool:
    """Return True if z3 is installed."""
    return find_spec("z3") is not None


@cache
def z3_module() -> Any:
    """Return the module ``z3``.

    Raises: IRKitError if it is not installed.
    """
    try:
        return import_module("z3")
    except ImportError as error:
        raise IRKitError(
            "proofs need z3, which is not installed",
            hint="Install it with: pip install 'irkit[prove]'",
        ) from error
