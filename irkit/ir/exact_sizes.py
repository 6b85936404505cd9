"""Sizes that must not wrap around: the condition on the arguments of a call under which none does.

A size is the begin or end of a loop, the extent of an axis, an extent, stride or offset of a view,
or an extent of an allocation. ``size_guard`` gives one condition for all sizes of a function, which
a call evaluates before anything else. It is an expression, so every backend can evaluate it.

A sum or product that wraps around on the way does no harm if its final value fits, such as
``n * 4 - n * 3``. So each polynomial is tested as a whole. Its i64 is right modulo 2**64. Its f64
is right up to a small error. If the two are close, the i64 is exact. This holds while all terms are
below 2**110; with larger ones that might cancel, the call is refused. Other operations need exact
operands. A loop variable stands for the range of its values.

A loop around nothing but empty loops needs no exact bounds: a fused loop over ``n * m`` rows of no
elements is legal.
"""

import operator
from collections.abc import Callable, Iterable, Mapping
from functools import reduce

import msgspec

from irkit.core import ShapeError, Span, analysis, children, deep_recursion, postorder
from irkit.ir.buffer import Buffer, Load
from irkit.ir.build import (
    as_int,
    call,
    convert,
    le,
    logical_not,
    lt,
    maximum,
    minimum,
    select,
    strided_count,
)
from irkit.ir.conditional import Conditional, Select
from irkit.ir.dtype import BOOL, F64, DType
from irkit.ir.expr import (
    Add,
    Binary,
    BitAnd,
    BitOr,
    Cast,
    Const,
    Expr,
    FloorDiv,
    FloorMod,
    Max,
    Min,
    Mul,
    Neg,
    Sub,
    Var,
)
from irkit.ir.function import PrimFunc, shape_vars
from irkit.ir.intrinsics import INTRINSICS, Call
from irkit.ir.stmt import (
    Allocate,
    Assert,
    Block,
    Evaluate,
    For,
    If,
    Let,
    Seq,
    Stmt,
    Store,
    View,
)

_LARGEST_TERM = 110
"""Bits of the largest term for which the error of f64 stays below 2**62."""
_UNBOUNDED = 1 << 256
"""Limits of values are not followed beyond this: repeated squares have too many digits."""
_ALWAYS = Const(True, BOOL)
_OPERATIONS: dict[type[Expr], Callable[[int, int], int]] = {
    Add: operator.add,
    Sub: operator.sub,
    Mul: operator.mul,
    FloorDiv: lambda a, b: a // b if b else 0,
    FloorMod: lambda a, b: a % b if b else 0,
    Min: min,
    Max: max,
}


class Size(msgspec.Struct, frozen=True):
    """A size of a function: what it is, and its value over the parameters and loop variables.

    ``varies`` is set if it depends on loop variables.
    """

    what: str
    value: Expr
    varies: bool
    span: Span | None


class SizeGuard(msgspec.Struct, frozen=True):
    """The condition that a call must satisfy, over scalar parameters and ``shape_vars``, and the
    sizes that it is about; ``allocations`` are the conditions of allocations that depend on loop
    variables, by the ``id`` of their buffers."""

    condition: Expr
    sizes: tuple[Size, ...]
    allocations: dict[int, Expr]

    def problem(self, func: PrimFunc, values: Mapping[Var, int]) -> ShapeError:
        """Return the error for a call whose arguments do not satisfy the condition."""
        given = ", ".join(f"{var.name} = {value}" for var, value in values.items())
        for size in self.sizes:
            if size.varies:
                continue
            number, dtype = exact_value(size.value, values), size.value.dtype
            if number is not None and not dtype.low <= number <= dtype.high:
                return ShapeError(
                    f"{func.name}: {size.what} is {number} for {given}; "
                    f"expected {dtype.low} to {dtype.high}, the range of {dtype}",
                    span=size.span or func.span,
                )
        names = ", ".join(dict.fromkeys(size.what for size in self.sizes))
        return ShapeError(
            f"{func.name}: sizes are too large for {given}: expected {names} within the range of "
            "its type",
            span=func.span,
        )


