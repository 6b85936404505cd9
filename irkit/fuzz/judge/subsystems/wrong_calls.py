"""Calls that must be refused, and calls like them that must not.

A drawn signature says which arguments are legal. All arrays of a call lie in one piece of memory,
often without a gap between them; then at most one thing is made wrong. NumPy decides which
operators of a graph fit their operands.
"""

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np

from irkit.core import IRKitError
from irkit.fuzz.generators.sample import Array
from irkit.fuzz.judge.loops import target_of
from irkit.fuzz.judge.outcome import WrongSample
from irkit.fuzz.judge.subsystems.operand_shapes import operators_fit
from irkit.fuzz.picks import Picks
from irkit.ir import DType, InterpretedFunction, PrimFunc, as_dtype, numpy_dtype, parse
from irkit.runtime import compile_functions

_DTYPES = ("f32", "i32", "f64", "u8", "i16", "i64", "bool", "f16", "u32", "i8", "u64", "u16")
_EXTENTS = ("n", "4", "m", "3", "n", "1", "n + 1", "n * 2", "0")
_SIZES = (3, 1, 2, 5, 0, 8)
_GAPS = (0, 0, 0, 1, 64)
_FILLED = 1


class _Param(msgspec.Struct, frozen=True):
    """An array of the signature: its extents as text, its type, and whether it is written.

    ``pitch`` is by how many elements its rows are longer than their extents; None if it declares
    no strides.
    """

    name: str
    dtype: DType
    extents: tuple[str, ...]
    written: bool
    pitch: int | None = None

    def shape(self, sizes: dict[str, int]) -> tuple[int, ...]:
        """Return the extents as numbers."""
        return tuple(int(eval(text, {}, sizes)) for text in self.extents)  # Our own text.

    def strides(self, sizes: dict[str, int]) -> tuple[int, ...]:
        """Return the strides in elements."""
        found, step = list[int](), 1
        for size in reversed(self.shape(sizes)):
            found.append(step)
            step = step * size + (self.pitch or 0) * (len(found) == 1)
        return tuple(reversed(found))

    def text(self, sizes: dict[str, int]) -> str:
        """Return the parameter as IR text."""
        kind = f"{self.dtype}[{', '.join(self.extents) or '()'}]"
        if self.pitch is None:
            return f"{self.name}: {kind}"
        return f"{self.name}: buffer({kind}, strides={self.strides(sizes)})"


def calls_are_refused(picks: Picks) -> None:
    """Legal calls are accepted and write what they should; others are refused and write nothing.

    Raises: WrongSample.
    """
    if picks.one_in(3):
        operators_fit(picks)
        return
    call = _Call(picks)
    ways = list(_DEFECTS)
    for run, how in ((call.native(), "native code"), (call.interpreted(), "the interpreter")):
        defect = picks.pick(ways)
        memory, args = call.arguments()
        said = _DEFECTS[defect](call, memory, args)
        before = memory.copy()
        try:
            run(*args)
            refusal = ""
        except IRKitError as error:
            refusal = str(error)
        wrong = _verdict(call, args, before, memory, refused=bool(refusal), legal=not said)
        if wrong:
            shapes = ", ".join(f"{getattr(arg, 'dtype', arg)}{np.shape(arg)}" for arg in args)
            message = f"{how}, {said or 'nothing wrong'}: {wrong} {refusal}\n{shapes}"
            raise WrongSample("broken", f"{message}\n{call.func.script()}")


def _verdict(
    call: "_Call", args: list[Any], before: Array, memory: Array, *, refused: bool, legal: bool
) -> str:
    """Return what is wrong with what a call did."""
    if refused:
        if legal:
            return "refused"
        return "" if np.array_equal(before, memory) else "refused, but something was written"
    if not legal:
        return "accepted"
    expected = before.copy()
    start = memory.__array_interface__["data"][0]
    for param, arg in zip(call.params, args[: len(call.params)], strict=True):
        if not param.written:
            continue
        if not np.array_equal(arg, np.full_like(arg, _FILLED)):
            return f"accepted, but {param.name} is not filled"
        offset = arg.__array_interface__["data"][0] - start
        if arg.size and 0 <= offset < len(memory):
            view = np.ndarray(arg.shape, arg.dtype, expected, offset, arg.strides)
            view[...] = _FILLED
    return "" if np.array_equal(expected, memory) else "accepted, but other memory was written"


