"""The invariant of calls: native code called through its checks computes the same, and arguments
with one thing wrong are refused with the words of the interpreter.

The checks of a call are emitted code and, once it has refused something, Python that finds the
words; the interpreter binds arguments by code of its own.
"""

import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from irkit.codegen import emit
from irkit.core import DTypeError, IRKitError, ShapeError
from irkit.fuzz.generators.sample import Array
from irkit.fuzz.judge.loops import LoopCase, target_of
from irkit.fuzz.judge.outcome import WrongSample
from irkit.ir import Buffer, InterpretedFunction, PrimFunc, Var
from irkit.runtime import Kernel, compile_functions

_MAX_STEPS = 200_000
_MOST_BYTES = 1 << 26
_ARGUMENTS = ("argument ", "dimension ", "stride ")
"""How the messages about arguments begin."""
_OVERLAPS = " is written and overlaps "
_DIMENSION = "dimension "
_MUST_BE = " must be "
_CHANGES = 16


def calls_are_checked(case: LoopCase, number: int) -> None:
    """Called through its stub, with arrays that touch, a function computes the same; it refuses
    what the interpreter does.

    Raises: WrongSample.
    """
    func = case.lowered
    module = compile_functions(_copies(func, number), target_of(0))
    kernel = list(module.kernels.values())[-1]
    names = list(module) if len(module) > 1 else [func.name]
    if [each.name for each in module.kernels.values()] != names:
        raise WrongSample("broken", f"kernels of the functions {names} have other names")
    if emit([kernel.func], kernel.target) != kernel.source():
        raise WrongSample("broken", "a kernel shows other code than that of its function")
    for at, inputs in enumerate(case.sample.inputs):
        if at in case.refused:
            continue
        args = side_by_side(func, inputs.copied())
        kernel(*args)
        why = case.reference.disagreement(at, args)
        if why:
            raise WrongSample("mismatch", f"native code called by its stub: {why}")
    usable = [n for n in range(len(case.sample.inputs)) if n not in case.refused]
    if usable and func.params:
        inputs = case.sample.inputs[usable[number % len(usable)]]
        for turn in range(_CHANGES):
            _compare(kernel.func, kernel, lambda: inputs.copied(), number * _CHANGES + turn)


def _copies(func: PrimFunc, number: int) -> dict[str, PrimFunc]:
    """Return the function by some name, or now and then twice, which gives it other names."""
    return {"one": func} if number % 4 else {"one": func, "two": func}


def _compare(func: PrimFunc, kernel: Kernel, args: Callable[[], list[Any]], number: int) -> None:
    """Change one argument, and compare what the interpreter and the call say of it."""
    wrong = changed_arguments(func, args(), number)
    if wrong is None:
        return
    again = changed_arguments(func, args(), number)
    assert again is not None
    wanted = _said_by_interpreter(func, again)
    if wanted is None:
        return
    try:
        kernel(*wrong)
        found = ""
    except IRKitError as error:
        found = error.message
    if not say_the_same(found, wanted):
        message = f"a call says {found or 'nothing'!r}, the interpreter {wanted or 'nothing'!r}"
        raise WrongSample("broken", message)
    for param, one, other in zip(func.params, again, wrong, strict=False):
        exact = np.asarray(one).dtype.kind in "iub"
        if not wanted and exact and not np.array_equal(one, other):
            raise WrongSample("mismatch", f"called with other arguments, {param.name!r} differs")


def say_the_same(one: str, other: str) -> bool:
    """Return True for two messages about the same arguments, where several can be wrong at once:
    any of two buffers that overlap may be named first, and any dimension that does not fit."""
    if _OVERLAPS in one and _OVERLAPS in other:
        return sorted(one.split()) == sorted(other.split())
    places = [text.partition(_MUST_BE)[0] for text in (one, other) if _MUST_BE in text]
    if len(places) == 2 and all(place.startswith(_DIMENSION) for place in places):
        return one == other or places[0] != places[1]
    return one == other


def _said_by_interpreter(func: PrimFunc, args: Sequence[Any]) -> str | None:
    """Return what the interpreter says of arguments; None if something else is wrong, with which
    native code must not run."""
    try:
        InterpretedFunction(func)(*args, max_steps=_MAX_STEPS, max_bytes=_MOST_BYTES)
    except IRKitError as error:
        about = error.message.startswith((*_ARGUMENTS, f"{func.name} takes "))
        known = isinstance(error, (DTypeError, ShapeError)) or about
        return error.message if known and about else None
    return ""


def changed_arguments(func: PrimFunc, args: list[Any], number: int) -> list[Any] | None:
    """Change one argument of a call, or the number of them; return None if that cannot be done."""
    number, at = divmod(number, len(args) + 1)
    if at == len(args):
        return args[:-1] if number % 2 else [*args, args[-1]]
    param = func.params[at]
    if isinstance(param, Var):
        values = _scalars(param)
        args[at] = values[number % len(values)]
        return args
    assert isinstance(param, Buffer)
    number, way = divmod(number, len(_ARRAYS) + 1)
    if way == len(_ARRAYS):
        return _overlapping(func, args, at, number)
    made = _ARRAYS[way](args[at], number)
    if made is None:
        return None
    args[at] = made
    return args