@analysis
def size_guard(func: PrimFunc) -> SizeGuard | None:
    """Return the condition under which no size of a function wraps around; None if it always
    holds, as for constant shapes."""
    variables = [*(p for p in func.params if isinstance(p, Var)), *shape_vars(func)]
    if not any(var.dtype.kind in "iu" for var in variables):
        return None
    finder = _Finder(func)
    condition = _all((finder.parameters(func), finder.condition(func.body)))
    if condition is None and not finder.allocations:
        return None
    holds = _ALWAYS if condition is None else condition
    return SizeGuard(holds, tuple(finder.sizes), finder.allocations)


class _Form(msgspec.Struct, frozen=True):
    """What is known of an integer expression.

    ``value`` is the expression over parameters and loop variables. The exact number lies between
    ``low`` and ``high``, in f64, which are the same object unless it varies in loops; ``size`` is
    the sum of the absolute values of its terms. ``least`` and ``most`` are what is known of it for
    all calls, ``largest`` of ``size``. ``needs`` are conditions for the operands. ``wraps`` is set
    if the value can wrap around; without it, the value is what the type holds.
    """

    value: Expr
    low: Expr
    high: Expr
    size: Expr
    least: int
    most: int
    largest: int
    needs: tuple[Expr, ...] = ()
    wraps: bool = False

    @property
    def varies(self) -> bool:
        return self.low is not self.high


def _number(value: float) -> Expr:
    return Const(float(value), F64)


def _and(*conds: Expr) -> Expr:
    """Join conditions without branches: in a branch, shared parts would be computed again."""
    return reduce(lambda a, b: BitAnd(a, b, BOOL), conds)


def _or(*conds: Expr) -> Expr:
    return reduce(lambda a, b: BitOr(a, b, BOOL), conds)


def _once(conds: Iterable[Expr]) -> tuple[Expr, ...]:
    """Return each condition once."""
    return tuple({id(cond): cond for cond in conds}.values())


def _all(conds: Iterable[Expr | None]) -> Expr | None:
    """Join conditions of which None always holds."""
    kept = _once(cond for cond in conds if cond is not None)
    return _and(*kept) if kept else None


