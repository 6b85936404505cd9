"""What ``irkit new-pass`` writes; ``$$function`` and the like are filled in."""

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

LOOP_TEST = '''"""$name does what its file says, leaves the rest alone, and keeps the meaning."""

import re
import textwrap

import $module as home
import irkit
from irkit.debug import assert_contracts
from irkit.ir import parse, script
from $module import $function

BEFORE, AFTER = (
    textwrap.dedent(text).strip() + "\\n"
    for text in re.findall(r"::\\n\\n((?:    .*\\n|\\n)+)", home.__doc__ or "")
)
LONG = "def f(C: f32[99]):\\n    for i in serial(0, 99):\\n        C[i] = f32(1.0)\\n"


def test_the_example_in_its_file_holds() -> None:
    assert script($function(parse(BEFORE))) == AFTER


def test_what_is_done_is_left_alone() -> None:
    func = parse(AFTER)
    assert $function(func) is func


def test_a_long_loop_is_left_alone() -> None:
    func = parse(LONG)
    assert $function(func) is func
    assert $function.using(most=99)(func) is not func


def test_it_keeps_what_every_pass_promises() -> None:
    # Such as: what it leaves verifies and gives the same numbers, in every process.
    assert_contracts($function, [parse(BEFORE), parse(LONG)])


def test_it_runs_at_phase_1_and_is_seen_in_a_trace() -> None:
    pipeline = irkit.DEFAULT.insert($function, phase=1)
    (step,) = [s for s in irkit.trace(parse(BEFORE), pipeline=pipeline) if s.name == "$name"]
    assert (step.phase, step.changed) == (1, True)
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
