"""Contracts of passes: the built-in passes keep them, and each broken contract is found."""

import random
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
import pytest

from irkit.core import IRKitError, rewrite
from irkit.debug import assert_contracts, contracts, hash_seed_differences
from irkit.ir import BOOL, Add, Block, Const, For, If, PrimFunc, Seq, Store, no_blocks, parse
from irkit.passes import BUILTIN
from irkit.passes.loop import eliminate_common_subexpressions, simplify
from irkit.transform import IR, AnyPass, define_pass, load_pass
from tests.debug.programs import at_work, programs_for
from tests.draws import LONG, part_of, sampled

TRUE = Const(True, BOOL)
SCALE = """
def scale(A: f32[8], C: f32[8]):
    for i in serial(0, 8):
        C[i] = A[i] * f32(2.0)
    for i in serial(0, 8):
        C[i] = C[i] + f32(1.0)
"""


def broken(p: AnyPass, **how: Any) -> set[str]:
    how = {"hash_seeds": (), **how}
    return {breach.contract for breach in contracts(p, [parse(SCALE.strip())], **how)}


def telling(p: AnyPass, programs: list[IR]) -> list[IR]:
    """Return the programs, of which the short run has a few that a pass changes and one that it
    does not."""
    if LONG:
        return programs
    changed: list[IR] = []
    unchanged: list[IR] = []
    for each in programs:
        (unchanged if p(each) is each else changed).append(each)
    return [*changed[:: len(changed) // 4 + 1], *unchanged[:1]]


@pytest.mark.parametrize("p", sampled(BUILTIN, every=3), ids=lambda p: p.name)
def test_the_built_in_passes_keep_their_contracts(p: AnyPass) -> None:
    assert p.idempotent
    p = at_work(p)
    assert_contracts(p, telling(p, programs_for(p, 8)), hash_seeds=(), samples=2)


@pytest.mark.long
@pytest.mark.parametrize("p", BUILTIN, ids=lambda p: p.name)
def test_the_built_in_passes_keep_their_contracts_on_many_programs(p: AnyPass) -> None:
    assert_contracts(at_work(p), programs_for(p, 400), hash_seeds=())


@pytest.mark.long
def test_the_built_in_passes_give_the_same_under_every_hash_seed() -> None:
    jobs = [(p, telling(p, programs_for(p, 8))) for p in map(at_work, BUILTIN)]
    for seed in part_of((1, 2), 2):
        assert hash_seed_differences(jobs, seed) == [[] for _ in jobs]


def test_a_correct_pass_breaks_no_contract() -> None:
    assert contracts(simplify, telling(simplify, programs_for(simplify, 8)), hash_seeds=(3,)) == ()


@define_pass
def lie(func: PrimFunc) -> PrimFunc:
    """Return a copy of an unchanged program."""
    return func.replace(attrs=(*func.attrs,), body=func.body.copied())


@define_pass
def rename(func: PrimFunc) -> PrimFunc:
    """Choose another name in each run."""
    return func.replace(attrs=(("number", random.random()),))


@define_pass
def forget_spans(func: PrimFunc) -> PrimFunc:
    """Drop the spans of statements."""
    assert isinstance(func.body, Seq)
    return func.replace(body=Seq(tuple(If(TRUE, stmt) for stmt in func.body.stmts)))


@define_pass
def mutate(func: PrimFunc) -> PrimFunc:
    """Change the input in place."""
    msgspec.structs.force_setattr(func, "attrs", (("seen", True),))
    return func


@define_pass(idempotent=True)
def grow(func: PrimFunc) -> PrimFunc:
    """Add loops without iterations, again in each run."""
    return rewrite(func, lambda loop: loop.replace(end=loop.end + 0), on=For)


@define_pass
def shorten(func: PrimFunc) -> PrimFunc:
    """Drop the last iteration."""
    return rewrite(func, lambda loop: loop.replace(end=loop.end - 1), on=For)


@define_pass
def turn_around(func: PrimFunc) -> PrimFunc:
    """Swap the parameters."""
    return func.replace(params=func.params[::-1])


@define_pass(gives=(no_blocks,))
def add_blocks(func: PrimFunc) -> PrimFunc:
    """Claim that there are no blocks, but add one."""
    return rewrite(func, lambda store: Block("B", (), store), on=Store)


@define_pass
def raise_it(func: PrimFunc) -> PrimFunc:
    """Raise an exception."""
    raise ZeroDivisionError("oh")


@define_pass
def whatever_the_recorder_says(func: PrimFunc) -> PrimFunc:
    """Change the program outside its reported rewrites."""
    made = rewrite(func, lambda add: Add(add.b, add.a, add.dtype), on=Add)
    return made.replace(attrs=(("changed", True),))


@define_pass
def count_for_nothing(func: PrimFunc) -> PrimFunc:
    """Report rewrites, but return the input."""
    rewrite(func, lambda loop: loop.replace(end=loop.end + 0), on=For)
    return func


@define_pass
def do_nothing(func: PrimFunc) -> PrimFunc:
    """Do nothing."""
    return func


HASH_ORDER = '''
from irkit.ir import PrimFunc
from irkit.transform import define_pass


@define_pass
def in_order_of_hashes(func: PrimFunc) -> PrimFunc:
    """Write down names in the order of a set."""
    return func.replace(attrs=(("names", tuple({f"name{n}" for n in range(20)})),))
'''


@pytest.mark.parametrize(
    ("p", "contract"),
    [
        (lie, "truthful"),
        (count_for_nothing, "truthful"),
        (rename, "deterministic"),
        (forget_spans, "provenance"),
        (mutate, "input untouched"),
        (grow, "idempotent"),
        (shorten, "same numbers"),
        (turn_around, "signature"),
        (add_blocks, "verifies"),
        (raise_it, "raises nothing"),
        (whatever_the_recorder_says, "switchable"),
        (do_nothing, "fires"),
    ],
    ids=str,
)
def test_a_broken_contract_is_named(p: AnyPass, contract: str) -> None:
    found = contracts(p, [parse(SCALE.strip())], hash_seeds=())
    assert contract in {breach.contract for breach in found}
    assert p.name in str(found[0])


def test_a_built_in_pass_that_lies_about_changes_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    func = parse("def f(A: f32[2], C: f32[2]):\n    C[0] = A[0]\n    C[1] = A[1]\n")
    p = eliminate_common_subexpressions
    assert contracts(p, [func], hash_seeds=(), fires=0) == ()
    module = import_module("irkit.passes.loop.cleanup.eliminate_common_subexpressions")
    monkeypatch.setattr(module, "_same_stmts", lambda *_: False)
    found = contracts(p, [func], hash_seeds=(), fires=0)
    assert "truthful" in {breach.contract for breach in found}


def test_an_order_that_depends_on_hashes_is_found_in_other_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hash_order_in_a_test.py").write_text(HASH_ORDER)
    monkeypatch.syspath_prepend(tmp_path)
    assert "deterministic" in broken(
        load_pass("hash_order_in_a_test:in_order_of_hashes"), hash_seeds=(1, 2)
    )


def test_a_pass_that_no_other_process_can_import_is_an_error() -> None:
    @define_pass
    def local(func: PrimFunc) -> PrimFunc:
        """Do nothing; not importable."""
        return func

    with pytest.raises(IRKitError, match="cannot be sent to another process"):
        contracts(local, [parse(SCALE.strip())])


def test_programs_without_the_facts_a_pass_needs_are_skipped() -> None:
    @define_pass(needs=(no_blocks,))
    def needy(func: PrimFunc) -> PrimFunc:
        """Do nothing; needs a program without blocks."""
        return func

    block = "def f(C: f32[4]):\n    with block('B'):\n        C[0] = f32(1.0)\n".replace("'", '"')
    with pytest.raises(IRKitError, match="nothing was tried"):
        contracts(needy, [parse(block)], hash_seeds=())


def test_the_assertion_lists_the_broken_contracts() -> None:
    with pytest.raises(
        AssertionError, match="'shorten' breaks the contract 'same numbers' on program 0: C"
    ):
        assert_contracts(shorten, [parse(SCALE.strip())], hash_seeds=())