class _Finder:
    """Forms of the expressions of one function, and its sizes so far; without a function, every
    variable is a parameter."""

    def __init__(self, func: PrimFunc | None) -> None:
        self.sizes: list[Size] = []
        self.allocations: dict[int, Expr] = {}
        self._forms: dict[int, _Form | None] = {}
        self._kept: list[Expr] = []
        self._variables: dict[Var, _Form | None] | None = None
        if func is not None:
            shapes = set(shape_vars(func))
            scalars = [param for param in func.params if isinstance(param, Var)]
            self._variables = {
                var: _leaf(var, least=0 if var in shapes else None)
                for var in (*scalars, *shapes)
                if not var.dtype.is_float and var.dtype.lanes == 1
            }

    @deep_recursion
    def condition(self, body: Stmt) -> Expr | None:
        """Return the condition for all sizes of a body; None if it always holds."""
        return self._statement(body)[0]

    def parameters(self, func: PrimFunc) -> Expr | None:
        """Return the condition for the extents and strides of the parameters."""
        conds = list[Expr]()
        for param in func.params:
            if not isinstance(param, Buffer):
                continue
            named = [(f"dimension {axis}", dim) for axis, dim in enumerate(param.shape)]
            named += [(f"stride {axis}", step) for axis, step in enumerate(param.strides or ())]
            for what, expr in named:
                form = self.form(expr)
                if form is not None:
                    conds += self.needs(form, f"{what} of {param.name!r}", func.span)
        return _all(conds)

    def _statement(self, stmt: Stmt) -> tuple[Expr | None, Expr | None]:
        """Return the condition for the sizes inside (None: always), and one under which nothing
        runs there (None: unknown)."""
        match stmt:
            case For(var, begin, end, body):
                return self._loop(stmt, var, begin, end, body)
            case Block(body=body, init=init):
                return self._block(stmt, [body] if init is None else [init, body])
            case Seq(stmts):
                return self._sequence(stmts)
            case If(cond, then, otherwise):
                return self._branch(cond, then, otherwise)
            case Let(var, value, body):
                self._bind(var, self.form(value))
                return self._statement(body)
            case Allocate(buffer, body):
                own = self._allocation(buffer, stmt.span)
                inside, idle = self._statement(body)
                return _all((own, inside)), idle
            case View(buffer, body=body):
                own = self._view(stmt, buffer)
                inside, idle = self._statement(body)
                if own is not None and idle is not None:
                    own = _or(own, idle)
                return _all((own, inside)), idle
            case Store() | Evaluate() | Assert():
                return None, None
            case _:
                return self._sequence([each for each in children(stmt) if isinstance(each, Stmt)])

    def _sequence(self, stmts: Iterable[Stmt]) -> tuple[Expr | None, Expr | None]:
        conds, idles = list[Expr | None](), list[Expr | None]()
        for stmt in stmts:
            cond, idle = self._statement(stmt)
            conds.append(cond)
            idles.append(idle)
        return _all(conds), None if None in idles else _all(idles)

    def _loop(
        self, loop: Stmt, var: Var, begin: Expr, end: Expr, body: Stmt
    ) -> tuple[Expr | None, Expr | None]:
        first, last = self.form(begin), self.form(end)
        own: list[Expr] = []
        if first is not None:
            own += self.needs(first, f"the begin of loop {var.name!r}", loop.span)
        if last is not None:
            own += self.needs(last, f"the end of loop {var.name!r}", loop.span)
        self._bind(var, None if first is None or last is None else _range(var, first, last))
        cond, idle = self._statement(body)
        return self._repeated(own, first, last, cond, idle)

    def _repeated(
        self,
        own: list[Expr],
        first: _Form | None,
        last: _Form | None,
        cond: Expr | None,
        idle: Expr | None,
    ) -> tuple[Expr | None, Expr | None]:
        """Join the conditions of the bounds of a loop with those of its body."""
        exact = _all(own)
        stops: Expr | None = None
        if first is not None and last is not None and not (first.varies or last.varies):
            if last.least <= first.most:
                stops = le(last.value, first.value)
                stops = stops if exact is None else _and(exact, stops)
            if cond is not None and stops is not None:
                cond = _or(stops, cond)
        if exact is not None and idle is not None:
            exact = _or(exact, idle)
        resting = [each for each in (stops, idle) if each is not None]
        return _all((exact, cond)), _or(*resting) if resting else None

    def _block(self, block: Block, bodies: list[Stmt]) -> tuple[Expr | None, Expr | None]:
        own = list[Expr]()
        for axis in block.axes:
            form = self.form(axis.extent)
            if form is not None:
                own += self.needs(form, f"the extent of axis {axis.var.name!r}", block.span)
            # A binding lies in the axis, or the block is an error.
            zero = _constant(0, axis.var.dtype)
            self._bind(axis.var, None if form is None else _range(axis.var, zero, form))
        cond, idle = self._sequence(bodies)
        exact = _all(own)
        if exact is not None and idle is not None:
            exact = _or(exact, idle)
        return _all((exact, cond)), idle

    def _branch(
        self, cond: Expr, then: Stmt, otherwise: Stmt | None
    ) -> tuple[Expr | None, Expr | None]:
        test = self._test(cond)
        inside, idle = self._statement(then)
        outside, free = (None, _ALWAYS) if otherwise is None else self._statement(otherwise)
        if test is not None and inside is not None:
            inside = _or(logical_not(test), inside)
        if test is not None and outside is not None:
            outside = _or(test, outside)
        return _all((inside, outside)), None if idle is None or free is None else _all((idle, free))

    def _bind(self, var: Var, form: _Form | None) -> None:
        if self._variables is not None:
            self._variables[var] = form

    def _view(self, view: View, buffer: Buffer) -> Expr | None:
        name = f"of view {buffer.name!r}"
        parts = [("the offset", view.offset)]
        parts += [(f"dimension {axis}", dim) for axis, dim in enumerate(buffer.shape)]
        parts += [(f"stride {axis}", step) for axis, step in enumerate(buffer.strides or ())]
        conds = list[Expr]()
        for what, expr in parts:
            form = self.form(expr)
            if form is not None:
                conds += self.needs(form, f"{what} {name}", view.span)
        return _all(conds)

    def _allocation(self, buffer: Buffer, span: Span | None) -> Expr | None:
        """Return the condition for the extents of an allocation. Its bytes are counted without
        wrapping around where memory is allocated."""
        dims = [factor for dim in buffer.shape for factor in _factors(dim)]
        if all(as_int(dim) is not None for dim in dims):
            return None
        name = f"of buffer {buffer.name!r}"
        if buffer.strides is not None:
            dims = [strided_count(buffer.shape, buffer.strides)]
            self._kept += dims
        forms = [self.form(dim) for dim in dims]
        known = [form for form in forms if form is not None]
        if len(known) < len(forms) or any(form.varies for form in known):
            self._inner_allocation(buffer, known)
            return None
        conds = list[Expr]()
        for axis, form in enumerate(known):
            conds += self.needs(form, f"dimension {axis} {name}", span)
        return _all(conds)

    def _inner_allocation(self, buffer: Buffer, known: list[_Form]) -> None:
        """Note what has to be checked where memory is allocated that depends on loop variables."""
        finder, conds = _Finder(None), list[Expr]()
        for outer in known:
            form = finder.form(outer.value)
            if form is not None:
                conds += finder.needs(form, "", None)
        if conds:
            self.allocations[id(buffer)] = _and(*conds)

    def needs(self, form: _Form, what: str, span: Span | None) -> list[Expr]:
        """Return the conditions that a size is exact, and note it under a name."""
        conds = [*form.needs]
        fits = _fits(form)
        if fits is not None:
            conds.append(fits)
        if conds:
            self.sizes.append(Size(what, form.value, form.varies, span))
        return conds

    def _test(self, cond: Expr) -> Expr | None:
        """Return a condition over the parameters; None if it depends on anything else."""
        found = self.form(cond)
        return None if found is None or found.varies or found.needs else found.value

    def form(self, expr: Expr) -> _Form | None:
        """Return what is known of an expression; None if it depends on data."""
        known = self._forms.get(id(expr), self)
        if known is self:
            if expr.dtype.lanes > 1 or expr.dtype.is_float:
                known = None
            else:
                known = self._form(expr)
            self._forms[id(expr)] = known
            self._kept.append(expr)
        return known  # pyright: ignore[reportReturnType] -- self stands for nothing

    def _form(self, expr: Expr) -> _Form | None:
        match expr:
            case Const(value):
                return _constant(int(value), expr.dtype)
            case Var():
                if self._variables is None:
                    return _leaf(expr) if not expr.dtype.is_float else None
                return self._variables.get(expr)
            case Load():
                return None if self._variables is not None else _leaf(expr)
            case Add(a, b) | Sub(a, b) | Mul(a, b):
                one, two = self.form(a), self.form(b)
                return None if one is None or two is None else _polynomial(expr, one, two)
            case Neg(a):
                one = self.form(a)
                if one is None:
                    return None
                return _polynomial(
                    Sub(Const(0, expr.dtype), a, expr.dtype), _constant(0, expr.dtype), one
                )
            case Select(cond, a, b) | Conditional(cond, a, b):
                return self._choice(expr, cond, a, b)
            case _:
                return self._operation(expr)

    def _choice(self, expr: Expr, cond: Expr, a: Expr, b: Expr) -> _Form | None:
        test, one, two = self.form(cond), self.form(a), self.form(b)
        if test is None or one is None or two is None:
            return None
        least, most = min(one.least, two.least), max(one.most, two.most)
        value = expr.replace(cond=test.value, then=one.value, otherwise=two.value)
        first, second = _operand_needs(one), _operand_needs(two)
        if not test.varies:
            first = [_or(logical_not(test.value), each) for each in first]
            second = [_or(test.value, each) for each in second]
        needs = _once((*test.needs, *first, *second))
        if test.varies or one.varies or two.varies:
            low, high = minimum(one.low, two.low), maximum(one.high, two.high)
            return _interval(value, low, high, least, most, needs)
        return _leaf(value, least, most, needs)

    def _operation(self, expr: Expr) -> _Form | None:
        """Return the form of an operation that needs exact operands."""
        if isinstance(expr, Call) and INTRINSICS[expr.name].on == "effect":
            return None
        forms, swaps = list[_Form](), dict[int, Expr]()
        for child in children(expr):
            form = self.form(child) if isinstance(child, Expr) else None
            if form is None:
                return None
            forms.append(form)
            swaps[id(child)] = form.value
        needs = _once(need for form in forms for need in form.needs)
        # A conversion to fewer bits takes the low ones, of a value that has wrapped around too.
        if not (isinstance(expr, Cast) and expr.dtype.bits <= expr.value.dtype.bits):
            needs = _once(need for form in forms for need in _operand_needs(form))
        value = _with(expr, swaps)
        least, most = _limits(expr, forms)
        if not any(form.varies for form in forms):
            return _leaf(value, least, most, needs)
        return _varying(expr, value, forms, least, most, needs)


