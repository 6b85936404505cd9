"""Lower tensor expressions to a loop function: one block for each stage, under serial loops."""

from collections.abc import Callable, Iterable, Sequence
from typing import cast

import msgspec

from irkit.core import (
    IRKitError,
    Node,
    Span,
    UniqueNames,
    deep_recursion,
    rewrite,
    substitute,
    symbols_used,
    user_span,
    walk,
)
from irkit.ir import (
    I64,
    UNSCHEDULED,
    Allocate,
    Axis,
    Block,
    Buffer,
    Const,
    Expr,
    For,
    If,
    Let,
    Load,
    PrimFunc,
    Stmt,
    Store,
    Var,
    as_int,
    ge,
    le,
    logical_or,
    prove,
    seq,
)
from irkit.te.reduction import Reduce
from irkit.te.tensor import ComputeOp, Operation, PlaceholderOp, Tensor, TensorRead


def create_prim_func(
    args: Sequence[Tensor | Var], name: str = "main", *, span: Span | None = None
) -> PrimFunc:
    """Lower tensors to a loop function with the parameters ``args``, in that order.

    Placeholders are inputs; other listed tensors are outputs, written in place. Intermediate
    tensors are allocated. ``span`` is the origin of the function and becomes the parent of the span
    of each stage. The attribute ``outputs`` has the positions of the outputs, and ``unscheduled``
    says that nobody has scheduled the loops: the first primitive of a schedule removes it.

    Raises: IRKitError naming a placeholder or variable that is needed but not listed.
    """
    func = lower_stages(args, name, span=span).func
    free = free_variables(func)
    if free:
        raise IRKitError(
            f"function {func.name!r} needs {', '.join(repr(var.name) for var in free)}, which no "
            "parameter binds",
            hint="List the variable as a parameter, or a tensor that has it as an extent.",
            span=func.span,
        )
    return func


def size_params(tensors: Sequence[Tensor]) -> list[Var]:
    """Return the variables in the shapes of tensors that are no whole extent of one: a function of
    them takes these as numbers."""
    extents = [extent for tensor in tensors for extent in tensor.shape]
    whole = {extent for extent in extents if isinstance(extent, Var)}
    used = dict.fromkeys(var for extent in extents for var in walk(extent, Var))
    return [var for var in used if var not in whole]


class LoweredStages(msgspec.Struct, frozen=True):
    """A loop function, with the block of each operation and the buffer of each tensor."""

    func: PrimFunc
    blocks: dict[Operation, str]
    buffers: dict[Tensor, Buffer]


def lower_stages(
    args: Sequence[Tensor | Var], name: str = "main", *, span: Span | None = None
) -> LoweredStages:
    """Lower tensors as :func:`create_prim_func` does, without checking for free variables."""
    _check_args(args, name)
    operations = operations_of([arg for arg in args if isinstance(arg, Tensor)])
    _check_placeholders(operations, args, name)
    names = UniqueNames(arg.name for arg in args if isinstance(arg, Var))
    buffers: dict[Tensor, Buffer] = {}
    for tensor in (*args, *(tensor for op in operations for tensor in op.outputs)):
        if isinstance(tensor, Tensor) and tensor not in buffers:
            span_here = _under(tensor.op.span, span)
            buffers[tensor] = Buffer(names(tensor.name), tensor.shape, tensor.dtype, span=span_here)
    params = tuple(buffers[arg] if isinstance(arg, Tensor) else arg for arg in args)
    unique = UniqueNames()
    blocks = {op: unique(op.name) for op in operations if isinstance(op, ComputeOp)}
    stages = [_stage(op, buffers, block, _under(op.span, span)) for op, block in blocks.items()]
    listed = set(args)
    body = seq(*stages)
    for tensor, buffer in reversed(buffers.items()):
        if tensor not in listed:
            body = Allocate(buffer, body, span=buffer.span)
    outputs = tuple(
        place
        for place, arg in enumerate(args)
        if isinstance(arg, Tensor) and isinstance(arg.op, ComputeOp)
    )
    attrs = (("outputs", outputs), (UNSCHEDULED, True))
    func = PrimFunc(name, params, body, attrs, span or user_span(name))
    return LoweredStages(func, cast("dict[Operation, str]", blocks), buffers)


