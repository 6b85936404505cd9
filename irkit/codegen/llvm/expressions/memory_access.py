"""Loads and stores: addresses, contiguous vectors, gathers, masks.

Index values are evaluated already. Accesses that take place have addresses inside the buffer, so
their arithmetic cannot overflow; that of masked lanes can.
"""

from typing import Union

from irkit.codegen.llvm.arithmetic.conversions import narrow, widen
from irkit.codegen.llvm.builder.scope import Extent, FunctionScope
from irkit.codegen.llvm.builder.types import (
    as_vector,
    is_small_float,
    memory_type,
    suffix,
    value_type,
)
from irkit.core import IRKitError
from irkit.ir import I64, Broadcast, DType, Expr, Load, Ramp, Store, as_int

Access = Union[Load, Store]
_MOST_STEP = 4


def load(scope: FunctionScope, node: Load) -> str:
    """Read an element or a vector of elements."""
    lanes, mask = node.dtype.lanes, _mask(scope, node)
    if mask is None:
        raw = _read(scope, node, lanes)
    else:
        raw = _read_masked(scope, node, lanes, mask)
    if is_small_float(node.dtype):
        scope.bits[id(node)] = raw
    return from_memory(scope, node.dtype, raw)


def store(scope: FunctionScope, node: Store) -> None:
    """Write an element or a vector of elements."""
    dtype = node.value.dtype
    lanes = max((dtype.lanes, *(index.dtype.lanes for index in node.indices)))
    value = held(scope, node.value)
    if dtype.lanes < lanes:
        value = broadcast(scope, memory_type(dtype), value, lanes)
    mask, text = _mask(scope, node), scope.text
    kind, align = memory_type(dtype.with_lanes(lanes)), _align(scope, node)
    if _together(scope, node):
        pointer = _address(scope, node, inbounds=mask is None)
        if mask is None:
            text.line(f"store {kind} {value}, ptr {pointer}, align {align}")
            return
        if lanes > 1 and _is_own(scope, node):
            # What is read next is wider than what a masked store writes: that would wait for it.
            old = text.op(f"load {kind}, ptr {pointer}, align {align}")
            new = text.op(f"select {_bools(lanes)} {mask}, {kind} {value}, {kind} {old}")
            text.line(f"store {kind} {new}, ptr {pointer}, align {align}")
            return
        vector, value = (kind, value) if lanes > 1 else _one(scope, kind, value)
        name = f"llvm.masked.store.{suffix(vector)}.p0"
        text.module.declare(name, f"declare void @{name}({vector}, ptr, {_bools(lanes)})")
        text.line(
            f"call void @{name}({vector} {value}, ptr align {align} {pointer}, "
            f"{_bools(lanes)} {mask})"
        )
        return
    pointers = _addresses(scope, node, lanes)
    table = as_vector("ptr", lanes)
    name = f"llvm.masked.scatter.{suffix(kind)}.{suffix(table)}"
    text.module.declare(name, f"declare void @{name}({kind}, {table}, {_bools(lanes)})")
    text.line(
        f"call void @{name}({kind} {value}, {table} align {align} {pointers}, "
        f"{_bools(lanes)} {mask or _all(lanes)})"
    )


def prefetch(scope: FunctionScope, node: Load) -> None:
    """Prefetch the memory of an element into the second cache; any address is allowed.

    What is prefetched a panel ahead would only displace what is used now from the first cache.
    """
    pointer = _address(scope, node, inbounds=False)
    name = "llvm.prefetch.p0"
    scope.text.module.declare(name, f"declare void @{name}(ptr, i32, i32, i32)")
    scope.text.line(f"call void @{name}(ptr {pointer}, i32 0, i32 2, i32 1)")


def from_memory(scope: FunctionScope, dtype: DType, raw: str) -> str:
    """Convert from the type in memory to a value: widen 16-bit floats, test bools."""
    if is_small_float(dtype):
        return widen(scope.text, dtype, raw)
    if dtype.is_bool:
        zero = "0" if dtype.lanes == 1 else "zeroinitializer"
        return scope.text.op(f"icmp ne {memory_type(dtype)} {raw}, {zero}")
    return raw