def _factors(dim: Expr) -> list[Expr]:
    """Return the factors of a number of elements, which saturates."""
    if isinstance(dim, Call) and dim.name == "mul_sat":
        return [factor for arg in dim.args for factor in _factors(arg)]
    return [dim]


def _with(expr: Expr, swaps: Mapping[int, Expr]) -> Expr:
    """Replace the operands of an expression."""
    if isinstance(expr, Call):
        return expr.replace(args=tuple(swaps[id(arg)] for arg in expr.args))
    changed = {
        name: swaps[id(old)]
        for name in ("a", "b", "value")
        if (old := getattr(expr, name, None)) is not None
    }
    return expr.replace(**changed)


def _constant(value: int, dtype: DType) -> _Form:
    number = _number(value)
    size = number if value >= 0 else _number(-value)
    return _Form(Const(value, dtype), number, number, size, value, value, abs(value))


def _type_limits(dtype: DType) -> tuple[int, int]:
    return (0, 1) if dtype.is_bool else (dtype.low, dtype.high)


def _leaf(
    value: Expr, least: int | None = None, most: int | None = None, needs: tuple[Expr, ...] = ()
) -> _Form:
    """Return the form of a value that its type holds."""
    low, high = _type_limits(value.dtype)
    least, most = low if least is None else least, high if most is None else most
    number = convert(value, F64)
    size = number if least >= 0 else call("abs", number)
    return _Form(value, number, number, size, least, most, max(abs(least), abs(most)), needs)


