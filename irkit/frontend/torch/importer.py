"""From a program of PyTorch's core operators to a graph function."""

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from typing import Any

from irkit.core import FormatError, IRKitError, IRModule, Span, UniqueNames
from irkit.frontend.sizes import Dim, settled
from irkit.frontend.torch.aten_node import AtenNode, Found
from irkit.frontend.torch.control_flow import CONTROL_FLOW
from irkit.frontend.torch.convert import CONVERTERS
from irkit.frontend.torch.dimensions import APART, ON_FLOATS, ON_SIZES, Dimensions
from irkit.frontend.torch.program import (
    NodeRef,
    TorchGraph,
    TorchInput,
    TorchNode,
    TorchProgram,
    argument,
)
from irkit.graph import (
    Binding,
    Builder,
    TensorExpr,
    TensorType,
    Value,
    operator,
    tensor_of,
    with_dimensions,
    written_type,
)
from irkit.ir import Expr, Interval, PrimFunc, Var, as_dtype, as_int

_CHECKS = ("ge", "le", "gt", "lt", "eq", "ne")
_IGNORED = ("_assert_scalar", "sym_constrain_range_for_size", "sym_constrain_range",
            "_assert_tensor_metadata", "_assert_async")  # fmt: skip


def import_program(
    program: TorchProgram, *, constants: bool = True, sizes: Mapping[str, int] | None = None
) -> IRModule:
    """Import a program as an IRModule whose function ``main`` is the graph.

    ``constants`` makes parameters and buffers part of the function; otherwise they are inputs under
    their names, after those of the user. A buffer that the program changes is always an input, and
    its new value an output of that name after the results; the attribute ``mutations`` lists them.
    ``sizes`` fixes symbols. Each operator carries the line of the user's model it comes from.
    Raises: IRKitError with all operators that have no converter, or for a node that does not fit.
    """
    _check(program)
    importer = _Importer(program, constants, sizes or {})
    try:
        return importer.run()
    except IRKitError:
        raise
    except Exception as error:  # A file can hold anything, and a converter meets it first.
        node = importer.node
        at = "" if node is None else f" at node {node.name!r}, {node.target}"
        raise FormatError(
            f"the program does not fit{at}: {type(error).__name__}: {error}"
        ) from error


def operator_name(target: str) -> str:
    """Return the name of an operator without namespace and overload."""
    parts = target.split(".")
    return parts[1] if parts[0] == "aten" and len(parts) > 1 else target


def missing_operators(program: TorchProgram) -> dict[str, str]:
    """Return the operators without a converter, each with the first place that uses it."""
    found: dict[str, str] = {}
    for node in _all_nodes(program):
        name = operator_name(node.target)
        known = name in CONVERTERS or name in CONTROL_FLOW or name in _IGNORED or name == "sym_size"
        builtin = name.removeprefix("builtin.")
        if not known and builtin not in (*ON_SIZES, *ON_FLOATS, *_CHECKS, "getitem"):
            found.setdefault(node.target, f"{node.file}:{node.line}" if node.file else node.name)
    return found


def _all_nodes(program: TorchProgram) -> Iterator[TorchNode]:
    """Yield the nodes of a program, and those of the graphs inside."""
    yield from program.nodes
    waiting = list(program.graphs.values())
    while waiting:
        graph = waiting.pop()
        yield from graph.nodes
        waiting += graph.graphs.values()


def _check(program: TorchProgram) -> None:
    missing = missing_operators(program)
    if missing:
        listed = "; ".join(f"{name} ({place})" for name, place in missing.items())
        raise IRKitError(
            f"operators without a converter: {listed}",
            hint="Export the model to ONNX if irkit has the operator there.",
        )
    names = [each.name for each in (*program.inputs, *program.nodes)]
    if len(set(names)) != len(names):
        raise FormatError("two nodes of the program have the same name")