def operations_of(tensors: Iterable[Tensor]) -> list[Operation]:
    """List the operations that tensors need, in topological order."""
    order: dict[Operation, None] = {}

    def add(op: Operation) -> None:
        if op not in order:
            for tensor in op.input_tensors:
                add(tensor.op)
            order[op] = None

    with deep_recursion:
        for root in tensors:
            add(root.op)
    return list(order)


def _under(span: Span | None, parent: Span | None) -> Span | None:
    return span if span is None or parent is None else msgspec.structs.replace(span, parent=parent)


def _stage(op: ComputeOp, buffers: dict[Tensor, Buffer], name: str, span: Span | None) -> Stmt:
    """Return the loops and the block of one stage."""
    reduce = op.body[0]
    if not isinstance(reduce, Reduce):
        return _with_span(_nest(op, buffers, name, _plain), span)
    whole = _nest(op, buffers, name, _update)
    extents = [axis.extent for axis in op.reduce_axis]
    unknown = [each for each in extents if as_int(each) is None and not prove(ge(each, 1))]
    if not unknown and all(as_int(extent) != 0 for extent in extents):
        return _with_span(whole, span)
    # If its reduce loops never run, the block initialises nothing, but an empty sum must be 0.
    if any(as_int(extent) == 0 for extent in extents):
        return _with_span(_nest(op, buffers, name, _start), span)
    empty = _nest(op, buffers, f"{name}_empty", _start)
    nothing = logical_or(*(le(extent, 0) for extent in unknown))
    return _with_span(If(nothing, empty, whole), span)


class _StageBindings(msgspec.Struct, frozen=True):
    """The buffers and indices that a stage stores to, and the values of its axes and input
    tensors."""

    target: tuple[Buffer, ...]
    at: tuple[Expr, ...]
    values: dict[Node, Node]
    buffers: dict[Tensor, Buffer]

    def lower_expr(self, expr: Expr) -> Expr:
        """Replace axes by the variables of the block, and reads of tensors by loads."""

        def load(read: TensorRead) -> Expr:
            return Load(self.buffers[read.tensor], read.indices, None, read.dtype)

        return rewrite(substitute(expr, self.values), load, on=TensorRead)

    def store(self, values: Iterable[Expr]) -> Stmt:
        """Store one value in each output."""
        pairs = zip(self.target, values, strict=True)
        return seq(*(Store(buffer, self.at, value) for buffer, value in pairs))


# The body and init of a block, and whether it has the reduce axes.
_Body = tuple[Stmt, Stmt | None, bool]


def _plain(op: ComputeOp, places: _StageBindings) -> _Body:
    return places.store(places.lower_expr(expr) for expr in op.body), None, False


def _start(op: ComputeOp, places: _StageBindings) -> _Body:
    return places.store(_reduce_of(op).reducer.identity), None, False


def _update(op: ComputeOp, places: _StageBindings) -> _Body:
    """Return a block body that combines the result so far with one more value, and an init with the
    identities."""
    reduce = _reduce_of(op)
    reducer = reduce.reducer
    sources = [places.lower_expr(source) for source in reduce.sources]
    gathered: dict[Node, Node] = {
        left: Load(buffer, places.at, None, buffer.dtype)
        for left, buffer in zip(reducer.left, places.target, strict=True)
    }
    if len(sources) == 1:
        gathered[reducer.right[0]] = sources[0]
        update = places.store([substitute(reducer.results[0], gathered)])
    else:
        update = _tuple_update(reduce, sources, gathered, places)
    if reduce.where is not None:
        update = If(places.lower_expr(reduce.where), update)
    return update, places.store(reducer.identity), True


def _reduce_of(op: ComputeOp) -> Reduce:
    reduce = op.body[0]
    assert isinstance(reduce, Reduce)
    return reduce