def _interval(
    value: Expr, low: Expr, high: Expr, least: int, most: int, needs: tuple[Expr, ...]
) -> _Form:
    if low is high:  # Two ends that happen to be one object would say that it does not vary.
        high = low + _number(0)
    size = high if least >= 0 else maximum(call("abs", low), call("abs", high))
    return _Form(value, low, high, size, least, most, max(abs(least), abs(most)), needs)


def _range(var: Var, first: _Form, last: _Form) -> _Form:
    """Return the form of a loop variable."""
    least, most = first.least, max(last.most - 1, first.least)
    low, high = _type_limits(var.dtype)
    end = maximum(last.high - _number(1), first.low)
    return _interval(var, first.low, end, max(least, low), min(most, high), ())


def _polynomial(expr: Expr, one: _Form, two: _Form) -> _Form:
    """Return the form of a sum, difference or product."""
    value = expr.replace(a=one.value, b=two.value)
    point = not (one.varies or two.varies)
    if isinstance(expr, Mul):
        if point and one.largest * two.largest >= 1 << _LARGEST_TERM:
            one, two = _cancelled(one), _cancelled(two)
        size, largest = one.size * two.size, one.largest * two.largest
        corners = [a * b for a in (one.least, one.most) for b in (two.least, two.most)]
        least, most = min(corners), max(corners)
        if point:
            low = high = one.low * two.low
        elif one.least >= 0 and two.least >= 0:
            low, high = one.low * two.low, one.high * two.high
        else:
            ends = [a * b for a in (one.low, one.high) for b in (two.low, two.high)]
            low = minimum(minimum(ends[0], ends[1]), minimum(ends[2], ends[3]))
            high = maximum(maximum(ends[0], ends[1]), maximum(ends[2], ends[3]))
    else:
        size, largest = one.size + two.size, one.largest + two.largest
        if isinstance(expr, Add):
            low, high = one.low + two.low, one.high + two.high
            least, most = one.least + two.least, one.most + two.most
        else:
            low, high = one.low - two.high, one.high - two.low
            least, most = one.least - two.most, one.most - two.least
        if point:
            high = low
    if point and not isinstance(expr, Sub) and one.size is one.low and two.size is two.low:
        size = low  # No term is negative.
    least, most = max(least, -_UNBOUNDED), min(most, _UNBOUNDED)
    largest = min(largest, _UNBOUNDED)
    return _Form(
        value, low, high, size, least, most, largest, _once((*one.needs, *two.needs)), True
    )


def _cancelled(form: _Form) -> _Form:
    """Take the value of a factor for its terms where it fits, since they may have cancelled."""
    if not form.wraps or form.size is form.low:
        return form
    fits, known = _fits(form), _leaf(form.value)
    if fits is None:
        return msgspec.structs.replace(form, low=known.low, high=known.low, size=known.size)
    low, size = select(fits, known.low, form.low), select(fits, known.size, form.size)
    return msgspec.structs.replace(form, low=low, high=low, size=size)