class _Call:
    """A drawn signature, a function that fills what it writes, and sizes for a call."""

    def __init__(self, picks: Picks) -> None:
        self.picks = picks
        self.sizes = {name: picks.pick(_SIZES) for name in ("n", "m")}
        self.params = [self._param(at) for at in range(1 + picks.below(4))]
        last = self.params[-1]
        self.params[-1] = msgspec.structs.replace(last, written=True)
        self.scalars = [as_dtype(picks.pick(_DTYPES)) for _ in range(picks.below(3))]
        self.func = self._function()

    def _param(self, at: int) -> _Param:
        picks = self.picks
        # The first one binds the sizes: an expression can only stand where its variables are known.
        extents = ["n", "m"] if not at else []
        extents += [picks.pick(_EXTENTS) for _ in range(picks.below(3))]
        dtype = as_dtype(picks.pick(_DTYPES))
        fixed = all(text.isdigit() for text in extents) and extents and "0" not in extents
        pitch = picks.below(3) if fixed and picks.below(2) else None
        return _Param("ABCD"[at], dtype, tuple(extents), picks.one_in(4), pitch)

    def _function(self) -> PrimFunc:
        params = [param.text(self.sizes) for param in self.params]
        params += [f"s{at}: {dtype}" for at, dtype in enumerate(self.scalars)]
        lines = [f"def f({', '.join(params)}):"]
        for param in self.params:
            if not param.written:
                continue
            names = [f"{param.name.lower()}{axis}" for axis in range(len(param.extents))]
            for depth, (name, text) in enumerate(zip(names, param.extents, strict=True)):
                lines.append(f"{'    ' * (depth + 1)}for {name} in serial(0, {text}):")
            one = "True" if param.dtype.is_bool else f"{param.dtype}({_number(param.dtype)})"
            target = f"{param.name}[{', '.join(names)}]" if names else f"{param.name}[()]"
            lines.append(f"{'    ' * (len(names) + 1)}{target} = {one}")
        return parse("\n".join(lines) + "\n")

    def native(self) -> Callable[..., object]:
        """Return the function as native code behind its checks."""
        module = compile_functions({"f": self.func}, target_of(0))
        return next(iter(module.kernels.values()))

    def interpreted(self) -> Callable[..., object]:
        """Return the function in the interpreter."""
        return InterpretedFunction(self.func)

    def arguments(self) -> tuple[Array, list[Any]]:
        """Return memory, and legal arguments of which the arrays lie in it."""
        offsets, end = list[int](), 64
        for param in self.params:
            size = numpy_dtype(param.dtype).itemsize
            end += self.picks.pick(_GAPS)
            end += -end % size
            offsets.append(end)
            end += self.span(param) * size
        memory = np.full(end + 128, 7, np.uint8)
        args: list[Any] = []
        for param, offset in zip(self.params, offsets, strict=True):
            dtype = numpy_dtype(param.dtype)
            strides = tuple(step * dtype.itemsize for step in param.strides(self.sizes))
            array = np.ndarray(param.shape(self.sizes), dtype, memory, offset, strides)
            if dtype.kind == "b":
                array[...] = False
            args.append(array)
        return memory, args + [_scalar(dtype) for dtype in self.scalars]

    def span(self, param: _Param) -> int:
        """Return how many elements lie between the first and the last one of an array."""
        shape = param.shape(self.sizes)
        if 0 in shape:
            return 0
        steps = param.strides(self.sizes)
        return 1 + sum((size - 1) * step for size, step in zip(shape, steps, strict=True))


def _number(dtype: DType) -> str:
    return f"{_FILLED}.0" if dtype.is_float else str(_FILLED)


def _scalar(dtype: DType) -> Any:
    return True if dtype.is_bool else 1.0 if dtype.is_float else 1


def _nothing(call: _Call, memory: Array, args: list[Any]) -> str:
    return ""


def _other_type(call: _Call, memory: Array, args: list[Any]) -> str:
    at = call.picks.below(len(call.params))
    own = args[at].dtype
    others = [
        np.dtype(each) for each in ("i4", "f4", "u4", "i8", "u8", "f8", "?", "i1", "u1", "f2")
    ]
    alike = [each for each in others if each != own and each.itemsize == own.itemsize]
    args[at] = args[at].view(call.picks.pick(alike)) if alike else args[at].astype(">f8")
    return f"argument {at + 1} has another type"


def _other_bytes(call: _Call, memory: Array, args: list[Any]) -> str:
    at = call.picks.below(len(call.params))
    if args[at].dtype.itemsize == 1 or args[at].dtype.kind not in "iuf":
        return ""
    args[at] = args[at].view(args[at].dtype.newbyteorder())
    return f"argument {at + 1} has its bytes in another order"


