"""Memory of buffers: strides, sizes, allocation on the stack or the heap."""

import math
from collections.abc import Sequence

from irkit.codegen.llvm.arithmetic.integer_ops import saturated_product
from irkit.codegen.llvm.builder.exits import BAD_SIZE, OUT_OF_MEMORY, fail_if
from irkit.codegen.llvm.builder.scope import BufferPlace, Extent, FunctionScope
from irkit.codegen.llvm.builder.types import memory_type
from irkit.codegen.llvm.expressions.expressions import evaluate
from irkit.codegen.llvm.expressions.memory_access import as_i64
from irkit.core import MOST_ELEMENTS, DTypeError, IRKitError
from irkit.ir import I64, Buffer, Expr, MemoryScope, as_int, memory_scope, strided_count

# Larger arrays go to the heap: threads have small stacks.
STACK_ARRAY = 64 << 10
STACK_TOTAL = 256 << 10


def place_buffer(scope: FunctionScope, buffer: Buffer, pointer: str) -> BufferPlace:
    """Compute the strides of a buffer and record its place."""
    if buffer.dtype.lanes > 1:
        raise DTypeError(
            f"buffer {buffer.name!r} has elements of type {buffer.dtype}; vectors are "
            "no element type"
        )
    place = BufferPlace(pointer, strides(scope, buffer))
    scope.places[id(buffer)] = place
    return place


def strides(scope: FunctionScope, buffer: Buffer) -> tuple[Extent, ...]:
    """Compute the distance between neighbours along each dimension, in elements."""
    if buffer.strides is not None:
        return tuple(extent(scope, stride) for stride in buffer.strides)
    found: list[Extent] = []
    step: Extent = 1
    for dim in buffer.shape[:0:-1]:
        found.append(step)
        step = _times(scope, step, extent(scope, dim))
    return tuple(reversed([*found, step][: buffer.rank]))


def extent(scope: FunctionScope, dim: Expr) -> Extent:
    """Evaluate a dimension or stride to a number or an i64."""
    known = as_int(dim)
    if known is not None:
        return known
    evaluate(scope, dim)
    return as_i64(scope, dim)


def _times(scope: FunctionScope, a: Extent, b: Extent) -> Extent:
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    if a == 1 or b == 1:
        return b if a == 1 else a
    return scope.text.op(f"mul nsw i64 {a}, {b}")


def fail_unless(scope: FunctionScope, cond: Expr, status: int) -> None:
    """Leave the function with a status if a condition on sizes does not hold."""
    scope.begin_statement()
    flags, scope.flags = scope.flags, ""  # The condition relies on the error of each operation.
    holds = evaluate(scope, cond)
    scope.flags = flags
    fail_if(scope, scope.text.op(f"xor i1 {holds}, true"), status)


def allocate(scope: FunctionScope, buffer: Buffer) -> str | None:
    """Allocate a buffer; return the slot that holds its pointer if it is on the heap."""
    if id(buffer) in scope.allocations:
        fail_unless(scope, scope.allocations[id(buffer)], BAD_SIZE)
    scope.begin_statement()
    dims = [extent(scope, dim) for dim in buffer.shape]
    if buffer.strides is not None:
        dims = [_reach(scope, buffer.shape, buffer.strides)]
    known = [dim for dim in dims if isinstance(dim, int)]
    size = math.prod(max(dim, 0) for dim in known) if len(known) == len(dims) else None
    element, rules = buffer.dtype.element, _rules(buffer)
    whole = None if size is None else size * element.bytes
    problem = rules.size_problem(whole)
    if problem:
        raise IRKitError(f"buffer {buffer.name!r}: {problem}", span=buffer.span)
    align = max(64, buffer.align, rules.align)
    if scope.text.module.device is not None:
        _in_kernel(scope, buffer, size, max(16, buffer.align))
        return None
    if size is not None and whole is not None:
        if _on_stack(scope, buffer, rules, whole):
            scope.stack_bytes += whole
            kind = f"[{max(size, 1)} x {memory_type(element)}]"
            place_buffer(scope, buffer, scope.text.alloca(f"{kind}, align {align}"))
            return None
        dims = [size]
    slot, pointer = _from_heap(scope, [*dims, element.bytes], align)
    place_buffer(scope, buffer, pointer)
    return slot


