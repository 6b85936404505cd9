"""Versions of irkit, its dependencies and the machine."""

import platform
import sys
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version

_DEPENDENCIES = ("numpy", "llvmlite", "msgspec", "onnx", "ml_dtypes")


def versions() -> dict[str, str]:
    """Return the versions of irkit, of its dependencies and of the platform."""
    # Through sys.modules: this layer must not import the top-level package.
    own = str(getattr(sys.modules["irkit"], "__version__", ""))
    found = {"irkit": own, "python": platform.python_version()}
    for name in _DEPENDENCIES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    found["platform"] = platform.platform()
    found["machine"] = platform.machine()
    return found