def _other_rank(call: _Call, memory: Array, args: list[Any]) -> str:
    at = call.picks.below(len(call.params))
    deeper = bool(call.picks.below(2)) or not args[at].ndim or not args[at].shape[0]
    args[at] = args[at][None] if deeper else args[at][0]
    return f"argument {at + 1} has another rank"


def _other_size(call: _Call, memory: Array, args: list[Any]) -> str:
    """Make an extent one less: none that a variable is bound by."""
    at = call.picks.below(len(call.params))
    first = 2 if not at else 0
    axes = [axis for axis in range(first, args[at].ndim) if args[at].shape[axis] > 1]
    bound = {"n", "m"} if not at else set[str]()
    axes = [axis for axis in axes if call.params[at].extents[axis] not in bound]
    if not axes:
        return ""
    axis = call.picks.pick(axes)
    shape = list(args[at].shape)
    shape[axis] -= 1
    given = args[at]
    offset = given.__array_interface__["data"][0] - memory.__array_interface__["data"][0]
    args[at] = np.ndarray(tuple(shape), given.dtype, memory, offset)
    return f"argument {at + 1} is smaller along {axis}"


def _other_strides(call: _Call, memory: Array, args: list[Any]) -> str:
    at = call.picks.below(len(call.params))
    axes = [axis for axis, size in enumerate(args[at].shape) if size > 1]
    if not axes or not args[at].size:
        return ""
    args[at] = np.flip(args[at], call.picks.pick(axes))
    return f"argument {at + 1} runs backwards"


def _overlap(call: _Call, memory: Array, args: list[Any]) -> str:
    """Move an array so that it shares one element with another, one of which is written."""
    params = call.params
    pairs = [
        (a, b)
        for a in range(len(params))
        for b in range(len(params))
        if a != b and (params[a].written or params[b].written) and args[a].size and args[b].size
    ]
    if not pairs:
        return ""
    moved, fixed = call.picks.pick(pairs)
    array, other = args[moved], args[fixed]
    base = memory.__array_interface__["data"][0]
    last = (
        other.__array_interface__["data"][0]
        - base
        + (call.span(params[fixed]) - 1) * (other.itemsize)
    )
    offset = last - last % array.itemsize
    room = np.full(offset + call.span(params[moved]) * array.itemsize + 64, 7, np.uint8)
    if len(room) > len(memory):
        return ""
    args[moved] = np.ndarray(array.shape, array.dtype, memory, offset, array.strides)
    return f"argument {moved + 1} shares memory with argument {fixed + 1}"


def _read_only(call: _Call, memory: Array, args: list[Any]) -> str:
    at = call.picks.below(len(call.params))
    args[at] = args[at].view()
    args[at].flags.writeable = False
    return f"argument {at + 1} is read-only" if call.params[at].written else ""


def _too_few(call: _Call, memory: Array, args: list[Any]) -> str:
    args.pop(call.picks.below(len(args)))
    return "an argument is missing"


def _no_array(call: _Call, memory: Array, args: list[Any]) -> str:
    at = call.picks.below(len(call.params))
    args[at] = args[at].tolist()
    return f"argument {at + 1} is no array"


def _wrong_number(call: _Call, memory: Array, args: list[Any]) -> str:
    if not call.scalars:
        return ""
    at = call.picks.below(len(call.scalars))
    dtype = call.scalars[at]
    if dtype.is_bool or dtype.is_float:
        wrong: list[Any] = ["1", None, 1j]
    else:
        wrong = [dtype.high + 1, dtype.low - 1, 1.5, None]
    args[len(call.params) + at] = call.picks.pick(wrong)
    return f"number {at} is {args[len(call.params) + at]!r}"


def _edge_number(call: _Call, memory: Array, args: list[Any]) -> str:
    for at, dtype in enumerate(call.scalars):
        if not dtype.is_bool and not dtype.is_float:
            args[len(call.params) + at] = call.picks.pick((dtype.high, dtype.low))
    return ""


_DEFECTS: dict[str, Callable[[_Call, Array, list[Any]], str]] = {
    "nothing": _nothing,
    "type": _other_type,
    "bytes": _other_bytes,
    "rank": _other_rank,
    "size": _other_size,
    "strides": _other_strides,
    "overlap": _overlap,
    "read-only": _read_only,
    "count": _too_few,
    "list": _no_array,
    "number": _wrong_number,
    "edge": _edge_number,
}
"""What is made wrong; each returns in words what is, or nothing if the call stays legal."""