def _in_kernel(scope: FunctionScope, buffer: Buffer, size: int | None, align: int) -> None:
    """Allocate memory of a kernel: of the block if it is shared, else of the thread."""
    if size is None:
        raise IRKitError(
            f"buffer {buffer.name!r} of a kernel must have constant size", span=buffer.span
        )
    text = scope.text
    if scope.alignment is not None:
        scope.alignment.begins(buffer, align)
    kind = f"[{max(size, 1)} x {memory_type(buffer.dtype.element)}]"
    if not buffer.is_shared:
        place_buffer(scope, buffer, text.alloca(f"{kind}, align {align}"))
        return
    if text.module.shared_end is not None:
        first, size_in = text.module.shared_end, max(size, 1) * buffer.dtype.bytes
        text.module.shared_end += -(-size_in // 16) * 16
        memory = "@irkit_shared = external addrspace(3) global [0 x i8], align 16"
        text.module.declare("@irkit_shared", memory)
        at = text.op(f"getelementptr i8, ptr addrspace(3) @irkit_shared, i64 {first}")
        place_buffer(scope, buffer, text.op(f"addrspacecast ptr addrspace(3) {at} to ptr"))
        return
    name = f"@shared{len(text.module.declared)}"
    memory = f"{name} = internal addrspace(3) global {kind} undef, align {align}"
    text.module.declare(name, memory)
    place_buffer(scope, buffer, text.op(f"addrspacecast ptr addrspace(3) {name} to ptr"))


def _rules(buffer: Buffer) -> MemoryScope:
    found = memory_scope(buffer.scope)
    if found is None:
        raise IRKitError(f"there is no memory scope {buffer.scope!r}", span=buffer.span)
    return found


def _on_stack(scope: FunctionScope, buffer: Buffer, rules: MemoryScope, whole: int) -> bool:
    """Return True if a buffer of so many bytes lies on the stack."""
    room = STACK_TOTAL - scope.stack_bytes
    if rules.place == "stack" and whole > room:
        raise IRKitError(
            f"buffer {buffer.name!r}: scope {rules.name!r} lies on the stack, where {room} bytes"
            f" are left, found {whole}",
            span=buffer.span,
        )
    if rules.place:
        return rules.place == "stack"
    return whole <= min(STACK_ARRAY, room)


def _reach(scope: FunctionScope, shape: Sequence[Expr], strides: Sequence[Expr]) -> Extent:
    """Count the elements from the first to the last of a buffer with strides."""
    made = strided_count(shape, strides)
    found = extent(scope, made)
    scope.begin_statement()  # Values are kept by identity, and the expression ends here.
    return found


def _from_heap(scope: FunctionScope, factors: list[Extent], align: int) -> tuple[str, str]:
    """Allocate a computed number of bytes; fail if the size overflows or memory runs out."""
    text = scope.text
    size = _checked_product(scope, factors)
    padded = text.op(f"add i64 {size}, {2 * align - 1}")  # Never 0, and rounded up.
    rounded = text.op(f"and i64 {padded}, {-align}")
    text.module.declare(
        "aligned_alloc", "declare noalias ptr @aligned_alloc(i64 allocalign, i64) #3"
    )
    text.module.declare("free", "declare void @free(ptr) #3")
    slot = text.alloca("ptr, align 8")
    text.entry.append(f"  store ptr null, ptr {slot}, align 8")
    scope.heap.append(slot)
    pointer = text.call("aligned_alloc", "ptr", ("i64", str(align)), ("i64", rounded))
    missing = text.op(f"icmp eq ptr {pointer}, null")
    fail_if(scope, missing, OUT_OF_MEMORY)
    text.line(f"store ptr {pointer}, ptr {slot}, align 8")
    return slot, pointer


def _checked_product(scope: FunctionScope, factors: list[Extent]) -> str:
    """Multiply extents and the size of an element; fail if the product is beyond any memory.

    A factor of 0 or less makes it 0, however large the others are.
    """
    text = scope.text
    known = math.prod(max(factor, 0) for factor in factors if isinstance(factor, int))
    total = str(min(known, I64.high))
    computed = [factor for factor in factors if not isinstance(factor, int)]
    if not computed:
        return str(min(known, MOST_ELEMENTS))
    for factor in computed:
        total = saturated_product(text, total, text.intrinsic("smax", "i64", factor, "0"))
    fail_if(scope, text.op(f"icmp ugt i64 {total}, {MOST_ELEMENTS}"), OUT_OF_MEMORY)
    return total


def release(scope: FunctionScope, slot: str, buffer: Buffer) -> None:
    """Free memory and clear its slot, so that it is not freed again at the end."""
    text = scope.text
    text.line(f"call void @free(ptr {scope.place(buffer).pointer})")
    text.line(f"store ptr null, ptr {slot}, align 8")
