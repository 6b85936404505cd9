"""Calls and function values become bindings, so that operators, branches and items are left.

A function value is a lambda with the values around it, or a choice between two. Calling one binds
a copy of its body; nothing recurses, because a lambda is bound after its body, except a call of
the module by name, which is refused. A branch whose result holds a function is bound on both sides.
"""

from collections.abc import Sequence
from typing import TypeAlias, Union

import msgspec

from irkit.core import IRKitError, IRModule, deep_recursion, substitute
from irkit.graph.build import Builder
from irkit.graph.function import GraphFunc
from irkit.graph.nodes import (
    Apply,
    Bind,
    Body,
    Constant,
    GraphIf,
    GraphLoop,
    Invoke,
    Lambda,
    Op,
    Prefix,
    Tuple,
    TupleGet,
    Value,
)
from irkit.graph.state import state_pairs
from irkit.graph.types import FuncType, TupleType, Type
from irkit.ir import Var

MAX_BINDINGS = 200_000
"""Calls of functions that call functions can double the program each time."""


class FunctionValue(msgspec.Struct, frozen=True, eq=False):
    """A lambda and the values around it."""

    code: Lambda
    scope: "InlineScope"


class ChosenFunction(msgspec.Struct, frozen=True, eq=False):
    """One of two function values, by a condition."""

    cond: Value
    then: "Inlined"
    otherwise: "Inlined"


Inlined: TypeAlias = Union[Value, FunctionValue, ChosenFunction, "tuple[Inlined, ...]"]


class InlineScope:
    """What values of the old program are in the new one, with a link to the scope around."""

    def __init__(self, outer: "InlineScope | None" = None, *, is_open: bool = False) -> None:
        self.outer = outer
        self.is_open = is_open
        """Other values are those of the new program itself."""
        self.found: dict[Value, Inlined] = {}

    def __getitem__(self, value: Value) -> Inlined:
        scope: InlineScope | None = self
        while scope is not None:
            if value in scope.found:
                return scope.found[value]
            if scope.is_open:
                return value
            scope = scope.outer
        raise IRKitError(f"value {value.name!r} is used but not bound")


def inline_calls(func: GraphFunc, module: IRModule | None) -> GraphFunc:
    """Return a function of new values that calls only loop functions.

    Raises: IRKitError for recursion, a result that holds a function, or a program that grows too
    large.
    """
    builder, scope = Builder(func.name), InlineScope()
    for param in func.params:
        scope.found[param] = _opened(builder, builder.param(param.name, param.type))
    with deep_recursion:
        result = _Inliner(func.name, module).body(func.body, scope, builder)
        written = [scope.found[func.params[pair.param]] for pair in state_pairs(func)]
        copies: list[Value] = []
        result = _copied(builder, result, written, copies)
        found = _closed(builder, result, f"the result of {func.name!r}")
    made = builder.finish(found, span=func.span, **dict(func.attrs))
    if not copies:
        return made
    # They are made before anything is written over.
    first = sorted(made.body.bindings, key=lambda bind: bind.var not in copies)
    return made.replace(body=made.body.replace(bindings=tuple(first)))


def _copied(
    builder: Builder, result: Inlined, written: Sequence[Inlined], copies: list[Value]
) -> Inlined:
    """Return a result with copies of parameters that are written over, which a function may have
    returned as it was given them."""
    if isinstance(result, tuple):
        return tuple([_copied(builder, each, written, copies) for each in result])
    if isinstance(result, Value) and any(result is each for each in written):
        copies.append(builder.op("identity", result))
        return copies[-1]
    return result


def copy_body(body: Body, builder: Builder) -> "Value | tuple[Value, ...]":
    """Bind the steps of a body again, whose calls are inlined and whose outer values are those of
    the builder; return its result, or the items of it."""
    with deep_recursion:
        found = _Inliner("body", None).body(body, InlineScope(is_open=True), builder)
    items = found if isinstance(found, tuple) else (found,)
    values = tuple(each for each in items if isinstance(each, Value))
    assert len(values) == len(items), "a branch returns tensors"
    return values if isinstance(found, tuple) else values[0]


