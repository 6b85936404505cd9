"""Pieces of code about lanes: loops over them, masks, vectors of one value."""

from irkit.codegen.c.types import element_type, lane, padded, unsigned
from irkit.codegen.c.writer import PLUS, UNARY, Code, FunctionWriter
from irkit.ir import BOOL, DType


def each_lane(writer: FunctionWriter, name: str, lanes: int, text: str, *, hint: str = "t") -> Code:
    """Compute a vector lane by lane; ``name`` is the short name of its elements, and ``text`` the
    expression of lane ``lane``."""
    made = declared(writer, name, lanes, hint)
    over_lanes(writer, lanes, f"{made}[lane] = {text};")
    return Code(made)


def declared(writer: FunctionWriter, name: str, lanes: int, hint: str = "t") -> str:
    """Declare a vector of zeros; the lanes that pad it stay so."""
    made, kind = writer.name(hint), writer.source.vector(name, lanes)
    writer.line(f"{kind} {made} = {writer.source.zeros(kind)};")
    return made


def over_lanes(writer: FunctionWriter, lanes: int, text: str, *, head: str = "") -> None:
    """Write a loop over lanes ``lane``."""
    writer.line(f"{head}for (int lane = 0; lane < {lanes}; ++lane) {text}")


def as_scalar(writer: FunctionWriter, dtype: DType, value: Code) -> str:
    """Return a scalar with the type of an element, which arithmetic with vectors asks for."""
    if dtype.is_bool:
        return f"(int8_t)-({value.text})"
    if dtype.is_float or (dtype.bits >= 32 and not value.is_literal):
        return value.within(PLUS)
    return f"({element_type(lane(dtype))}){value.within(UNARY)}"


def broadcast(writer: FunctionWriter, dtype: DType, value: Code) -> Code:
    """Return the vector of a scalar: a difference, since 0.0 + -0.0 is 0.0."""
    kind = writer.type_of(dtype)
    scalar = as_scalar(writer, dtype.element, value)
    if dtype.bits == 64 and not dtype.is_float and not scalar.isidentifier():
        # A constant makes a long long of it, and a lane is a long.
        scalar = f"({element_type(lane(dtype.element))})({scalar})"
    return Code(f"({scalar} - {writer.source.zeros(kind)})")


def mask_as(writer: FunctionWriter, mask: str, dtype: DType) -> str:
    """Return the name of a mask as integers as wide as the values of a type."""
    name = lane(dtype)
    if name[1:] == "8":
        return mask
    mask, bits = writer.comparisons.get(mask, (mask, "8"))
    if bits == name[1:]:
        return mask
    kind = writer.source.vector("i" + name[1:], dtype.lanes)
    made = writer.name("m")
    writer.line(f"const {kind} {made} = __builtin_convertvector({mask}, {kind});")
    return made


def choose(writer: FunctionWriter, dtype: DType, mask: str, then: Code, otherwise: Code) -> Code:
    """Choose lane by lane; ``mask`` is the name of a bool vector."""
    wide = mask_as(writer, mask, dtype)
    kind, bits = writer.type_of(dtype), writer.source.vector("i" + lane(dtype)[1:], dtype.lanes)
    left, right = f"({bits}){then.atom} & {wide}", f"({bits}){otherwise.atom} & ~{wide}"
    return Code(f"({kind})(({left}) | ({right}))", UNARY)


def as_bools(writer: FunctionWriter, text: str, compared: DType) -> Code:
    """Return the name of a comparison of vectors of a type as a bool vector.

    What chooses by it among values as wide as those compared uses the comparison itself: GCC 12
    narrows and widens masks lane by lane.
    """
    kind, bits = writer.source.vector("i8", compared.lanes), lane(compared)[1:]
    if bits == "8":
        return Code(writer.named(BOOL.with_lanes(compared.lanes), Code(f"({text})")))
    wide = writer.name("m")
    writer.line(f"const {writer.source.vector('i' + bits, compared.lanes)} {wide} = {text};")
    made = writer.name("t")
    writer.line(f"const {kind} {made} = __builtin_convertvector({wide}, {kind});")
    writer.comparisons[made] = wide, bits
    return Code(made)


def wrapped(writer: FunctionWriter, dtype: DType, sign: str, a: Code, b: Code) -> Code:
    """Return integer arithmetic on vectors that wraps around."""
    kind = writer.type_of(dtype)
    if dtype.kind == "u":
        return Code(f"({a.atom} {sign} {b.atom})")
    plain = writer.source.vector(unsigned(lane(dtype)), dtype.lanes)
    return Code(f"({kind})(({plain}){a.atom} {sign} ({plain}){b.atom})", UNARY)


def iota(writer: FunctionWriter, dtype: DType, step: int) -> str:
    """Return the constant vector 0, step, 2 * step, ..."""
    wrap = 1 << dtype.bits
    values: list[str] = []
    for number in range(padded(dtype.lanes)):
        value = number * step % wrap
        if dtype.kind == "i" and value > dtype.high:
            value -= wrap
        values.append(f"{value}ull" if value > (1 << 63) - 1 else str(value))
    if dtype.kind == "i" and dtype.bits == 64:  # C has no literal of the least.
        values = ["INT64_MIN" if value == str(dtype.low) else value for value in values]
    form = writer.source.dialect.lanes
    return form.format(kind=writer.type_of(dtype), values=", ".join(values))
