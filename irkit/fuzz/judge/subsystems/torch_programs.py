"""Programs of ATen operators, by the schema of each, against PyTorch itself.

Arguments are drawn from the types and names in an operator's schema; where shapes have to fit, a
row of `torch_arguments` draws them. What PyTorch refuses is drawn again.
"""

import warnings
from functools import cache
from importlib import import_module
from typing import Any, cast

import msgspec
import numpy as np

from irkit.core import IRKitError
from irkit.frontend.torch import (
    CONVERTERS,
    NodeRef,
    TorchInput,
    TorchNode,
    TorchOutput,
    TorchProgram,
    array_of,
    import_program,
    nodes_of,
    tensor_type,
)
from irkit.fuzz.generators.sample import Array, Unusable
from irkit.fuzz.judge.loops import target_of
from irkit.fuzz.judge.outcome import WrongSample
from irkit.fuzz.judge.subsystems.torch_arguments import ARGUMENTS
from irkit.fuzz.judge.subsystems.torch_operands import DTYPES, TorchOperands, TorchPlace, torch
from irkit.fuzz.picks import Picks
from irkit.graph import arrays_of, interpret
from irkit.phases import compile

_SCALARS = (1, 2, 0, -1, 0.5, 3, -2.5, 2.0)
_TRIES = 30
_MOST_NODES = 4
_NEVER_GIVEN = ("layout", "device", "pin_memory", "memory_format", "generator")
"""Arguments that say where a tensor lies."""
_ONE_OF_SEVERAL = ("argmax", "argmin", "max", "min", "sort", "topk")
"""Operators that PyTorch lets choose among equal elements: their operands have none."""
_CONVERSIONS = ("copy", "_to_copy", "scatter", "index_put", "index_copy", "slice_scatter")
"""Operators that convert: what a negative number becomes without a sign is not defined."""
_OTHER_NUMBERS = frozenset({"view_of"})
"""Operators whose results are not defined, or that are none of PyTorch's."""
_INEXACT = frozenset(
    (
        *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cos", "cosh", "erf", "exp"),
        *("expm1", "log", "log10", "log1p", "log2", "rsqrt", "sigmoid", "sin", "sinh", "sqrt"),
        *("tan", "tanh", "gelu", "elu", "pow", "_softmax", "_log_softmax", "mean", "var", "div"),
        *("var_mean", "native_layer_norm", "native_group_norm", "linalg_vector_norm", "avg_pool1d"),
        *("avg_pool2d", "avg_pool3d", "_adaptive_avg_pool2d", "_adaptive_avg_pool3d", "reciprocal"),
        *("_native_batch_norm_legit", "_native_batch_norm_legit_no_training", "remainder", "fmod"),
        *("adaptive_avg_pool1d", "upsample_bilinear2d", "leaky_relu", "scatter_reduce", "prod"),
        *("dot", "mm", "mv", "bmm", "matmul", "addmm", "baddbmm", "convolution", "sum", "cumsum"),
        *("scatter_add",),
    )
)
"""Operators whose results are rounded: no other operator reads them, which could step."""
_ROUNDING = {"float32": 2.0**-24, "float64": 2.0**-53, "float16": 2.0**-11, "bfloat16": 2.0**-8}
_UNITS = 256
_NORMALISED_UNITS = 256 * 64


class _Applied(msgspec.Struct, frozen=True):
    """An operator with its arguments, in which tensors are numbers of ``_Program.values``."""

    target: Any
    args: list[Any]
    kwargs: dict[str, Any]


def prepare_torch() -> None:
    """Import PyTorch, and list its operators."""
    _overloads()


@cache
def _overloads() -> dict[str, tuple[Any, ...]]:
    """Return the overloads of the operators that have a converter, by name."""
    aten, found = torch().ops.aten, dict[str, tuple[Any, ...]]()
    for name in sorted(CONVERTERS):
        packet = getattr(aten, name, None)
        if packet is None or name in _OTHER_NUMBERS:
            continue
        overloads = [getattr(packet, each) for each in packet.overloads() if "out" not in each]
        # Others than those of the core are decomposed, where the operator is of the core.
        core = [each for each in overloads if torch().Tag.core in each.tags]
        usable = [each for each in core or overloads if _is_drawn(each._schema)]
        if usable:
            found[name] = tuple(usable)
    return found


def _is_drawn(schema: Any) -> bool:
    kinds = [str(arg.type) for arg in schema.arguments if not arg.has_default_value()]
    known = ("Tensor", "number", "int", "bool", "float", "List[int]", "List[Tensor]",
             "Optional[Tensor]", "Optional[List[int]]", "Optional[int]", "Optional[number]",
             "List[Optional[Tensor]]", "str")  # fmt: skip
    if schema.name == "aten::where" and len(schema.arguments) == 1:
        return False  # It counts elements, and has no converter.
    return all(kind in known for kind in kinds) and "Dimname" not in str(schema)


