"""Turn every operator and fused group of the graph into a scheduled loop function of its own.

Before::

    def main(x: f32[1, 8]):
        r: f32[1, 8] = relu(x)
        return r

After::

    def main(x: f32[1, 8]):
        r: f32[1, 8] = call("relu", x)
        return r

and the loop function ``relu`` is added. Groups with the same loops share one function. What only
names memory in another way, such as a reshape, stays an operator.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import msgspec

from irkit.autoschedule import Machine
from irkit.core import (
    AttrValue,
    Function,
    IRKitError,
    IRModule,
    UniqueNames,
    remark,
    same,
    structural_hash,
    symbols_bound,
)
from irkit.graph import (
    Apply,
    Bind,
    Body,
    Constant,
    GraphFunc,
    GraphIf,
    GraphLoop,
    GraphStep,
    Invoke,
    Lambda,
    Op,
    Prefix,
    SharedMemory,
    StatePair,
    TensorType,
    Tuple,
    TupleGet,
    TupleType,
    Value,
    attributes,
    caches_in,
    results_of,
    shared_memory,
    tensors_in,
    used_inside,
    with_state,
)
from irkit.ir import Buffer, PrimFunc, from_numpy
from irkit.passes.graph.support.cache_kernels import appended, in_caches
from irkit.passes.graph.support.loop_states import stored_states
from irkit.passes.graph.support.scatter_kernels import ScatterShape, scattered
from irkit.passes.graph.support.scheduled_kernels import scheduled
from irkit.passes.graph.support.state_kernels import StateChecks, updated_in_place, updates_of
from irkit.te import Tensor, create_prim_func, placeholder, size_params
from irkit.topi import STORING, compute_of, concatenate, full, identity
from irkit.transform import define_pass

_Computed: TypeAlias = "Tensor | tuple[_Computed, ...]"


# Atomic: it runs schedules, whose rewrites are legal only as a whole.
@define_pass(idempotent=True, atomic=True, changes_rounding=True)
def lower_to_loops(
    mod: IRModule,
    *,
    vector_bytes: int = 64,
    machine: tuple[tuple[str, Any], ...] = (),
    schedule: Literal["auto", "none"] = "auto",
) -> IRModule:
    """Turn the operators of every graph function into loop functions.

    ``vector_bytes`` is the size of a vector register in bytes; ``machine`` has other fields in
    which the machine differs from the generic one; with ``schedule`` "none" loops stay as written.
    """
    chosen = Machine.with_vectors(vector_bytes).having(machine)
    kernels = _Kernels(mod, chosen if schedule == "auto" else None)
    changes: dict[str, Function | None] = {}
    stored = stored_states(mod)
    for name, func in mod.functions.items():
        if isinstance(func, GraphFunc):
            changes[name] = _lowered(func, kernels, stored.get(name, ()))
    return mod.with_functions({**changes, **kernels.scheduled()})


class _Kernels:
    """Loop functions made so far, found by their structure."""

    def __init__(self, mod: IRModule, machine: Machine | None) -> None:
        self.made: dict[str, PrimFunc] = {}
        self.unused = UniqueNames(mod)
        self.machine = machine
        main = mod.functions.get("main")
        self.caches = caches_in(mod, main) if isinstance(main, GraphFunc) else {}
        self.updates: dict[Value, Value] = {}
        self.stored: frozenset[Value] = frozenset()
        self.mod = mod
        self._by_hash: dict[str, list[tuple[str, PrimFunc]]] = {}

    def name_of(self, func: PrimFunc) -> str:
        """Return the name of a function that is the same, or else keep this one under a name."""
        # Looked up before it is scheduled, because scheduling takes most of the time of this pass.
        key = structural_hash(func)
        for name, known in self._by_hash.setdefault(key, []):
            if same(known, func):
                return name
        name = self.unused(func.name)
        self.made[name] = func
        self._by_hash[key].append((name, func))
        return name

    def scheduled(self) -> dict[str, PrimFunc]:
        """Return all functions by name, scheduled if there is a machine to schedule them for."""
        made = dict(self.made)
        if self.machine is not None:
            names = [name for name, func in made.items() if "backend" not in dict(func.attrs)]
            funcs = scheduled([made[name] for name in names], self.machine)
            made |= dict(zip(names, funcs, strict=True))
        return {name: func.replace(name=name) for name, func in made.items()}

    def reading_caches(self, step: Invoke) -> Invoke:
        """Return a call of a loop function that reads its arguments in caches."""
        target = self.mod[step.function]
        if not isinstance(target, PrimFunc):
            return step
        return Invoke(self.name_of(self.in_caches(target, step.args)), step.args)

    def in_caches(self, func: PrimFunc, args: Sequence[Value]) -> PrimFunc:
        """Return a kernel whose arguments lie in caches if those of the call do."""
        buffers = [param for param in func.params if isinstance(param, Buffer)]
        pairs = zip(args, buffers, strict=False)
        return in_caches(func, {own: self.caches[arg] for arg, own in pairs if arg in self.caches})


def _lowered(func: GraphFunc, kernels: _Kernels, stored: Sequence[StatePair]) -> GraphFunc:
    """Lower a function; ``stored`` are states of a loop that its iteration changes in place."""
    shared = shared_memory(func)
    steps = {bind.var: bind.step for bind in func.body.bindings}
    if not any(_needs_lowering(bind, shared, steps) for bind in func.body.bindings):
        return func
    lambdas: dict[Value, Lambda] = {}
    bindings: list[Bind] = []
    kernels.updates = updates_of(func)
    checks = StateChecks(func)
    results = results_of(func)
    kernels.stored = frozenset(results[pair.result] for pair in stored)
    names: UniqueNames | None = None
    for bind in func.body.bindings:
        step = bind.step
        if isinstance(step, Lambda):
            lambdas[bind.var] = step
        elif isinstance(step, Op) and not shared.needs_kernel(bind.var):
            remark(bind, _why_no_kernel(bind, shared))
            bindings.append(bind)
        elif isinstance(step, Op) and bind.var in kernels.caches:
            invoke = _append(kernels, step, bind)
            bindings.append(bind.replace(step=invoke))
        elif isinstance(step, Op) and step.name in STORING:
            bindings.append(bind.replace(step=_scatter(kernels, step, bind, checks)))
        elif isinstance(step, Op):
            invoke = _kernel(kernels, step.args, _single(bind), bind)
            bindings.append(bind.replace(step=invoke))
        elif isinstance(step, Apply) and step.callee in lambdas:
            group = lambdas[step.callee]
            moved = _moved_out(group)
            bindings += [inside for inside in moved if inside not in bindings]
            body, outer = _opened(group, moved)
            params, args = (*group.params, *outer), (*step.args, *outer)
            invoke = _kernel(kernels, args, body, bind, params, dict(group.attrs).get("backend"))
            bindings.append(bind.replace(step=invoke))
        elif isinstance(step, Invoke) and not kernels.caches.keys().isdisjoint(step.args):
            bindings.append(bind.replace(step=kernels.reading_caches(step)))
        elif isinstance(step, Prefix) and not _is_counted(step, steps):
            names = names or UniqueNames([each.name for each in _values_of(func)])
            bindings += _counted(kernels, step, bind, names(f"{step.count.name}_read"))
        elif isinstance(step, (Constant, GraphIf, GraphLoop, Invoke, Prefix, Tuple, TupleGet)):
            bindings.append(bind)
        else:
            raise IRKitError(
                f"cannot lower {type(step).__name__} {bind.var.name!r} to loops", span=bind.span
            )
    made = func.replace(body=Body(checks.first(bindings), func.body.result))
    return with_state(made, tuple(stored)) if stored else made


def _needs_lowering(bind: Bind, shared: SharedMemory, steps: Mapping[Value, GraphStep]) -> bool:
    """Return True if a binding does not stay as it is."""
    if isinstance(bind.step, Op):
        return shared.needs_kernel(bind.var)
    if isinstance(bind.step, Prefix):
        return not _is_counted(bind.step, steps)
    return isinstance(bind.step, Lambda)


def _is_counted(step: Prefix, steps: Mapping[Value, GraphStep]) -> bool:
    """Return True if a call already makes the number of rows of a prefix."""
    return isinstance(steps.get(step.count), Invoke)


def _why_no_kernel(bind: Bind, shared: SharedMemory) -> str:
    part = shared.views.get(bind.var)
    if part is None:
        return f"no kernel: the operands of {bind.var.name} are computed where they belong in it"
    return f"no kernel: {bind.var.name} is memory of {part.whole.name}, from byte {part.offset} on"


def _values_of(func: GraphFunc) -> list[Value]:
    return [each for each in symbols_bound(func) if isinstance(each, Value)]


def _counted(kernels: _Kernels, step: Prefix, bind: Bind, name: str) -> list[Bind]:
    """Return a prefix behind a call that makes its number of rows, which the executor then reads:
    so it is clear when the number is there, also where it comes from a choice or a loop."""
    count = Value(name, step.count.type)
    body = Body((Bind(count, Op("identity", (step.count,)), bind.span),), count)
    read = Bind(count, _kernel(kernels, (step.count,), body, bind, (step.count,)), bind.span)
    return [read, bind.replace(step=Prefix(step.extent, step.value, count))]


def _single(bind: Bind) -> Body:
    return Body((bind,), bind.var)


def _is_array(bind: Bind) -> bool:
    """Return True for a constant that is too large to be written into a kernel."""
    return isinstance(bind.step, Constant) and not _is_one_element(bind.step)


def _moved_out(group: Lambda) -> list[Bind]:
    """Return the bindings to move out of a group: large constants, and items of tuples from
    outside, since a kernel does not take a tuple."""
    own = {*group.params, *(bind.var for bind in group.body.bindings)}
    found: list[Bind] = []
    for bind in group.body.bindings:
        if _is_array(bind) or (isinstance(bind.step, TupleGet) and bind.step.value not in own):
            found.append(bind)
            own.discard(bind.var)
    return found


def _opened(group: Lambda, moved: Sequence[Bind]) -> tuple[Body, list[Value]]:
    """Return the body of a group without the bindings moved out, and the values it uses from
    outside."""
    kept = tuple(bind for bind in group.body.bindings if bind not in moved)
    own = {*group.params, *(bind.var for bind in kept)}
    body = Body(kept, group.body.result)
    return body, list(dict.fromkeys(value for value in used_inside(body) if value not in own))


def _kernel(
    kernels: _Kernels,
    args: Sequence[Value],
    body: Body,
    bind: Bind,
    params: Sequence[Value] | None = None,
    backend: AttrValue | None = None,
) -> Invoke:
    """Make the function of one group, with one parameter for each different argument, and return
    its call. What a ``backend`` computes is left as written: its loops only tell the meaning."""
    unique = list(dict.fromkeys(args))
    tensors = {
        arg: placeholder(_tensor(arg).shape, dtype=_tensor(arg).dtype, name=f"p{at}")
        for at, arg in enumerate(unique)
    }
    inner = (
        tensors
        if params is None
        else {param: tensors[arg] for param, arg in zip(params, args, strict=True)}
    )
    outputs, names = _computed(body, inner)
    numbers = size_params([*tensors.values(), *outputs])
    func = create_prim_func(
        [*numbers, *tensors.values(), *outputs], name="_".join(names) or "copy", span=bind.span
    )
    func = kernels.in_caches(func, unique)
    state = kernels.updates.get(bind.var)
    if state in unique:
        func = updated_in_place(func, unique.index(state))
    if backend is not None:
        func = func.replace(attrs=(*func.attrs, ("backend", backend)))
    return Invoke(kernels.name_of(func), tuple(unique))


def _scatter(kernels: _Kernels, step: Op, bind: Bind, checks: StateChecks) -> Invoke:
    """Make the function that stores rows at computed places, and return its call. In state, a
    check of all places runs before anything is written."""
    x, indices, updates = step.args
    kinds = [_tensor(each) for each in step.args]
    shape = ScatterShape(kinds[0], kinds[1], kinds[2], attributes(step).int("axis"))
    is_state = kernels.updates.get(bind.var) is x and updates is not x
    if is_state:
        indices = checks.checked(x, indices, shape, kernels.name_of, bind.span)
        shape = msgspec.structs.replace(shape, indices=_tensor(indices))
    args = (x, indices, updates)
    in_place = is_state or bind.var in kernels.stored
    func = kernels.in_caches(scattered(shape, bind.span, in_place=in_place), args)
    return Invoke(kernels.name_of(func), args)


def _append(kernels: _Kernels, step: Op, bind: Bind) -> Invoke:
    """Make the function that appends rows to a cache, and return its call."""
    pair, old = kernels.caches[bind.var], step.args[0]
    args = list(dict.fromkeys(step.args))
    tensors = {
        arg: placeholder(_tensor(arg).shape, dtype=_tensor(arg).dtype, name=f"p{at}")
        for at, arg in enumerate(args)
    }
    rows = [tensors[arg] for arg in step.args[1:]]
    made = concatenate(rows, pair.axis) if len(rows) > 1 else identity(rows[0])
    numbers = size_params([*tensors.values(), made])
    func = create_prim_func([*numbers, *tensors.values(), made], name="append", span=bind.span)
    whole = Buffer("cache", _tensor(bind.var).shape, _tensor(bind.var).dtype)
    func = appended(func, whole, pair, _tensor(old).shape[pair.axis])
    return Invoke(kernels.name_of(kernels.in_caches(func, args)), tuple(args))


def _tensor(value: Value) -> TensorType:
    if not isinstance(value.type, TensorType):
        raise IRKitError(f"{value.name!r} is not a tensor, so it cannot be passed to a kernel")
    return value.type


def _computed(body: Body, given: dict[Value, Tensor]) -> tuple[list[Tensor], list[str]]:
    """Return the tensor expressions of the results of a body, and the names of its operators."""
    scope: dict[Value, _Computed] = dict(given)
    names: list[str] = []
    for bind in body.bindings:
        step = bind.step
        if isinstance(step, Op):
            shape = tensors_in(bind.var.type)[0].shape
            made = compute_of(step, [_one(scope[arg]) for arg in step.args], shape)
            scope[bind.var] = made if isinstance(bind.var.type, TupleType) else made[0]
            names.append(step.name)
        elif isinstance(step, Constant) and _is_one_element(step):
            scope[bind.var] = _filled(step)
        elif isinstance(step, Tuple):
            scope[bind.var] = tuple(scope[item] for item in step.items)
        elif isinstance(step, TupleGet):
            whole = scope[step.value]
            assert isinstance(whole, tuple)
            scope[bind.var] = whole[step.index]
        else:
            raise IRKitError(
                f"cannot lower {type(step).__name__} {bind.var.name!r} to loops", span=bind.span
            )
    return _results(scope[body.result], given), names


def _one(found: _Computed) -> Tensor:
    assert isinstance(found, Tensor)
    return found


def _results(found: _Computed, given: dict[Value, Tensor]) -> list[Tensor]:
    """Return the results, with a copy of each that is a parameter or occurs twice."""
    seen, results = list(given.values()), list[Tensor]()
    for each in found if isinstance(found, tuple) else (found,):
        if not isinstance(each, Tensor):
            raise IRKitError("cannot lower a function to loops that returns a tuple in a tuple")
        results.append(identity(each) if any(each is one for one in seen) else each)
        seen.append(each)
    return results


def _is_one_element(step: Constant) -> bool:
    return all(extent == 1 for extent in step.data.shape)


def _filled(step: Constant) -> Tensor:
    """Return a constant of one element as a tensor that the kernel computes."""
    array = step.data.array
    return full(step.data.shape, array.reshape(()).item(), from_numpy(array.dtype))
