"""Loads and stores: addresses, contiguous vectors, gathers, masks.

Index values are evaluated already, but those of vectors that are made of scalars are taken apart:
the address of contiguous elements needs the first lane only.
"""

from collections.abc import Callable
from typing import Union

from irkit.codegen.c import helpers
from irkit.codegen.c.lanes import broadcast, declared, over_lanes
from irkit.codegen.c.types import (
    element_type,
    is_small,
    lane,
    memory_lane,
    memory_type,
    padded,
    unsigned,
)
from irkit.codegen.c.writer import ATOM, LOWEST, PLUS, TIMES, UNARY, Code, FunctionWriter
from irkit.core import IRKitError
from irkit.ir import BOOL, Broadcast, DType, Expr, Load, Ramp, Store, as_int

Access = Union[Load, Store]
Index = Callable[[Expr], Code]
_HALF = 1 << 31


def _is_uniform(index: Expr) -> bool:
    return index.dtype.lanes == 1 or isinstance(index, Broadcast)


def load(writer: FunctionWriter, node: Load) -> Code:
    """Read an element or a vector of elements."""
    names = writer.registers.get(id(node.buffer))
    if names is not None:  # In parentheses: the name of a value would be a constant.
        return Code(f"({names[_first_element(node)]})")
    lanes, dtype = node.dtype.lanes, node.dtype
    mask = _mask(writer, node, lanes)
    if lanes == 1:
        found = f"{writer.place(node.buffer).pointer}[{_address(writer, node, _first(writer))}]"
        value = from_memory(writer, dtype, found)
        if mask is None:
            return value
        made = writer.name("t")
        writer.line(f"{writer.type_of(dtype)} {made} = 0;")
        writer.line(f"if ({mask}) {made} = {value.text};")
        return Code(made, ATOM, min(0, value.low), max(0, value.high))
    if mask is None and _together(writer, node):
        return _contiguous(writer, node)
    if mask is None and all(map(_is_uniform, node.indices)):
        found = f"{writer.place(node.buffer).pointer}[{_address(writer, node, _first(writer))}]"
        one = writer.variable(dtype.element, from_memory(writer, dtype.element, found))
        return broadcast(writer, dtype, one)
    pick = _lane_of(writer)
    at = _address(writer, node, pick)
    made = declared(writer, lane(dtype), lanes)
    element = from_memory(writer, dtype.element, f"{writer.place(node.buffer).pointer}[{at}]")
    guard = "" if mask is None else f"if ({mask}[lane]) "
    text = f"-({element.text})" if dtype.is_bool else element.text
    if mask is not None and _is_whole(writer, node, dtype):
        writer.line(f"if ({_all(writer, mask, lanes)}) {made} = {_contiguous(writer, node).text};")
        over_lanes(writer, lanes, f"if ({mask}[lane]) {made}[lane] = {text};", head="else ")
        return Code(made)
    over_lanes(writer, lanes, f"{guard}{made}[lane] = {text};")
    return Code(made)


def store(writer: FunctionWriter, node: Store, value: Code) -> None:
    """Write an element or a vector of elements."""
    names = writer.registers.get(id(node.buffer))
    if names is not None:
        writer.line(f"{names[_first_element(node)]} = {value.text};")
        return
    dtype = node.value.dtype
    lanes = max((dtype.lanes, *(index.dtype.lanes for index in node.indices)))
    mask = _mask(writer, node, lanes)
    pointer = writer.place(node.buffer).pointer
    if lanes == 1:
        at = f"{pointer}[{_address(writer, node, _first(writer))}]"
        guard = "" if mask is None else f"if ({mask}) "
        kept = value.bits or to_memory(writer, dtype, value.text)
        writer.line(f"{guard}{at} = {kept};")
        return
    if mask is None and dtype.lanes == lanes and _together(writer, node):
        _store_contiguous(writer, node, value)
        return
    name = writer.named(dtype, value)
    at = _address(writer, node, _lane_of(writer))
    one = name if dtype.lanes == 1 else f"{name}[lane]"
    guard = "" if mask is None else f"if ({mask}[lane]) "
    text = to_memory(writer, dtype.element, one, in_vector=dtype.lanes > 1)
    if mask is not None and dtype.lanes == lanes and _is_whole(writer, node, dtype):
        kind = writer.source.vector(memory_lane(dtype), lanes, loose=True)
        first = f"{pointer}[{_address(writer, node, _first(writer))}]"
        space = _space(writer, node)
        writer.line(f"if ({_all(writer, mask, lanes)}) *({space}{kind} *)&{first} = {name};")
        over_lanes(writer, lanes, f"if ({mask}[lane]) {pointer}[{at}] = {text};", head="else ")
        return
    over_lanes(writer, lanes, f"{guard}{pointer}[{at}] = {text};")


def _first_element(node: Access) -> int:
    (index,) = node.indices
    first = as_int(index.base) if isinstance(index, Ramp) else None
    assert first is not None, "an array of variables is accessed at fixed places"
    return first


