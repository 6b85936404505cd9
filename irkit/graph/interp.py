"""Reference interpreter of graph functions in NumPy; compiled code is compared with it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Union, cast

import numpy as np

from irkit.core import Function, IRKitError, IRModule, ShapeError, deep_recursion
from irkit.graph.flow import operands
from irkit.graph.function import GraphFunc
from irkit.graph.infer import written_type
from irkit.graph.nodes import (
    Apply,
    Bind,
    Body,
    Constant,
    GraphIf,
    GraphLoop,
    GraphStep,
    Invoke,
    Lambda,
    Op,
    Prefix,
    Tuple,
    TupleGet,
    Value,
)
from irkit.graph.ops import Array, op_spec
from irkit.graph.sizes.kernel_arguments import kernel_arguments
from irkit.graph.types import TensorType, TupleType
from irkit.ir import (
    DType,
    Expr,
    PrimFunc,
    Var,
    as_dtype,
    as_int,
    evaluate,
    interpret as run_loops,
    numpy_dtype,
)

Inputs = Mapping[str, Array] | Sequence[Array]
Result = Union[Array, "tuple[Result, ...]", "Closure"]
MAX_CALLS = 1000


class Closure:
    """A function value: a lambda and the values around it."""

    def __init__(self, code: Lambda, scope: "CallEnvironment") -> None:
        self.code, self.scope = code, scope


class CallEnvironment:
    """Values of one call, ``calls`` deep, with a link to those around its function."""

    def __init__(self, outer: "CallEnvironment | None" = None, calls: int = 0) -> None:
        self.calls = calls
        self.values: dict[int, Result] = {}
        self.outer = outer
        self.sizes: dict[Var, int] = {} if outer is None else outer.sizes

    def __getitem__(self, value: Value) -> Result:
        scope: CallEnvironment | None = self
        while scope is not None:
            if id(value) in scope.values:
                return scope.values[id(value)]
            scope = scope.outer
        raise IRKitError(f"value {value.name!r} is used but not bound")

    def __setitem__(self, value: Value, result: Result) -> None:
        self.values[id(value)] = result


def interpret(
    program: GraphFunc | IRModule,
    inputs: Inputs,
    *,
    entry: str = "main",
    precision: DType | str | None = None,
    max_steps: int | None = None,
) -> Result:
    """Run a graph function, or the function ``entry`` of a module; a tuple is returned as a tuple.

    ``inputs`` are arrays by name or in order. With ``precision`` (f64), every narrower float input,
    constant and result is widened to it, which gives the reference for tolerances. ``max_steps``
    limits each call of a loop function. Raises: ShapeError or IRKitError if the inputs do not fit
    the parameters; StepLimit.
    """
    return _Machine(program, entry, precision, max_steps=max_steps).run(inputs)


def interpret_step(
    module: IRModule,
    bind: Bind,
    operands_given: Sequence[Array],
    sizes: Mapping[Var, int],
    *,
    max_steps: int | None = None,
) -> Result:
    """Run one binding of a function of a module on its operands, in the order in which the step
    holds them. ``sizes`` are the dimensions that are known there.

    Raises: as ``interpret`` does.
    """
    scope = CallEnvironment()
    scope.sizes.update(sizes)
    for value, array in zip(operands(bind.step), operands_given, strict=True):
        kind = value.type
        own = numpy_dtype(kind.dtype) if isinstance(kind, TensorType) else array.dtype
        scope[value] = np.asarray(array, own)
    with deep_recursion:
        return _Machine(module, "main", None, max_steps=max_steps).step(bind, scope)


def intermediates(
    program: GraphFunc | IRModule,
    inputs: Inputs,
    names: Sequence[str],
    *,
    entry: str = "main",
    precision: DType | str | None = None,
) -> dict[str, Result]:
    """Run, and return the values of some bindings by name; if a body runs twice, the last value.

    Raises: IRKitError if no value of that name was computed.
    """
    machine = _Machine(program, entry, precision, frozenset(names))
    machine.run(inputs)
    for name in names:
        if name not in machine.seen:
            raise IRKitError(f"no value named {name!r} was computed")
    return {name: machine.seen[name] for name in names}


class _Machine:
    def __init__(
        self,
        program: GraphFunc | IRModule,
        entry: str,
        precision: DType | str | None,
        wanted: frozenset[str] = frozenset(),
        max_steps: int | None = None,
    ) -> None:
        self.max_steps = max_steps
        self.module = program if isinstance(program, IRModule) else None
        self.entry: Function = program[entry] if isinstance(program, IRModule) else program
        self.precision = None if precision is None else numpy_dtype(as_dtype(precision))
        self.wanted, self.seen = wanted, dict[str, Result]()

    def run(self, inputs: Inputs) -> Result:
        if not isinstance(self.entry, GraphFunc):
            raise IRKitError(f"{self.entry.name!r} is not a graph function")
        func, scope = self.entry, CallEnvironment()
        for param, array in zip(func.params, _in_order(func, inputs), strict=True):
            scope[param] = self._widened(np.asarray(array))
            self._see(param, scope[param])
        _check_shapes(func, [cast(Array, scope[param]) for param in func.params], scope.sizes)
        with deep_recursion:
            return self._body(func.body, scope)

    def _body(self, body: Body, scope: CallEnvironment) -> Result:
        """Run the bindings of a body in order; return its result."""
        for bind in body.bindings:
            result = scope[bind.var] = self.step(bind, scope)
            self._see(bind.var, result)
        return scope[body.result]

    def step(self, bind: Bind, scope: CallEnvironment) -> Result:
        match bind.step:
            case Body() as body:
                return self._body(body, scope)
            case GraphIf(cond, then, otherwise):
                return self._body(then if bool(scope[cond]) else otherwise, scope)
            case Apply(callee, args):
                closure = scope[callee]
                assert isinstance(closure, Closure)
                inside = self._called(closure.scope, bind, scope)
                return self._call(closure.code, inside, [scope[arg] for arg in args])
            case Invoke(name, args) as step:
                given = [scope[arg] for arg in args]
                target = self._target(name)
                if isinstance(target, GraphFunc):
                    return self._call(target, self._called(None, bind, scope), given)
                return self._loops(step, given, bind.var, scope)
            case GraphLoop() as step:
                return self._loop(step, bind, scope)
            case Prefix() as step:
                return _prefix(step, bind, scope)
            case step:
                return self._plain(step, scope)

    def _loop(self, step: GraphLoop, bind: Bind, scope: CallEnvironment) -> Result:
        target = self._target(step.function)
        if not isinstance(target, GraphFunc) or not isinstance(bind.var.type, TupleType):
            raise IRKitError(f"{step.function!r} is not a graph function that can be looped over")
        state = [scope[value] for value in step.state]
        others = [scope[value] for value in step.others]
        rows = [
            cast(Array, self._widened(_result_array(cast(TensorType, kind), scope.sizes)))
            for kind in bind.var.type.items[1 + len(state) :]
        ]
        most = min([int(cast(Array, scope[step.count])), *(len(each) for each in rows)])
        made, goes_on = 0, bool(scope[step.cond])
        while goes_on and made < most:
            given: list[Result] = [np.array(made, np.int64), *state, *others]
            try:
                found = self._call(target, self._called(None, bind, scope), given)
            except IRKitError as error:
                name = (bind.span and bind.span.name) or bind.var.name
                error.message += f", in iteration {made} of loop {name!r}"
                raise
            again, *found = cast("tuple[Result, ...]", found)
            state, goes_on = found[: len(state)], bool(again)
            for each, row in zip(rows, found[len(state) :], strict=True):
                each[made] = row
            made += 1
        return (np.array(made, np.int64), *state, *rows)

    def _called(
        self, outer: CallEnvironment | None, bind: Bind, scope: CallEnvironment
    ) -> CallEnvironment:
        """Return the environment of a call that a binding makes."""
        if scope.calls >= MAX_CALLS:
            raise IRKitError(f"calls are nested more than {MAX_CALLS} deep at {bind.var.name!r}")
        return CallEnvironment(outer, scope.calls + 1)

    def _call(
        self, code: Lambda | GraphFunc, scope: CallEnvironment, given: list[Result]
    ) -> Result:
        for param, value in zip(code.params, given, strict=True):
            scope[param] = value
            self._see(param, value)
        if isinstance(code, GraphFunc):
            _check_shapes(code, [cast(Array, value) for value in given], scope.sizes)
        return self._body(code.body, scope)

    def _plain(self, step: GraphStep, scope: CallEnvironment) -> Result:
        match step:
            case Op(name, args, attrs):
                arrays = [cast(Array, scope[arg]) for arg in args]
                return self._widened(op_spec(name).evaluate(arrays, attrs))
            case Constant(data):
                return self._widened(data.array)
            case Tuple(items):
                return tuple(scope[item] for item in items)
            case TupleGet(value, index):
                return cast("tuple[Result, ...]", scope[value])[index]
            case Lambda():
                return Closure(step, scope)
            case _:
                raise AssertionError(f"no meaning for {type(step).__name__}")

    def _target(self, name: str) -> Function:
        if self.module is None:
            raise IRKitError(
                f"{name!r} is called, but the program is a single function, not a module"
            )
        return self.module[name]

    def _loops(
        self, step: Invoke, given: list[Result], var: Value, scope: CallEnvironment
    ) -> Result:
        """Run a loop function, which writes its results to its last parameters."""
        target = self._target(step.function)
        if not isinstance(target, PrimFunc):
            raise IRKitError(f"{step.function!r} is neither a graph function nor a loop function")
        kinds = var.type.items if isinstance(var.type, TupleType) else (var.type,)
        tensors = cast("list[TensorType]", [*(arg.type for arg in step.args), *kinds])
        arguments = kernel_arguments(
            target,
            [cast(Array, value) for value in given],
            tensors,
            lambda size: int(evaluate(size, scope.sizes)),
        )
        run_loops(target, *arguments.all, max_steps=self.max_steps)
        found = tuple(self._widened(output) for output in arguments.outputs)
        return found if isinstance(var.type, TupleType) else found[0]

    def _widened(self, result: "Array | tuple[Array, ...]") -> Result:
        if self.precision is None:
            return result
        if isinstance(result, tuple):
            return tuple(self._widened(item) for item in result)
        narrow = result.dtype.kind not in "iub" and result.dtype.itemsize < self.precision.itemsize
        return result.astype(self.precision) if narrow else result

    def _see(self, value: Value, result: Result) -> None:
        if value.name in self.wanted:
            self.seen[value.name] = result


def _prefix(step: Prefix, bind: Bind, scope: CallEnvironment) -> Array:
    """Return the first rows of an array, and bind the dimension to their number."""
    rows, count = cast(Array, scope[step.value]), int(cast(Array, scope[step.count]))
    if not 0 <= count <= len(rows):
        raise IRKitError(
            f"{bind.var.name!r} takes {count} rows of {step.value.name!r}, which has {len(rows)}",
            span=bind.span,
        )
    scope.sizes[step.extent] = count
    return rows[:count]


def _in_order(func: GraphFunc, inputs: Inputs) -> list[Array]:
    """Return the inputs in the order of the parameters."""
    names = [param.name for param in func.params]
    if isinstance(inputs, Mapping):
        missing = [name for name in names if name not in inputs]
        extra = [name for name in inputs if name not in names]
        if missing or extra:
            raise IRKitError(
                f"{func.name} takes {', '.join(names) or 'nothing'}; missing: "
                f"{', '.join(missing) or 'none'}, not known: {', '.join(extra) or 'none'}"
            )
        return [inputs[name] for name in names]
    if len(inputs) != len(names):
        raise IRKitError(f"{func.name} takes {len(names)} inputs, found {len(inputs)}")
    return list(inputs)


def _check_shapes(func: GraphFunc, arrays: list[Array], sizes: dict[Var, int]) -> None:
    """Check the inputs against their types; a variable is bound by its first occurrence."""
    for param, array in zip(func.params, arrays, strict=True):
        kind = param.type
        if not isinstance(kind, TensorType):
            raise IRKitError(f"input {param.name!r} is not a tensor")
        fits = array.ndim == len(kind.shape) and all(
            _fits(extent, size, sizes) for extent, size in zip(kind.shape, array.shape, strict=True)
        )
        if not fits:
            raise ShapeError(
                f"input {param.name!r} must be {written_type(kind)}, found shape "
                f"{list(array.shape)}"
            )


def _fits(extent: Expr, size: int, sizes: dict[Var, int]) -> bool:
    if isinstance(extent, Var):
        return sizes.setdefault(extent, size) == size
    number = as_int(extent)
    return number is None or number == size


def _result_array(kind: TensorType, sizes: dict[Var, int]) -> Array:
    """Return an array for a result of a type."""
    shape = [int(evaluate(extent, sizes)) for extent in kind.shape]
    return np.zeros(shape, numpy_dtype(kind.dtype))


def arrays_of(result: Result) -> Iterator[Array]:
    """Yield the arrays of a result, in order."""
    stack = [result]
    while stack:
        item = stack.pop()
        if isinstance(item, tuple):
            stack.extend(reversed(item))
        elif not isinstance(item, Closure):
            yield item
