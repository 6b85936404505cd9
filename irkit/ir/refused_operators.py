"""Operators that expressions and tensors refuse, each with what to write instead.

Comparisons would have to give an expression, and Python asks them for a truth value; the others
have a function of their own, or none. Type checkers are not shown these methods, so that they go
on saying that there is no such operator.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, NoReturn

from irkit.core import DTypeError, user_span

_COMPARISONS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_NO_VALUE = "It is part of a program that does not run yet; as_int reads a constant."
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
            raise DTypeError(
                "an expression has no truth value while the program is being built",
                hint="Choose with select or if_then_else; compare and combine by eq, lt, "
                "logical_and.",
            )

        def __getitem__(self, index: object) -> NoReturn:
            raise _refused(
                f"{_shown(self)} is one value; it cannot be indexed or iterated over",
                "Index the buffer or the tensor that it is an element of.",
                self,
            )


def _shown(operand: object) -> str:
    if isinstance(operand, (bool, int, float)):
        return repr(operand)
    name = getattr(operand, "name", None)
    kind = type(operand).__name__
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
    def compare(self: object, other: object) -> NoReturn:
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
