"""Bugs planted into passes that ship: each changes one thing in one pass, for as long as it is
planted."""

import inspect
import sys
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from types import FunctionType, ModuleType
from typing import Any

from irkit.transform import Pass


class Bug:
    """Replace a piece of the source of one function by another. ``kind`` says what is wrong then,
    ``shown_by`` names the program that shows it, ``blamed`` the pass whose fault it is."""

    def __init__(
        self,
        kind: str,
        module: str,
        function: str,
        old: str,
        new: str,
        *,
        shown_by: str,
        blamed: str = "",
    ) -> None:
        self.kind, self.module, self.function = kind, f"irkit.passes.{module}", function
        self.old, self.new, self.shown_by = old, new, shown_by
        self.blamed = blamed or module.rpartition(".")[2].replace("_", "-")

    def __repr__(self) -> str:
        return f"{self.blamed}: {self.kind}"

    @contextmanager
    def planted(self) -> Generator[None]:
        """Run with the bug in place: the function keeps its identity and gets other code."""
        function = function_at(import_module(self.module), self.function)
        good = function.__code__
        function.__code__ = _changed(function, self.old, self.new)
        try:
            yield
        finally:
            function.__code__ = good


def function_at(module: ModuleType, path: str) -> FunctionType:
    found: Any = module
    for part in path.split("."):
        found = inspect.getattr_static(found, part)
    if isinstance(found, Pass):
        found = found.function
    if isinstance(found, property):
        found = found.fget
    if isinstance(found, staticmethod):
        found = found.__func__
    found = inspect.unwrap(found)
    assert isinstance(found, FunctionType), path
    return found


def _changed(function: FunctionType, old: str, new: str) -> Any:
    """Compile the whole file with the piece replaced, and take the code of the function from it."""
    lines, start = inspect.getsourcelines(function)
    text = "".join(lines)
    assert text.count(old) == 1, f"{function.__qualname__} has {text.count(old)} times {old!r}"
    module = sys.modules[function.__module__]
    whole = inspect.getsource(module).splitlines(keepends=True)
    whole[start - 1 : start - 1 + len(lines)] = [text.replace(old, new)]
    code = compile("".join(whole), function.__code__.co_filename, "exec", dont_inherit=True)
    return code_of(code, function.__code__.co_qualname)


def code_of(code: Any, qualname: str) -> Any:
    todo = [code]
    while todo:
        each = todo.pop()
        if each.co_qualname == qualname:
            return each
        todo += [const for const in each.co_consts if hasattr(const, "co_qualname")]
    raise AssertionError(qualname)


