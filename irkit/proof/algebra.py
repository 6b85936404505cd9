"""What a translation asks of integers; bit vectors and z3's unbounded integers both answer it.

A number is a term of z3 with what the algebra must know about it. The number of a type is its
value; the algebra may keep it as another number that is equal modulo 2**bits until somebody looks
at the value.
"""

from typing import Any, Protocol

from irkit.ir import Binary, DType

Term = Any
"""A term of z3, which has no types."""
Number = Any
"""An integer as the algebra keeps it."""


class Abstract(Exception):
    """An operation that the algebra has no exact form for; an uninterpreted function stands for
    it."""


class Algebra(Protocol):
    """Integers of fixed widths as terms of z3."""

    def sort(self, dtype: DType) -> Any:
        """Return z3's sort of the values of an integer type."""
        ...

    def number(self, value: int, dtype: DType) -> Number:
        """Return a constant."""
        ...

    def variable(self, name: str, dtype: DType, low: int, high: int) -> tuple[Number, list[Term]]:
        """Return an unknown number, and conditions that put it between two limits."""
        ...

    def known(self, term: Term, dtype: DType) -> tuple[Number, list[Term]]:
        """Return a term of the sort of a type as a number, and conditions that keep it in the
        type."""
        ...

    def value(self, number: Number, dtype: DType) -> Term:
        """Return the value of a number as a term of the sort of its type."""
        ...

    def lane(self, term: Number, dtype: DType) -> Number:
        """Return the number of the lane in a type; ``term`` is of type u16."""
        ...

    def operation(self, cls: type[Binary], a: Number, b: Number, dtype: DType) -> Number:
        """Return the result of an operation on two integers of a type.

        Raises: Abstract.
        """
        ...

    def negated(self, a: Number, dtype: DType) -> Number:
        """Return ``-a``."""
        ...

    def inverted(self, a: Number, dtype: DType) -> Number:
        """Return ``a`` with every bit inverted."""
        ...

    def compared(self, cls: type[Binary], a: Number, b: Number, dtype: DType) -> Term:
        """Return a comparison as a bool."""
        ...

    def chosen(self, cond: Term, a: Number, b: Number, dtype: DType) -> Number:
        """Return ``a`` where a condition holds, else ``b``."""
        ...

    def converted(self, a: Number, source: DType, target: DType) -> Number:
        """Return an integer in another integer type."""
        ...

    def called(self, name: str, args: list[Number], dtype: DType) -> Number:
        """Return the result of an intrinsic function of integers.

        Raises: Abstract.
        """
        ...

    def whole(self, a: Number, dtype: DType) -> Term:
        """Return the value in a sort that all integer types share, as an argument of a function."""
        ...

    def read(self, value: Term, dtype: DType) -> int:
        """Return the number that a model gives."""
        ...
