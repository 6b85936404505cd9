"""Tensor intrinsics: the description of a small computation, and its implementation on a target."""

from collections.abc import Iterable, Iterator
from functools import cache

import msgspec

from irkit.core import ScheduleError, uses, walk
from irkit.ir import Buffer, Load, PrimFunc, Store, as_int, parse


class TensorIntrin(msgspec.Struct, frozen=True, eq=False):
    """A computation on small tensors: ``desc`` describes it as plain loops, and ``impl`` replaces
    it.

    Both have the same parameters, of constant shapes, and access them by loads and stores only.
    """

    name: str
    desc: PrimFunc
    impl: PrimFunc

    def __post_init__(self) -> None:
        shapes = [
            [
                (tuple(as_int(dim) for dim in param.shape), param.dtype)
                for param in func.params
                if isinstance(param, Buffer)
            ]
            for func in (self.desc, self.impl)
        ]
        reason = ""
        if shapes[0] != shapes[1] or len(shapes[0]) != len(self.desc.params):
            reason = "its two functions take different buffers"
        elif len(self.impl.params) != len(self.desc.params):
            reason = "its two functions take different parameters"
        elif any(None in shape for shape, _ in shapes[0]):
            reason = "a shape is not constant"
        given = set(self.impl.params)
        for node in walk(self.impl):
            if any(each in given for each in uses(node)) and not isinstance(node, (Load, Store)):
                reason = f"its implementation accesses a parameter by {type(node).__name__}"
        if reason:
            raise ScheduleError(f"{self.name!r} is not a tensor intrinsic: {reason}")


class Intrinsics:
    """An immutable collection of tensor intrinsics by name."""

    def __init__(self, intrinsics: Iterable[TensorIntrin] = ()) -> None:
        self._named = {each.name: each for each in intrinsics}

    def __iter__(self) -> Iterator[TensorIntrin]:
        return iter(self._named.values())

    def having(self, *more: TensorIntrin) -> "Intrinsics":
        """Return a collection with additional intrinsics.

        Raises: ScheduleError if a name is taken.
        """
        for each in more:
            if each.name in self._named:
                raise ScheduleError(f"there already is a tensor intrinsic {each.name!r}")
        return Intrinsics([*self._named.values(), *more])

    def get(self, name: str) -> TensorIntrin:
        """Return the intrinsic of a name.

        Raises: ScheduleError if there is none of that name.
        """
        found = self._named.get(name)
        if found is None:
            known = ", ".join(sorted(self._named)) or "none"
            raise ScheduleError(f"no tensor intrinsic {name!r}; known are: {known}")
        return found


_MATMUL = """def matmul(A: f32[4, 4], B: f32[4, {n}], C: f32[4, {n}]):
    for i in serial(0, 4):
        for j in serial(0, {n}):
            for k in serial(0, 4):
                C[i, j] = C[i, j] + A[i, k] * B[k, j]
"""

_MATMUL_VECTORS = """def matmul(A: f32[4, 4], B: f32[4, {n}], C: f32[4, {n}]):
    for i in unrolled(0, 4):
        for k in unrolled(0, 4):
            row: f32x{n} = broadcast(A[i, k], {n}) * B[k, ramp(0, 1, {n})]
            C[i, ramp(0, 1, {n})] = C[i, ramp(0, 1, {n})] + row
"""

_DOT = """def dot(A: {a}[4], B: i8[4], C: i32[1]):
    for k in serial(0, 4):
        C[0] = C[0] + cast(A[k], i32) * cast(B[k], i32)
"""

_DOT_AT_ONCE = """def dot(A: {a}[4], B: i8[4], C: i32[1]):
    low: i32 = cast(A[0], i32) * cast(B[0], i32) + cast(A[1], i32) * cast(B[1], i32)
    high: i32 = cast(A[2], i32) * cast(B[2], i32) + cast(A[3], i32) * cast(B[3], i32)
    C[0] = C[0] + (low + high)
"""

_DOTS = """def dots(A: u8[4], B: i8[16, 4], C: i32[16]):
    for j in serial(0, 16):
        for k in serial(0, 4):
            C[j] = C[j] + cast(A[k], i32) * cast(B[j, k], i32)
"""

_DOTS_AT_ONCE = """def dots(A: u8[4], B: i8[16, 4], C: i32[16]):
    for k in unrolled(0, 4):
        row: i32x16 = cast(B[ramp(0, 1, 16), k], i32x16)
        C[ramp(0, 1, 16)] = C[ramp(0, 1, 16)] + broadcast(cast(A[k], i32), 16) * row
"""


@cache
def builtin_intrinsics() -> Intrinsics:
    """Return the intrinsics that come with irkit: f32 tiles of a matrix product as vectors, and dot
    products of bytes."""
    tiles = [
        TensorIntrin(
            f"matmul_4x{n}x4_f32",
            parse(_MATMUL.format(n=n)),
            parse(_MATMUL_VECTORS.format(n=n)),
        )
        for n in (4, 8, 16)
    ]
    dots = [
        TensorIntrin(name, parse(_DOT.format(a=a)), parse(_DOT_AT_ONCE.format(a=a)))
        for name, a in (("dot_4_i8", "i8"), ("dot_4_u8i8", "u8"))
    ]
    rows = TensorIntrin("dot_16x4_u8i8", parse(_DOTS), parse(_DOTS_AT_ONCE))
    return Intrinsics([*tiles, *dots, rows])
