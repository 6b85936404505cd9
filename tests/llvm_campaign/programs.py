"""Draw loop functions whose indices, guards and sums may mislead LLVM.

They are text, and share no code with the fuzzer: nested, reversed, triangular and unrolled loops;
indices by ``%``, ``//``, ``&``, ``|``, ``^``, shifts and narrow casts; loads and stores, guarded or
not; sums. Arrays hold small whole numbers, so that no order of a sum
and no fused multiplication changes a result. An index that may leave its array is taken modulo its
size, and a program that still leaves one is refused by the interpreter.
"""

import random
from collections.abc import Sequence

import msgspec
import numpy as np

from irkit.core import IRKitError
from irkit.ir import Buffer, PrimFunc, as_int, numpy_dtype, parse

_EXTENTS = (8, 16, 16, 30, 31, 32, 32, 32, 33, 62, 64, 64, 65, 100, 128, 200)
_OUTER = (2, 3, 4, 8, 8, 16, 16, 32)
_SIZES = (16, 32, 32, 64, 64, 128, 30, 33, 100)
_DTYPES = ("f32", "f32", "f32", "f64", "i8", "u8", "i16", "i32", "i32", "i64", "u16", "u32")
_INDEX_TYPES = ("u8", "i8", "u16", "i16", "i32", "i32", "u32")
_MOST_STEPS = 1200
"""The most iterations of a function: the interpreter runs each."""


class Loop(msgspec.Struct):
    """A loop of the text and the numbers that its variable has."""

    var: str
    text: str
    low: int
    high: int


