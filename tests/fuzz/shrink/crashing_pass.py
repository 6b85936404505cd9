"""A pass that kills its process."""

import os
import signal

from irkit.ir import PrimFunc
from irkit.transform import define_pass


@define_pass
def crash(func: PrimFunc) -> PrimFunc:
    """End the process."""
    os.kill(os.getpid(), signal.SIGSEGV)
    return func
