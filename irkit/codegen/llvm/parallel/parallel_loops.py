"""Parallel loops: the body becomes a function that the thread pool runs.

The function is ``i32 @irkit.regionN(ptr context, i64 begin, i64 end)``: it runs the iterations from
``begin`` up to ``end`` and returns what a kernel returns. The context holds the outer values that
the body uses. An inner function takes them as parameters, since LLVM can be told that parameters do
not alias, but not that loaded pointers do not.
"""

from collections.abc import Callable

from irkit.codegen.llvm.builder.exits import fail_if, leave
from irkit.codegen.llvm.builder.scope import FunctionScope
from irkit.codegen.llvm.builder.text import FunctionText
from irkit.codegen.llvm.builder.types import quoted, value_type
from irkit.codegen.llvm.parallel.pool import (
    CHUNKS_HINT,
    CHUNKS_PER_THREAD,
    ENTER,
    ENTER_DECLARATION,
    LEAST_HINT,
    MAX_CHUNKS,
)
from irkit.ir import DType, For, as_int

# LLVM's time grows with the cube of the loop depth: deeper nests are not optimised.
DEEPEST_OPTIMISED = 128


def attributes(scope: FunctionScope) -> str:
    """Return the attributes of the function that a scope belongs to."""
    return "#0" if scope.deepest <= DEEPEST_OPTIMISED else "#4"


def launch(
    scope: FunctionScope,
    node: For,
    begin: str,
    end: str,
    worth: str | None,
    write_body: Callable[[FunctionScope, str, str], None],
) -> None:
    """Write a call that runs a loop on the pool.

    ``write_body`` writes the loop between two bounds in the scope it is given. The pool is left out
    where ``worth``, a condition, does not hold.
    """
    inner = _inside(scope)
    dtype = node.var.dtype
    low, high = (_narrowed(inner, dtype, name) for name in ("%begin", "%end"))
    write_body(inner, low, high)
    leave(inner)
    region = _define(inner, _bounds(node))
    _enter(scope, inner, region, node, begin, end, worth)


def _inside(scope: FunctionScope) -> FunctionScope:
    inner = FunctionScope(FunctionText(scope.text.module), outer=scope)
    inner.flags, inner.failures, inner.noalias = scope.flags, scope.failures, scope.noalias
    inner.depth = inner.deepest = scope.depth
    return inner


def _narrowed(inner: FunctionScope, dtype: DType, name: str) -> str:
    kind = value_type(dtype)
    return name if kind == "i64" else inner.text.op(f"trunc i64 {name} to {kind}")


def _bounds(node: For) -> list[str]:
    """Declare the bounds of a chunk, with their ranges if known.

    With ranges LLVM sees that an index does not overflow, as it does in the whole loop.
    """
    first, last = as_int(node.begin), as_int(node.end)
    if first is None or last is None or not -(1 << 62) < first < last < 1 << 62:
        return ["i64 %begin", "i64 %end"]
    return [
        f"i64 range(i64 {first}, {last}) %begin",
        f"i64 range(i64 {first + 1}, {last + 1}) %end",
    ]


def _define(inner: FunctionScope, bounds: list[str]) -> str:
    """Add the two functions of a region to the module; return the name of the first."""
    module = inner.text.module
    number = len(module.functions)
    region, body = quoted(f"irkit.region{number}"), quoted(f"irkit.body{number}")
    declared = ", ".join([*_parameters(inner), *bounds])
    module.functions.append(
        f"define internal i32 {body}({declared}) noinline {attributes(inner)}{inner.text.debug}"
        " {\n"
        f"{inner.text.body()}\n}}"
    )
    text, whole = FunctionText(module), _context_type(inner)
    given: list[str] = []
    for place, (kind, _) in enumerate(inner.captured.values()):
        at = text.op(f"getelementptr {whole}, ptr %context, i32 0, i32 {place}")
        given.append(f"{kind} {text.op(f'load {kind}, ptr {at}')}")
    arguments = ", ".join([*given, "i64 %begin", "i64 %end"])
    text.line(f"ret i32 {text.op(f'call i32 {body}({arguments})')}")
    module.functions.append(
        f"define internal i32 {region}(ptr %context, i64 %begin, i64 %end) #0 {{\n{text.body()}\n}}"
    )
    return region