def _is_whole(writer: FunctionWriter, node: Access, dtype: DType) -> bool:
    """Return True if all lanes together are one vector in memory that needs no conversion."""
    plain = memory_lane(dtype) == lane(dtype) and padded(dtype.lanes) == dtype.lanes
    return plain and _together(writer, node)


def _all(writer: FunctionWriter, mask: str, lanes: int) -> str:
    """Return the test whether a mask holds in all lanes, which is common: a loop over lanes takes
    far longer than a vector."""
    return f"{helpers.all_lanes(writer.source, lanes)}(&{mask})"


def from_memory(writer: FunctionWriter, dtype: DType, text: str) -> Code:
    """Return the value of an element in memory."""
    if is_small(dtype):
        return Code(f"{helpers.widen(writer.source, dtype)}({text})", bits=text)
    if dtype.is_bool:
        return Code(f"{text} != 0", LOWEST, 0, 1)
    return Code(text, ATOM, *((0, 0) if dtype.is_float else (dtype.low, dtype.high)))


def to_memory(writer: FunctionWriter, dtype: DType, text: str, *, in_vector: bool = False) -> str:
    """Return an element as it is in memory; a bool ``in_vector`` is 0 or -1."""
    if is_small(dtype):
        return f"{helpers.narrow(writer.source, dtype)}({text})"
    return f"({text}) != 0" if dtype.is_bool and in_vector else text


def _contiguous(writer: FunctionWriter, node: Load) -> Code:
    dtype, lanes = node.dtype, node.dtype.lanes
    stored, source = memory_lane(dtype), writer.source
    first = f"{writer.place(node.buffer).pointer}[{_address(writer, node, _first(writer))}]"
    if padded(lanes) == lanes:
        kind = source.vector(stored, lanes, loose=True)
        found = f"*({_space(writer, node)}const {kind} *)&{first}"
        align = _wide(writer, node)
        if align:
            kind = source.vector(stored, lanes)
            found = source.dialect.read.format(kind=kind, align=align, first=first)
        if stored == lane(dtype):
            return Code(found, UNARY)
        raw = writer.name("t")
        writer.line(f"const {source.vector(stored, lanes)} {raw} = {found};")
    else:
        raw = declared(writer, stored, lanes)
        size = lanes * dtype.bytes
        writer.line(f"memcpy(&{raw}, &{first}, {size});")
    if dtype.is_bool:
        return Code(f"({writer.type_of(dtype)})({raw} != 0)", UNARY)
    if dtype.kind == "bf":
        wide, kind = source.vector("u32", lanes), writer.type_of(dtype)
        text = f"({kind})(__builtin_convertvector({raw}, {wide}) << 16)"
        return Code(text, UNARY, bits=raw)
    if is_small(dtype):
        call = helpers.widen(source, dtype)
        made = declared(writer, lane(dtype), lanes)
        over_lanes(writer, lanes, f"{made}[lane] = {call}({raw}[lane]);")
        return Code(made, bits=raw)
    return Code(raw)


def _wide(writer: FunctionWriter, node: Access) -> int:
    """Return the bytes to which a vector in memory outside of the thread is known to be aligned,
    where the language must be told; 0 if that is an element's."""
    if writer.alignment is None or len(node.indices) != 1 or not writer.place(node.buffer).space:
        return 0
    align = writer.alignment.of(node.buffer, node.indices[0])
    return align if align > node.buffer.dtype.bytes else 0


def _store_contiguous(writer: FunctionWriter, node: Store, value: Code) -> None:
    dtype, lanes = node.value.dtype, node.value.dtype.lanes
    stored, source = memory_lane(dtype), writer.source
    first = f"{writer.place(node.buffer).pointer}[{_address(writer, node, _first(writer))}]"
    if value.bits:
        value = Code(value.bits)
    elif is_small(dtype):
        call, name = helpers.narrow(source, dtype), writer.named(dtype, value)
        held = declared(writer, stored, lanes)
        over_lanes(writer, lanes, f"{held}[lane] = {call}({name}[lane]);")
        value = Code(held)
    elif dtype.is_bool:
        kind = source.vector("u8", lanes)
        value = Code(f"({kind})({value.atom} & 1)", UNARY)
    if padded(lanes) == lanes:
        kind, align = source.vector(stored, lanes, loose=True), _wide(writer, node)
        if align:
            form = source.dialect.write
            writer.line(form.format(align=align, first=first, value=value.text))
            return
        writer.line(f"*({_space(writer, node)}{kind} *)&{first} = {value.text};")
        return
    kind, name = source.vector(stored, lanes), value.text
    if not name.isidentifier():
        name = writer.name("t")
        writer.line(f"const {kind} {name} = {value.text};")
    writer.line(f"memcpy(&{first}, &{name}, {lanes * dtype.bytes});")


