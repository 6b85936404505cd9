"""Verify graph functions: scopes, single binding, operators, types, calls."""

from collections.abc import Sequence

from irkit.core import (
    IRKitError,
    IRModule,
    Node,
    Problem,
    children,
    deep_recursion,
    equal,
    walk,
)
from irkit.graph.function import GraphFunc
from irkit.graph.infer import type_of, written_type
from irkit.graph.nodes import (
    Bind,
    Body,
    GraphIf,
    GraphLoop,
    GraphStep,
    Invoke,
    Lambda,
    Prefix,
    Value,
)
from irkit.graph.state import state_problems
from irkit.graph.types import TensorType, TupleType, Type, tensors_in
from irkit.ir import BOOL, I64, Buffer, Const, PrimFunc, Var


def verify(program: GraphFunc | IRModule) -> list[Problem]:
    """List the problems of a graph function, or of the graph functions of a module."""
    if isinstance(program, GraphFunc):
        return _GraphChecker(program, None).problems
    found: list[Problem] = []
    for func in program.functions.values():
        if isinstance(func, GraphFunc):
            found += _GraphChecker(func, program).problems
    return found


class _GraphChecker:
    """Walk over one function in text order."""

    def __init__(self, func: GraphFunc, module: IRModule | None) -> None:
        self.problems: list[Problem] = []
        self.module = module
        self._scope: set[int] = set()
        self._bound: set[int] = set()
        self._extents = {step.extent for step in walk(func.body, Prefix)}
        self._enter(func.params, func)
        with deep_recursion:
            self._body(func.body, func.body)
        self.problems += [Problem(message, node) for message, node in state_problems(func)]

    def _body(self, body: Body, node: Node, params: tuple[Value, ...] = ()) -> None:
        """Check the bindings in order, then the result; then end the scope."""
        self._enter(params, node)
        for bind in body.bindings:
            self._bind(bind)
        self._use(body.result, node)
        self._leave([*params, *(bind.var for bind in body.bindings)])
        self._leave([e.step.extent for e in body.bindings if isinstance(e.step, Prefix)])

    def _bind(self, bind: Bind) -> None:
        """Check the operands and bodies of a step, and then bring its name into scope."""
        step = bind.step
        if not isinstance(step, (Body, Lambda)):
            for value in children(step):
                if isinstance(value, Value):
                    self._use(value, bind)
        match step:
            case Body():
                self._body(step, bind)
            case GraphIf(_, then, otherwise):
                self._body(then, bind)
                self._body(otherwise, bind)
            case Lambda(params, body):
                self._body(body, bind, params)
            case _:
                pass
        if isinstance(step, Prefix):
            self._bind_extent(step.extent, bind)
        self._check_type(bind)
        self._enter((bind.var,), bind)

    def _bind_extent(self, extent: Var, bind: Bind) -> None:
        """Bring the dimension of a prefix into scope."""
        if extent.dtype != I64:
            self._report(f"dimension {extent.name!r} must be i64, found {extent.dtype}", bind)
        if id(extent) in self._bound:
            self._report(f"dimension {extent.name!r} is bound twice", bind)
        self._bound.add(id(extent))
        self._scope.add(id(extent))

    def _check_type(self, bind: Bind) -> None:
        step, declared = bind.step, bind.var.type
        if isinstance(step, Invoke):
            self._check_invoke(step, bind)
            return
        if isinstance(step, GraphLoop):
            self._check_loop(step, bind)
            return
        found = self._inferred(step, bind)
        if found is not None and not equal(found, declared):
            self._report(
                f"value {bind.var.name!r} is declared {written_type(declared)}, but its step has "
                f"type {written_type(found)}",
                bind,
            )

    def _inferred(self, step: GraphStep, bind: Bind) -> Type | None:
        try:
            return type_of(step)
        except IRKitError as error:
            self._report(error.message, bind)
            return None

    def _check_invoke(self, step: Invoke, bind: Bind) -> None:
        if self.module is None:
            return  # Without a module the callee is unknown.
        target = self.module.functions.get(step.function)
        if target is None:
            known = ", ".join(self.module) or "none"
            self._report(f"no function {step.function!r} in the module; it has: {known}", bind)
        elif isinstance(target, GraphFunc):
            self._check_signature(
                step, bind, [param.type for param in target.params], target.body.result.type
            )
        elif isinstance(target, PrimFunc):
            self._check_loops(step, bind, target)

    def _check_loop(self, step: GraphLoop, bind: Bind) -> None:
        """Check the types of a loop against those of the function that it calls."""
        number, flag = TensorType((), I64), TensorType((), BOOL)
        for value, kind in ((step.count, number), (step.cond, flag)):
            if value.type != kind:
                self._report(
                    f"loop {bind.var.name!r}: {value.name} must be {written_type(kind)}, found "
                    f"{written_type(value.type)}",
                    bind,
                )
        if self.module is None:
            return
        target = self.module.functions.get(step.function)
        if not isinstance(target, GraphFunc):
            self._report(f"no graph function {step.function!r} in the module to loop over", bind)
            return
        state = [value.type for value in step.state]
        wanted = [number, *state, *(value.type for value in step.others)]
        made = bind.var.type.items if isinstance(bind.var.type, TupleType) else ()
        rows = made[1 + len(state) :]
        found = target.body.result.type
        results = list(found.items) if isinstance(found, TupleType) else []
        own = [param.type for param in target.params]
        fits = _all_match(own, wanted) and _all_match(list(made), [number, *state, *rows])
        fits = fits and _all_match(results, [flag, *state, *map(_row, rows)])
        if not fits:
            self._report(
                f"loop {bind.var.name!r}: {step.function!r} takes {_written(own)} and returns "
                f"{_written(results)}; expected {_written(wanted)}, and {_written([flag, *state])} "
                f"and a row of each of {_written(list(rows))}; the result must be the number of "
                "iterations, the state and the rows",
                bind,
            )

    def _check_loops(self, step: Invoke, bind: Bind, target: PrimFunc) -> None:
        """Check a call of a loop function, whose last parameters are the results."""
        result = bind.var.type
        outputs = len(result.items) if isinstance(result, TupleType) else 1
        wanted = [
            TensorType(param.shape, param.dtype)
            for param in target.params
            if isinstance(param, Buffer)
        ]
        if len(step.args) + outputs != len(wanted):
            self._report(
                f"{step.function!r} has {len(wanted)} parameters, found {len(step.args)} arguments "
                f"and {outputs} results",
                bind,
            )
            return
        items = result.items if isinstance(result, TupleType) else (result,)
        for place, (param, given) in enumerate(
            zip(wanted, [*(arg.type for arg in step.args), *items], strict=True)
        ):
            if not _may_match(param, given):
                self._report(
                    f"{step.function!r}: parameter {place} is {written_type(param)}, found "
                    f"{written_type(given)}",
                    bind,
                )

    def _check_signature(self, step: Invoke, bind: Bind, params: list[Type], result: Type) -> None:
        if len(params) != len(step.args):
            self._report(
                f"{step.function!r} takes {len(params)} arguments, found {len(step.args)}", bind
            )
            return
        pairs = zip([*params, result], [*(a.type for a in step.args), bind.var.type], strict=True)
        for place, (wanted, given) in enumerate(pairs):
            if not _may_match(wanted, given):
                what = f"argument {place}" if place < len(params) else "the result"
                self._report(
                    f"{step.function!r}: {what} must be {written_type(wanted)}, found "
                    f"{written_type(given)}",
                    bind,
                )

    def _use(self, value: Value, node: Node) -> None:
        if id(value) not in self._scope:
            self._report(f"value {value.name!r} is used where it is not bound", node)

    def _enter(self, values: Sequence[Value], node: Node) -> None:
        for value in values:
            if id(value) in self._bound:
                self._report(f"value {value.name!r} is bound twice", node)
            self._bound.add(id(value))
            self._scope.add(id(value))
            self._check_extents(value, node)

    def _check_extents(self, value: Value, node: Node) -> None:
        """Check that no type has a dimension that a prefix binds later, or in another body."""
        if not self._extents:
            return
        shapes = [dim for each in tensors_in(value.type) for dim in each.shape]
        for var in (var for dim in shapes for var in walk(dim, Var)):
            if var in self._extents and id(var) not in self._scope:
                self._report(
                    f"the type of {value.name!r} has dimension {var.name!r}, which is not bound "
                    "there",
                    node,
                )

    def _leave(self, values: Sequence[Node]) -> None:
        self._scope.difference_update(map(id, values))

    def _report(self, message: str, node: Node) -> None:
        self.problems.append(Problem(message, node))


def _may_match(wanted: Type, given: Type) -> bool:
    """Return True if types can agree, as each side has symbolic dimensions of its own."""
    if not isinstance(wanted, TensorType) or not isinstance(given, TensorType):
        return type(wanted) is type(given)
    return (
        wanted.dtype == given.dtype
        and len(wanted.shape) == len(given.shape)
        and all(
            not (isinstance(a, Const) and isinstance(b, Const)) or a == b
            for a, b in zip(wanted.shape, given.shape, strict=True)
        )
    )


def _all_match(wanted: Sequence[Type], given: Sequence[Type]) -> bool:
    return len(wanted) == len(given) and all(map(_may_match, wanted, given))


def _row(kind: Type) -> Type:
    """Return the type of one row of a tensor; what has none stays, and matches no row."""
    if isinstance(kind, TensorType) and kind.shape:
        return TensorType(kind.shape[1:], kind.dtype)
    return TupleType((kind,))


def _written(kinds: Sequence[Type]) -> str:
    return written_type(TupleType(tuple(kinds)))
