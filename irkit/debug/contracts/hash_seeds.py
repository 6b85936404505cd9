"""Passes run again in a process with another hash seed."""

import hashlib
from collections.abc import Sequence

from irkit.core import IRKitError, IRModule, Recorder
from irkit.graph import parse_module
from irkit.processes import Child, ChildDied
from irkit.transform import IR, AnyPass, apply_pass

# A pass, and programs as pairs: whether it is a module, and its text.
_Job = tuple[AnyPass, list[tuple[bool, str]]]


def hash_seed_differences(
    jobs: Sequence[tuple[AnyPass, Sequence[IR]]], seed: int
) -> list[list[int]]:
    """Run passes in a process with another hash seed; list the programs whose results differ.

    There is one list of program numbers for each pass. Programs are sent as text. Raises:
    IRKitError if the process cannot import a pass.
    """
    made = [(p, [(isinstance(ir, IRModule), ir.script()) for ir in irs]) for p, irs in jobs]
    here = outcomes(made)
    with Child(env={"PYTHONHASHSEED": str(seed)}) as child:
        try:
            there = child.call(outcomes, made)
        except ChildDied as error:
            raise _cannot_run(f"a pass {error.message}") from None
        except IRKitError:
            raise
        except (Exception, SystemExit) as error:  # Whatever a pass, or its module, raises there.
            raise _cannot_run(f"{type(error).__name__}: {error}") from None
    return [
        [at for at, pair in enumerate(zip(*both, strict=True)) if pair[0] != pair[1]]
        for both in zip(here, there, strict=True)
    ]


def _cannot_run(why: str) -> IRKitError:
    return IRKitError(f"passes cannot be run in another process: {why}")


def outcomes(jobs: list[_Job]) -> list[list[str]]:
    """Return, for each pass, a digest of its result on each text."""
    return [[_outcome(p, whole, text) for whole, text in texts] for p, texts in jobs]


def _outcome(p: AnyPass, whole: bool, text: str) -> str:
    try:
        module = parse_module(text)
    except IRKitError:
        return "unreadable"  # The text leaves out large constants.
    given = module if whole else next(iter(module.functions.values()))
    made = apply_pass(p, given, Recorder()).script()
    return hashlib.sha256(made.encode()).hexdigest()
