"""The settings of `check_pass`: where the pass goes, which programs, and what is checked."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from hypothesis import strategies as st

from irkit.fuzz.picks import Picks


class PassCheckSettings(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """Settings of a check of a pass.

    The pass goes to the end of ``phase``, or ``before`` or ``after`` another; ``graph`` selects the
    pipeline for graphs, for a pass that both have. Programs are of ``kinds``, or what a Hypothesis
    ``strategy`` draws, or what a function draws from ``Picks`` (functions, modules, samples, or IR
    text). Checked are, on the program as it reaches the pass, the contracts of
    :func:`irkit.debug.contracts` except those named in ``without`` (``idempotent`` True or False
    instead of what the pass claims), and the numbers of the whole lowering, on ``samples`` sets of
    inputs.

    ``examples`` programs are examined, at least half of them programs that the pass changes, as far
    as such are found: programs that it leaves alone cost little. The test fails if the pass changed
    fewer than ``fires`` (by default a tenth of the examples, at least one), or if fewer than 90 %
    of the programs could be tried. ``native`` runs each in a process of its own first, and as
    native code too, as profile ``long`` does. ``seed`` draws the same programs in every run;
    ``hash_seeds`` are those of processes that must get the same results.

    Units: ``seconds`` of processor time for the whole test, shrinking included. Drawing stops early
    when seven tenths of it are spent.
    """

    phase: int | None = None
    before: str = ""
    after: str = ""
    graph: bool | None = None
    examples: int = 100
    seconds: float = 10.0
    kinds: Sequence[str] = ()
    strategy: st.SearchStrategy[Any] | Callable[[Picks], object] | None = None
    idempotent: bool | None = None
    without: Sequence[str] = ()
    fires: int | None = None
    samples: int = 4
    native: bool = False
    seed: int | None = None
    hash_seeds: Sequence[int] = (1,)
