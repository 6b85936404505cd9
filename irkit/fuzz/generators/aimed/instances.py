"""Expressions that match patterns, or have nodes of some classes: what a pass over expressions
looks for."""

import typing
from collections.abc import Callable, Sequence
from typing import Any

from irkit.core import DTypeError, fields
from irkit.fuzz.generators.aimed.aim import PassAim
from irkit.fuzz.picks import Picks
from irkit.ir import (
    ANY,
    ANY_FLOAT,
    ANY_INTEGER,
    BF16,
    BOOL,
    F16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    INTRINSICS,
    U8,
    U16,
    U32,
    And,
    Binary,
    Call,
    Cast,
    Compare,
    Conditional,
    Const,
    Div,
    DType,
    Expr,
    Hole,
    Neg,
    Not,
    Or,
    Select,
    binary,
    call,
    cast,
    const,
    gt,
    if_then_else,
    logical_not,
    select,
)

FLOATS = (F32, F64, F32, F16, BF16)
INTEGERS = (I32, I64, I8, U8, I32, U32, I16, U16)
_NUMBERS = (2, 1, 0, 3, 4, -1, 8, 7, 5, 16)
_TRIES = 6
_UNBUILT = (DTypeError, ValueError, OverflowError, TypeError)

Fill = Callable[[DType], Expr]


