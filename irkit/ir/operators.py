"""The operations on two operands: the one table that declares them, a row for each.

A row has what can be declared: the text, the types of operands, and whether the order of operands
matters. ``expr.py`` has a class for each row, whose ``sign`` is the key. ``binary``, the printer,
the reader, the verifier, peephole rules, the simplifier, reductions, fuzzers and tests read the
rows.

What an operation computes is defined by docs/semantics.md and written five times, since the five
check each other: for the interpreter (``interp/values.py``, NumPy), the folder (``arith/fold.py``,
Python numbers), the reference of te and graphs (``reference/operators.py``, NumPy), the range
analysis (``arith/transfer.py``), and native code (``irkit/codegen/llvm/expressions``). A new
operation is a class, a row here, and a line in each of them; tests name every place that lacks it.
"""

import ast
import math
from collections.abc import Callable

import msgspec

from irkit.ir.dtype import DType

FLOATS = frozenset({"f", "bf"})
INTEGERS = frozenset({"i", "u"})
BOOLS = frozenset({"bool"})
NUMBERS = FLOATS | INTEGERS
BITS = INTEGERS | BOOLS
ANY = NUMBERS | BOOLS


class Operator(msgspec.Struct, frozen=True):
    """An operation on two operands: its ``sign`` in the text, and the kinds of types that it
    accepts.

    ``python`` is the class of Python's syntax tree that the sign is read as, and ``level`` how
    tightly it binds, as in Python; without them the sign is the name of a function. ``commutes``
    is True if the operands can change places, which those that are evaluated lazily cannot.
    ``identity`` returns the value for a type that the operation combines with any other without
    changing it: such an operation is associative and takes values in any order, so it can reduce.
    """

    sign: str
    kinds: frozenset[str]
    python: type[ast.AST] | None = None
    level: int = 0
    commutes: bool = False
    identity: Callable[[DType], int | float | bool] | None = None


def _none(dtype: DType) -> int:
    return 0


def _one(dtype: DType) -> int:
    return 1


def _ones(dtype: DType) -> int:
    return -1 if dtype.kind == "i" else dtype.high


def _highest(dtype: DType) -> float:
    return math.inf if dtype.is_float else dtype.high


def _lowest(dtype: DType) -> float:
    return -math.inf if dtype.is_float else dtype.low


def _true(dtype: DType) -> bool:
    return True


def _false(dtype: DType) -> bool:
    return False


_ROWS = (
    Operator("+", NUMBERS, ast.Add, 9, commutes=True, identity=_none),
    Operator("-", NUMBERS, ast.Sub, 9),
    Operator("*", NUMBERS, ast.Mult, 10, commutes=True, identity=_one),
    Operator("/", FLOATS, ast.Div, 10),
    Operator("//", NUMBERS, ast.FloorDiv, 10),
    Operator("%", NUMBERS, ast.Mod, 10),
    Operator("&", BITS, ast.BitAnd, 7, commutes=True, identity=_ones),
    Operator("|", BITS, ast.BitOr, 5, commutes=True, identity=_none),
    Operator("^", BITS, ast.BitXor, 6, commutes=True, identity=_none),
    Operator("<<", INTEGERS, ast.LShift, 8),
    Operator(">>", INTEGERS, ast.RShift, 8),
    Operator("min", ANY, commutes=True, identity=_highest),
    Operator("max", ANY, commutes=True, identity=_lowest),
    Operator("==", ANY, ast.Eq, 4, commutes=True),
    Operator("!=", ANY, ast.NotEq, 4, commutes=True),
    Operator("<", ANY, ast.Lt, 4),
    Operator("<=", ANY, ast.LtE, 4),
    Operator(">", ANY, ast.Gt, 4),
    Operator(">=", ANY, ast.GtE, 4),
    Operator("and", BOOLS, ast.And, 2, identity=_true),
    Operator("or", BOOLS, ast.Or, 1, identity=_false),
)
OPERATORS: dict[str, Operator] = {row.sign: row for row in _ROWS}
"""The operations on two operands by sign."""
