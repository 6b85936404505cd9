"""The plan that the executor runs, and the block of parameters, from a lowered graph function."""

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import msgspec

from irkit.codegen import (
    Branch,
    Copy,
    ExecutorPlan,
    KernelCall,
    Region,
    Repeat,
    RowCopy,
    Size,
    TensorPlace,
    TensorSpec,
)
from irkit.core import ALIGNMENT, IRKitError, IRModule, UniqueNames
from irkit.graph import (
    ArrayData,
    Bind,
    Constant,
    GraphFunc,
    GraphIf,
    GraphLoop,
    Invoke,
    Op,
    Prefix,
    TensorType,
    Tuple,
    TupleGet,
    Value,
    computed_at,
    dimensions_of,
    item_of,
    kernel_sizes,
    shared_memory,
    state_pairs,
)
from irkit.ir import BOOL, PrimFunc, Var, shape_vars
from irkit.phases.executor.kept_states import kept_states, reads
from irkit.phases.executor.parameters import in_memory
from irkit.phases.executor.planned_prefixes import PlannedPrefixes
from irkit.phases.executor.shared_places import shared_place
from irkit.phases.executor.size_checks import check_sizes
from irkit.phases.executor.stored_tensors import StoredTensor, memory_of, stored_tensors
from irkit.phases.executor.tensor_specs import (
    input_specs,
    narrow_types,
    output_names,
    size_arithmetic,
    tensor_spec,
)


def make_plan(
    module: IRModule, operators: Mapping[str, tuple[str, ...]] = MappingProxyType({})
) -> tuple[ExecutorPlan, memoryview]:
    """Return the plan of the function ``main``, with a place for every value and the calls in
    order, and the parameters.

    Places in the arena are those that ``plan-memory`` has chosen. ``operators`` says for the name
    of a value which operators of the graph compute it.
    Raises: IRKitError for a step without a kernel, a shape that no dimension of an input decides,
    or a memory plan that is older than the function.
    """
    planner = _ExecutorPlanner(module, operators)
    plan = planner.run()
    return plan, in_memory(planner.data, plan.param_bytes)


def executor_plan(module: IRModule) -> ExecutorPlan:
    """Return the plan of the function ``main`` alone, also where the data of its parameters is
    absent, as in a trace.

    Raises: IRKitError as ``make_plan`` does.
    """
    return _ExecutorPlanner(module, MappingProxyType({})).run()