class InstanceMaker:
    """Maker of such expressions; ``fill`` makes any expression of a type."""

    def __init__(self, picks: Picks, aim: PassAim, fill: Fill) -> None:
        self.picks, self.aim, self.fill = picks, aim, fill
        self.classes = [cls for cls in aim.classes if cls in _MAKERS or issubclass(cls, Binary)]
        if aim.calls and Call not in self.classes:
            self.classes.append(Call)
        self.number: int | float | None = None

    def make(self, dtype: DType) -> Expr | None:
        """Make an expression of a scalar type, by a rule, a pattern or a class; None if nothing
        fits."""
        picks = self.picks
        self.number = self._number() if picks.below(3) else None
        patterns = len(self.aim.rules) + len(self.aim.patterns)
        for _ in range(_TRIES):
            made = None
            try:
                if patterns and (not self.classes or picks.below(4)):
                    made = self._by_pattern(picks.below(patterns), dtype)
                elif self.classes:
                    made = self.mentioned(dtype, 2)
            except _UNBUILT:
                continue
            if made is not None:
                return made if made.dtype == dtype else self._converted(made, dtype)
        return None

    def _converted(self, made: Expr, dtype: DType) -> Expr | None:
        """Use an expression where another type is needed."""
        if made.dtype.is_bool:
            return select(made, self.fill(dtype), self.fill(dtype))
        if dtype.is_bool:
            return gt(made, self.fill(made.dtype))
        if self.aim.rounding and made.dtype.is_float and not dtype.is_float:
            return None  # What is rounded otherwise would be another integer.
        return cast(made, dtype)

    def _by_pattern(self, at: int, dtype: DType) -> Expr | None:
        rules = self.aim.rules
        if at >= len(rules):
            return _Instance(self, self.aim.patterns[at - len(rules)], dtype).made
        rule = rules[at]
        made: Expr | None = None
        assert isinstance(rule.pattern, Expr)
        for _ in range(_TRIES):
            made = _Instance(self, rule.pattern, dtype).made
            try:
                if rule.apply(made) is not None:
                    break
            except Exception:  # The rule is under test: the check shall see what it raises.
                break
        return made

    def mentioned(self, dtype: DType, depth: int) -> Expr | None:
        """Make an expression whose nodes are of classes that the pass mentions, if one fits."""
        fitting = [cls for cls in self.classes if _gives(cls, dtype)]
        if not fitting or (depth > 1 and self.picks.one_in(4)):
            other = self.picks.pick((BOOL, F32, I32, F64, I64))
            fitting = [cls for cls in self.classes if _gives(cls, other)]
            if not fitting or other == dtype:
                return None
            dtype = other
        cls = self.picks.pick(fitting)
        if issubclass(cls, Binary):
            return self._binary(cls, dtype, depth)
        return _MAKERS[cls](self, dtype, depth)

    def operand(self, dtype: DType, depth: int, beside: Expr | None = None) -> Expr:
        """Make an operand: of a class that is mentioned, a constant, the one beside it, or any."""
        form = self.picks.below(8)
        if form < 4 and depth > 0:
            made = self.mentioned(dtype, depth - 1)
            if made is not None and made.dtype == dtype:
                return made
        if form == 4 and beside is not None and beside.dtype == dtype:
            return beside
        if form == 5 or (Const in self.aim.classes and form == 6):
            return self.constant(dtype)
        return self.fill(dtype)

    def constant(self, dtype: DType) -> Expr:
        """Make a constant: mostly one that the pass mentions, or near one."""
        for _ in range(_TRIES):
            value = self.number if self.number is not None else self._number()
            try:
                whole = value if dtype.is_float else int(value)
                return const(bool(value) if dtype.is_bool else whole, dtype)
            except _UNBUILT:
                self.number = None
        return const(0, dtype)

    def _number(self) -> int | float:
        if not self.aim.numbers or not self.picks.below(3):
            return self.picks.pick(_NUMBERS)
        value = self.picks.pick(self.aim.numbers)
        near = self.picks.below(8)
        return value + 1 if near == 6 else value - 1 if near == 7 else value

    def _binary(self, cls: type[Binary], dtype: DType, depth: int) -> Expr:
        operands = dtype
        if issubclass(cls, Compare):
            floats = () if self.aim.rounding else FLOATS
            operands = self.picks.pick((*INTEGERS, *floats))
        a = self.operand(operands, depth)
        return binary(cls, a, self.operand(operands, depth, a))

    def make_call(self, dtype: DType, depth: int) -> Expr | None:
        """Make a call of a function that the pass mentions, or of any."""
        names = [name for name in self.aim.calls or _PLAIN_CALLS if _call_fits(name, dtype)]
        if not names:
            return None
        name = self.picks.pick(names)
        over = self.picks.pick(FLOATS) if dtype.is_bool else dtype
        return call(name, *[self.operand(over, depth) for _ in INTRINSICS[name].params])

    def make_cast(self, dtype: DType, depth: int) -> Expr:
        """Make a cast from another type, of which a cast from this one is an operand often."""
        floats = FLOATS if dtype.is_float or not self.aim.rounding else ()
        inner = self.picks.pick((*INTEGERS, *floats))
        if depth > 0 and self.picks.below(3):  # There and back, mostly by types of one kind.
            alike = [each for each in (*INTEGERS, *floats) if each.kind == dtype.kind]
            inner = self.picks.pick(alike) if self.picks.below(3) else inner
            rounds = self.aim.rounding and dtype.is_float and inner.is_integer
            return cast(self.operand(inner, 0) if rounds else cast(self.fill(dtype), inner), dtype)
        return cast(self.operand(inner, depth), dtype)

    def make_choice(self, dtype: DType, depth: int, choose: Any) -> Expr:
        """Make a choice between two expressions."""
        cond = self.operand(BOOL, depth)
        then = self.operand(dtype, depth)
        return choose(cond, then, self.operand(dtype, depth, then))

    def make_not(self, dtype: DType, depth: int) -> Expr:
        """Make a negation of a condition, or of bits."""
        return logical_not(self.operand(dtype, depth))