def to_memory(scope: FunctionScope, dtype: DType, value: str) -> str:
    """Convert a value to the type in memory."""
    if is_small_float(dtype):
        return narrow(scope.text, dtype, value)
    if dtype.is_bool:
        return scope.text.op(f"zext {value_type(dtype)} {value} to {memory_type(dtype)}")
    return value


def held(scope: FunctionScope, value: Expr) -> str:
    """Return a value that is evaluated as it is in memory; LLVM would not see that widening and
    rounding cancel."""
    if is_small_float(value.dtype):
        bits = scope.bits.get(id(value)) or scope.variable_bits.get(id(value))
        return narrow(scope.text, value.dtype, scope.of(value)) if bits is None else bits
    return to_memory(scope, value.dtype, scope.of(value))


def _align(scope: FunctionScope, node: Access) -> int:
    """Return the bytes to which the first element of an access is known to be aligned."""
    if scope.alignment is None or len(node.indices) != 1:
        return node.buffer.dtype.bytes
    return scope.alignment.of(node.buffer, node.indices[0])


def broadcast(scope: FunctionScope, kind: str, value: str, lanes: int) -> str:
    """Repeat a scalar in every lane."""
    vector, text = as_vector(kind, lanes), scope.text
    first = text.op(f"insertelement {vector} poison, {kind} {value}, i32 0")
    zeros = f"{as_vector('i32', lanes)} zeroinitializer"
    return text.op(f"shufflevector {vector} {first}, {vector} poison, {zeros}")


def _read(scope: FunctionScope, node: Load, lanes: int) -> str:
    kind, align = memory_type(node.dtype), _align(scope, node)
    if _together(scope, node):
        pointer = _address(scope, node, inbounds=True)
        return scope.text.op(f"load {kind}, ptr {pointer}, align {align}")
    if all(_is_uniform(index) for index in node.indices):
        pointer = _address(scope, node, inbounds=True)
        scalar = memory_type(node.dtype.element)
        one = scope.text.op(f"load {scalar}, ptr {pointer}, align {align}")
        return broadcast(scope, scalar, one, lanes)
    step = _small_step(scope, node)
    if step is not None and lanes >= step:
        return _read_by_steps(scope, node, lanes, step)
    return _gather(scope, node, lanes, _all(lanes))


def _small_step(scope: FunctionScope, node: Load) -> int | None:
    """Return the distance of the elements of a load along a dimension of stride 1, if it is a small
    constant above 1."""
    strides = scope.place(node.buffer).strides
    pairs = zip(node.indices, strides, strict=True)
    vectors = [(index, stride) for index, stride in pairs if not _is_uniform(index)]
    index, stride = vectors[0]
    if len(vectors) > 1 or not isinstance(index, Ramp) or stride != 1:
        return None
    step = as_int(index.stride)
    return step if step is not None and 1 < step <= _MOST_STEP else None