def _mask(writer: FunctionWriter, node: Access, lanes: int) -> str | None:
    """Return the name of the mask of an access, combined with that of the conditional around it."""
    found: list[str] = []
    if node.mask is not None:
        own = writer.named(node.mask.dtype, writer.of(node.mask))
        if node.mask.dtype.lanes < lanes:
            kind = writer.source.vector("i8", lanes)
            own = f"((int8_t)-({own}) - {writer.source.zeros(kind)})"
        found.append(own)
    if writer.mask is not None:
        around, wide = writer.mask
        if wide == lanes:
            found.append(around)
        else:  # A scalar access under a vector conditional happens if any lane is active.
            some = writer.name("some")
            writer.line(f"int8_t {some} = 0;")
            over_lanes(writer, wide, f"{some} |= {around}[lane];")
            if lanes > 1:
                zeros = writer.source.zeros(writer.source.vector("i8", lanes))
                some = f"({some} - {zeros})"
            found.append(some)
    if not found:
        return None
    if len(found) == 1 and found[0].isidentifier():
        return found[0]
    dtype = BOOL.with_lanes(lanes)
    return writer.variable(dtype, Code(" & ".join(found)), "m").text


def _together(writer: FunctionWriter, node: Access) -> bool:
    """Return True if the elements are contiguous: one ramp by 1 along a dimension of stride 1."""
    strides = _strides(writer, node)
    vectors = [
        (index, stride)
        for index, stride in zip(node.indices, strides, strict=True)
        if not _is_uniform(index)
    ]
    if len(vectors) != 1:
        return False
    index, stride = vectors[0]
    return isinstance(index, Ramp) and as_int(index.stride) == 1 and stride == 1


def _strides(writer: FunctionWriter, node: Access) -> tuple[int | str, ...]:
    strides = writer.place(node.buffer).strides
    if len(strides) != len(node.indices):
        raise IRKitError(
            f"buffer {node.buffer.name!r} has {len(strides)} dimensions, but is accessed with "
            f"{len(node.indices)} indices"
        )
    return strides


def _address(writer: FunctionWriter, node: Access, pick: Index) -> str:
    """Return the offset of an element, in elements."""
    terms: list[str] = []
    low = high = 0  # The ends of the sum of those terms that C computes as an int.
    for index, stride in zip(node.indices, _strides(writer, node), strict=True):
        value = pick(index)
        if value.text == "0":
            continue
        is_int = index.dtype.bits < 64 or value.is_literal
        factor = stride if isinstance(stride, int) else 1
        ends = value.low * factor, value.high * factor
        if is_int and (isinstance(stride, str) or min(ends) < -_HALF or max(ends) >= _HALF):
            value, is_int = Code(f"(int64_t){value.within(UNARY)}", UNARY), False
        if is_int:
            low, high = low + min(ends), high + max(ends)
        terms.append(value.within(PLUS) if stride == 1 else f"{value.within(TIMES)} * {stride}")
    if low < -_HALF or high >= _HALF:
        terms.insert(0, "(int64_t)0")
    return " + ".join(terms) or "0"


def _first(writer: FunctionWriter) -> Index:
    """Return what takes the first lane of an index."""

    def pick(index: Expr) -> Code:
        if isinstance(index, Ramp):
            return writer.of(index.base)
        if isinstance(index, Broadcast):
            return writer.of(index.value)
        return writer.of(index)

    return pick


def _lane_of(writer: FunctionWriter) -> Index:
    """Return what takes lane ``lane`` of an index."""

    def pick(index: Expr) -> Code:
        if index.dtype.lanes == 1:
            return writer.of(index)
        if isinstance(index, Broadcast):
            return writer.of(index.value)
        if isinstance(index, Ramp):
            plain = _plain_ramp(writer, index)
            if plain is not None:
                return plain
        name = writer.named(index.dtype, writer.of(index))
        return Code(f"{name}[lane]", ATOM, index.dtype.low, index.dtype.high)

    return pick


def _plain_ramp(writer: FunctionWriter, index: Ramp) -> Code | None:
    """Return lane ``lane`` of a ramp that does not wrap around."""
    base, stride = writer.of(index.base), as_int(index.stride)
    if stride is None:
        return None
    last = stride * (index.dtype.lanes - 1)
    low, high = base.low + min(0, last), base.high + max(0, last)
    if low < index.dtype.low or high > index.dtype.high or abs(last) >= 1 << 31:
        return None
    step = "lane" if stride == 1 else f"lane * {stride}"
    if index.dtype.kind == "u":
        step = f"({element_type(unsigned(lane(index.dtype)))})lane * {stride}"
    return Code(f"({base.within(PLUS)} + {step})", ATOM, low, high)


def _space(writer: FunctionWriter, node: Access) -> str:
    return writer.source.dialect.spaces[writer.place(node.buffer).space]


def element_pointer(dtype: DType, *, constant: bool, space: str = "") -> str:
    """Return the C type of a pointer to the elements of a buffer; ``space`` is the qualifier of
    their memory."""
    return f"{space}{'const ' if constant else ''}{memory_type(dtype)} *"