class _Drawer:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.loops: list[Loop] = []
        self.arrays: dict[str, tuple[str, tuple[int, ...]]] = {}
        self.scalars: list[str] = []
        self.budget = _MOST_STEPS
        self.wild = self.random.choice((3, 5, 9))

    def one_in(self, count: int) -> bool:
        return self.random.randrange(count) == 0

    def pick(self, items: Sequence[str]) -> str:
        return self.random.choice(items)

    def number(self) -> int:
        return self.random.choice((0, 1, 1, 2, 3, 3, 5, 7, 8, 16, 17, 31, 32, 33, 63, 100, 255))

    def var(self, favourite: str = "") -> str:
        """Return a loop variable, most often the innermost."""
        if favourite and not self.one_in(4):
            return favourite
        return self.pick([loop.var for loop in self.loops])

    def affine(self) -> str:
        """Return a sum of loop variables and constants."""
        inner = self.loops[-1].var
        match self.random.randrange(9):
            case 0 | 1 | 2:
                return f"({self.var(inner)} + {self.number()})"
            case 3:
                return f"({self.number()} - {self.var(inner)})"
            case 4:
                return f"({self.var(inner)} * {self.number()} + {self.number()})"
            case 5:
                return f"({self.var()} * {self.random.choice((4, 8, 16, 32))} + {self.var(inner)})"
            case 6:
                return f"({self.var()} + {self.var(inner)} + {self.number()})"
            case 7 if self.scalars:
                return f"({self.pick(self.scalars)} + {self.var(inner)})"
            case _:
                return self.var(inner)

    def mixed(self) -> str:
        """Return integer arithmetic that may wrap around in few bits."""
        a, dtype = self.affine(), self.pick(_INDEX_TYPES)
        power = 1 << self.random.randrange(2, 8)
        match self.random.randrange(14):
            case 0 | 1:
                return f"({a} % {power})"
            case 2:
                return f"({a} & {power - 1})"
            case 3:
                return f"cast(cast({a}, {dtype}), i64)"
            case 4:
                return f"cast(cast({a}, {dtype}) + {dtype}({self.number() % 100}), i64)"
            case 5:
                return f"cast(cast({a}, i32) & i32({power - 1}), i64)"
            case 6:
                shift = self.random.choice((24, 31, 32, 48, 56, 58, 59, 60))
                return f"({a} << {shift} >> {shift})"
            case 7:
                shift = self.random.choice((24, 25, 26, 27, 28))
                return f"cast(cast({a}, i32) << i32({shift}) >> i32({shift}), i64)"
            case 8:
                return f"({a} // {self.random.choice((2, 3, 4, 5, 8))})"
            case 9:
                return f"({a} {self.pick('|^')} {self.random.choice((1, 3, 7, 8, 15))})"
            case 10:
                return f"(({a} % {power}) + {self.affine()})"
            case 11:
                return f"select({self.condition()}, {a}, {self.affine()})"
            case 12:
                return f"{self.pick(('min', 'max'))}({a}, {self.affine()})"
            case _:
                return f"truncmod({a}, {power})"

    def index(self, size: int, axis: int) -> str:
        """Return an index into a dimension, which is the ``axis``-th from the last."""
        fitting = [loop for loop in self.loops if loop.low >= 0 and loop.high < size]
        if axis <= len(self.loops) and self.loops[-axis] in fitting and not self.one_in(self.wild):
            loop = self.loops[-axis]
            return loop.var if not self.one_in(9) else f"{loop.high} - {loop.var}"
        if fitting and self.one_in(4):
            return self.random.choice(fitting).var
        inside = self.mixed() if self.one_in(2) else self.affine()
        if size & (size - 1) == 0 and self.one_in(3):
            return f"({inside} & {size - 1})"
        if self.one_in(8):
            return f"min(max({inside}, 0), {size - 1})"
        return f"({inside} % {size})"

    def access(self, name: str) -> str:
        _, shape = self.arrays[name]
        indices = [self.index(size, len(shape) - at) for at, size in enumerate(shape)]
        return f"{name}[{', '.join(indices)}]"

    def condition(self) -> str:
        loop = self.loops[-1] if not self.one_in(3) else self.random.choice(self.loops)
        match self.random.randrange(7):
            case 0 | 1 | 2:
                return f"{loop.var} < {loop.high + 1 - self.random.choice((1, 2, 3, 5))}"
            case 3:
                return f"{loop.var} > {loop.low + self.random.choice((0, 1, 2))}"
            case 4:
                return f"{self.affine()} % {self.random.choice((2, 3, 4, 8))} < 2"
            case 5:
                return f"{self.affine()} < {self.affine()}"
            case _:
                return f"({self.affine()} & {self.random.choice((1, 3, 4))}) != 0"

    def value(self, dtype: str, depth: int = 1) -> str:
        """Return an expression of a type."""
        names = [name for name, (kind, _) in self.arrays.items() if kind == dtype]
        match self.random.randrange(9) if depth else 0:
            case 1 | 2 | 3:
                sign = "+" if not self.one_in(4) else "-"
                return f"({self.value(dtype, depth - 1)} {sign} {self.value(dtype, depth - 1)})"
            case 4:
                literal = (
                    f"{dtype}({self.random.choice(('1', '2', '3'))}{'.0' * (dtype[0] == 'f')})"
                )
                return f"{self.value(dtype, depth - 1)} * {literal}"
            case 5:
                return (
                    f"{self.pick(('min', 'max'))}({self.value(dtype, 0)}, {self.value(dtype, 0)})"
                )
            case 6:
                yes, no = self.value(dtype, depth - 1), self.value(dtype, depth - 1)
                return f"select({self.condition()}, {yes}, {no})"
            case 7:
                others = [name for name in self.arrays if name[0] == "A"]
                return f"cast({self.access(self.pick(others))}, {dtype})"
            case 8:
                return f"cast({self.mixed()} & 15, {dtype})"
            case _:
                return self.access(self.pick(names))

    def loop(self, outer: int, *, inner: bool) -> Loop:
        var = "hijkl"[outer]
        most = max(2, self.budget)
        extent = min(self.random.choice(_EXTENTS if inner else _OUTER), most)
        self.budget //= extent
        if self.loops and self.one_in(7):
            around = self.loops[-1]
            if self.one_in(2):
                return Loop(var, f"serial({around.var}, {extent})", around.low, extent - 1)
            return Loop(var, f"serial(0, {around.var} + 1)", 0, around.high)
        begin = self.random.choice((0, 0, 0, 0, 0, 1, 2, -3))
        kind = "unrolled" if extent < 9 and self.one_in(8) else "serial"
        return Loop(var, f"{kind}({begin}, {begin + extent})", begin, begin + extent - 1)

    def shape(self) -> tuple[int, ...]:
        rank = self.random.choice((1, 2, 2, 2, 3))
        rows = [self.random.choice((8, 16, 32, 32)) for _ in range(rank - 1)]
        return *rows, self.random.choice(_SIZES)

    def function(self) -> str:
        """Return the text of a function."""
        written = self.pick(_DTYPES)
        same = self.shape()
        for name in ("A", "AB", "C")[self.random.randrange(2) :]:
            shape = same if not self.one_in(3) else self.shape()
            self.arrays[name] = (written if name != "AB" else self.pick(_DTYPES)), shape
        if "A" not in self.arrays:
            self.arrays["A"] = (written, same)
        if self.one_in(4):
            self.scalars.append("n")
        params = [f"{name}: {dtype}[{', '.join(map(str, shape))}]"
                  for name, (dtype, shape) in self.arrays.items()]  # fmt: skip
        params += [f"{name}: i64" for name in self.scalars]
        lines = [f"def f({', '.join(params)}):"]
        depth = self.random.choice((1, 2, 2, 2, 3, 3, 4))
        for outer in range(depth):
            self.loops.append(loop := self.loop(outer, inner=outer == depth - 1))
            lines.append(f"{' ' * len(self.loops)}for {loop.var} in {loop.text}:")
            if outer < depth - 1 and self.one_in(8):
                lines.append(f"{' ' * len(self.loops)} {self.store('C')}")
        indent = " " * (len(self.loops) + 1)
        if self.one_in(8):
            lines.append(f"{indent}k0: i64 = {self.mixed()}")
            self.loops.insert(0, Loop("k0", "", 0, 1 << 40))
        if self.one_in(2):
            lines.append(f"{indent}if {self.condition()}:")
            indent += " "
        lines += [f"{indent}{self.store('C')}" for _ in range(self.random.choice((1, 1, 1, 2)))]
        return "\n".join(lines) + "\n"

    def store(self, name: str) -> str:
        dtype, _ = self.arrays[name]
        target = self.access(name)
        value = self.value(dtype, self.random.choice((1, 1, 1, 2)))
        return f"{target} = {target} + {value}" if self.one_in(4) else f"{target} = {value}"


def draw_program(seed: int) -> str:
    """Return the text of a function; a seed always draws the same."""
    return _Drawer(seed).function()


def read_program(text: str) -> PrimFunc | None:
    """Return the function of a text, or None if the text is refused."""
    try:
        return parse(text)
    except IRKitError:
        return None


def arguments(func: PrimFunc, seed: int) -> tuple[object, ...]:
    """Return arrays of small whole numbers for a function, and numbers for its scalars."""
    numbers = np.random.default_rng(seed)
    found = list[object]()
    for param in func.params:
        if isinstance(param, Buffer):
            shape = [as_int(dim) or 0 for dim in param.shape]
            found.append(numbers.integers(0, 30, shape).astype(numpy_dtype(param.dtype)))
        else:
            found.append(int(numbers.integers(0, 9)))
    return tuple(found)