class _Instance:
    """One instance of a pattern."""

    def __init__(self, maker: InstanceMaker, pattern: Expr, wanted: DType) -> None:
        self.maker = maker
        self.types: dict[DType, DType] = {}
        self.holes: dict[str, Expr] = {}
        if _is_open(pattern.dtype) and _stands_for(pattern.dtype, wanted):
            self.types[pattern.dtype] = wanted
        self.again: list[Expr] = []
        self.made = self._expr(pattern)

    def _type(self, dtype: DType) -> DType:
        if not _is_open(dtype):
            return dtype.element
        if dtype not in self.types:
            choices = FLOATS if dtype == ANY_FLOAT else INTEGERS
            if dtype == ANY:
                choices = (*INTEGERS, *FLOATS)
            self.types[dtype] = self.maker.picks.pick(choices)
        return self.types[dtype]

    def _expr(self, node: Expr) -> Expr:
        dtype = self._type(node.dtype)
        if isinstance(node, Hole):
            if node.name not in self.holes:
                self.holes[node.name] = self._filled(node, dtype)
            return self.holes[node.name]
        if isinstance(node, Const):
            return const(node.value, dtype)
        values: dict[str, Any] = {}
        for field in fields(type(node)):
            value = getattr(node, field.name)
            if field.kind == "child" and isinstance(value, tuple):
                value = tuple([self._expr(each) for each in typing.cast("tuple[Expr, ...]", value)])
            elif field.kind == "child" and value is not None:
                value = self._expr(value)
            values[field.name] = dtype if field.name == "dtype" else value
        if isinstance(node, Call):
            return call(node.name, *values["args"])
        if isinstance(node, Binary):
            return binary(type(node), values["a"], values["b"])
        return type(node)(**values)

    def _filled(self, found: Hole, dtype: DType) -> Expr:
        """Fill a hole: often like another one of the same type, since rules compare them."""
        same = [each for each in self.again if each.dtype == dtype and isinstance(each, found.on)]
        made: Expr | None = None
        for _ in range(_TRIES):
            if same and self.maker.picks.below(2):
                made = self.maker.picks.pick(same)
            elif found.on is Const:
                made = self.maker.constant(dtype)
            else:
                made = self.maker.fill(dtype)
            fits = isinstance(made, found.on)
            if fits and (found.where is None or _holds(found.where, made)):
                break
        assert made is not None
        self.again.append(made)
        return made


def _holds(where: Callable[[Any], bool], made: Expr) -> bool:
    try:
        return bool(where(made))
    except Exception:  # It is the user's, and under test.
        return True


def _is_open(dtype: DType) -> bool:
    return not dtype.is_known()


def _stands_for(open_type: DType, dtype: DType) -> bool:
    if open_type == ANY_INTEGER:
        return dtype.is_integer
    return dtype.is_float if open_type == ANY_FLOAT else not dtype.is_bool


def _call_fits(name: str, dtype: DType) -> bool:
    row = INTRINSICS[name]
    if row.gives == "none":
        return False
    return dtype.is_bool if row.gives == "bool" else row.accepts(dtype)


def _gives(cls: type[Expr], dtype: DType) -> bool:
    """Return True if nodes of a class can have a type."""
    if issubclass(cls, (Compare, And, Or)):
        return dtype.is_bool
    if cls is Div:
        return dtype.is_float
    if cls is Not:
        return not dtype.is_float
    if cls in (Call, Select, Conditional, Const):
        return True
    if cls is Cast:
        return not dtype.is_bool
    if dtype.is_bool:
        return False
    try:
        binary(cls, const(1, dtype), const(1, dtype)) if issubclass(cls, Binary) else None
    except _UNBUILT:
        return False
    return True


_PLAIN_CALLS: Sequence[str] = ("abs", "sqrt", "fma")
_MAKERS: dict[type[Expr], Callable[[InstanceMaker, DType, int], Expr | None]] = {
    Call: InstanceMaker.make_call,
    Cast: InstanceMaker.make_cast,
    Const: lambda maker, dtype, depth: maker.constant(dtype),
    Conditional: lambda maker, dtype, depth: maker.make_choice(dtype, depth, if_then_else),
    Neg: lambda maker, dtype, depth: -maker.operand(dtype, depth),
    Not: InstanceMaker.make_not,
    Select: lambda maker, dtype, depth: maker.make_choice(dtype, depth, select),
}
