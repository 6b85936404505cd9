"""Versions of irkit, its dependencies and the machine."""

import platform
import sys
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version

_OTHERS = ("numpy", "llvmlite", "msgspec", "onnx", "ml_dtypes")


def versions() -> dict[str, str]:
    """List the versions of irkit, of what it stands on, and of the machine."""
    # By its module: the face of irkit stands above this folder, and may not be imported here.
    own = str(getattr(sys.modules["irkit"], "__version__", ""))
    found = {"irkit": own, "python": platform.python_version()}
    for name in _OTHERS:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    found["platform"] = platform.platform()
    found["machine"] = platform.machine()
    return found