class _Inliner:
    def __init__(self, name: str, module: IRModule | None) -> None:
        self.module = module
        self.calling = [name]
        self.count = 0
        self.extents: dict[Var, Var] = {}
        """The dimensions that prefixes bind, by those of the old program: new ones each time that a
        body is copied again."""

    def body(self, body: Body, scope: InlineScope, builder: Builder) -> Inlined:
        for bind in body.bindings:
            self.count += 1
            if self.count > MAX_BINDINGS:
                raise IRKitError(
                    f"{self.calling[0]!r} has more than {MAX_BINDINGS} bindings once its calls are "
                    "inlined",
                    span=bind.span,
                )
            scope.found[bind.var] = self._bound(bind, scope, builder)
        return scope[body.result]

    def _bound(self, bind: Bind, scope: InlineScope, builder: Builder) -> Inlined:
        match bind.step:
            case Constant() as step:
                return builder.emit(step, bind.var.name, span=bind.span)
            case Op(name, args, attrs):
                step = Op(name, tuple(_tensor(scope[arg], bind) for arg in args), attrs)
                return _opened(builder, builder.emit(step, bind.var.name, span=bind.span))
            case Prefix(extent, value, count):
                again = extent in self.extents
                self.extents[extent] = Var(extent.name) if again else extent
                step = Prefix(
                    self.extents[extent], _tensor(scope[value], bind), _tensor(scope[count], bind)
                )
                return builder.emit(step, bind.var.name, span=bind.span)
            case Tuple(items):
                return tuple(scope[item] for item in items)
            case TupleGet(value, index):
                whole = scope[value]
                assert isinstance(whole, tuple)
                return whole[index]
            case Body() as body:
                return self.body(body, InlineScope(scope), builder)
            case Lambda() as code:
                return FunctionValue(code, scope)
            case GraphIf(cond, then, otherwise):
                return self._chosen(
                    bind, _tensor(scope[cond], bind), then, otherwise, scope, builder
                )
            case Apply(callee, args):
                given = tuple(scope[arg] for arg in args)
                return self._called(scope[callee], given, bind, builder)
            case GraphLoop(function, count, cond, state, others):
                number, flag = (_tensor(scope[each], bind) for each in (count, cond))
                given = (tuple(_tensor(scope[v], bind) for v in some) for some in (state, others))
                step = GraphLoop(function, number, flag, *given)
                kind = self._declared(bind)
                value = builder.emit(step, bind.var.name, type=kind, span=bind.span)
                return _opened(builder, value)
            case Invoke():
                return self._invoked(bind.step, scope, bind, builder)
            case step:
                raise IRKitError(
                    f"cannot inline {type(step).__name__} {bind.var.name!r}", span=bind.span
                )

    def _declared(self, bind: Bind) -> Type:
        """Return the type of a binding that no step tells."""
        return substitute(bind.var.type, self.extents) if self.extents else bind.var.type

    def _chosen(
        self,
        bind: Bind,
        cond: Value,
        then: Body,
        otherwise: Body,
        scope: InlineScope,
        builder: Builder,
    ) -> Inlined:
        if _holds_function(bind.var.type):
            both = [self.body(body, InlineScope(scope), builder) for body in (then, otherwise)]
            return _choice(builder, cond, both[0], both[1], bind)
        bodies: list[Body] = []
        for body in (then, otherwise):
            inner = builder.inner()
            found = self.body(body, InlineScope(scope), inner)
            bodies.append(inner.body(_closed(inner, found, f"branch {bind.var.name!r}")))
        value = builder.branch(cond, *bodies, name=bind.var.name, span=bind.span)
        return _opened(builder, value)

    def _called(
        self, callee: Inlined, args: tuple[Inlined, ...], bind: Bind, builder: Builder
    ) -> Inlined:
        if isinstance(callee, FunctionValue):
            scope = InlineScope(callee.scope)
            scope.found.update(zip(callee.code.params, args, strict=True))
            return self.body(callee.code.body, scope, builder)
        assert isinstance(callee, ChosenFunction)
        if _holds_function(bind.var.type):
            both = [
                self._called(each, args, bind, builder) for each in (callee.then, callee.otherwise)
            ]
            return _choice(builder, callee.cond, both[0], both[1], bind)
        bodies: list[Body] = []
        for each in (callee.then, callee.otherwise):
            inner = builder.inner()
            found = self._called(each, args, bind, inner)
            bodies.append(inner.body(_closed(inner, found, bind.var.name)))
        value = builder.branch(callee.cond, *bodies, name=bind.var.name, span=bind.span)
        return _opened(builder, value)

    def _invoked(self, step: Invoke, scope: InlineScope, bind: Bind, builder: Builder) -> Inlined:
        if self.module is None:
            raise IRKitError(
                f"{step.function!r} is called, but the program is a single function, not a module",
                span=bind.span,
            )
        target = self.module[step.function]
        if not isinstance(target, GraphFunc):
            args = tuple(_tensor(scope[arg], bind) for arg in step.args)
            value = builder.emit(
                Invoke(step.function, args),
                bind.var.name,
                type=self._declared(bind),
                span=bind.span,
            )
            return _opened(builder, value)
        if target.name in self.calling or step.function in self.calling:
            cycle = " calls ".join(repr(name) for name in [*self.calling, step.function])
            raise IRKitError(
                f"cannot inline a recursive function: {cycle}",
                span=bind.span,
                hint="Unroll the recursion before.",
            )
        inner = InlineScope()
        inner.found.update(
            (param, scope[arg]) for param, arg in zip(target.params, step.args, strict=True)
        )
        self.calling.append(step.function)
        found = self.body(target.body, inner, builder)
        self.calling.pop()
        return found