def side_by_side(func: PrimFunc, args: list[Any], shared: int = 0) -> list[Any]:
    """Copy the contiguous arrays among some arguments into one memory, each where the one before
    ends, or ``shared`` of the largest elements before its end; larger elements come first."""
    places = [at for at, arg in enumerate(args) if _is_movable(func.params[at], arg)]
    places.sort(key=lambda at: -args[at].itemsize)
    step = shared * max((args[at].itemsize for at in places), default=0)
    room = np.zeros(sum(args[at].nbytes for at in places), np.uint8)
    made, end = list(args), 0
    for at in places:
        begin = max(end - step, 0) if args[at].size else end
        end = begin + args[at].nbytes
        made[at] = room[begin:end].view(args[at].dtype).reshape(args[at].shape)
        made[at][...] = args[at]
    return made


def _is_movable(param: Var | Buffer, arg: Any) -> bool:
    """Return True for an array that can lie anywhere that suits its elements."""
    if not isinstance(param, Buffer) or type(arg) is not np.ndarray:
        return False
    array: Array = arg
    plain = array.flags.c_contiguous and array.dtype.kind != "V"
    return plain and param.align <= array.itemsize


def _overlapping(func: PrimFunc, args: list[Any], at: int, number: int) -> list[Any] | None:
    """Pass one array twice, in place of another of its type and shape; or arrays that share an
    element."""
    if number % 3 == 0:
        return side_by_side(func, args, shared=1)
    own = _layout(args[at])
    others = [each for n, each in enumerate(args) if n != at and _layout(each) == own]
    if not others:
        return None
    args[at] = others[number % len(others)]
    return args


def _layout(value: Any) -> tuple[object, ...]:
    return tuple(getattr(value, name, None) for name in ("dtype", "shape", "strides"))


def _scalars(param: Var) -> list[Any]:
    """Return values for a scalar parameter that it must not take, and some that it must."""
    dtype = param.dtype
    if dtype.is_float:
        return [True, "1", None, 2, np.float64(1.5), 1 + 0j]
    if dtype.is_bool:
        return [0, 1.0, True, np.bool_(False), None]
    edges = [dtype.low - 1, dtype.high + 1, dtype.high, dtype.low, 1 << 64, -(1 << 63)]
    inner = [dtype.high // 2 + 1, dtype.high - 1, dtype.low // 2 - 1]
    return [*edges, *inner, 1.0, True, np.int64(0), "1", np.zeros(1, np.int64)]


def _grown(array: Array, number: int) -> Array | None:
    if not array.ndim:
        return None
    room = [(0, 0)] * array.ndim
    room[number % array.ndim] = (0, 1)
    return np.pad(array, room)


def _shrunk(array: Array, number: int) -> Array | None:
    if not array.ndim or not array.shape[number % array.ndim]:
        return None
    return np.ascontiguousarray(np.delete(array, 0, axis=number % array.ndim))


def _strided(array: Array, number: int) -> Array | None:
    if not array.ndim:
        return None
    at = number % array.ndim
    wide = np.repeat(array, 2, axis=at)
    return wide[tuple(slice(None, None, 2 if n == at else 1) for n in range(array.ndim))]


def _read_only(array: Array, number: int) -> Array:
    array.flags.writeable = False
    return array


def _mapped(array: Array) -> Array | None:
    """Copy an array into a file in memory, which NumPy maps; an empty file cannot be mapped."""
    if not array.size or array.dtype.kind == "V":
        return None
    with tempfile.TemporaryFile() as file:
        file.write(array.tobytes())
        file.flush()
        return np.memmap(file, array.dtype, "r+", shape=array.shape)


def _other_type(array: Array, number: int) -> Array:
    types = [np.dtype(name) for name in ("f4", "i4", "f8", "i8", "u1", "?", "f2", "u4")]
    others = [dtype for dtype in types if dtype != array.dtype]
    return np.zeros(array.shape, others[number % len(others)])


_ARRAYS: tuple[Callable[[Array, int], Any], ...] = (
    _grown,
    _shrunk,
    _strided,
    _other_type,
    _read_only,
    lambda array, number: array[None],
    lambda array, number: array[0] if array.ndim > 1 and len(array) else None,
    lambda array, number: array[::-1] if array.ndim else None,
    lambda array, number: np.asfortranarray(array) if array.ndim > 1 else None,
    lambda array, number: array.reshape(-1)[:9].tolist(),  # Empty ones can have 2**60 rows.
    lambda array, number: array.view(_Subclass),
    lambda array, number: _mapped(array),
)
"""Ways to change an array; most make it one that must be refused."""


class _Subclass(np.ndarray):
    """An array of a class of its own."""
