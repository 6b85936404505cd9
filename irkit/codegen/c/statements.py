"""Code of statements.

In a model an outermost parallel loop is one for a pool, whether it can fail or not: of the parts
that fail, the first counts, as it does in serial code. In other files one that cannot fail is for
OpenMP, where the compiler is asked for it; else every kind of loop is a plain one. Blocks become
their bodies. ``write`` recurses, so whoever calls it holds the guard of ``deep_recursion``.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from irkit.codegen.c import helpers
from irkit.codegen.c.buffer_sizes import constant_size, fail_unless, strides
from irkit.codegen.c.expressions import evaluate, evaluate_index
from irkit.codegen.c.kept_loads import kept
from irkit.codegen.c.memory_access import element_pointer, store
from irkit.codegen.c.parallel_regions import HOST_FAILED, RegionEnds, declare_region
from irkit.codegen.c.registers import declare_registers
from irkit.codegen.c.types import memory_type, value_type
from irkit.codegen.c.writer import (
    ATOM,
    PLUS,
    UNARY,
    BufferPointer,
    Code,
    FunctionWriter,
    captured,
    used,
    without_unused,
)
from irkit.codegen.llvm.builder.exits import BAD_SIZE, OUT_OF_MEMORY
from irkit.codegen.llvm.parallel.parallel_loops import least_work
from irkit.codegen.llvm.statements.buffers import STACK_ARRAY, STACK_TOTAL
from irkit.codegen.warp_barrier import WarpBarrier
from irkit.core import IRKitError, any_node
from irkit.ir import (
    Allocate,
    Assert,
    Block,
    Evaluate,
    Expr,
    For,
    If,
    Let,
    Seq,
    Stmt,
    Store,
    View,
    as_int,
    evaluates,
    is_hint,
    memory_scope,
    stored_values,
    strided_count,
)


def write(writer: FunctionWriter, stmt: Stmt) -> None:
    """Write a statement and everything inside it."""
    handler = STATEMENTS.get(stmt.__class__)
    if handler is None:
        raise IRKitError(f"there is no C code for statements of class {type(stmt).__name__}")
    writer.locate(stmt)
    handler(writer, stmt)


def _value(writer: FunctionWriter, expr: Expr) -> Code:
    """Evaluate the only expression of a statement."""
    writer.begin_statement()
    return evaluate(writer, expr)


def _seq(writer: FunctionWriter, node: Seq) -> None:
    for stmt in node.stmts:
        write(writer, stmt)


def _store(writer: FunctionWriter, node: Store) -> None:
    writer.begin_statement()
    for index in node.indices:
        evaluate_index(writer, index)
    evaluate_index(writer, node.value)
    if node.mask is not None:
        evaluate_index(writer, node.mask)
    store(writer, node, writer.of(node.value))


def _thread(writer: FunctionWriter, node: For) -> None:
    """Write a loop of a kernel over blocks or threads: each runs the iteration of its number."""
    kind, _, axis = node.thread.partition(".")
    form = writer.source.dialect.index["block" if kind == "blockIdx" else "thread"]
    index = form.format(axis=axis or "x", number="xyz".index(axis or "x"))
    begin, dtype = _value(writer, node.begin), node.var.dtype
    typed, name = value_type(dtype), writer.name(node.var.name)
    first = "" if begin.text == "0" else f"{begin.within(PLUS)} + "
    writer.line(f"const {typed} {name} = {first}({typed}){index};")
    last = as_int(node.end)
    high = dtype.high if last is None else max(begin.low, last - 1)
    writer.values[id(node.var)] = Code(name, ATOM, begin.low, high)
    write(writer, node.body)


def _for(writer: FunctionWriter, node: For) -> None:
    if node.kind == "thread" and writer.source.dialect.has_threads:
        _thread(writer, node)
        return
    first, last = as_int(node.begin), as_int(node.end)
    if first is not None and last is not None and first >= last:
        return
    writer.begin_statement()
    begin, end = evaluate(writer, node.begin), evaluate(writer, node.end)
    if last is None and not end.text.isidentifier():
        end = writer.variable(node.end.dtype, end, f"{node.var.name}_end")
    kind, name = value_type(node.var.dtype), writer.name(node.var.name)
    writer.values[id(node.var)] = Code(name, ATOM, begin.low, max(begin.low, end.high - 1))
    outer = writer.parallel
    if node.kind == "parallel" and outer:
        writer.parallel = False
        if writer.source.hosted:
            _region(writer, node, begin, end, name)
            writer.parallel = outer
            return
        if not any_node(node.body, (Assert, Allocate)):
            before = len(writer.lines)
            directive = f"#pragma omp parallel for{_worth(writer, node)}"
            # Without OpenMP nothing else may use what the clause does.
            for statement in used(writer.lines[before:]):
                writer.line(statement)
            writer.lines += ["#ifdef _OPENMP", directive, *writer.hint(node, "#elif"), "#endif"]
    else:
        writer.lines += writer.hint(node)
    head = f"for ({kind} {name} = {begin.text}; {name} < {end.within(ATOM)}; ++{name})"
    with writer.block(head):
        write(writer, node.body)
    writer.parallel = outer


def _region(writer: FunctionWriter, node: For, begin: Code, end: Code, name: str) -> None:
    """Write a loop as a function that a pool can run, and its call."""
    worth, kind = _condition(writer, node), value_type(node.var.dtype)
    first, last = writer.name(f"{name}_first"), writer.name(f"{name}_last")
    head = f"for ({kind} {name} = ({kind}){first}; {name} < ({kind}){last}; ++{name})"
    with _function_of_its_own(writer) as begun, captured(writer) as lines:
        writer.lines += writer.hint(node)
        with writer.block(head):
            write(writer, node.body)
    kept, _ = without_unused(lines)
    failed = writer.name("failed") if begun.fails else ""
    call = declare_region(writer, kept, first, last, begun, failed)
    bounds = f"(int64_t){begin.within(UNARY)}, (int64_t){end.within(UNARY)}"
    if failed:
        writer.line(f"irkit_failure {failed} = {{UINT64_MAX, (int64_t){begin.within(UNARY)}}};")
    writer.fail(f"irkit_parallel({bounds}, {worth or 1}, {call})", HOST_FAILED)
    if failed:
        writer.fail(f"{failed}.first != UINT64_MAX", f"irkit_status(&{failed})")


@contextmanager
def _function_of_its_own(writer: FunctionWriter) -> Generator[RegionEnds]:
    """Write lines for another function, with memory and a way out of its own. The values of its
    assertions are not recorded: its threads would meet there."""
    outer = writer.depth, writer.heap, writer.open, writer.jumps, writer.record
    writer.depth, writer.heap, writer.open, writer.jumps, writer.record = 1, [], 0, False, None
    before, ends = writer.exits, RegionEnds()
    yield ends
    ends.fails, ends.heap, ends.jumps = writer.exits > before, writer.heap, writer.jumps
    writer.depth, writer.heap, writer.open, writer.jumps, writer.record = outer


def _condition(writer: FunctionWriter, node: For) -> str:
    """Return the condition under which a loop has work enough for several threads; "" if always."""
    least = least_work(node)
    if not least:
        return ""
    return f"{evaluate(writer, stored_values(node)).within(ATOM)} >= {float(least)!r}"


def _worth(writer: FunctionWriter, node: For) -> str:
    """Return the clause for a loop that runs on several threads only if it has work enough."""
    condition = _condition(writer, node)
    return f" if ({condition})" if condition else ""


def _block(writer: FunctionWriter, node: Block) -> None:
    for axis in node.axes:
        value = _value(writer, axis.binding)
        writer.values[id(axis.var)] = _bound(writer, axis.var.name, value, axis.binding)
    if node.predicate is None:
        _block_body(writer, node)
        return
    with writer.block(f"if ({_value(writer, node.predicate).text})"):
        _block_body(writer, node)


def _bound(writer: FunctionWriter, name: str, value: Code, expr: Expr) -> Code:
    """Return a value that other statements can use: a variable, or what it was already."""
    if value.text.isidentifier() or value.is_literal:
        return value
    return writer.variable(expr.dtype, value, name)


def _block_body(writer: FunctionWriter, node: Block) -> None:
    if node.init is not None:
        reduced = [axis for axis in node.axes if axis.kind == "reduce"]
        tests = [f"{writer.values[id(axis.var)].text} == 0" for axis in reduced]
        if tests:
            with writer.block(f"if ({' && '.join(tests)})"):
                write(writer, node.init)
        else:
            write(writer, node.init)
    write(writer, node.body)


def _if(writer: FunctionWriter, node: If) -> None:
    cond = _value(writer, node.cond)
    with writer.block(f"if ({cond.text})"):
        write(writer, node.then)
    if node.otherwise is not None:
        with writer.block("else"):
            write(writer, node.otherwise)


def _let(writer: FunctionWriter, node: Let) -> None:
    value = _value(writer, node.value)
    if writer.alignment is not None:
        writer.alignment.bind(node.var, node.value)
    made = kept(writer, node, value) or _bound(writer, node.var.name, value, node.value)
    writer.values[id(node.var)] = made
    write(writer, node.body)


def _in_kernel(writer: FunctionWriter, node: Allocate) -> None:
    """Allocate memory of a kernel: of the block if it is shared, else of the thread."""
    buffer, dialect = node.buffer, writer.source.dialect
    size = constant_size(buffer)
    if size is None:
        raise IRKitError(
            f"buffer {buffer.name!r} of a kernel must have constant size", span=buffer.span
        )
    kind, name = memory_type(buffer.dtype), writer.name(buffer.name)
    if writer.alignment is not None:
        writer.alignment.begins(buffer, max(16, buffer.align))
    parts: dict[str, Any] = {
        "kind": kind, "name": name, "size": max(size, 1), "align": max(16, buffer.align),
    }  # fmt: skip
    if buffer.is_shared:  # OpenCL has declarations of shared memory at the top of a kernel only.
        form = dialect.shared
        if writer.shared_end is not None:
            declared, form = dialect.asked
            if not writer.block_memory:
                writer.block_memory.append(declared)
            parts["first"] = writer.shared_end
            writer.shared_end += -(-parts["size"] * buffer.dtype.bytes // 16) * 16
        writer.block_memory.append(form.format(**parts))
        writer.places[id(buffer)] = BufferPointer(name, strides(writer, buffer), "shared")
        write(writer, node.body)
        return
    with writer.block(""):
        writer.line(f"{kind} {name}[{max(size, 1)}];")
        writer.places[id(buffer)] = BufferPointer(name, strides(writer, buffer))
        write(writer, node.body)


def _allocate(writer: FunctionWriter, node: Allocate) -> None:
    if writer.source.dialect.has_threads:
        _in_kernel(writer, node)
        return
    buffer = node.buffer
    with writer.block(""):
        if id(buffer) in writer.allocations:
            fail_unless(writer, writer.allocations[id(buffer)], BAD_SIZE)
        size = constant_size(buffer)
        rules = memory_scope(buffer.scope)
        if rules is None:
            raise IRKitError(f"there is no memory scope {buffer.scope!r}", span=buffer.span)
        whole = None if size is None else size * buffer.dtype.bytes
        problem = rules.size_problem(whole)
        if problem:
            raise IRKitError(f"buffer {buffer.name!r}: {problem}", span=buffer.span)
        align = max(64, buffer.align, rules.align)
        room = STACK_TOTAL - writer.stack_bytes
        if rules.place == "stack" and whole is not None and whole > room:
            raise IRKitError(
                f"buffer {buffer.name!r}: scope {rules.name!r} lies on the stack, where {room} "
                f"bytes are left, found {whole}",
                span=buffer.span,
            )
        small = whole is not None and whole <= min(STACK_ARRAY, room)
        if size is not None and whole is not None and (small or rules.place == "stack"):
            if declare_registers(writer, node):
                write(writer, node.body)
                return
            name = writer.name(buffer.name)
            kind = memory_type(buffer.dtype)
            writer.line(f"_Alignas({align}) {kind} {name}[{max(size, 1)}];")
            writer.places[id(buffer)] = BufferPointer(name, strides(writer, buffer))
            writer.stack_bytes += whole
            write(writer, node.body)
            writer.stack_bytes -= whole
            return
        _on_heap(writer, node, size, align)


def _on_heap(writer: FunctionWriter, node: Allocate, size: int | None, align: int) -> None:
    buffer = node.buffer
    kind = memory_type(buffer.dtype)
    writer.begin_statement()
    if size is not None:
        count = f"INT64_C({size})"
    elif buffer.strides is not None:
        count = evaluate(writer, strided_count(buffer.shape, buffer.strides)).text
    else:
        count = "1"
        for dim in buffer.shape:
            value = evaluate(writer, dim).text
            count = f"{helpers.times(writer.source)}({count}, {value})"
    slot = f"heap{len(writer.heap)}"
    writer.heap.append(slot)
    writer.line(
        f"{slot} = {helpers.allocate(writer.source)}({count}, {buffer.dtype.bytes}, {align});"
    )
    writer.fail(f"!{slot}", OUT_OF_MEMORY)
    writer.open += 1
    name = writer.name(buffer.name)
    writer.line(f"{kind} *const {name} = {slot};")
    writer.places[id(buffer)] = BufferPointer(name, strides(writer, buffer))
    write(writer, node.body)
    writer.open -= 1
    writer.line(f"free({slot});")
    writer.line(f"{slot} = NULL;")


def _view(writer: FunctionWriter, node: View) -> None:
    source, offset = writer.place(node.source), as_int(node.offset)
    if writer.alignment is not None:
        writer.alignment.view(node.buffer, node.source, node.offset)
    pointer = source.pointer
    if offset != 0:
        pointer = f"{pointer} + {_value(writer, node.offset).within(PLUS)}"
    space = writer.source.dialect.spaces[source.space]
    constant = id(node.buffer) not in writer.written
    kind = element_pointer(node.buffer.dtype, constant=constant, space=space)
    name = writer.name(node.buffer.name)
    writer.line(f"{kind}const {name} = {pointer};")
    place = BufferPointer(name, strides(writer, node.buffer), source.space)
    writer.places[id(node.buffer)] = place
    write(writer, node.body)


def _evaluate(writer: FunctionWriter, node: Evaluate) -> None:
    """Write nothing in C: a barrier separates loops over threads by now, and C has no clock."""
    if evaluates(node, "barrier") and writer.source.dialect.has_threads:
        writer.line(writer.source.dialect.barrier)
    elif not is_hint(node) and not evaluates(node, "barrier"):
        value = _value(writer, node.value)
        writer.line(f"(void)({value.text});")


def _assert(writer: FunctionWriter, node: Assert) -> None:
    holds, number = _value(writer, node.cond), writer.failures[id(node)]
    if writer.source.dialect.has_threads:
        raise IRKitError(
            "an assertion in a kernel cannot stop its launch",
            hint='Check with target="llvm", which runs the same program.',
            span=node.span,
        )
    if not node.values or writer.record is None:
        writer.fail(f"!({holds.text})", number)
        return
    with writer.block(f"if (!({holds.text}))"):
        with writer.block(f"if ({writer.record} && {writer.record}[0] == 0)"):
            start = len(writer.log)
            writer.line(f"{writer.record}[0] = {number};")
            for place, value in enumerate(node.values, 1):
                writer.line(
                    f"{writer.record}[{place}] = (int64_t)({evaluate(writer, value).text});"
                )
            writer.forget_since(start)
        writer.leave(number)


def _warp_barrier(writer: FunctionWriter, node: WarpBarrier) -> None:
    writer.line(writer.source.dialect.warp_barrier)


STATEMENTS: dict[type[Stmt], Callable[[FunctionWriter, Any], None]] = {
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
