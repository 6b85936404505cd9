"""Source with switches means the same as the original, and with a mutant on, the same as its
source."""

import ast
import itertools
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from irkit.ir import I8, Var
from tests.mutation.changes.mutant import Mutant, mutants_of
from tests.mutation.schemata.families import FAMILIES, draw_sample, family_of, modules_of
from tests.mutation.schemata.instrument import how_switched, instrumented
from tests.mutation.schemata.switches import NONE, SWITCHES, SWITCHES_NAME, alike

ROOT = Path(__file__).parents[3]
TRANSFER = "irkit.ir.arith.transfer"
RANGES = [(-7, -2), (-3, 4), (0, 0), (2, 9), (5, 5)]
X, Y = Var("x", I8), Var("y", I8)
NODES = [X + Y, X - Y, X * Y, X // Y, X % Y, X << Y, X >> Y, X & Y, X | Y, X ^ Y, -X]


def executed(code: Any, name: str) -> ModuleType:
    """Return a module of its own, made of code."""
    module = ModuleType(name)
    setattr(module, SWITCHES_NAME, SWITCHES)
    exec(code, module.__dict__)
    return module


def answers(module: ModuleType) -> list[object]:
    """Return the ranges of operations on each two ranges, or what is raised."""
    return [
        answer(partial(module.transfer, node, {X: a, Y: b}.__getitem__))
        for node in NODES
        for a, b in itertools.product(RANGES, repeat=2)
    ]


def answer(function: Callable[[], object]) -> object:
    """Return what a function gives, or the name of what it raises."""
    try:
        return function()
    except Exception as error:
        return type(error).__name__


@pytest.fixture
def switched() -> ModuleType:
    """Return a module of which all mutants are behind switches."""
    numbered = list(enumerate(mutants_of(TRANSFER)))
    return executed(compile(instrumented(TRANSFER, numbered), TRANSFER, "exec"), TRANSFER)


def test_each_mutant_computes_what_its_source_does_and_none_what_the_original_does(
    switched: ModuleType,
) -> None:
    original = answers(executed(compile(source(TRANSFER), TRANSFER, "exec"), TRANSFER))
    assert answers(switched) == original
    other = 0
    for number, mutant in list(enumerate(mutants_of(TRANSFER)))[::7]:
        if how_switched(mutant) == "import":
            continue
        wanted = answers(executed(compile(mutant.source, TRANSFER, "exec"), TRANSFER))
        SWITCHES.active = number
        try:
            assert answers(switched) == wanted, mutant
        finally:
            SWITCHES.active = NONE
        other += wanted != original
    assert other > 8


def test_a_mutant_that_gives_something_else_was_infected(switched: ModuleType) -> None:
    original = answers(switched)
    with SWITCHES.watching():
        assert answers(switched) == original
        reached, infected = set(SWITCHES.reached), set(SWITCHES.infected)
    numbered = list(enumerate(mutants_of(TRANSFER)))
    for number, mutant in numbered[::7]:
        if how_switched(mutant) == "import":
            continue
        SWITCHES.active = number
        try:
            assert number in infected or answers(switched) == original, mutant
        finally:
            SWITCHES.active = NONE
    assert infected < reached
    assert len(reached) < len(numbered)


def source(module: str) -> ast.Module:
    """Return the tree of a module without any mutant."""
    return instrumented(module, [])


SMALL = """
def first(a, b):
    if len(a) > 1 and b[0] + 1 < 3:
        return a[1:]
    while b[0] - 1 > 0 and (c := b.pop()):
        a = [c, *a]
    match len(a):
        case 0:
            return second(b, a)
        case _:
            return [each * 2 for each in a if each % 2 == 0 or each > 4]


def second(a, b):
    return a[-1] if b else 7


class Third:
    most = 3

    def __init__(self, least=1):
        super().__init__()
        self.least = least + 1


class Fourth(Third):
    def __init__(self):
        super().__init__(2 * 2)
"""


def small_mutants(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Mutant, ...]:
    """Return the mutants of a module with one node of each kind."""
    (tmp_path / "small_module.py").write_text(SMALL)
    monkeypatch.setattr("sys.path", [str(tmp_path), *sys.path])
    return mutants_of("small_module")


def results(module: ModuleType) -> list[object]:
    """Return what the functions of the small module give."""
    none = list[int]()
    cases = [([1, 2], [1]), (none, [3, 1]), ([1], [2]), ([4, 6, 7], [9]), (none, [1])]
    found: list[object] = []
    for a, b in cases:
        try:
            found.append((module.first([*a], [*b]), module.Fourth().least))
        except NameError:
            found.append("a name without a value")
        except Exception as error:
            found.append(type(error).__name__)
    return found


def test_patterns_assignments_in_expressions_and_calls_of_super_are_switched_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = small_mutants(tmp_path, monkeypatch)
    numbered = list(enumerate(chosen))
    name = "small_module"
    switched = executed(compile(instrumented(name, numbered), name, "exec"), name)
    original = results(executed(compile(SMALL, name, "exec"), name))
    assert results(switched) == original
    with SWITCHES.watching():
        assert results(switched) == original
        infected = set(SWITCHES.infected)
    hows = {how_switched(mutant) for mutant in chosen}
    assert hows == {"expression", "statement", "import"}
    for number, mutant in numbered:
        wanted = results(executed(compile(mutant.source, name, "exec"), name))
        if how_switched(mutant) == "import":
            continue
        SWITCHES.active = number
        try:
            assert results(switched) == wanted, mutant
        finally:
            SWITCHES.active = NONE
        assert number in infected or wanted == original, mutant


def test_values_are_alike_if_they_have_one_type_and_are_equal() -> None:
    assert alike([1, 2], [1, 2])
    assert not alike(1, True)
    assert not alike(0.0, -0.0)
    assert alike(float("nan"), float("nan"))


@pytest.mark.long
def test_a_seed_draws_the_same_mutants_and_as_many_of_each_family() -> None:
    chosen = draw_sample("a seed", 15)
    assert [family_of(mutant) for mutant in chosen] == [name for name in FAMILIES for _ in "12"]
    assert draw_sample("a seed", 15) == chosen != draw_sample("another", 15)
    assert all(len(modules_of(family)) >= 5 for family in FAMILIES)


@pytest.mark.long
def test_all_of_irkit_behind_switches_passes_its_tests() -> None:
    ran = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.mutation.schemata.everything",
            *("-q", "-n", "0", "-p", "no:cacheprovider"),
            *("tests/passes", "tests/ir/arith", "tests/graph", "tests/topi", "tests/runtime"),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-1000:]
