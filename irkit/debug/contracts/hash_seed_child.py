"""A process that runs passes under another hash seed: passes and texts in, digests out."""

import hashlib
import pickle
import sys

from irkit.core import IRKitError, Recorder
from irkit.graph import parse_module
from irkit.transform import AnyPass, apply_pass

# A pass, and programs as pairs: whether it is a module, and its text.
Job = tuple[AnyPass, list[tuple[bool, str]]]


def outcomes(job: Job) -> list[str]:
    """Return a digest of the result of a pass on each text."""
    p, texts = job
    return [_outcome(p, whole, text) for whole, text in texts]


def _outcome(p: AnyPass, whole: bool, text: str) -> str:
    try:
        module = parse_module(text)
    except IRKitError:
        return "unreadable"  # The text leaves out large constants.
    given = module if whole else next(iter(module.functions.values()))
    made = apply_pass(p, given, Recorder()).script()
    return hashlib.sha256(made.encode()).hexdigest()


if __name__ == "__main__":
    jobs: list[Job] = pickle.load(sys.stdin.buffer)
    sys.stdout.buffer.write(pickle.dumps([outcomes(job) for job in jobs]))