def _fits(form: _Form) -> Expr | None:
    """Return the condition that the type of a value holds it; None if it always does."""
    least, most = _type_limits(form.value.dtype)
    if not form.wraps or (least <= form.least and form.most <= most):
        return None
    bits = form.value.dtype.bits
    if form.varies:
        conds = [le(_number(least), form.low)] if form.least < least else []
        conds += [lt(form.high, _number(most + 1))] if form.most > most else []
        return _and(*conds)
    apart = call("abs", form.low - convert(form.value, F64))
    near = lt(apart, _number(1 << (bits - 2)))
    # Where no term is negative, nothing cancels, and the error is relative to the value.
    plain = form.size is form.low
    if plain or form.largest < 1 << (_LARGEST_TERM + bits - 64):
        return near
    return _and(near, lt(form.size, _number(1 << (_LARGEST_TERM + bits - 64))))


def _operand_needs(form: _Form) -> list[Expr]:
    """Return the conditions for an operand that must be exact."""
    fits = _fits(form)
    return [*form.needs] if fits is None else [*form.needs, fits]


def _limits(expr: Expr, forms: list[_Form]) -> tuple[int, int]:
    """Return what is known of the result of an operation for all calls."""
    low, high = _type_limits(expr.dtype)
    match expr:
        case FloorDiv() if forms[1].least > 0 and forms[1].least == forms[1].most:
            by = forms[1].most
            low, high = max(low, forms[0].least // by), min(high, forms[0].most // by)
        case FloorDiv() if forms[0].least >= 0 and forms[1].least >= 0:
            low, high = 0, min(high, forms[0].most)
        case FloorMod() if forms[1].least > 0:
            low, high = 0, min(high, forms[1].most - 1)
        case Min():
            low = max(low, min(form.least for form in forms))
            high = min(high, *(form.most for form in forms))
        case Max():
            low = max(low, *(form.least for form in forms))
            high = min(high, max(form.most for form in forms))
        case Cast() if low <= forms[0].least and forms[0].most <= high:
            low, high = forms[0].least, forms[0].most
        case _:
            pass
    return low, high


def _varying(
    expr: Expr, value: Expr, forms: list[_Form], least: int, most: int, needs: tuple[Expr, ...]
) -> _Form | None:
    """Return the form of an operation on values that vary in loops."""
    one = forms[0]
    match expr:
        case Min():
            low, high = minimum(one.low, forms[1].low), minimum(one.high, forms[1].high)
        case Max():
            low, high = maximum(one.low, forms[1].low), maximum(one.high, forms[1].high)
        case FloorDiv() if forms[1].least > 0 and forms[1].least == forms[1].most:
            by = _number(1 / forms[1].most)
            low, high = one.low * by - _number(1), one.high * by
        case FloorMod() if forms[1].least > 0:
            low, high = _number(0), forms[1].high
        case Cast() if expr.dtype.bits >= expr.value.dtype.bits:
            low, high = one.low, one.high
        case _:
            return None
    return _interval(value, low, high, least, most, needs)


def exact_value(expr: Expr, values: Mapping[Var, int]) -> int | None:
    """Return the exact value of a size; None if it has operations that no size has as a rule."""
    known: dict[int, int | None] = {}
    for node in postorder(expr):
        assert isinstance(node, Expr)
        known[id(node)] = _operated(node, values, known)
    return known[id(expr)]


def _operated(expr: Expr, values: Mapping[Var, int], known: Mapping[int, int | None]) -> int | None:
    """Return the exact value of an operation; ``known`` has those of its operands."""
    if isinstance(expr, Const):
        return int(expr.value)
    if isinstance(expr, Var):
        return values.get(expr)
    if isinstance(expr, Cast):
        return known[id(expr.value)]
    operation = _OPERATIONS.get(type(expr))
    if isinstance(expr, Call) and expr.name == "mul_sat":
        operation, parts = _OPERATIONS[Mul], expr.args
    elif isinstance(expr, Binary) and operation is not None:
        parts = (expr.a, expr.b)
    else:
        return None
    one, two = known[id(parts[0])], known[id(parts[1])]
    if one is None or two is None or max(abs(one), abs(two)) > _UNBOUNDED:
        return None
    return operation(one, two)