PROGRAMS = {
    "HOISTED": """
def hoisted(A: f32[n], C: f32[n]):
    for i in serial(4, n):
        if i == 4:
            C[0] = A[i]
        C[i] = C[0] + A[i]
""",
    "UNROLLED": """
def unrolled(A: f32[8], C: f32[8]):
    for i in unrolled(0, 3):
        for j in serial(0, 2):
            C[i * 2 + j] = A[i] + C[i * 2 + j]
    for i in unrolled(0, 100):
        C[i % 8] = C[i % 8] + f32(1.0)
""",
    "ALIAS": """
def alias(A: f32[8], C: f32[8], n: i64):
    with view(A, f32[8], offset=0) as V:
        C[0] = A[3] * A[3]
        V[3] = A[1]
        C[1] = A[3] * A[3]
        C[2] = (A[9 + n] * A[9 + n] if n > 100 else A[0])
""",
    "CHOICES": """
def choices(A: f32[8], I: i64[8], C: f32[8]):
    for i in serial(0, 8):
        C[i] = select(i < 4, A[I[i]], A[i])
""",
    "VECTORS": """
def vectors(A: f32[37], B: f32[40], C: f32[37]):
    for i in vectorized(0, 37):
        if A[i] > f32(0.0):
            C[i] = (B[i + 1] if i > 3 else A[i]) + f32(1.0)
        else:
            C[i] = B[i]
    for i in parallel(0, 3):
        for j in parallel(0, 2):
            C[i * 2 + j] = C[i * 2 + j] * f32(2.0)
""",
    "TWICE": """
def twice(A: f32[8], C: f32[8]):
    for i in serial(0, 2):
        C[i] = A[i] + f32(1.0)
    for i in serial(0, 8):
        if i < 20:
            C[i] = C[i] + A[i]
        else:
            C[i] = A[0]
""",
}
BUGS = [
    Bug("dropped init", "loop.lower_init_blocks", "lower_init_blocks",
        "seq(start, block.body)", "block.body", shown_by="MATMUL"),
    Bug("init behind the body", "loop.lower_init_blocks", "lower_init_blocks",
        "seq(start, block.body)", "seq(block.body, start)", shown_by="MATMUL"),
    Bug("init in the second iteration", "loop.lower_init_blocks", "lower_init_blocks",
        "eq(axis.var, 0)", "eq(axis.var, 1)", shown_by="MATMUL"),
    Bug("init tests the wrong axes", "loop.lower_init_blocks", "lower_init_blocks",
        'axis.kind == "reduce"', 'axis.kind == "spatial"', shown_by="MATMUL"),
    Bug("lost predicate", "loop.lower_blocks", "lower_blocks",
        "if stmt.predicate is None:", "if True:", shown_by="TILED_MATMUL"),
    Bug("undefined variable", "loop.lower_blocks", "lower_blocks",
        "substitute(func.body, values)", "func.body", shown_by="MATMUL"),
    Bug("extent too small by one", "loop.compact_buffers", "_resized",
        "const(side.extent, I64)", "const(side.extent - 1, I64)", shown_by="TILE"),
    Bug("stores left behind", "loop.compact_buffers", "compact_buffers",
        "on=(Load, Store, Allocate)", "on=(Load, Allocate)", shown_by="TILE"),
    Bug("counted from the wrong corner", "loop.boxes", "Boxes.inside",
        "side.low", "side.low + 1", shown_by="TILE", blamed="compact-buffers"),
    Bug("strides include their own extent", "loop.flatten_buffers", "_strides",
        "buffer.shape[axis + 1 :]", "buffer.shape[axis:]", shown_by="MATMUL"),
    Bug("swapped strides", "loop.flatten_buffers", "_strides",
        "buffer.shape[axis + 1 :]", "buffer.shape[: buffer.rank - 1 - axis]",
        shown_by="CONV_PADDED"),
    Bug("flat view short by one", "loop.flatten_buffers", "_plus_one",
        "known + 1", "known", shown_by="STRIDED"),
    Bug("overflow", "loop.narrow_indices", "_Narrow._fits",
        "I32.low <= low and high <= I32.high", "True", shown_by="BIG_INDEX"),
    Bug("wrong constant", "loop.narrow_indices", "_Narrow._narrow",
        "Const(value, I32)", "Const(value + 1, I32)", shown_by="MATMUL"),
    Bug("hoisted what holds later too", "loop.hoist_first_iterations", "_is_first",
        "factor > 0 and low >= 0", "factor > 0", shown_by="REUSED"),
    Bug("hoisted out of a loop that does not run", "loop.hoist_first_iterations",
        "hoist_first_iterations", "logical_and(*_runs(loop), *left)", "logical_and(*left)",
        shown_by="HOISTED"),
    Bug("lost last copy", "loop.unroll_loops", "unroll_loops",
        "range(begin, end)", "range(begin, end - 1)", shown_by="UNROLLED"),
    Bug("double binding", "loop.unroll_loops", "unroll_loops",
        "fresh(substitute(body, {var: Const(i, var.dtype)}))",
        "substitute(body, {var: Const(i, var.dtype)})", shown_by="UNROLLED"),
    Bug("endless", "loop.unroll_loops", "unroll_loops",
        'node.replace(kind="serial")', 'node.replace(kind="serial", end=node.end * (1 << 40))',
        shown_by="UNROLLED"),
    Bug("branch not turned around", "loop.remove_no_ops", "empty_branch",
        "logical_not(stmt.cond)", "stmt.cond", shown_by="REUSED"),
    Bug("a move taken for nothing", "loop.remove_no_ops", "stored_already",
        "whole and [*map(numbers.of, load.indices)] == here", "whole", shown_by="REUSED"),
    Bug("uses miscounted", "loop.remove_no_ops", "_Uses.__contains__",
        "> 0", "> 1", shown_by="BRANCHES"),
    Bug("swapped sides", "loop.rewrite_unsafe_selects", "rewrite_unsafe_selects",
        "*sides, choice.dtype", "*sides[::-1], choice.dtype", shown_by="CHOICES"),
    Bug("the other branch", "loop.simplify", "_Scope.visit",
        "then if holds else otherwise", "otherwise if holds else then", shown_by="TWICE"),
    Bug("lost second iteration", "loop.simplify", "_Scope._loop",
        "extent == 1 and", "extent in (1, 2) and", shown_by="TWICE"),
    Bug("exception", "loop.simplify", "_Scope._loop",
        "begin.dtype == loop.var.dtype", "begin.dtype.width == loop.var.dtype",
        shown_by="MATMUL"),
    Bug("lost tail", "loop.vectorize_loops", "_vectors",
        "if rest:", "if False:", shown_by="VECTORS"),
    Bug("tail too early", "loop.vectorize_loops", "_vectors",
        "whole * lanes, step.dtype", "whole * lanes - 1, step.dtype", shown_by="VECTORS"),
    Bug("vectors overlap", "loop.vectorize_loops", "_vectors",
        "step * lanes", "step * (lanes - 1)", shown_by="VECTORS"),
    Bug("stores without mask", "loop.vectorize_loops", "_Statements._store",
        "mask=mask,", "mask=None,", shown_by="VECTORS"),
    Bug("lanes two apart", "loop.vectorize_loops", "_lockstep",
        "ramp(begin, 1, lanes)", "ramp(begin, 2, lanes)", shown_by="VECTORS"),
    Bug("conflict of lanes unseen", "loop.vectorize_loops", "_vectors",
        "if why is not None:", "if False:", shown_by="SHIFTED"),
    Bug("wrong mask", "loop.vector_expr", "Lanes.neither",
        "Not(cond, cond.dtype)", "cond", shown_by="VECTORS", blamed="vectorize-loops"),
    Bug("lanes choose the other side", "loop.vector_expr", "Lanes._combine",
        "self.wide(a), self.wide(b)", "self.wide(b), self.wide(a)",
        shown_by="VECTORS", blamed="vectorize-loops"),
    Bug("buffer moved into a loop that carries it", "loop.plan_allocations",
        "_Planner._may_enter", "return why is None", "return True", shown_by="CARRIED"),
    Bug("allocation too narrow", "loop.plan_allocations", "_Planner.place",
        "holding[-1] + 1", "holding[-1]", shown_by="CARRIED"),
    Bug("load shared over a store", "loop.eliminate_common_subexpressions", "_Run._version",
        "self.versions[self._root(expr.buffer)]", "0", shown_by="REUSED"),
    Bug("view taken for other memory", "loop.eliminate_common_subexpressions", "_Run._root",
        "while buffer in self.sources:", "while False:", shown_by="ALIAS"),
    Bug("guarded load made early", "loop.eliminate_common_subexpressions", "_Run.rebuilt",
        "and self.always.get(number) == self.first.get(number) is not None", "",
        shown_by="ALIAS"),
    Bug("inner parallel loops left", "loop.serialize_inner_parallel_loops",
        "serialize_inner_parallel_loops", 'kind="serial"', 'kind="parallel"',
        shown_by="VECTORS"),
]  # fmt: skip
