"""Python integers that stand for all integers, so that z3 can be asked about code that computes.

A function runs on them once for each path through it: where the code asks for the truth of a
condition, both answers that are possible are followed, one after the other.
"""

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from irkit.proof import z3_module

_T = TypeVar("_T")
MOST_PATHS = 20_000


class Paths:
    """Paths through a function on symbolic integers.

    Numbers are signed bit vectors of ``bits`` bits, which must be enough for every value on the
    way; with 0 bits they are z3's unbounded integers.
    """

    def __init__(self, bits: int) -> None:
        self.z3 = z3_module()
        self.bits = bits
        self.solver = self.z3.Solver()
        self.taken: list[tuple[Any, bool]] = []
        self._wanted: list[bool] = []

    def fresh(self, name: str, inside: tuple[int, int] | None) -> "SymbolicInt":
        """Return an unknown number, between two limits if there are any."""
        made = self.z3.BitVec(name, self.bits) if self.bits else self.z3.Int(name)
        if inside is not None:
            self.solver.add(made >= inside[0], made <= inside[1])
        return SymbolicInt(self, made)

    def number(self, value: Any) -> Any:
        """Return a number as a term of z3."""
        if isinstance(value, SymbolicInt):
            return value.term
        if not isinstance(value, int):
            return value
        if self.bits:
            assert -(1 << (self.bits - 1)) <= value < 1 << (self.bits - 1), value
            return self.z3.BitVecVal(value, self.bits)
        return self.z3.IntVal(value)

    def explore(self, run: Callable[[], _T]) -> Iterator[_T]:
        """Call a function once for each possible path; ``taken`` has the conditions of the path
        while its result is looked at."""
        todo: list[list[bool]] = [[]]
        for _ in range(MOST_PATHS):
            if not todo:
                return
            self._wanted = todo.pop()
            self.taken = []
            self._todo = todo
            self.solver.push()
            try:
                yield run()
            finally:
                self.solver.pop()
        raise AssertionError(f"there are more than {MOST_PATHS} paths")

    def decide(self, condition: Any) -> bool:
        """Choose the truth of a condition, and remember the other choice if it is possible too."""
        at = len(self.taken)
        if at < len(self._wanted):
            chosen = self._wanted[at]
        else:
            possible = [self._is_possible(condition), self._is_possible(self.z3.Not(condition))]
            assert any(possible)
            chosen = possible[0]
            if all(possible):
                self._todo.append([*(each for _, each in self.taken), False])
        self.taken.append((condition, chosen))
        self.solver.add(condition if chosen else self.z3.Not(condition))
        return chosen

    def _is_possible(self, condition: Any) -> bool:
        return self.solver.check(condition) != self.z3.unsat


class SymbolicBool:
    """A condition; its truth is decided when the code asks for it."""

    def __init__(self, paths: Paths, term: Any) -> None:
        self.paths, self.term = paths, term

    def __bool__(self) -> bool:
        return self.paths.decide(self.term)

    def __int__(self) -> int:
        return int(bool(self))

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return bool(self) == bool(other)

    def __sub__(self, other: "SymbolicBool") -> int:
        return int(self) - int(other)


class SymbolicInt:
    """An integer of which z3 knows only the conditions on it."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, paths: Paths, term: Any) -> None:
        self.paths, self.term = paths, term

    def _new(self, term: Any) -> "SymbolicInt":
        return SymbolicInt(self.paths, term)

    def operands(self, other: Any, turned: bool) -> tuple[Any, Any]:
        """Return this number and another one as terms, the other one first if ``turned``."""
        a, b = self.term, self.paths.number(other)
        return (b, a) if turned else (a, b)

    def bit_length(self) -> int:
        """Return the bits of a number that is not negative, which decides it."""
        assert not self._is_below(0)
        bits = 0
        while not self._is_below(1 << bits):
            bits += 1
        return bits

    def _is_below(self, limit: int) -> bool:
        return self.paths.decide(self.term < self.paths.number(limit))

    def __bool__(self) -> bool:
        return self.paths.decide(self.term != 0)

    def __neg__(self) -> "SymbolicInt":
        return self._new(-self.term)

    def __invert__(self) -> "SymbolicInt":
        return self._new(-self.term - 1)

    def __abs__(self) -> "SymbolicInt":
        return -self if self._is_below(0) else self


def _floor(paths: Paths, a: Any, b: Any) -> Any:
    """Divide, rounding down. Raises: ZeroDivisionError on the path where the divisor is 0."""
    z3 = paths.z3
    if bool(SymbolicBool(paths, b == 0)):
        raise ZeroDivisionError
    if not paths.bits:
        return z3.If(b > 0, a / b, (-a) / (-b))
    rest = z3.SRem(a, b)
    return z3.If(z3.And(rest != 0, (rest < 0) != (b < 0)), a / b - 1, a / b)


_OPERATIONS: dict[str, Callable[[Paths, Any, Any], Any]] = {
    "add": lambda paths, a, b: a + b,
    "sub": lambda paths, a, b: a - b,
    "mul": lambda paths, a, b: a * b,
    "floordiv": _floor,
    "mod": lambda paths, a, b: a - _floor(paths, a, b) * b,
    "lshift": lambda paths, a, b: a << b,
    "rshift": lambda paths, a, b: a >> b,
    "and": lambda paths, a, b: a & b,
    "or": lambda paths, a, b: a | b,
    "xor": lambda paths, a, b: a ^ b,
}
_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
}


def _operator(operation: Callable[[Paths, Any, Any], Any], turned: bool) -> Any:
    def method(self: SymbolicInt, other: Any) -> Any:
        if not isinstance(other, (int, SymbolicInt)):
            return NotImplemented
        return SymbolicInt(self.paths, operation(self.paths, *self.operands(other, turned)))

    return method


def _comparison(compare: Callable[[Any, Any], Any]) -> Any:
    def method(self: SymbolicInt, other: Any) -> Any:
        if not isinstance(other, (int, SymbolicInt)):
            return NotImplemented
        return SymbolicBool(self.paths, compare(*self.operands(other, False)))

    return method


for _name, _operation in _OPERATIONS.items():
    setattr(SymbolicInt, f"__{_name}__", _operator(_operation, False))
    setattr(SymbolicInt, f"__r{_name}__", _operator(_operation, True))
for _name, _compare in _COMPARISONS.items():
    setattr(SymbolicInt, f"__{_name}__", _comparison(_compare))