def _tuple_update(
    reduce: Reduce, sources: list[Expr], gathered: dict[Node, Node], places: _StageBindings
) -> Stmt:
    """Return the update of several values: all are computed before the first is stored."""
    reducer = reduce.reducer
    rights = [Var(var.name, var.dtype) for var in reducer.right]
    gathered.update(zip(reducer.right, rights, strict=True))
    results = [Var(f"z{i}", buffer.dtype) for i, buffer in enumerate(places.target)]
    body = places.store(results)
    for var, value in zip(reversed(results), reversed(reducer.results), strict=True):
        body = Let(var, substitute(value, gathered), body)
    for var, value in zip(reversed(rights), reversed(sources), strict=True):
        body = Let(var, value, body)
    return body


def _nest(
    op: ComputeOp,
    buffers: dict[Tensor, Buffer],
    name: str,
    make: Callable[[ComputeOp, _StageBindings], _Body],
) -> Stmt:
    """Put a block under one serial loop for each of its axes."""
    axes: list[Axis] = []
    values: dict[Node, Node] = {}
    for axis in (*op.axis, *op.reduce_axis):
        inside = Var(f"v{axis.name}", I64)
        kind = "reduce" if axis.is_reduce else "spatial"
        axes.append(Axis(inside, axis.extent, Var(axis.name, I64), kind))
        zero_based = as_int(axis.dom.begin) == 0
        values[axis] = inside if zero_based else inside + axis.dom.begin
    at = tuple(axis.var for axis in axes[: len(op.axis)])
    places = _StageBindings(tuple(buffers[tensor] for tensor in op.outputs), at, values, buffers)
    body, init, reduces = make(op, places)
    used = axes if reduces else axes[: len(op.axis)]
    attrs = op.attrs
    if init is not None and len(op.outputs) > 1 and "reassoc" not in dict(attrs):
        attrs = (*attrs, ("reassoc", True))  # Reducers of te are associative and commutative.
    result: Stmt = Block(name, tuple(used), body, init, attrs=attrs)
    for axis in reversed(used):
        assert isinstance(axis.binding, Var)
        result = For(axis.binding, Const(0, I64), axis.extent, result)
    return result


def _with_span(stmt: Stmt, span: Span | None) -> Stmt:
    def place(node: Stmt) -> Stmt:
        return node.replace(span=span)

    return rewrite(stmt, place, on=Stmt)


def _check_args(args: Sequence[Tensor | Var], name: str) -> None:
    seen: set[Node] = set()
    for arg in args:
        if not isinstance(arg, (Tensor, Var)):  # pyright: ignore[reportUnnecessaryIsInstance] -- not all callers are typed
            raise IRKitError(
                f"function {name!r}: a parameter must be a tensor or a variable, found "
                f"{type(arg).__name__}",
                span=user_span(name),
            )
        if arg in seen:
            raise IRKitError(
                f"function {name!r}: {arg.name!r} is listed twice as a parameter",
                span=user_span(name),
            )
        seen.add(arg)


def _check_placeholders(
    operations: list[Operation], args: Sequence[Tensor | Var], name: str
) -> None:
    listed = {arg.op for arg in args if isinstance(arg, Tensor)}
    missing = [op for op in operations if isinstance(op, PlaceholderOp) and op not in listed]
    if missing:
        raise IRKitError(
            f"function {name!r} reads {', '.join(repr(op.name) for op in missing)}, which "
            f"{'is' if len(missing) == 1 else 'are'} not among its parameters",
            hint="List every placeholder: create_prim_func([a, b, c]).",
            span=missing[0].span,
        )


def free_variables(func: PrimFunc) -> list[Var]:
    """List the variables that are neither scalar parameters nor whole extents of a parameter."""
    bound: set[Node] = {param for param in func.params if isinstance(param, Var)}
    needed: dict[Node, None] = {}
    for param in func.params:
        if isinstance(param, Buffer):
            bound.update(dim for dim in param.shape if isinstance(dim, Var))
            needed.update((used, None) for dim in param.shape for used in walk(dim, Var))
    for node in walk(func.body):
        if isinstance(node, (For, Let)):
            bound.add(node.var)
        elif isinstance(node, Block):
            bound.update(axis.var for axis in node.axes)
    needed.update((used, None) for used in symbols_used(func.body) if isinstance(used, Var))
    free = {cast(Var, var) for var in needed if var not in bound}
    return sorted(free, key=lambda var: var.name)