def _holds_function(kind: Type) -> bool:
    stack = [kind]
    while stack:
        each = stack.pop()
        if isinstance(each, FuncType):
            return True
        if isinstance(each, TupleType):
            stack += each.items
    return False


def _choice(
    builder: Builder, cond: Value, then: Inlined, otherwise: Inlined, bind: Bind
) -> Inlined:
    """Choose between what both sides of a branch have computed."""
    if isinstance(then, tuple):
        assert isinstance(otherwise, tuple)
        pairs = zip(then, otherwise, strict=True)
        return tuple([_choice(builder, cond, a, b, bind) for a, b in pairs])
    if not isinstance(then, Value):
        return ChosenFunction(cond, then, otherwise)
    assert isinstance(otherwise, Value)
    if then is otherwise:
        return then
    sides = (Body((), then), Body((), otherwise))
    return builder.branch(cond, *sides, name=bind.var.name, span=bind.span)


def _tensor(found: Inlined, bind: Bind) -> Value:
    if not isinstance(found, Value):
        raise IRKitError(f"{bind.var.name!r} takes a tuple or a function", span=bind.span)
    return found


def _opened(builder: Builder, value: Value) -> Inlined:
    """Return the items of a tuple, which are bound, or a tensor as it is."""
    if not isinstance(value.type, TupleType):
        return value
    items = [builder.item(value, at) for at in range(len(value.type.items))]
    return tuple([_opened(builder, item) for item in items])


def _closed(builder: Builder, found: Inlined, what: str) -> Value:
    """Return one value for a tensor or a tuple."""
    if isinstance(found, Value):
        return found
    if not isinstance(found, tuple):
        raise IRKitError(f"cannot inline a function whose result is a function: {what}")
    return builder.tuple(*[_closed(builder, each, what) for each in found])