def _read_by_steps(scope: FunctionScope, node: Load, lanes: int, step: int) -> str:
    """Read all elements between the first and the last as whole vectors, and choose: a gather takes
    a load for each lane."""
    kind, align, text = memory_type(node.dtype), node.dtype.bytes, scope.text
    element = memory_type(node.dtype.element)
    first = _address(scope, node, inbounds=True)
    last = (lanes - 1) * (step - 1)  # The last vector ends at the last element.
    begins = [part * lanes for part in range(step - 1)] + [last]
    found = ""
    for part, begin in enumerate(begins):
        at = text.op(f"getelementptr inbounds {element}, ptr {first}, i64 {begin}")
        read = text.op(f"load {kind}, ptr {at}, align {align}")
        if not found:
            found = read
            continue
        chosen: list[str] = []
        for lane in range(lanes):
            place = lane * step
            if min(place // lanes, step - 1) == part:
                chosen.append(f"i32 {lanes + place - begin}")
            else:  # Found before; vectors that follow replace the rest.
                chosen.append(f"i32 {place % lanes if part == 1 else lane}")
        order = f"<{lanes} x i32> <{', '.join(chosen)}>"
        found = text.op(f"shufflevector {kind} {found}, {kind} {read}, {order}")
    return found


def _read_masked(scope: FunctionScope, node: Load, lanes: int, mask: str) -> str:
    if not _together(scope, node):
        return _gather(scope, node, lanes, mask)
    text, align = scope.text, node.dtype.bytes
    vector = f"<{lanes} x {memory_type(node.dtype.element)}>"
    pointer = _address(scope, node, inbounds=False)
    name = f"llvm.masked.load.{suffix(vector)}.p0"
    text.module.declare(name, f"declare {vector} @{name}(ptr, {_bools(lanes)}, {vector})")
    read = text.op(
        f"call {vector} @{name}(ptr align {align} {pointer}, {_bools(lanes)} {mask}, "
        f"{vector} zeroinitializer)"
    )
    return read if lanes > 1 else text.op(f"extractelement {vector} {read}, i32 0")


def _gather(scope: FunctionScope, node: Load, lanes: int, mask: str) -> str:
    kind, table, text = memory_type(node.dtype), as_vector("ptr", lanes), scope.text
    pointers = _addresses(scope, node, lanes)
    name = f"llvm.masked.gather.{suffix(kind)}.{suffix(table)}"
    text.module.declare(name, f"declare {kind} @{name}({table}, {_bools(lanes)}, {kind})")
    return text.op(
        f"call {kind} @{name}({table} align {node.dtype.bytes} {pointers}, "
        f"{_bools(lanes)} {mask}, {kind} zeroinitializer)"
    )


def _mask(scope: FunctionScope, node: Access) -> str | None:
    """Combine the mask of an access with that of the conditional around it.

    A mask of one lane is a vector of one.
    """
    lanes = max((index.dtype.lanes for index in node.indices), default=1)
    if isinstance(node, Store):
        lanes = max(lanes, node.value.dtype.lanes)
    own = None if node.mask is None else scope.of(node.mask)
    if own is not None and node.mask is not None and node.mask.dtype.lanes < lanes:
        own = broadcast(scope, "i1", own, lanes)
    around = _around(scope, lanes)
    if own is None or around is None:
        found = own or around
    else:
        found = scope.text.op(f"and {as_vector('i1', lanes)} {own}, {around}")
    return _one(scope, "i1", found)[1] if found is not None and lanes == 1 else found


def _is_own(scope: FunctionScope, node: Store) -> bool:
    """Return True if a store is to memory of this thread alone, and stays there where it is
    masked."""
    if node.buffer.scope != "local" or scope.is_outside(node.buffer):
        return False
    for index, dim in zip(node.indices, node.buffer.shape, strict=True):
        first, size = as_int(_first_lane(index)), as_int(dim)
        if first is None or size is None or not 0 <= first <= size - index.dtype.lanes:
            return False
    return True


def _around(scope: FunctionScope, lanes: int) -> str | None:
    if scope.mask is None:
        return None
    mask, wide = scope.mask
    if wide == lanes:
        return mask
    # A scalar access under a vector conditional happens if any lane is active.
    name, kind = f"llvm.vector.reduce.or.v{wide}i1", as_vector("i1", wide)
    scope.text.module.declare(name, f"declare i1 @{name}({kind})")
    some = scope.text.call(name, "i1", (kind, mask))
    return some if lanes == 1 else broadcast(scope, "i1", some, lanes)


def _one(scope: FunctionScope, kind: str, value: str) -> tuple[str, str]:
    """Return a scalar as a vector of one lane, as masked accesses require."""
    vector = f"<1 x {kind}>"
    return vector, scope.text.op(f"insertelement {vector} poison, {kind} {value}, i32 0")


def _bools(lanes: int) -> str:
    return f"<{lanes} x i1>"


def _all(lanes: int) -> str:
    return "splat (i1 true)"


def _is_uniform(index: Expr) -> bool:
    return index.dtype.lanes == 1 or isinstance(index, Broadcast)


def _together(scope: FunctionScope, node: Access) -> bool:
    """Return True if the elements are contiguous: one ramp by 1 along a dimension of stride 1."""
    strides = scope.place(node.buffer).strides
    if len(strides) != len(node.indices):
        raise IRKitError(
            f"buffer {node.buffer.name!r} has {len(strides)} dimensions, but is accessed with "
            f"{len(node.indices)} indices"
        )
    vectors = [
        (index, stride)
        for index, stride in zip(node.indices, strides, strict=True)
        if not _is_uniform(index)
    ]
    if not vectors:
        value = node.value if isinstance(node, Store) else node
        wide = any(index.dtype.lanes > 1 for index in node.indices) or value.dtype.lanes > 1
        return not wide
    index, stride = vectors[0]
    return (
        len(vectors) == 1 and isinstance(index, Ramp) and as_int(index.stride) == 1 and stride == 1
    )


def _address(scope: FunctionScope, node: Access, *, inbounds: bool) -> str:
    """Compute the pointer to the (first) element."""
    place = scope.place(node.buffer)
    firsts = [_first_lane(index) for index in node.indices]
    total = "0"
    for index, stride in zip(firsts, place.strides, strict=True):
        total = _add(scope, total, _scaled(scope, as_i64(scope, index), stride, inbounds), inbounds)
    if total == "0":
        return place.pointer
    element = memory_type(node.buffer.dtype.element)
    how = "getelementptr inbounds" if inbounds else "getelementptr"
    return scope.text.op(f"{how} {element}, ptr {place.pointer}, i64 {total}")


def _first_lane(index: Expr) -> Expr:
    if isinstance(index, Ramp):
        return index.base
    return index.value if isinstance(index, Broadcast) else index


def as_i64(scope: FunctionScope, index: Expr) -> str:
    """Widen an index value to i64."""
    value, dtype = scope.of(index), index.dtype
    if dtype.bits == 64 or value.lstrip("-").isdigit():
        return value
    kind, wide = value_type(dtype), value_type(I64.with_lanes(dtype.lanes))
    return scope.text.op(f"{'sext' if dtype.kind == 'i' else 'zext'} {kind} {value} to {wide}")


def _scaled(scope: FunctionScope, value: str, stride: Extent, exact: bool) -> str:
    if stride == 1 or value == "0":
        return value
    if isinstance(stride, int) and value.lstrip("-").isdigit():
        return str(int(value) * stride)
    return scope.text.op(f"mul {'nsw ' if exact else ''}i64 {value}, {stride}")


def _add(scope: FunctionScope, a: str, b: str, exact: bool) -> str:
    if a == "0" or b == "0":
        return b if a == "0" else a
    return scope.text.op(f"add {'nsw ' if exact else ''}i64 {a}, {b}")


def _addresses(scope: FunctionScope, node: Access, lanes: int) -> str:
    """Compute a vector of pointers; those of masked lanes can be anything."""
    place, text = scope.place(node.buffer), scope.text
    wide = as_vector("i64", lanes)
    total = ""
    for index, stride in zip(node.indices, place.strides, strict=True):
        value = as_i64(scope, index)
        if index.dtype.lanes == 1:
            value = broadcast(scope, "i64", value, lanes)
        if stride != 1:
            value = text.op(f"mul {wide} {value}, {broadcast(scope, 'i64', str(stride), lanes)}")
        total = text.op(f"add {wide} {total}, {value}") if total else value
    element = memory_type(node.buffer.dtype.element)
    return text.op(f"getelementptr {element}, ptr {place.pointer}, {wide} {total or '0'}")
