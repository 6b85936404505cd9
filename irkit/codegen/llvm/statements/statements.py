"""Code of statements.

A parallel loop runs on the pool of threads; every other kind of loop becomes a plain one, and so
does a parallel loop inside another. Blocks become their bodies. ``write`` recurses, so whoever
calls it holds the guard of ``deep_recursion``.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from irkit.codegen.llvm.builder.devices import LLVMDevice
from irkit.codegen.llvm.builder.exits import fail_if
from irkit.codegen.llvm.builder.scope import FunctionScope
from irkit.codegen.llvm.builder.types import literal, memory_type, value_type
from irkit.codegen.llvm.expressions.expressions import evaluate, evaluate_index
from irkit.codegen.llvm.expressions.memory_access import prefetch, store
from irkit.codegen.llvm.parallel.parallel_loops import launch, least_work
from irkit.codegen.llvm.statements.assertion_record import note_values
from irkit.codegen.llvm.statements.buffers import allocate, extent, place_buffer, release
from irkit.codegen.llvm.statements.clocks import write_clock
from irkit.codegen.warp_barrier import WarpBarrier
from irkit.core import IRKitError
from irkit.ir import (
    F64,
    HINT_NAMES,
    Allocate,
    Assert,
    Block,
    Call,
    Const,
    Evaluate,
    Expr,
    For,
    If,
    Let,
    Load,
    Seq,
    Stmt,
    Store,
    View,
    as_int,
    evaluates,
    stored_values,
)

# LLVM's time grows with the cube of the loop depth: 1 s for 256 optimised loops, minutes for 1,000.
DEEPEST_NEST = 512
SERIAL = ", !llvm.loop !2"
"""Metadata of a loop that LLVM must not vectorise."""


def write(scope: FunctionScope, stmt: Stmt) -> None:
    """Write a statement and everything inside it."""
    handler = STATEMENTS.get(stmt.__class__)
    if handler is None:
        raise IRKitError(f"there is no code for statements of class {type(stmt).__name__}")
    scope.text.locate(stmt)
    handler(scope, stmt)


def _value(scope: FunctionScope, expr: Expr) -> str:
    """Evaluate the only expression of a statement."""
    scope.begin_statement()
    return evaluate(scope, expr)


def _seq(scope: FunctionScope, node: Seq) -> None:
    for stmt in node.stmts:
        write(scope, stmt)


def _store(scope: FunctionScope, node: Store) -> None:
    scope.begin_statement()
    for index in node.indices:
        evaluate_index(scope, index)
    evaluate(scope, node.value)
    if node.mask is not None:
        evaluate(scope, node.mask)
    store(scope, node)


def _thread(scope: FunctionScope, node: For, device: LLVMDevice) -> None:
    """Write a loop of a kernel over blocks or threads: each runs the iteration of its number."""
    kind, _, axis = node.thread.partition(".")
    number = "xyz".index(axis or "x")
    word = device.words[kind != "blockIdx"]
    text = scope.text
    found = text.op(device.index.format(word=word, axis="xyz"[number], number=number))
    wide, dtype = device.index_bits, node.var.dtype
    if dtype.bits != wide:
        change = "trunc" if dtype.bits < wide else "zext"
        found = text.op(f"{change} i{wide} {found} to {value_type(dtype)}")
    first, last = as_int(node.begin), as_int(node.end)
    if first != 0:
        found = text.op(f"add {value_type(dtype)} {found}, {_value(scope, node.begin)}")
    scope.values[id(node.var)] = found
    if first is not None and last is not None:
        scope.limits[found] = first, last
    write(scope, node.body)


def _for(scope: FunctionScope, node: For) -> None:
    device = scope.text.module.device
    if device is not None and node.kind == "thread":
        _thread(scope, node, device)
        return
    scope.begin_statement()
    begin, end = evaluate(scope, node.begin), evaluate(scope, node.end)
    first, last = as_int(node.begin), as_int(node.end)
    if first is not None and last is not None and first >= last:
        return
    may_be_empty = first is None or last is None
    once = first is not None and last == first + 1
    serial = node.kind != "parallel" or device is not None
    if serial or once or scope.outer is not None or not scope.threads:
        for part in _parts(scope, node):
            if part is not node:
                begin, end = evaluate(scope, part.begin), evaluate(scope, part.end)
            _loop(scope, part, begin, end, may_be_empty)
        return

    def body(inner: FunctionScope, low: str, high: str) -> None:
        inner.text.locate(node)
        _loop(inner, node, low, high, may_be_empty=False)

    launch(scope, node, begin, end, _worth(scope, node), body)


def _parts(scope: FunctionScope, node: For) -> list[For]:
    """Cut a loop where an index wraps around (see ``wrapping_loops``)."""
    module, kind = scope.text.module, node.var.dtype
    ends = () if module.device is not None else module.wrapping.get(node.var, ())
    cut = [
        node.replace(begin=Const(begin, kind), end=Const(end, kind))
        for begin, end in pairwise(ends)
    ]
    return cut or [node]


def _wraps(scope: FunctionScope, node: For) -> bool:
    """Return True if an index wraps around inside of a loop, or a part of one."""
    ends = scope.text.module.wrapping.get(node.var)
    part = as_int(node.begin), as_int(node.end)
    return ends is not None and all(part != pair for pair in pairwise(ends))


def _worth(scope: FunctionScope, node: For) -> str | None:
    """Return the condition for running a loop on several threads; None if there is no condition."""
    least = least_work(node)
    if not least:
        return None
    values = evaluate(scope, stored_values(node))
    return scope.text.op(f"fcmp oge double {values}, {literal(float(least), F64)}")


def _loop(scope: FunctionScope, node: For, begin: str, end: str, may_be_empty: bool) -> None:
    _enter_loop(scope, node)
    text, signed = scope.text, node.var.dtype.kind == "i"
    kind, test = value_type(node.var.dtype), "icmp slt" if signed else "icmp ult"
    body, latch, done = (text.new_label(hint) for hint in ("loop", "latch", "done"))
    if may_be_empty:
        text.branch(text.op(f"{test} {kind} {begin}, {end}"), body, done)
    else:
        text.jump(body)
    before, following, flags = text.label, text.name(), scope.flags
    text.start(body)
    var = text.op(f"phi {kind} [ {begin}, %{before} ], [ {following}, %{latch} ]")
    scope.values[id(node.var)] = var
    first, last = as_int(node.begin), as_int(node.end)
    if (
        first is not None
        and last is not None
        and max(-first, last) < 1 << (node.var.dtype.bits - 1)
    ):
        scope.limits[var] = first, last
    divides_outside, text.divides = text.divides, False
    if dict(node.attrs).get("reassoc") is True:
        scope.flags = f"reassoc {flags}"

    write(scope, node.body)
    scope.text.locate(node)
    scope.flags = flags
    scope.depth -= 1
    text.jump(latch)
    text.start(latch)
    # The last value is below the end, so adding 1 cannot wrap around.
    text.line(f"{following} = add {'nsw' if signed else 'nuw'} {kind} {var}, 1")
    # On x86 vectors do not speed up division, and the cost model of LLVM 22 may abort on it.
    note = SERIAL if text.divides or _wraps(scope, node) else ""
    text.branch(text.op(f"{test} {kind} {following}, {end}"), body, done, note)
    text.start(done)
    text.divides |= divides_outside


def _enter_loop(scope: FunctionScope, node: For) -> None:
    scope.depth += 1
    scope.deepest = max(scope.deepest, scope.depth)
    if scope.depth > DEEPEST_NEST:
        raise IRKitError(
            f"loop {node.var.name!r} is nested {scope.depth} deep; code can be made for at most "
            f"{DEEPEST_NEST}",
            span=node.span,
        )


def _block(scope: FunctionScope, node: Block) -> None:
    text = scope.text
    for axis in node.axes:
        scope.values[id(axis.var)] = _value(scope, axis.binding)
    end = ""
    if node.predicate is not None:
        cond = _value(scope, node.predicate)
        inside, end = text.new_label("inside"), text.new_label("end")
        text.branch(cond, inside, end)
        text.start(inside)
    if node.init is not None:
        _init(scope, node, node.init)
    write(scope, node.body)
    if end:
        _go(scope, node, end, end)


def _init(scope: FunctionScope, node: Block, init: Stmt) -> None:
    """Write the init of a block, which runs where all reduce axes are 0."""
    first = _at_start(scope, node)
    if first is None:
        write(scope, init)
        return
    start, body = scope.text.new_label("init"), scope.text.new_label("body")
    scope.text.branch(first, start, body)
    scope.text.start(start)
    write(scope, init)
    _go(scope, node, body, body)


def _at_start(scope: FunctionScope, node: Block) -> str | None:
    """Test whether all reduce axes are 0; None if there are none."""
    found: str | None = None
    for axis in node.axes:
        if axis.kind != "reduce":
            continue
        value = scope.values[id(axis.var)]
        zero = scope.text.op(f"icmp eq {value_type(axis.var.dtype)} {value}, 0")
        found = zero if found is None else scope.text.op(f"and i1 {found}, {zero}")
    return found


def _if(scope: FunctionScope, node: If) -> None:
    cond, text = _value(scope, node.cond), scope.text
    then, otherwise, end = (text.new_label(hint) for hint in ("then", "else", "end"))
    text.branch(cond, then, otherwise if node.otherwise is not None else end)
    text.start(then)
    write(scope, node.then)
    if node.otherwise is not None:
        _go(scope, node, end, otherwise)
        write(scope, node.otherwise)
    _go(scope, node, end, end)


def _go(scope: FunctionScope, node: Stmt, target: str, following: str) -> None:
    """End a part of a statement, at whose line the jump is, and begin the next block."""
    scope.text.locate(node)
    scope.text.jump(target)
    scope.text.start(following)


def _let(scope: FunctionScope, node: Let) -> None:
    scope.values[id(node.var)] = _value(scope, node.value)
    if scope.alignment is not None:
        scope.alignment.bind(node.var, node.value)
    bits = scope.bits.get(id(node.value))
    if bits is not None:
        scope.variable_bits[id(node.var)] = bits
    write(scope, node.body)


def _allocate(scope: FunctionScope, node: Allocate) -> None:
    slot = allocate(scope, node.buffer)
    write(scope, node.body)
    if slot is not None:
        scope.text.locate(node)
        release(scope, slot, node.buffer)


def _view(scope: FunctionScope, node: View) -> None:
    scope.begin_statement()
    source = scope.place(node.source)
    pointer, offset = source.pointer, extent(scope, node.offset)
    if offset != 0:
        element = memory_type(node.source.dtype)
        pointer = scope.text.op(f"getelementptr {element}, ptr {pointer}, i64 {offset}")
        scope.offsets[pointer] = source.pointer, element, str(offset)
    if scope.alignment is not None:
        scope.alignment.view(node.buffer, node.source, node.offset)
    place_buffer(scope, node.buffer, pointer)
    write(scope, node.body)


def _evaluate(scope: FunctionScope, node: Evaluate) -> None:
    device = scope.text.module.device
    if evaluates(node, "barrier"):
        for line in () if device is None else device.barrier:
            scope.text.line(line)
        return  # Without a device nests are split at barriers: only one thread arrives here.
    if isinstance(node.value, Call) and node.value.name == "prefetch":
        _prefetch(scope, node.value.args[0])
        return
    if isinstance(node.value, Call) and node.value.name in HINT_NAMES:
        write_clock(scope, node.value)
        return
    _value(scope, node.value)


def _prefetch(scope: FunctionScope, wanted: Expr) -> None:
    """Prefetch the memory of a load; values already loaded and vectors need none."""
    if isinstance(wanted, Load) and wanted.dtype.lanes == 1:
        scope.begin_statement()
        for index in wanted.indices:
            evaluate(scope, index)
        prefetch(scope, wanted)


def _assert(scope: FunctionScope, node: Assert) -> None:
    holds, number = _value(scope, node.cond), scope.failures[id(node)]
    if node.values:
        note_values(scope, holds, number, node.values)
    broken = scope.text.op(f"xor i1 {holds}, true")
    fail_if(scope, broken, number)


def _warp_barrier(scope: FunctionScope, node: WarpBarrier) -> None:
    device = scope.text.module.device
    assert device is not None
    for line in device.warp_barrier:
        scope.text.line(line)


STATEMENTS: dict[type[Stmt], Callable[[FunctionScope, Any], None]] = {
    Seq: _seq,
    Store: _store,
    For: _for,
    Block: _block,
    If: _if,
    Let: _let,
    Allocate: _allocate,
    View: _view,
    Evaluate: _evaluate,
    Assert: _assert,
    WarpBarrier: _warp_barrier,
}
