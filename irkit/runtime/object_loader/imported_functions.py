"""Functions of shared libraries that the kernels of a model call."""

import ctypes
from collections.abc import Iterable

from irkit.codegen import ImportedFunction
from irkit.core import IRKitError


def imported(functions: Iterable[ImportedFunction]) -> dict[str, int]:
    """Load the libraries of functions, and return the address of each by name.

    Libraries stay loaded. Raises: IRKitError if a library is missing, or lacks the function.
    """
    found: dict[str, int] = {}
    for each in functions:
        try:
            library = ctypes.CDLL(each.library)
        except OSError as error:
            raise IRKitError(
                f"the model calls {each.symbol!r} of the library {each.library!r}, which cannot be "
                f"loaded: {error}",
                hint="Install the library, or compile the model without the backend.",
            ) from None
        try:
            function = library[each.symbol]
        except AttributeError:
            raise IRKitError(
                f"the library {each.library!r} has no function {each.symbol!r}"
            ) from None
        found[each.symbol] = ctypes.cast(function, ctypes.c_void_p).value or 0
    return found
