"""Digest of the IR that a pass is given, which it must not change in place.

Nodes are frozen, but ``msgspec.structs.force_setattr`` changes them all the same. The pass then
returns its input, which counts as unchanged, and what other code knows of the node no longer holds.
"""

import hashlib

from irkit.core import Recorder, structural_hash
from irkit.transform import IR, Apply, Attempt, PassHalted

CHANGED = "it changed its input in place; return a new function instead"


def input_digest(ir: IR) -> str:
    """Return a digest of the structure of a function or module and of the names in it.

    What can no longer be read has a digest of its own.
    """
    try:
        return hashlib.sha256(f"{structural_hash(ir)}{ir.script()}".encode()).hexdigest()
    except Exception as error:  # A pass can put anything into a field.
        return f"{type(error).__name__}: {error}"


def with_untouched_input(apply: Apply) -> Apply:
    """Return a way to run passes that fails if the input of one is another afterwards."""

    def checked(attempt: Attempt, recorder: Recorder) -> object:
        known = input_digest(attempt.before)
        after = apply(attempt, recorder)
        if input_digest(attempt.before) != known:
            raise PassHalted("input", CHANGED)
        return after

    return checked
