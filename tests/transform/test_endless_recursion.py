"""A user's pass that recurses without end is a PassFailed with a RecursionError, and no crash.

They run in an interpreter of their own, because what goes wrong here ends the process.
"""

import subprocess
import sys

import pytest

from tests.draws import sampled

CODE = """
import sys, threading
from irkit.codegen import emit, host_target
from irkit.core import rewrite
from irkit.ir import For, Let, PrimFunc, Rewriter, Stmt, Var, index, parse
from irkit.phases import DEFAULT
from irkit.transform import PassFailed, define_pass

FUNC = parse("def f(C: f32[8]):\\n    for i in serial(0, 8):\\n        C[i] = f32(1.0)\\n")

class Depth:
    @property
    def whole(self) -> int:
        return 1 + self.whole

class Endless(Rewriter):
    def visit(self, stmt: Stmt) -> Stmt:
        return self.visit(stmt)

def plainly(value: object) -> int:
    return 1 + plainly(value)

def by_a_generator_expression(value: object) -> int:
    return sum(by_a_generator_expression(each) for each in (value,))

def by_map(value: object) -> int:
    return sum(map(by_map, (value,)))

def by_a_property(value: object) -> int:
    return Depth().whole

def by_a_rule(func: PrimFunc) -> object:
    return rewrite(func, lambda loop: by_a_generator_expression(loop), on=For)

def by_a_rewriter(func: PrimFunc) -> object:
    return Endless(func).run()

WAYS = (plainly, by_a_generator_expression, by_map, by_a_property, by_a_rule, by_a_rewriter)

def deep_work() -> None:
    body: Stmt = FUNC.body
    for step in range(20_000):
        body = Let(Var("t"), index(step), body)
    emit([FUNC.replace(body=body)], host_target())

def run() -> None:
    before = sys.getrecursionlimit()
    for way in WAYS:
        @define_pass
        def endless(func: PrimFunc) -> PrimFunc:
            way(func)
            return func

        try:
            DEFAULT.insert(endless, phase=2).run(FUNC)
        except PassFailed as failed:
            assert isinstance(failed.__cause__, RecursionError), repr(failed.__cause__)
            assert "endless" in str(failed), failed
            assert sys.getrecursionlimit() == before
            print(way.__name__, "is refused", flush=True)
"""
PLACES = {
    "the main thread": "run()",
    "another thread": "other = threading.Thread(target=run); other.start(); other.join()",
    "the main thread after deep work": "deep_work(); run()",
}
WAYS = (
    *("plainly", "by_a_generator_expression", "by_map", "by_a_property"),
    *("by_a_rule", "by_a_rewriter"),
)


@pytest.mark.parametrize("place", sampled(PLACES, every=3))
def test_endless_recursion_in_a_pass_is_an_error(place: str) -> None:
    command = [sys.executable, "-c", CODE + PLACES[place]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == [f"{way} is refused" for way in WAYS], done.stderr[-2000:]
    assert done.returncode == 0
