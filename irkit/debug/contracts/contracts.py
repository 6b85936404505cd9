"""Contracts that every pass must keep, whoever wrote it, tried on programs.

A breach names the contract, the program and the difference.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from irkit.core import IRKitError
from irkit.debug.contracts.breach import Breach
from irkit.debug.contracts.hash_seeds import hash_seed_differences
from irkit.debug.contracts.levels import level_of
from irkit.debug.contracts.trial import ContractTrial
from irkit.transform import IR, AnyPass, functions_of


def contracts(
    p: AnyPass,
    programs: Iterable[IR],
    *,
    hash_seeds: Sequence[int] = (1, 2),
    fires: int = 1,
    samples: int = 3,
    idempotent: bool | None = None,
) -> tuple[Breach, ...]:
    """Try a pass on programs and return the contracts it breaks.

    A pass keeps the signature and the results of a program; its result verifies and has the facts
    it gives. The same input gives the same result, also in another process under each of
    ``hash_seeds``. The input is not modified, and is returned itself if and only if nothing
    changed. Spans are kept. With all its rewrites switched off, the pass does nothing. It changes
    at least ``fires`` programs. A pass that claims to be idempotent, or for which ``idempotent`` is
    set, does nothing the second time. Programs without the facts that the pass needs are skipped.

    Raises: IRKitError if no program is left, or another process cannot import the pass (use
    ``hash_seeds=()``).
    """
    usable = [(at, ir) for at, ir in enumerate(programs) if _is_usable(p, ir)]
    if not usable:
        raise IRKitError(f"no program has the facts that pass {p.name!r} needs: nothing was tried")
    found: list[Breach] = []
    changed = 0
    claimed = p.idempotent if idempotent is None else idempotent
    for at, ir in usable:
        trial = ContractTrial(p, at, ir, samples, claimed)
        found += trial.breaches()
        changed += trial.after is not ir
    if changed < fires:
        message = f"it changed {changed} of {len(usable)} programs, expected at least {fires}"
        found.append(Breach("fires", str(p), -1, message))
    kept = [ir for _, ir in usable]
    found += [
        Breach("deterministic", str(p), usable[at][0], f"hash seed {seed} gives another result")
        for seed in hash_seeds
        for at in hash_seed_differences([(p, kept)], seed)[0]
    ]
    return tuple(found)


def assert_contracts(p: AnyPass, programs: Iterable[IR], **how: Any) -> None:
    """Fail a test with every contract that a pass breaks.

    The options are those of :func:`contracts`.
    """
    found = contracts(p, programs, **how)
    assert not found, "\n".join(map(str, found))


def _is_usable(p: AnyPass, ir: IR) -> bool:
    if not isinstance(ir, p.level):
        return False
    functions = functions_of(ir)
    return not any(
        fact.problems(func)
        for fact in p.needs
        for func in functions
        if level_of(func).name == fact.level
    )
