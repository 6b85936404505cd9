"""Operators that expressions and tensors refuse, each with what to write instead.

Outside of a trace, comparisons are refused: Python asks them for a truth value, and they have none.
The others have a function of their own, or none. Type checkers are not shown these methods, so that
they go on saying that there is no such operator.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, NoReturn

from irkit.core import DTypeError, user_span
from irkit.ir.tracing.traces import TRACES, marks_here

_COMPARISONS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_NO_VALUE = "It is part of a program that does not run yet; as_int reads a constant."
BOOL_HINT = (
    "To compare expressions write eq(a, b) or ne(a, b): outside of a traced function, == and != "
    "compare their structure. A flag is const(True)."
)
_ON_ELEMENTS = (
    'Both sides must be expressions: const(1, "i64") makes one of a number, and an element of a '
    "tensor is one, inside te.compute."
)


class RefusedOperators:
    """Refuse the operators that build no expression; what a class defines itself comes first."""

    __slots__: tuple[str, ...] = ()

    if not TYPE_CHECKING:
        # NumPy's scalars and arrays leave the operation to this side.
        __array_ufunc__: ClassVar[None] = None

        def __bool__(self) -> NoReturn:
            raise no_truth_value(self)

        def __getitem__(self, index: object) -> NoReturn:
            raise _refused(
                f"{_shown(self)} is one value; it cannot be indexed or iterated over",
                "Index the buffer or the tensor that it is an element of.",
                self,
            )


def bool_error(found: object) -> DTypeError:
    """Return the error of a bool of Python, or of NumPy, in place of an expression."""
    return _refused(
        f"expected an expression or a number, found the bool {bool(found)}", BOOL_HINT, found
    )


def no_truth_value(operand: object) -> DTypeError:
    """Return the error of an expression where Python asks for a truth value."""
    text = _written(operand)
    return _refused(
        f"{text} has no truth value while the program is being built",
        f"Choose with select or if_then_else({text}, x, y), not `x if c else y`; combine with "
        "te.all, te.any and logical_not, in loop IR logical_and and logical_or, not `and`, `or`, "
        "`not`; for `i in (0, 1)` write te.any(eq(i, 0), eq(i, 1)).",
        operand,
    )


def _written(operand: object, depth: int = 3) -> str:
    """Return the text of a small expression, with dots for what is deep."""
    if isinstance(operand, (bool, int, float)):
        return repr(operand)
    marked = getattr(operand, "expr", None)
    if marked is not None:
        return _written(marked, depth)
    sign, name = getattr(operand, "sign", ""), getattr(operand, "name", None)
    if not sign or not depth:
        value = getattr(operand, "value", None)
        return repr(value) if isinstance(value, (bool, int, float)) else str(name or "...")
    sides = [getattr(operand, side) for side in ("a", "b")]
    texts = [_written(side, depth - 1) for side in sides]
    inner = [getattr(getattr(side, "expr", side), "sign", "") for side in sides]
    left, right = [f"({text})" if sub else text for text, sub in zip(texts, inner, strict=True)]
    return f"{sign}({texts[0]}, {texts[1]})" if sign.isalpha() else f"{left} {sign} {right}"


def _shown(operand: object) -> str:
    if isinstance(operand, (bool, int, float)):
        return repr(operand)
    name, value = getattr(operand, "name", None), getattr(operand, "value", None)
    kind = type(operand).__name__
    if isinstance(value, (bool, int, float)):
        return repr(value)
    return f"{kind} {name!r}" if isinstance(name, str) else kind


def _argument(operand: object, place: str) -> str:
    if isinstance(operand, (bool, int, float)):
        return repr(operand)
    name = getattr(operand, "name", None)
    return name if isinstance(name, str) and name.isidentifier() else place


def _refused(message: str, hint: str, operand: object) -> DTypeError:
    return DTypeError(
        message, hint=hint, span=user_span(getattr(operand, "name", "expression"), "python")
    )


def _comparison(name: str, sign: str) -> Callable[[object, object], object]:
    def compare(self: object, other: object) -> object:
        if TRACES and (marks := marks_here()) is not None:
            return marks.compare(name, self, other)
        written = f"{name}({_argument(self, 'a')}, {_argument(other, 'b')})"
        raise _refused(
            f"{_shown(self)} {sign} {_shown(other)} has no truth value while the program is built",
            f"Write {written}, which makes an expression; for Python's min and max there are "
            "minimum and maximum.",
            self,
        )

    return compare


def _operator(sign: str, hint: str, swapped: bool = False) -> Callable[..., object]:
    def refuse(self: object, *others: object) -> NoReturn:
        operands = [_shown(self), *(_shown(other) for other in others[:1])]
        shown = " and ".join(reversed(operands) if swapped else operands)
        raise _refused(f"{sign} is not defined on {shown}", hint, self)

    return refuse


_REFUSED: dict[str, tuple[str, str]] = {
    "pow": ("**", 'Multiply, or write te.pow(x, y), in loop IR call("pow", x, y), of floats.'),
    "matmul": ("@", "Write te.compute with te.sum over a te.reduce_axis."),
    "divmod": ("divmod", "Write x // y and x % y."),
    **{name: (sign, _ON_ELEMENTS) for name, sign in
       {"and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>"}.items()},
}  # fmt: skip
_REFUSED_ALONE: dict[str, tuple[str, str]] = {
    "abs": ("abs()", 'Write te.abs(x), in loop IR call("abs", x).'),
    "round": ("round()", 'Write te.round(x), in loop IR call("round", x).'),
    "invert": ("~", "Write logical_not(x); of an integer it negates every bit."),
    "pos": ("unary +", "Leave the sign out."),
    "int": ("int()", _NO_VALUE),
    "float": ("float()", _NO_VALUE),
    "index": ("use as a Python integer", _NO_VALUE),
}

for _name, _sign in _COMPARISONS.items():
    setattr(RefusedOperators, f"__{_name}__", _comparison(_name, _sign))
for _name, (_sign, _hint) in _REFUSED.items():
    setattr(RefusedOperators, f"__{_name}__", _operator(_sign, _hint))
    setattr(RefusedOperators, f"__r{_name}__", _operator(_sign, _hint, swapped=True))
for _name, (_sign, _hint) in _REFUSED_ALONE.items():
    setattr(RefusedOperators, f"__{_name}__", _operator(_sign, _hint))