def _parameters(inner: FunctionScope) -> list[str]:
    """Declare what the body of a region uses of the function around it."""
    alias = "ptr noalias" if inner.noalias else "ptr"
    limits = {} if inner.outer is None else inner.outer.limits
    found: list[str] = []
    for outside, (kind, name) in inner.captured.items():
        known = "" if outside not in limits else " range({} {}, {})".format(kind, *limits[outside])
        found.append(f"{alias if kind == 'ptr' else kind}{known} {name}")
    return found


def _context_type(inner: FunctionScope) -> str:
    return "{ " + ", ".join(kind for kind, _ in inner.captured.values()) + " }"


def _enter(
    scope: FunctionScope,
    inner: FunctionScope,
    region: str,
    node: For,
    begin: str,
    end: str,
    worth: str | None,
) -> None:
    """Fill the context and call the pool, unless there are no iterations."""
    text, dtype = scope.text, node.var.dtype
    kind, signed = value_type(dtype), dtype.kind == "i"
    start, done = text.new_label("parallel"), text.new_label("done")
    test = "icmp slt" if signed else "icmp ult"
    text.branch(text.op(f"{test} {kind} {begin}, {end}"), start, done)
    text.start(start)
    whole = _context_type(inner)
    context = text.alloca(f"{whole}, align 64") if inner.captured else "null"
    for place, (outside, (stored, _)) in enumerate(inner.captured.items()):
        at = text.op(f"getelementptr {whole}, ptr {context}, i32 0, i32 {place}")
        text.line(f"store {stored} {outside}, ptr {at}")
    extent = text.op(f"sub {kind} {end}, {begin}")
    if kind != "i64":
        begin = text.op(f"{'sext' if signed else 'zext'} {kind} {begin} to i64")
        extent = text.op(f"zext {kind} {extent} to i64")
    status = _run(text, region, context, begin, extent, _chunks(node), worth)
    if inner.leaves_early:
        fail_if(scope, text.op(f"icmp ne i32 {status}, 0"), status)
    text.jump(done)
    text.start(done)


def _run(
    text: FunctionText,
    region: str,
    context: str,
    begin: str,
    extent: str,
    chunks: int,
    worth: str | None,
) -> str:
    """Run a region on the pool, or where that is not worth it on this thread; return its status."""
    text.module.declare(ENTER, ENTER_DECLARATION)
    where = (("ptr", region), ("ptr", context), ("i64", begin), ("i64", extent))
    if worth is None:
        return text.call(ENTER, "i32", *where, ("i64", str(chunks)))
    shared, alone, done = (text.new_label(hint) for hint in ("shared", "alone", "ran"))
    text.branch(worth, shared, alone)
    text.start(shared)
    one = text.call(ENTER, "i32", *where, ("i64", str(chunks)))
    text.jump(done)
    text.start(alone)
    last = text.op(f"add i64 {begin}, {extent}")
    other = text.op(f"call i32 {region}(ptr {context}, i64 {begin}, i64 {last})")
    text.jump(done)
    text.start(done)
    return text.op(f"phi i32 [ {one}, %{shared} ], [ {other}, %{alone} ]")


def least_work(node: For) -> int:
    """Return how many values a loop must store to run on several threads; 0 without a hint."""
    wanted = dict(node.attrs).get(LEAST_HINT)
    return wanted if type(wanted) is int and wanted > 0 else 0


def _chunks(node: For) -> int:
    """Return the largest number of chunks for each thread."""
    wanted = dict(node.attrs).get(CHUNKS_HINT)
    if type(wanted) is not int:  # An attribute can hold anything.
        return CHUNKS_PER_THREAD
    return min(max(wanted, 1), MAX_CHUNKS)