class _ExecutorPlanner:
    def __init__(self, module: IRModule, operators: Mapping[str, tuple[str, ...]]) -> None:
        func = module["main"]
        assert isinstance(func, GraphFunc)
        self.module = module
        self.func = func
        self.operators = operators
        self.sizes = size_arithmetic(func)
        self.arena_bytes: Size = 0
        self.tensors: dict[Value, tuple[StoredTensor, ...]] = {}
        self.places: dict[StoredTensor, TensorPlace] = {}
        self.params: list[tuple[int, TensorSpec]] = []
        self.data: list[ArrayData] = []
        self.param_bytes = 0
        self.calls: list[KernelCall] = []
        self.regions: list[Region] = []
        self.prefixes = PlannedPrefixes(self.sizes)

    def run(self) -> ExecutorPlan:
        inputs = input_specs(self.func, self.sizes)
        for number, param in enumerate(self.func.params):
            (tensor,) = self.tensors[param] = stored_tensors(param, computed=False)
            self.places[tensor] = TensorPlace("input", number)
        for bind in self.func.body.bindings:
            self._bind(bind)
        results = self.tensors[self.func.body.result]
        unique = UniqueNames()
        names = output_names(self.func, [unique(tensor.name) for tensor in results])
        narrow = narrow_types(self.func, "outputs")
        begin = self._place_state(results)
        copies = self._place_outputs(results)
        self._calls_of(self.func, begin)
        outputs = tuple(
            tensor_spec(self.sizes, result.type, name, narrow.get(name, ""))
            for result, name in zip(results, names, strict=True)
        )
        state = state_pairs(self.func)
        kept = {pair.result for pair in state}
        memory = self.arena_bytes
        for number, result in enumerate(results):
            if number in kept:
                continue
            memory = self.sizes.sum(memory, self._room(result), "the memory of a call")
        capacities = self.prefixes.capacities(results)
        steps, measured = self.prefixes.ordered_steps()
        return ExecutorPlan(
            inputs,
            outputs,
            tuple(self.params),
            self.param_bytes,
            self.arena_bytes,
            tuple(self.calls),
            copies,
            tuple(self.regions),
            dims=tuple(dimensions_of(self.func).values()),
            sizes=steps,
            memory=memory,
            state=state,
            measured=measured,
            capacities=capacities,
        )

    def _calls_of(self, func: GraphFunc, begin: Size) -> None:
        """Place the values of a function, from ``begin`` in the arena, and make its calls.

        Functions that it invokes have their values behind its own.
        """
        slots, end = self._slots(func, begin)
        self.arena_bytes = self.sizes.largest(self.arena_bytes, end, "the memory of a call")
        shared = shared_memory(func)
        for bind in func.body.bindings:
            if isinstance(bind.step, Op):
                place = shared_place(bind, shared, slots, self._place_of, self.sizes)
                self.places[self.tensors[bind.var][0]] = place
            if isinstance(bind.step, Prefix):
                (count,), (whole,) = (self.tensors[v] for v in (bind.step.count, bind.step.value))
                self.prefixes.measure(bind, bind.step, self._place(count), whole, self.calls)
            if not isinstance(bind.step, (Invoke, GraphIf, GraphLoop)):
                continue
            results = self.tensors[bind.var]
            for tensor in results:
                if tensor not in self.places:
                    self.places[tensor] = TensorPlace("arena", slots[bind.var.name, tensor.item])
            if isinstance(bind.step, GraphIf):
                self._branch(bind, bind.step, end)
            elif isinstance(bind.step, GraphLoop):
                self._loop(bind, bind.step, end)
            else:
                self._invoke(bind, bind.step, results, end)

    def _place(self, tensor: StoredTensor) -> TensorPlace:
        """Return where a tensor is; a prefix is where the whole is."""
        return self.places[self.prefixes.whole(tensor)]

    def _place_of(self, value: Value) -> TensorPlace:
        return self._place(self.tensors[value][0])

    def _branch(self, bind: Bind, step: GraphIf, end: Size) -> None:
        """Make the calls of both sides, which write to the same places."""
        number, begin = len(self.regions), len(self.calls)
        branch = Branch(self._place(self.tensors[step.cond][0]), begin, begin, begin)
        self.regions.append(branch)
        made: list[int] = []
        for side in (step.then, step.otherwise):
            inner = side.bindings[0].step if len(side.bindings) == 1 else None
            if not isinstance(inner, Invoke) or side.result is not side.bindings[0].var:
                raise IRKitError(
                    f"a side of the choice {bind.var.name!r} is not one call", span=bind.span
                )
            self._invoke(bind, inner, self.tensors[bind.var], end)
            made.append(len(self.calls))
        if not begin < made[0] < made[1]:
            raise IRKitError(
                f"a side of the choice {bind.var.name!r} computes nothing", span=bind.span
            )
        self.regions[number] = Branch(branch.cond, begin, *made)

    def _loop(self, bind: Bind, step: GraphLoop, end: Size) -> None:
        """Make the calls of an iteration. The state is kept where the result is; what the iteration
        makes of it lies behind the values of the function, until it is carried over."""
        target = self.module[step.function]
        assert isinstance(target, GraphFunc)
        number, *results = self.tensors[bind.var]
        state, rows = results[: len(step.state)], results[len(step.state) :]
        made = [
            StoredTensor(bind.var, at, each.type, computed=True) for at, each in enumerate(results)
        ]
        again = StoredTensor(bind.var, -1, TensorType((), BOOL), computed=True)
        kept = kept_states(self.module, target)
        for at, tensor in enumerate((again, *made)):
            kind = tensor.type
            if at in kept:
                self.places[tensor] = self._place(state[at - 1])
                continue
            if any(tensor is each for each in made[len(state) :]):
                kind = TensorType(kind.shape[1:], kind.dtype)
            room = self.sizes.aligned(self._room(tensor, kind), "the state of a loop")
            self.places[tensor] = TensorPlace("arena", end)
            end = self.sizes.sum(end, room, "the memory of a call")
        self.arena_bytes = self.sizes.largest(self.arena_bytes, end, "the memory of a call")
        args = [(number,), *((each,) for each in state), *(self.tensors[v] for v in step.others)]
        self.tensors |= zip(target.params, args, strict=True)
        first, begin = len(self.regions), len(self.calls)
        (cond,), (count,) = self.tensors[step.cond], self.tensors[step.count]
        initial = [
            (again, cond),
            *zip(state, (self.tensors[v][0] for v in step.state), strict=True),
        ]
        loop = Repeat(
            begin,
            begin,
            self._place(number),
            self._place(count),
            self._place(again),
            tuple(self._copy(to, source) for to, source in initial),
            tuple(
                self._copy(to, source)
                for at, (to, source) in enumerate(zip(state, made, strict=False), 1)
                if at not in kept
            ),
            tuple(map(self._row, rows, made[len(state) :])),
            bind.var.name if bind.span is None else bind.span.name or str(bind.span),
        )
        self.regions.append(loop)
        self._enter(target, [again, *made], end)
        self.regions[first] = msgspec.structs.replace(loop, end=len(self.calls))

    def _copy(self, to: StoredTensor, source: StoredTensor) -> Copy:
        return Copy(self._place(to), self._place(source), self._bytes(to))

    def _row(self, to: StoredTensor, source: StoredTensor) -> RowCopy:
        row = self._bytes(to, TensorType(to.type.shape[1:], to.type.dtype))
        rows = self.sizes.extent(to.type.shape[0], f"the rows of {to.name!r}")
        return RowCopy(self._place(to), self._place(source), row, rows)

    def _invoke(self, bind: Bind, step: Invoke, results: Sequence[StoredTensor], end: Size) -> None:
        """Call a kernel, or make the calls of a graph function in place of the call of that."""
        target = self.module[step.function]
        if not isinstance(target, GraphFunc):
            self._call(bind, step, results)
            return
        for param, arg in zip(target.params, step.args, strict=True):
            self.tensors[param] = self.tensors[arg]
        self._enter(target, results, end)

    def _enter(self, target: GraphFunc, results: Sequence[StoredTensor], end: Size) -> None:
        """Make the calls of a function whose parameters are known; its results are placed."""
        for inside in target.body.bindings:
            self._bind(inside)
        found = self.tensors[target.body.result]
        for tensor, result in zip(found, results, strict=True):
            if not tensor.computed or tensor in self.places:
                raise IRKitError(
                    f"function {target.name!r} does not compute {tensor.name!r}, which it returns"
                )
            self.places[tensor] = self._place(result)
        self._calls_of(target, end)

    def _bind(self, bind: Bind) -> None:
        """Record the tensors that a value consists of; tuples share those of their items."""
        var, step = bind.var, bind.step
        if isinstance(step, Tuple):
            self.tensors[var] = tuple(t for item in step.items for t in self.tensors[item])
        elif isinstance(step, TupleGet):
            self.tensors[var] = item_of(step, self.tensors[step.value])
        elif isinstance(step, Constant):
            if var not in self.tensors:  # Otherwise its function is called again.
                (tensor,) = self.tensors[var] = stored_tensors(var, computed=False)
                self._param(tensor, step.data)
        elif isinstance(step, Prefix):
            (whole,) = self.tensors[step.value]
            (tensor,) = self.tensors[var] = stored_tensors(var, computed=False)
            self.prefixes.bind(step, tensor, whole)
        elif isinstance(step, (Invoke, GraphIf, GraphLoop, Op)):
            self.tensors[var] = stored_tensors(var, computed=True)
        else:
            raise IRKitError(f"{type(step).__name__} {var.name!r} has no kernel", span=bind.span)

    def _place_state(self, results: Sequence[StoredTensor]) -> Size:
        """Place results that are written over a parameter which is still read when they are
        computed: they have memory of their own until the end of the run. Return the end of it.

        The others are computed where the parameter was.
        """
        end: Size = 0
        for pair in state_pairs(self.func):
            if pair.capacity:
                continue
            param, tensor = self.func.params[pair.param], results[pair.result]
            at = computed_at(self.func, tensor.value)
            if any(reads(self.module, bind, param) for bind in self.func.body.bindings[at:]):
                self.places[tensor] = TensorPlace("arena", end)
                room = self.sizes.aligned(self._bytes(tensor), "the memory of a call")
                end = self.sizes.sum(end, room, "the memory of a call")
        return end

    def _place_outputs(self, results: Sequence[StoredTensor]) -> tuple[Copy, ...]:
        """Place outputs so that kernels write them directly; return copies for the others."""
        copies: list[Copy] = []
        for number, tensor in enumerate(results):
            whole = self.prefixes.whole(tensor)
            if whole.computed and whole not in self.places:
                self.places[whole] = TensorPlace("output", number)
            else:
                source = self.places[whole]
                copies.append(Copy(TensorPlace("output", number), source, self._bytes(tensor)))
        return tuple(copies)

    def _slots(self, func: GraphFunc, begin: Size) -> tuple[dict[tuple[str, int], Size], Size]:
        """Return where each planned tensor of a function is, by value and item, and the end."""
        memory = memory_of(func)
        what = "the memory of a call"
        slots = {
            (slot.value, slot.item): self.sizes.sum(begin, slot.offset, what)
            for slot in memory.slots
        }
        end = self.sizes.sum(begin, memory.size, what)
        tensors = {
            (bind.var.name, tensor.item): tensor
            for bind in func.body.bindings
            if isinstance(bind.step, (Invoke, GraphIf, GraphLoop))
            for tensor in self.tensors[bind.var]
        }
        needed: dict[int, Size] = {}
        for room in memory.rooms:
            size = self._room(tensors[room.value, room.item])
            before = needed.get(room.number, size)
            needed[room.number] = self.sizes.largest(before, size, f"room {room.number}")
        begins: dict[int, Size] = {}
        for number in sorted(needed):
            begins[number] = end
            end = self.sizes.sum(end, self.sizes.aligned(needed[number], f"room {number}"), what)
        slots |= {(room.value, room.item): begins[room.number] for room in memory.rooms}
        return slots, end

    def _call(self, bind: Bind, step: Invoke, results: Sequence[StoredTensor]) -> None:
        tensors = [t for arg in step.args for t in self.tensors[arg]]
        places = tuple(self._place(tensor) for tensor in (*tensors, *results))
        node = bind.var.name if bind.span is None else str(bind.span)
        operators = self.operators.get(bind.var.name, ())
        kernel = self.module[step.function]
        assert isinstance(kernel, PrimFunc)
        found = kernel_sizes(kernel, [tensor.type for tensor in (*tensors, *results)])
        what = f"a size that kernel {kernel.name!r} takes"
        numbers = [var for var in kernel.params if isinstance(var, Var)]
        scalars, extents = (
            tuple(self.sizes.number(found[var], what) for var in needed)
            for needed in (numbers, shape_vars(kernel))
        )
        if all(region.begin < region.end for region in self.regions):  # Each call runs it.
            check_sizes(self.sizes, kernel, found)
        call = KernelCall(step.function, places, node, False, operators, scalars, extents)
        self.calls.append(call)

    def _bytes(self, tensor: StoredTensor, kind: TensorType | None = None) -> Size:
        """Return the bytes of a tensor, or of one of another type that belongs to it."""
        spec = tensor_spec(self.sizes, kind or tensor.type, tensor.name)
        what = f"the number of bytes of {tensor.name!r}"
        return self.sizes.bytes_of(spec.shape, tensor.type.dtype.bytes, what)

    def _room(self, tensor: StoredTensor, kind: TensorType | None = None) -> Size:
        """Return the most bytes that ``_bytes`` can be."""
        return self._bytes(tensor, self.prefixes.at_most(kind or tensor.type))

    def _param(self, tensor: StoredTensor, data: ArrayData) -> None:
        self.params.append((self.param_bytes, tensor_spec(self.sizes, tensor.type, tensor.name)))
        self.places[tensor] = TensorPlace("param", self.param_bytes)
        self.data.append(data)
        size = math.prod(data.shape) * data.dtype.itemsize
        self.param_bytes += -(-size // ALIGNMENT) * ALIGNMENT
