"""Checks that kernels take what the executor passes them: native code checks nothing."""

from collections.abc import Iterator, Mapping, Sequence

from irkit.codegen import SizeArithmetic, evaluate_sizes, written_buffers
from irkit.core import IRKitError, IRModule, walk
from irkit.graph import (
    Bind,
    GraphFunc,
    GraphLoop,
    Invoke,
    Prefix,
    StatePair,
    TensorType,
    Value,
    caches_in,
    dimensions_of,
    kernel_sizes,
    passed_on,
    tensors_in,
    verify,
)
from irkit.ir import Buffer, PrimFunc, Var, shape_vars

_SAMPLES = ((1, 1), (2, 3), (5, 7), (64, 33), (197, 1000), (0, 5))
"""Sizes at which the shapes of a kernel and of its call are compared: those of the first dimension,
and what each further one adds to the one before it."""


def check_calls(module: IRModule, main: GraphFunc) -> None:
    """Check that each function that ``main`` invokes fits its calls.

    Raises: IRKitError with every problem.
    """
    problems = [str(problem) for problem in verify(module)]
    dims = {var: dim.name for var, dim in dimensions_of(main).items()}
    graphs = [func for func in module.functions.values() if isinstance(func, GraphFunc)]
    for step in (step for func in graphs for step in walk(func.body, Prefix)):
        dims.setdefault(step.extent, f"{step.extent.name}_{len(dims)}")
    caches = caches_in(module, main)
    apart = list(_cache_problems(module, caches))
    problems += apart
    seen, waiting = {main.name}, [main] * (not apart)
    while waiting:
        for bind in walk(waiting.pop().body, Bind):
            if not isinstance(bind.step, (Invoke, GraphLoop)) or bind.step.function not in module:
                continue
            name = bind.step.function
            target = module[name]
            if not isinstance(target, GraphFunc):
                assert isinstance(bind.step, Invoke), "the verifier checks loops"
                found = _problems(target, bind, bind.step, dims, caches)
                problems += [f"{name!r} {what}" for what in found]
            elif name not in seen:
                seen.add(name)
                waiting.append(target)
    if problems:
        listed = "\n  ".join(dict.fromkeys(problems))
        raise IRKitError(f"the lowered graph is invalid:\n  {listed}")


def _cache_problems(module: IRModule, caches: Mapping[Value, StatePair]) -> Iterator[str]:
    """Yield the caches that are copied, and functions that take what lies in a cache in one call,
    and other values in another: their kernels have strides for only one."""
    if not caches:
        return
    for func in module.functions.values():
        for bind in walk(func, Bind) if isinstance(func, GraphFunc) else ():
            step = bind.step
            if isinstance(step, GraphLoop):
                for value in caches.keys() & {*step.state, step.cond, step.count}:
                    yield f"{bind.var.name!r} copies {value.name!r}, which lies in a cache"
            for param, value, target in passed_on(step, module):
                if caches.get(param) != caches.get(value):
                    yield (
                        f"{target.name!r} takes {value.name!r} for {param.name!r}, of which only "
                        "one lies in a cache, or in another one"
                    )


def _problems(
    func: object,
    bind: Bind,
    step: Invoke,
    dims: dict[Var, str],
    caches: Mapping[Value, StatePair],
) -> Iterator[str]:
    """Yield the reasons why a function is not a kernel that fills its last parameters."""
    if not isinstance(func, PrimFunc):
        yield f"is a {type(func).__name__}; expected a function over loops"
        return
    results = tensors_in(bind.var.type)
    outputs = written_buffers(func)
    tensors = [each for arg in step.args for each in tensors_in(arg.type)] + results
    try:
        sizes = kernel_sizes(func, tensors)
    except IRKitError as error:
        yield error.message
        return
    for place, param in enumerate(func.params):
        if not isinstance(param, Buffer):
            if any(isinstance(before, Buffer) for before in func.params[:place]):
                yield f"takes the number {param.name!r} behind a tensor; numbers come first"
            continue
        if place < len(func.params) - len(results) and param in outputs:
            yield f"writes to {param.name!r}, which is not a result"
        values = (*step.args, bind.var)
        number = place - (len(func.params) - len(tensors))
        in_cache = number < len(values) and values[number] in caches
        if in_cache and param.strides is None:
            yield f"reads {param.name!r} without gaps, but it lies in a cache"
        if param.strides is not None and not in_cache:
            yield f"takes strides of {param.name!r}; tensors of a model are contiguous"
        if param.align > param.dtype.bytes:
            yield f"needs {param.name!r} aligned to {param.align} bytes; tensors of callers are not"
    missing = [var.name for var in shape_vars(func) if var not in sizes]
    for name in missing:
        yield f"takes any extent {name!r}, which no tensor of its call tells"
    if not missing and sizes:
        yield from _other_shapes(func, tensors, dims)


def _other_shapes(
    func: PrimFunc, tensors: Sequence[TensorType], dims: dict[Var, str]
) -> Iterator[str]:
    """Yield the parameters whose shape differs from that of the call for some sizes.

    The shapes are sums, products and quotients of dimensions, so those that are not equal differ at
    one of a few sizes that have nothing in common.
    """
    buffers = [param for param in func.params if isinstance(param, Buffer)]
    sizes = kernel_sizes(func, tensors)
    arithmetic = SizeArithmetic(dims)
    known = {var: arithmetic.number(expr, var.name) for var, expr in sizes.items()}
    inner = SizeArithmetic({var: f"kernel_{at}" for at, var in enumerate(known)})
    pairs = [
        (buffer, inner.number(own, buffer.name), arithmetic.number(given, buffer.name))
        for buffer, tensor in zip(buffers, tensors, strict=True)
        for own, given in zip(buffer.shape, tensor.shape, strict=True)
    ]
    for first, more in _SAMPLES:
        given = {name: first + more * at for at, name in enumerate(dims.values())}
        try:
            outside = evaluate_sizes(arithmetic.steps, given)
            bound = [outside[size] if isinstance(size, str) else size for size in known.values()]
            own = dict(zip(inner.names.values(), bound, strict=True))
            inside = evaluate_sizes(inner.steps, own)
        except IRKitError:
            continue  # A call of these sizes is refused: 64 bits do not hold them.
        for buffer, one, other in pairs:
            left = inside[one] if isinstance(one, str) else one
            right = outside[other] if isinstance(other, str) else other
            if left != right:
                yield (
                    f"takes {buffer.name!r} of another shape than its call gives: {left} and "
                    f"{right} along an axis, where dimensions are "
                    f"{ {name: outside[name] for name in dims.values()} }"
                )
                return
