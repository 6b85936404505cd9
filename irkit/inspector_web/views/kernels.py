"""The kernels of a run: which operators and nodes each came from, and how much work it does.

Work is that of the loops as they were first recorded, before any pass. A kernel is linked to the
graph through the values that it computes: they keep their names when operators become calls.
"""

from collections.abc import Iterator
from os.path import basename

import msgspec

from irkit.core import IRModule
from irkit.graph import Apply, Bind, Constant, GraphFunc, Invoke, Lambda, Op, TensorType, Value
from irkit.inspector_web.text.texts import Texts
from irkit.ir import PrimFunc, Var, as_int, work_of

MOST_OPERATORS = 12
"""Operators of a kernel, and nodes of the model, that are listed."""
MOST_SOURCES = 500
"""Lines of source of a kernel that are listed: a kernel can be called for many layers."""


class KernelInfo(msgspec.Struct, omit_defaults=True):
    """A kernel: its operators in order, the nodes of the model, and the shape of its result.

    ``weights`` is what the names of its weights begin with; ``calls`` how often the model calls
    it, and ``values`` what the calls compute. ``sources`` are the lines of the user's own source
    that its operators were written on, as ``file:line``. Units: float operations; bytes that must
    at least come from and go to memory. Both are None if they depend on data or on a symbolic size.
    """

    name: str
    operators: list[str] = []
    nodes: list[str] = []
    shape: str = ""
    weights: str = ""
    calls: int = 0
    values: list[str] = []
    sources: list[str] = []
    flops: int | None = 0
    bytes: int | None = 0


def kernels(texts: Texts) -> list[KernelInfo]:
    """List the kernels of a trace, in the order in which steps ran on them."""
    first: dict[str, PrimFunc] = {}
    graphs: list[GraphFunc] = []
    for step in texts.trace:
        # What a kernel became is not read: most of a trace is that.
        if step.function in first:
            continue
        if isinstance(step.before, PrimFunc):
            first.setdefault(step.function or step.before.name, step.before)
        for ir in (step.before, step.after):
            graphs += _graphs_in(ir)
    graphs = list({id(graph): graph for graph in graphs}.values())
    made = {name: _sized(name, func) for name, func in first.items()}
    groups = _groups(graphs)
    weights: set[int] = set()
    for bind in graphs[-1].body.bindings if graphs else ():
        if isinstance(bind.step, Constant):
            weights.add(id(bind.var))
        elif isinstance(bind.step, Invoke) and bind.step.function in made:
            names = [value.name for value in bind.step.args if id(value) in weights]
            _add_call(made[bind.step.function], bind, names, groups)
    return list(made.values())


def _graphs_in(ir: object) -> Iterator[GraphFunc]:
    if isinstance(ir, GraphFunc):
        yield ir
    elif isinstance(ir, IRModule):
        yield from (func for func in ir.functions.values() if isinstance(func, GraphFunc))


def _sized(name: str, func: PrimFunc) -> KernelInfo:
    work = work_of(func)
    if work is None:
        return KernelInfo(name, flops=None, bytes=None)
    return KernelInfo(name, flops=work.flops, bytes=work.moved)


def _groups(graphs: list[GraphFunc]) -> dict[str, tuple[Bind, ...]]:
    """Map the name of each value to the operators that compute it, in the last state with any."""
    found: dict[str, tuple[Bind, ...]] = {}
    for graph in graphs:
        lambdas: dict[int, Lambda] = {}
        for bind in graph.body.bindings:
            match bind.step:
                case Lambda():
                    lambdas[id(bind.var)] = bind.step
                case Apply(callee) if id(callee) in lambdas:
                    inside = lambdas[id(callee)].body.bindings
                    found[bind.var.name] = tuple(
                        each for each in inside if not isinstance(each.step, Constant)
                    )
                case Op():
                    found[bind.var.name] = (bind,)
                case _:
                    continue
    return found


def _add_call(
    info: KernelInfo, bind: Bind, weights: list[str], groups: dict[str, tuple[Bind, ...]]
) -> None:
    inside = groups.get(bind.var.name, ())
    if not info.calls:
        info.operators = [each.step.name for each in inside if isinstance(each.step, Op)]
        info.operators = info.operators[:MOST_OPERATORS]
        info.shape = shape_text(bind.var)
        info.weights = shared_name(weights)
    info.calls += 1
    info.values.append(bind.var.name)
    for each in (*inside, bind):
        for span in each.span.chain() if each.span is not None else ():
            if span.kind in ("onnx", "torch") and span.name not in info.nodes:
                info.nodes.append(span.name)
            # As lines tell of their origins: see step_detail.
            place = f"{basename(span.file)}:{span.line}"
            if span.kind == "torch" and span.file and place not in info.sources:
                info.sources.append(place)
    del info.nodes[MOST_OPERATORS:], info.sources[MOST_SOURCES:]


def shared_name(names: list[str]) -> str:
    """Return what names begin with, up to a separator: the layer that they are the weights of."""
    shared = min(names) if len(names) > 1 else ""
    while not all(name.startswith(shared) for name in names):
        shared = shared[:-1]
    end = max((at for at, letter in enumerate(shared) if letter in "_./"), default=0)
    return shared[:end]


def shape_text(value: Value) -> str:
    """Return the shape of a tensor, such as ``[1, 64, 55, 55]``."""
    if not isinstance(value.type, TensorType):
        return ""
    sizes = [dim.name if isinstance(dim, Var) else as_int(dim) for dim in value.type.shape]
    return f"[{', '.join('?' if size is None else str(size) for size in sizes)}]"
