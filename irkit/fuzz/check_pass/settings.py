"""The settings of `check_pass`: where the pass goes, which programs, and what is checked."""

from collections.abc import Sequence
from typing import Any

import msgspec
from hypothesis import strategies as st


class PassCheckSettings(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """Settings of a check of a pass.

    The pass goes to the end of ``phase``, or ``before`` or ``after`` another; ``graph`` selects the
    pipeline for graphs, for a pass that both have. Programs are of ``kinds``, or what a Hypothesis
    ``strategy`` draws (functions, modules, samples, or IR text). Checked are, on the program as it
    reaches the pass, the contracts of :func:`irkit.debug.contracts` except those named in
    ``without`` (``idempotent=False`` for a pass that is not), and the numbers of the whole
    lowering, on ``samples`` sets of inputs. The test fails too if the pass changed fewer than
    ``fires`` of the programs, or if fewer than 90 % of them could be tried. ``native`` runs each in
    a process of its own first, and as native code too, as profile ``long`` does. ``seed`` draws the
    same programs in every run; ``hash_seeds`` are those of processes that must get the same
    results.
    """

    phase: int | None = None
    before: str = ""
    after: str = ""
    graph: bool | None = None
    examples: int = 100
    kinds: Sequence[str] = ()
    strategy: st.SearchStrategy[Any] | None = None
    idempotent: bool = True
    without: Sequence[str] = ()
    fires: float = 0.1
    samples: int = 2
    native: bool = False
    seed: int | None = None
    hash_seeds: Sequence[int] = (1,)