def torch_agrees(picks: Picks) -> None:
    """A program of a few operators computes what PyTorch computes.

    Raises: WrongSample; Unusable if nothing that was drawn fits.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = _Program(picks)
        program.draw()
    plain = program.captured()
    shown = program.text()
    try:
        module = import_program(plain)
    except IRKitError as error:
        if any(text in str(error) for text in _LIMITS):
            raise Unusable(str(error).splitlines()[0]) from None
        raise WrongSample("failed", f"{error}\n{shown}") from None
    try:
        found = [np.asarray(each) for each in arrays_of(interpret(module, program.arrays()))]
    except IRKitError as error:
        raise WrongSample("failed", f"{error}\n{shown}") from None
    program.compare(found, "the interpreter")
    if picks.one_in(4):
        model = compile(module, target=target_of(0))
        names = [spec.name for spec in model.plan.inputs]
        given = dict(zip(names, program.arrays(), strict=True))
        program.compare(list(model.run(given).values()), "native code")


_LIMITS = (
    *("is not supported", "not supported, except", "no converter", "irkit has no"),
    *("reduction 'mean', expected one of", "a tensor without axes"),
)
"""What irkit says of operators that it does not promise to import."""


class _Program(TorchOperands):
    """Inputs, and operators applied to them; ``values`` are PyTorch's tensors of both."""

    def __init__(self, picks: Picks) -> None:
        super().__init__(picks)
        self.nodes: list[tuple[_Applied, tuple[int, ...]]] = []

    def draw(self) -> None:
        """Draw the operators, and with each the inputs that it needs."""
        names = tuple(_overloads())
        for _ in range(1 + self.picks.below(_MOST_NODES)):
            self._apply(self.picks.pick(names))
        if not self.nodes:
            raise Unusable("PyTorch refuses all that was drawn")

    def _apply(self, name: str) -> None:
        for _ in range(_TRIES):
            known = len(self.values)
            target = self.picks.pick(_overloads()[name])
            self.several, self.positive = name in _ONE_OF_SEVERAL, name in _CONVERSIONS
            try:
                applied = self._applied(name, target)
                made = applied.target(
                    *map(self._value, applied.args),
                    **{key: self._value(each) for key, each in applied.kwargs.items()},
                )
                results = cast("list[Any]", made if isinstance(made, (list, tuple)) else [made])
                copies: list[Any] = [
                    each.clone() if self._is_plain(each) else None for each in results
                ]
            except (RuntimeError, IndexError, TypeError, ValueError, NotImplementedError):
                del self.values[known:]
                continue
            if any(each is None for each in copies):
                del self.values[known:]
                continue
            first = len(self.values)
            self.exact.update(range(known, first))
            self.values += copies
            places = tuple(range(first, len(self.values)))
            if name not in _INEXACT:
                self.exact.update(places)
            self.nodes.append((applied, places))
            return

    def _is_plain(self, value: Any) -> bool:
        return hasattr(value, "dtype") and str(value.dtype)[6:] in (*_ROUNDING, *DTYPES, "int8")

    def _value(self, arg: Any) -> Any:
        if isinstance(arg, TorchPlace):
            return self.values[arg.at]
        if not isinstance(arg, list):
            return arg
        return [self._value(each) for each in cast("list[Any]", arg)]

    def _applied(self, name: str, target: Any) -> _Applied:
        known = ARGUMENTS.get(name)
        draw = ARGUMENTS.get(f"{name}.{target._overloadname}", known)
        if draw is not None:
            return _Applied(target, list(draw(self)), {})
        args, kwargs = list[Any](), dict[str, Any]()
        for arg in target._schema.arguments:
            if arg.name in _NEVER_GIVEN or (arg.has_default_value() and self.picks.below(3)):
                if not arg.kwarg_only:
                    args.append(arg.default_value)
                continue
            value = self._drawn(name, arg)
            if arg.kwarg_only:
                kwargs[arg.name] = value
            else:
                args.append(value)
        return _Applied(target, args, kwargs)

    def _drawn(self, name: str, arg: Any) -> Any:
        """Draw an argument by the type and the name in the schema."""
        picks, kind = self.picks, str(arg.type)
        rank = self.rank
        if arg.name == "dtype":
            return getattr(torch(), picks.pick(DTYPES))
        if kind.startswith("Optional["):
            if picks.one_in(3):
                return None
            kind = kind[9:-1]
        match kind:
            case "Tensor":
                if arg.name in ("index", "indices"):
                    return self.tensor(self.shape, "int64", high=2)
                return self.any_tensor()
            case "List[Tensor]":
                first = self.any_tensor()
                return [first, *([first] if picks.below(2) else [self.any_tensor()])]
            case "List[Optional[Tensor]]":
                return [self.tensor(picks.pick(((2,), (3,), (1,), ())), "int64", high=2)]
            case "bool":
                return bool(picks.below(2))
            case "number":
                return picks.pick(_SCALARS)
            case "float":
                return float(picks.pick(_SCALARS))
            case "int":
                if "dim" in arg.name or arg.name == "axis":
                    return picks.between(-max(rank, 1), max(rank - 1, 0))
                return picks.pick((1, 2, 0, 3, -1, -2, 5))
            case "List[int]":
                if "dim" in arg.name:
                    axes = list(range(-rank, rank) if picks.below(2) else range(rank))
                    return picks.some(axes, 3) if axes else []
                return [
                    picks.pick((2, 1, 3, -1, 0, 4))
                    for _ in range(picks.below(max(rank, 1) + 1) + 1)
                ]
            case "str":
                return picks.pick(("none", "tanh", "mean", "sum", "trunc", "floor"))
            case _:
                raise TypeError(kind)

    def captured(self) -> TorchProgram:
        """Return the program as plain data, by way of PyTorch's own graphs."""
        graph = import_module("torch.fx").Graph()
        made = {place for _, places in self.nodes for place in places}
        by_place: dict[int, Any] = {}
        inputs = list[TorchInput]()
        for at, value in enumerate(self.values):
            if at not in made:
                by_place[at] = graph.placeholder(f"x{at}")
                inputs.append(TorchInput(f"x{at}", "user", f"x{at}", tensor_type(value)))
        operator = import_module("operator")
        for applied, places in self.nodes:
            args = tuple(_with_nodes(each, by_place) for each in applied.args)
            kwargs = {key: _with_nodes(each, by_place) for key, each in applied.kwargs.items()}
            node = graph.call_function(applied.target, args, kwargs)
            returns = applied.target._schema.returns
            alone = len(returns) == 1 and str(returns[0].type) == "Tensor"
            values = [self.values[at] for at in places]
            node.meta["val"] = values[0] if alone else values
            if alone:
                by_place[places[0]] = node
                continue
            for number, at in enumerate(places):
                by_place[at] = graph.call_function(operator.getitem, (node, number))
                by_place[at].meta["val"] = self.values[at]
        nodes: tuple[TorchNode, ...] = tuple(nodes_of(graph.nodes))
        outputs = tuple(TorchOutput("user", NodeRef(by_place[at].name)) for at in self.results)
        return TorchProgram(tuple(inputs), nodes, outputs)

    @property
    def results(self) -> list[int]:
        """Return the positions of the results: of an operator with several, not those that
        PyTorch keeps for itself."""
        return [
            at
            for applied, places in self.nodes
            for number, at in enumerate(places)
            if not (number and applied.target._schema.name in _FIRST_ONLY)
        ]

    @property
    def normalised(self) -> set[int]:
        """Return the positions of normalised tensors."""
        return {at for each, places in self.nodes for at in places if "_norm" in str(each.target)}

    def arrays(self) -> list[Array]:
        """Return the inputs as arrays."""
        made = {place for _, places in self.nodes for place in places}
        return [array_of(v).copy() for at, v in enumerate(self.values) if at not in made]

    def text(self) -> str:
        """Return the program as text."""
        lines = [f"{each.target}({each.args}, {each.kwargs}) -> {at}" for each, at in self.nodes]
        kinds = [f"{at}: {each.dtype}{list(each.shape)}" for at, each in enumerate(self.values)]
        return "\n".join([*lines, *kinds])

    def compare(self, found: list[Any], how: str) -> None:
        """Compare results with PyTorch's. Raises: WrongSample."""
        for at, result in zip(self.results, found, strict=True):
            wanted, given = array_of(self.values[at]), np.asarray(result)
            if wanted.dtype != given.dtype or wanted.shape != given.shape:
                kinds = f"{given.dtype}{given.shape}, expected {wanted.dtype}{wanted.shape}"
                raise WrongSample("mismatch", f"{how}: value {at} is {kinds}\n{self.text()}")
            if not _is_close(wanted, given, wide=at in self.normalised):
                numbers = f"{given}\nexpected\n{wanted}"
                inputs = "\n".join(map(str, self.arrays()))
                raise WrongSample(
                    "mismatch", f"{how}: value {at} is\n{numbers}\n{self.text()}\n{inputs}"
                )


def _is_close(wanted: Array, given: Array, *, wide: bool) -> bool:
    """Compare numbers; ``wide`` where a rounding error can be divided by the root of epsilon."""
    unit = _ROUNDING.get(wanted.dtype.name)
    if unit is None or not wanted.size:
        return bool(np.array_equal(wanted, given))
    a, b = wanted.astype(np.float64), given.astype(np.float64)
    known = np.abs(a[np.isfinite(a)])
    units = _NORMALISED_UNITS if wide else _UNITS
    limit = units * unit * (1 + (known.max() if known.size else 0.0))
    return bool(np.allclose(a, b, rtol=0, atol=limit, equal_nan=True))


def _with_nodes(arg: Any, by_place: dict[int, Any]) -> Any:
    if isinstance(arg, TorchPlace):
        return by_place[arg.at]
    if not isinstance(arg, list):
        return arg
    return [_with_nodes(each, by_place) for each in cast("list[Any]", arg)]


_FIRST_ONLY = (
    *("aten::native_layer_norm", "aten::native_group_norm", "aten::_native_batch_norm_legit"),
    "aten::_native_batch_norm_legit_no_training",
)
