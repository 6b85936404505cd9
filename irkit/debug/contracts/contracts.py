"""(keep the docstring of contracts.py)"""

from collections.abc import Iterable, Sequence
from typing import Any

from irkit.core import IRKitError
from irkit.debug.contracts.breach import Breach
from irkit.debug.contracts.hash_seeds import hash_seed_differences
from irkit.debug.contracts.levels import functions_of, level_of
from irkit.debug.contracts.trial import ContractTrial
from irkit.transform import IR, AnyPass


def contracts(
    p: AnyPass,
    programs: Iterable[IR],
    *,
    hash_seeds: Sequence[int] = (1, 2),
    fires: int = 1,
    samples: int = 3,
    idempotent: bool | None = None,
) -> tuple[Breach, ...]:
    """Try a pass on programs, and list the promises it breaks.

    Each pass: leaves what verifies, with the facts that it gives, and the same signature; gives the
    same numbers; gives the same again, in another process under each of ``hash_seeds`` too; gives
    back the very same object if and only if nothing changed; keeps spans; does not touch its input;
    does nothing with all its rewrites switched off; changes at least ``fires`` programs; and does
    nothing the second time, if it says so or ``idempotent`` does. Programs that lack what the pass
    needs are passed over. Raises: IRKitError if none is left, or the pass cannot be found by
    another
    process (``hash_seeds=()`` does without).
    """
    usable = [(at, ir) for at, ir in enumerate(programs) if _is_for(p, ir)]
    if not usable:
        raise IRKitError(f"no program has what pass {p.name!r} needs, so that nothing was tried")
    found: list[Breach] = []
    fired = 0
    claimed = p.idempotent if idempotent is None else idempotent
    for at, ir in usable:
        trial = ContractTrial(p, at, ir, samples, claimed)
        found += trial.breaches()
        fired += trial.after is not ir
    if fired < fires:
        message = f"it changed {fired} of {len(usable)} programs, expected at least {fires}"
        found.append(Breach("fires", str(p), -1, message))
    kept = [ir for _, ir in usable]
    found += [
        Breach("deterministic", str(p), usable[at][0], f"another result with hash seed {seed}")
        for seed in hash_seeds
        for at in hash_seed_differences([(p, kept)], seed)[0]
    ]
    return tuple(found)


def assert_contracts(p: AnyPass, programs: Iterable[IR], **how: Any) -> None:
    """Fail a test with every promise that a pass breaks on programs; the options are those of
    :func:`contracts`."""
    found = contracts(p, programs, **how)
    assert not found, "\n".join(map(str, found))


def _is_for(p: AnyPass, ir: IR) -> bool:
    if not isinstance(ir, p.level):
        return False
    functions = functions_of(ir)
    return not any(
        fact.problems(func)
        for fact in p.needs
        for func in functions
        if level_of(func).name == fact.level
    )
