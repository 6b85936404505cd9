"""The process that runs passes under another hash seed: passes and texts in, digests out."""

import hashlib
import pickle
import sys

from irkit.core import IRKitError, Recorder
from irkit.graph import parse_module
from irkit.transform import AnyPass, apply_pass

# A pass, and programs as text, each with whether it is a module.
Job = tuple[AnyPass, list[tuple[bool, str]]]


def outcomes(job: Job) -> list[str]:
    """Give a digest of what the pass makes of each text."""
    p, texts = job
    return [_outcome(p, whole, text) for whole, text in texts]


def _outcome(p: AnyPass, whole: bool, text: str) -> str:
    try:
        module = parse_module(text)
    except IRKitError:
        return "unreadable"  # Large constants are not in the text.
    given = module if whole else next(iter(module.functions.values()))
    made = apply_pass(p, given, Recorder()).script()
    return hashlib.sha256(made.encode()).hexdigest()


if __name__ == "__main__":
    jobs: list[Job] = pickle.load(sys.stdin.buffer)
    sys.stdout.buffer.write(pickle.dumps([outcomes(job) for job in jobs]))