class _Importer:
    def __init__(self, program: TorchProgram, constants: bool, sizes: Mapping[str, int]) -> None:
        self.program = program
        self.constants = constants
        self.sizes = sizes
        self.builder = Builder("main")
        self.binding = Binding(self.builder)
        self.scope: dict[str, Found] = {}
        self.dims = Dimensions(program.ranges, sizes)
        self.names: list[str] = []
        self.unique = UniqueNames()
        self.node: TorchNode | None = None  # The one that is imported.

    def run(self) -> IRModule:
        changed = {each.target for each in self.program.outputs if each.kind == "mutation"}
        for each in sorted(self.program.inputs, key=lambda each: each.kind != "user"):
            self._input(each, each.target in changed)
        for name, symbol in self.program.sizes.items():
            self.scope[name] = self.sizes.get(symbol, self.dims.of_input(symbol))
        self.scope |= self.program.graphs
        for node in self.program.nodes:
            self.node = node
            self._node(node)
        self.node = None
        results, outputs, mutations = list[Value](), list[str](), list[str]()
        taken = UniqueNames()
        for each in self.program.outputs:
            value = self.scope.get(self._name(each.value))
            if not isinstance(value, TensorExpr):
                raise FormatError(f"output {each.value!r} is not a tensor of the program")
            results.append(self.binding.value(value))
            name = each.target or self._name(each.value)
            outputs.append(taken(name))
            mutations += [name] if each.kind == "mutation" else []
        attrs: dict[str, Any] = {"inputs": tuple(self.names), "outputs": tuple(outputs)}
        if mutations:
            attrs["mutations"] = tuple(mutations)
        # The user's results come first; PyTorch has them last.
        order = sorted(range(len(results)), key=lambda at: self.program.outputs[at].kind != "user")
        attrs["outputs"] = tuple(outputs[at] for at in order)
        func = self.builder.finish(*(results[at] for at in order), **attrs)
        func = with_dimensions(func, self.dims.declarations())
        return IRModule({"main": func, **self.builder.functions})

    def value(self, tensor: TensorExpr) -> Value:
        """Return the value of an expression, bound here."""
        return self.binding.value(tensor)

    def run_graph(
        self, graph: TorchGraph, given: Sequence[Any], builder: Builder, span: Span
    ) -> list[Value]:
        """Import a graph inside of the program for these inputs, in a body; return its results."""
        if len(given) != len(graph.inputs):
            raise FormatError(f"a graph takes {len(graph.inputs)} inputs, and has {len(given)}")
        inner = copy(self)
        inner.builder = builder
        inner.binding = self.binding if builder is self.builder else Binding(builder)
        inner.scope = {**dict(zip(graph.inputs, given, strict=True)), **graph.graphs}
        for node in graph.nodes:
            inner._node(node)
        results = [inner.scope.get(self._name(each)) for each in graph.outputs]
        found = [each for each in results if isinstance(each, TensorExpr)]
        if len(found) != len(results):
            raise FormatError("a graph inside of the program returns what is no tensor of it")
        return [inner.value(each) for each in found]

    def _name(self, value: Any) -> str:
        found = argument(value) if isinstance(value, dict) else value
        if not isinstance(found, NodeRef):
            raise FormatError(f"output {value!r} is not a reference")
        return found.name

    def _input(self, each: TorchInput, changes: bool) -> None:
        own = each.kind != "user"
        if own and (each.kind == "constant" or (self.constants and not changes)):
            if each.target not in self.program.arrays:
                raise FormatError(f"the program has no data for {each.target!r}")
            value = self.builder.constant(self.program.arrays[each.target], name=each.target)
        else:
            shape = tuple(self.dims.of_input(dim) for dim in each.type.shape)
            kind = TensorType(shape, as_dtype(each.type.dtype))
            name = self.unique(each.target if own else each.name)
            value = self.builder.param(name, kind)
            self.names.append(name)
        self.scope[each.name] = tensor_of(value)

    def ranges(self, least: int = APART) -> Mapping[Var, Interval]:
        """Return the sizes of each dimension, from ``least`` on where PyTorch has ``APART``."""
        return self.dims.ranges(least)

    def restrict(self, size: Dim, least: int) -> None:
        """Note that the dimensions of a size are at least so large, where PyTorch says so."""
        self.dims.restrict(size, least)

    def declared(self, extent: int | str) -> Dim | None:
        """Return an extent as PyTorch writes it; None if it is of symbols that no input has."""
        return self.dims.declared(extent)

    def kernel(
        self, func: PrimFunc, args: Sequence[TensorExpr], kind: TensorType, span: Span
    ) -> TensorExpr:
        """Emit a call of a loop function."""
        values = [self.value(each) for each in args]
        return tensor_of(self.builder.kernel(func, *values, type=kind, span=span))

    def _node(self, node: TorchNode) -> None:
        name = operator_name(node.target)
        view = AtenNode(node, self.scope, self)
        builtin = name.removeprefix("builtin.")
        if name in _IGNORED or (name != builtin and builtin in _CHECKS):
            return
        if name == "sym_size":
            x = view.tensor(0)
            extent = x.dims[view.axis(1, "dim", x.rank)]
            known = as_int(extent)
            self.scope[node.name] = extent if known is None else known
        elif builtin == "getitem":
            whole = view.given(0)
            if not isinstance(whole, tuple) or view.whole(1) >= len(whole):  # pyright: ignore[reportUnknownArgumentType]
                raise view.fail("its argument has no such item")
            self.scope[node.name] = whole[view.whole(1)]
        elif name != builtin:
            self.scope[node.name] = self._on_sizes(view, builtin)
        else:
            self._convert(node, view, name)

    def _on_sizes(self, view: AtenNode, name: str) -> Found:
        """Compute with sizes; what is no integer becomes a tensor of one float."""
        given = [view.given(at) for at in range(len(view.node.args))]
        if name in ON_SIZES and all(isinstance(each, (int, Expr)) for each in given):
            return settled(ON_SIZES[name](*given), self.dims.ranges())
        if name not in ON_FLOATS:
            raise view.fail("it computes with a size that is no integer")
        floats = [view.of_type(each, as_dtype("f64")) for each in given]
        return floats[0] if name == "sym_float" else operator(ON_FLOATS[name], *floats)

    def _convert(self, node: TorchNode, view: AtenNode, name: str) -> None:
        span = view.span
        try:
            flow = CONTROL_FLOW.get(name)
            found = CONVERTERS[name](view) if flow is None else flow(view, self, span)
        except IRKitError as error:
            if error.message.startswith("cannot import"):
                raise error.__class__(error.message, hint=error.hint, span=span) from None
            failed = view.fail(error.message, error.hint)
            raise error.__class__(failed.message, hint=error.hint, span=span) from None
        several = found if isinstance(found, tuple) else (found,)
        for each, want in zip(several, node.results, strict=False):
            if not isinstance(each, TensorExpr):
                raise view.fail("it is not a tensor")
            self._check_type(view, each, want.shape, want.dtype)
            self.binding.mark(each, span)
        self.scope[node.name] = found

    def _check_type(
        self, view: AtenNode, found: TensorExpr, shape: tuple[int | str, ...], dtype: str
    ) -> None:
        """Compare a result with what PyTorch said of it."""
        fixed = [self.sizes.get(dim, dim) if isinstance(dim, str) else dim for dim in shape]
        known = [as_int(each) for each in found.dims]
        agree = len(known) == len(fixed) and all(
            a is None or not isinstance(b, int) or a == b for a, b in zip(known, fixed, strict=True)
        )
        if not agree or str(found.dtype) != dtype:
            raise view.fail(
                f"irkit computes {written_type(found.type)}, PyTorch {dtype}{list(shape)}"
            )
