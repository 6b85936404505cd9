"""Templates of the files that ``irkit new-pass`` writes, with fields such as ``$function``."""

LOOP_PASS = '''"""Mark the loops that run only a few times as unrolled.

Before::

    def f(A: f32[3], C: f32[3]):
        for i in serial(0, 3):
            C[i] = A[i]

After::

    def f(A: f32[3], C: f32[3]):
        for i in unrolled(0, 3):
            C[i] = A[i]
"""

from irkit.core import remark, rewrite
from irkit.ir import For, PrimFunc, as_int
from irkit.transform import define_pass


@define_pass(idempotent=True)
def $function(func: PrimFunc, *, most: int = 4) -> PrimFunc:
    """Mark serial loops that run at most ``most`` times (iterations) as unrolled."""

    def mark(loop: For) -> For | None:
        if loop.kind != "serial":
            return None  # Leave it alone.
        end = as_int(loop.end)
        if end is None:
            remark(loop, "left alone: how often it runs is not a constant")
            return None
        return loop.replace(kind="unrolled") if end <= most else None

    return rewrite(func, mark, on=For)
'''

LOOP_TEST = '''"""$name does what its module shows, leaves the rest alone, keeps the meaning."""

import re
import textwrap

import $module as home
import irkit
from irkit.fuzz import PassCase, check_pass
from irkit.ir import parse, script
from $module import $function

BEFORE, AFTER = (
    textwrap.dedent(text).strip() + "\\n"
    for text in re.findall(r"::\\n\\n((?:    .*\\n|\\n)+)", home.__doc__ or "")
)
LONG = "def f(C: f32[99]):\\n    for i in serial(0, 99):\\n        C[i] = f32(1.0)\\n"


def test_the_example_in_its_module_holds() -> None:
    assert script($function(parse(BEFORE))) == AFTER


def test_its_own_result_is_left_alone() -> None:
    func = parse(AFTER)
    assert $function(func) is func


def test_a_long_loop_is_left_alone() -> None:
    func = parse(LONG)
    assert $function(func) is func
    assert $function.using(most=99)(func) is not func


@check_pass($function, phase=1, examples=20)
def test_it_keeps_the_contracts_of_every_pass(case: PassCase) -> None:
    # check_pass tests on random programs that the result verifies and computes the same, and more.
    # Assert here what only this pass guarantees:
    assert "unrolled(" in case.after.script() or not case.changed


def test_it_runs_in_phase_1_and_shows_in_a_trace() -> None:
    pipeline = irkit.DEFAULT.insert($function, phase=1)
    (step,) = [s for s in irkit.trace(parse(BEFORE), pipeline=pipeline) if s.name == "$name"]
    assert (step.phase, step.changed) == (1, True)
'''

GRAPH_PASS = '''"""Make a relu of a relu read what the first one reads.

Before::

    def main(x: f32[4]):
        a: f32[4] = relu(x)
        b: f32[4] = relu(a)
        return b

After::

    def main(x: f32[4]):
        a: f32[4] = relu(x)
        b: f32[4] = relu(x)
        return b
"""

from irkit.core import remark, rewrite
from irkit.graph import Bind, GraphFunc, Op, Value
from irkit.transform import define_pass


@define_pass(idempotent=True)
def $function(func: GraphFunc, *, operator: str = "relu") -> GraphFunc:
    """Skip the first of two applications of ``operator``, which takes one operand and has no effect
    the second time.

    Nodes that are no longer used stay, for ``eliminate_dead_nodes``.
    """
    operands: dict[Value, Value] = {}  # By result of the operator.

    def skip(bind: Bind) -> Bind | None:
        step = bind.step
        if not isinstance(step, Op) or step.name != operator or len(step.args) != 1:
            return None  # Leave it alone.
        value = step.args[0]
        operands[bind.var] = operands.get(value, value)
        if value not in operands:
            remark(bind, f"left alone: its operand is not a {operator}")
            return None
        return bind.replace(step=step.replace(args=(operands[value],)))

    return rewrite(func, skip, on=Bind)
'''

GRAPH_TEST = '''"""$name does what its module shows, leaves the rest alone, keeps the meaning."""

import re
import textwrap

import $module as home
from irkit.core import IRModule
from irkit.debug import assert_contracts
from irkit.graph import parse, script
from irkit.phases import GRAPH
from $module import $function

BEFORE, AFTER = (
    textwrap.dedent(text).strip() + "\\n"
    for text in re.findall(r"::\\n\\n((?:    .*\\n|\\n)+)", home.__doc__ or "")
)
OTHER = "def main(x: f32[4]):\\n    a: f32[4] = tanh(x)\\n    b: f32[4] = relu(a)\\n    return b\\n"


def test_the_example_in_its_module_holds() -> None:
    assert script($function(parse(BEFORE))) == AFTER


def test_its_own_result_is_left_alone() -> None:
    func = parse(AFTER)
    assert $function(func) is func


def test_another_operator_is_left_alone() -> None:
    func = parse(OTHER)
    assert $function(func) is func
    assert $function.using(operator="abs")(parse(BEFORE.replace("relu", "abs"))) is not None


def test_it_keeps_the_contracts_of_every_pass() -> None:
    # For example: the result verifies and computes the same, in every process.
    assert_contracts($function, [parse(BEFORE), parse(OTHER)])


def test_it_runs_on_a_graph_and_shows_in_a_trace() -> None:
    pipeline = GRAPH.insert($function, phase=0, before=GRAPH.names[0])
    module = IRModule({"main": parse(BEFORE)})
    (step,) = [s for s in pipeline.steps(module) if s.name == "$name"]
    assert (step.phase, step.changed) == (0, True)
'''

PYPROJECT = """[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "$name"
version = "0.1.0"
dependencies = ["irkit"]

[tool.setuptools]
$contents

[project.entry-points."irkit.passes"]
$name = "$module:$function"
"""
