"""Programs of ATen operators, by the schema of each, against PyTorch itself.

Arguments are drawn from the types and names in an operator's schema; where shapes have to fit, a
row of `_ARGUMENTS` draws them. What PyTorch refuses is drawn again.
"""

import warnings
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import Any

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
from irkit.fuzz.picks import Picks
from irkit.graph import arrays_of, interpret
from irkit.phases import compile

_SHAPES = (
    *((3, 4), (2, 3), (4,), (), (2, 3, 4), (1, 3), (5,), (1, 2, 3, 4), (2, 1, 3), (3, 1), (1,)),
    *((3, 3), (0, 3), (2, 0), (2, 2, 5, 4), (7,), (17,), (1, 1)),
)
_DTYPES = ("float32", "float32", "float32", "float64", "int64", "int32", "bool", "uint8", "int16")
_FLOATS = ("float32", "float32", "float64")
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


class _Place(msgspec.Struct, frozen=True):
    """A tensor of the program, by its position."""

    at: int


@cache
def torch() -> Any:
    """Return PyTorch, with one thread: a process forks after it is loaded."""
    found = import_module("torch")
    found.set_num_threads(1)
    return found


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


class _Program:
    """Inputs, and operators applied to them; ``values`` are PyTorch's tensors of both."""

    def __init__(self, picks: Picks) -> None:
        self.picks = picks
        self.values: list[Any] = []
        self.nodes: list[tuple[_Applied, tuple[int, ...]]] = []
        self.exact: set[int] = set()
        self.several = self.positive = False

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
                results = made if isinstance(made, (list, tuple)) else [made]
                copies = [each.clone() if self._is_plain(each) else None for each in results]
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
        return hasattr(value, "dtype") and str(value.dtype)[6:] in (*_ROUNDING, *_DTYPES, "int8")

    def _value(self, arg: Any) -> Any:
        if isinstance(arg, _Place):
            return self.values[arg.at]
        return [self._value(each) for each in arg] if isinstance(arg, list) else arg

    def _applied(self, name: str, target: Any) -> _Applied:
        known = _ARGUMENTS.get(name)
        draw = _ARGUMENTS.get(f"{name}.{target._overloadname}", known)
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
        rank = self._rank()
        if arg.name == "dtype":
            return getattr(torch(), picks.pick(_DTYPES))
        if kind.startswith("Optional["):
            if picks.one_in(3):
                return None
            kind = kind[9:-1]
        match kind:
            case "Tensor":
                if arg.name in ("index", "indices"):
                    return self.tensor(self._shape(), "int64", high=2)
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

    def _rank(self) -> int:
        return self.values[-1].dim() if self.values else 2

    def _shape(self) -> tuple[int, ...]:
        if self.values and self.picks.below(3):
            return tuple(self.values[-1].shape)
        return self.picks.pick(_SHAPES)

    def any_tensor(self) -> _Place:
        """Pick a value that is known, or make an input."""
        known = sorted(self.exact)
        if known and self.picks.below(2) and not (self.several or self.positive):
            return _Place(self.picks.pick(known))
        return self.tensor(self._shape(), self.picks.pick(_DTYPES))

    def tensor(self, shape: Sequence[int], dtype: str, *, low: int = -3, high: int = 5) -> _Place:
        """Make an input of small whole numbers, or of which no two are equal."""
        rng = np.random.default_rng(self.picks.below(1 << 16))
        if dtype in ("uint8", "bool") or high < 3 or self.positive:
            low = 0
        if self.several:
            numbers = rng.permutation(int(np.prod(shape))).reshape(shape)
        else:
            numbers = rng.integers(low, 2 if dtype == "bool" else high, tuple(shape))
        if dtype in _FLOATS and self.picks.one_in(3) and not self.several:
            numbers = numbers + rng.uniform(0, 1, tuple(shape)).round(2)
        made = torch().tensor(np.asarray(numbers), dtype=getattr(torch(), dtype))
        self.values.append(made)
        return _Place(len(self.values) - 1)

    def floats(self, *shape: int) -> _Place:
        """Make an input of floats."""
        return self.tensor(shape, "float32")

    def size(self) -> int:
        """Draw an extent."""
        return self.picks.pick((3, 2, 4, 1, 5))

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
    if isinstance(arg, _Place):
        return by_place[arg.at]
    return [_with_nodes(each, by_place) for each in arg] if isinstance(arg, list) else arg


_FIRST_ONLY = (
    *("aten::native_layer_norm", "aten::native_group_norm", "aten::_native_batch_norm_legit"),
    "aten::_native_batch_norm_legit_no_training",
)


def _refused(p: _Program) -> Sequence[Any]:
    raise TypeError("it changes its arguments")


def _mm(p: _Program) -> Sequence[Any]:
    m, k, n = p.size(), p.size(), p.size()
    return p.floats(m, k), p.floats(k, n)


def _addmm(p: _Program) -> Sequence[Any]:
    m, k, n = p.size(), p.size(), p.size()
    return p.floats(*p.picks.pick(((m, n), (n,), (1, n)))), p.floats(m, k), p.floats(k, n)


def _bmm(p: _Program) -> Sequence[Any]:
    b, m, k, n = p.size(), p.size(), p.size(), p.size()
    return p.floats(b, m, k), p.floats(b, k, n)


def _baddbmm(p: _Program) -> Sequence[Any]:
    b, m, k, n = p.size(), p.size(), p.size(), p.size()
    return (
        p.floats(*p.picks.pick(((b, m, n), (m, n), (1, m, 1)))),
        p.floats(b, m, k),
        p.floats(b, k, n),
    )


def _mv(p: _Program) -> Sequence[Any]:
    m, k = p.size(), p.size()
    return p.floats(m, k), p.floats(k)


def _dot(p: _Program) -> Sequence[Any]:
    k = p.size()
    return p.floats(k), p.floats(k)


def _convolution(p: _Program) -> Sequence[Any]:
    picks, rank, groups = p.picks, p.picks.pick((2, 1, 2, 3)), p.picks.pick((1, 1, 2))
    inner, outer = p.size(), p.size() * groups
    kernel = [picks.pick((3, 1, 2)) for _ in range(rank)]
    extents = [size + picks.below(5) for size in kernel]
    transposed = picks.one_in(4)
    x = p.floats(picks.pick((1, 2)), inner * groups, *extents)
    weight = (inner * groups, outer // groups) if transposed else (outer, inner)
    w = p.floats(*weight, *kernel)
    bias = p.floats(outer) if picks.below(2) else None
    three = [
        [picks.pick(among) for _ in range(rank)] for among in ((1, 2, 3), (0, 1, 2), (1, 1, 2))
    ]
    more = [picks.below(step) if transposed else 0 for step in three[0]]
    return x, w, bias, *three, transposed, more, groups


def _max_pool(rank: int) -> Callable[[_Program], Sequence[Any]]:
    def draw(p: _Program) -> Sequence[Any]:
        p.several = True
        x, window = _window(p, rank)
        return x, *window, [p.picks.pick((1, 1, 2)) for _ in range(rank)], bool(p.picks.below(2))

    return draw


def _avg_pool(rank: int) -> Callable[[_Program], Sequence[Any]]:
    def draw(p: _Program) -> Sequence[Any]:
        x, window = _window(p, rank)
        flags = bool(p.picks.below(2)), bool(p.picks.below(2))
        divisor = [p.picks.pick((None, None, 3))] if rank > 1 else []
        return x, *window, *flags, *divisor

    return draw


def _adaptive(rank: int) -> Callable[[_Program], Sequence[Any]]:
    def draw(p: _Program) -> Sequence[Any]:
        lead = p.picks.pick(((1, 2), (2, 1), (3,)))
        return p.floats(*lead, *(p.size() for _ in range(rank))), [p.size() for _ in range(rank)]

    return draw


def _window(p: _Program, rank: int) -> tuple[_Place, list[list[int]]]:
    picks = p.picks
    kernel = [picks.pick((2, 3, 1)) for _ in range(rank)]
    x = p.floats(
        *picks.pick(((1, 2), (2, 1), (3,))), *(size + 2 + picks.below(4) for size in kernel)
    )
    stride = [picks.pick((2, 1, 3)) for _ in range(rank)]
    return x, [kernel, stride, [picks.below(size // 2 + 1) for size in kernel]]


def _layer_norm(p: _Program) -> Sequence[Any]:
    shape = [p.size() for _ in range(2 + p.picks.below(2))]
    normal = shape[1 + p.picks.below(len(shape) - 1) :]
    scales = [p.floats(*normal) if p.picks.below(3) else None for _ in range(2)]
    return p.floats(*shape), normal, *scales, 1e-5


def _group_norm(p: _Program) -> Sequence[Any]:
    groups, n, size = p.picks.pick((1, 2, 3)), p.size(), p.size()
    c = groups * p.size()
    scales = [p.floats(c) if p.picks.below(3) else None for _ in range(2)]
    return p.floats(n, c, size), *scales, n, c, size, groups, 1e-5


def _batch_statistics(p: _Program) -> Sequence[Any]:
    c = p.size()
    scales = [p.floats(c) if p.picks.below(3) else None for _ in range(2)]
    return p.floats(1 + p.size(), c, p.size()), *scales, True, 0.1, 1e-5


def _batch_norm(p: _Program) -> Sequence[Any]:
    n, c, size = p.size(), p.size(), p.size()
    four = [p.floats(c), p.floats(c), p.floats(c), p.tensor((c,), "float32", low=1)]
    return p.floats(n, c, size), *four, 0.1, 1e-5


def _embedding(p: _Program) -> Sequence[Any]:
    shape = p.picks.pick(((2, 3), (4,), ()))
    return p.floats(2 + p.size(), p.size()), p.tensor(shape, "int64", high=2)


def _axis_and_index(p: _Program) -> tuple[list[int], int, _Place]:
    shape = [p.size() for _ in range(1 + p.picks.below(3))]
    axis = p.picks.below(len(shape))
    index = [min(size, p.size()) if at != axis else p.size() for at, size in enumerate(shape)]
    numbers = np.random.default_rng(p.picks.below(1 << 16)).integers(0, shape[axis], index)
    p.values.append(torch().tensor(numbers))
    return shape, axis, _Place(len(p.values) - 1)


def _gather(p: _Program) -> Sequence[Any]:
    shape, axis, index = _axis_and_index(p)
    return p.tensor(shape, p.picks.pick(_DTYPES)), p.picks.pick((axis, axis - len(shape))), index


def _scatter_add(p: _Program) -> Sequence[Any]:
    shape, axis, index = _axis_and_index(p)
    return p.floats(*shape), axis, index, p.floats(*p.values[index.at].shape)


def _scatter_reduce(p: _Program) -> Sequence[Any]:
    how = p.picks.pick(("sum", "prod", "amax", "amin", "mean"))
    return *_scatter_add(p), how


def _index_select(p: _Program) -> Sequence[Any]:
    shape = [p.size() for _ in range(1 + p.picks.below(3))]
    axis = p.picks.below(len(shape))
    numbers = np.random.default_rng(p.picks.below(1 << 16)).integers(0, shape[axis], p.size())
    p.values.append(torch().tensor(numbers))
    index = _Place(len(p.values) - 1)
    return p.tensor(shape, p.picks.pick(_DTYPES)), axis, index


def _index_put(p: _Program) -> Sequence[Any]:
    rows, width = p.size(), p.size()
    numbers = np.random.default_rng(p.picks.below(1 << 16)).permutation(rows)[: p.size()]
    p.values.append(torch().tensor(numbers))
    index = _Place(len(p.values) - 1)
    shape = p.picks.pick(((len(numbers), width), (width,), ()))
    return p.floats(rows, width), [index], p.floats(*shape), bool(p.picks.below(2))


def _reshape(p: _Program) -> Sequence[Any]:
    a, b, c = p.size(), p.size(), p.size()
    ways = ([a * b, c], [-1, c], [a, b * c], [a * b * c], [c, -1, a], [1, a * b, c, 1])
    return p.tensor((a, b, c), p.picks.pick(_DTYPES)), p.picks.pick(ways)


def _expand(p: _Program) -> Sequence[Any]:
    a, b = p.size(), p.size()
    ways = ([a, b], [-1, b], [2, a, b], [3, -1, b])
    return p.tensor((a, 1), p.picks.pick(_DTYPES)), p.picks.pick(ways)


def _split(p: _Program) -> Sequence[Any]:
    a, b = p.size(), p.size()
    return (
        p.tensor((a, b), p.picks.pick(_DTYPES)),
        p.picks.pick((1, 2, 3)),
        p.picks.pick((0, 1, -1)),
    )


def _split_sizes(p: _Program) -> Sequence[Any]:
    a, b, c = p.size(), p.size(), p.size()
    x = p.tensor((a + b, c), p.picks.pick(_DTYPES))
    return x, [a, b], p.picks.pick((0, -2))


def _slice(p: _Program) -> Sequence[Any]:
    shape = p.picks.pick(((5, 3), (7,), (2, 3, 4)))
    ends = (None, 0, 1, -1, 2, 100, -100, -2)
    axis, step = p.picks.below(len(shape)), p.picks.pick((1, 2, 3))
    x = p.tensor(shape, p.picks.pick(_DTYPES))
    return x, axis, p.picks.pick(ends), p.picks.pick(ends), step


def _slice_scatter(p: _Program) -> Sequence[Any]:
    rows, begin, step = 5 + p.size(), p.picks.below(3), p.picks.pick((1, 2))
    end = begin + 1 + p.picks.below(4)
    count = len(range(begin, end, step))
    x = p.tensor((rows, 3), "float32")
    return x, p.tensor((count, 3), "float32"), 0, begin, end, step


def _select_scatter(p: _Program) -> Sequence[Any]:
    a, b = p.size(), p.size()
    return p.floats(a, b), p.floats(a), 1, p.picks.between(-b, b - 1)


def _cat(p: _Program) -> Sequence[Any]:
    shape, axis = [p.size(), p.size()], p.picks.below(2)
    parts = list[_Place]()
    dtype = p.picks.pick(_DTYPES)
    for _ in range(1 + p.picks.below(3)):
        shape[axis] = p.picks.pick((2, 1, 3, 0))
        parts.append(p.tensor(shape, p.picks.pick((dtype, dtype, "float32"))))
    return parts, p.picks.pick((axis, axis - 2))


def _padded(rank: int) -> Callable[[_Program], Sequence[Any]]:
    def draw(p: _Program) -> Sequence[Any]:
        lead = p.picks.pick(((2,), (1, 2)))
        pads = [p.picks.below(3) for _ in range(2 * rank)]
        return p.floats(*lead, *(3 + p.picks.below(3) for _ in range(rank))), pads

    return draw


def _constant_pad(p: _Program) -> Sequence[Any]:
    shape = [2 + p.size(), 2 + p.size()]
    pads = [p.picks.between(-1, 2) for _ in range(p.picks.pick((2, 4)))]
    return p.floats(*shape), pads, p.picks.pick((0, 1.5, -2))


def _upsample(p: _Program) -> Sequence[Any]:
    return p.floats(1, p.size(), p.size(), p.size()), [p.size() * 2, p.size() + 1]


def _bilinear(p: _Program) -> Sequence[Any]:
    return *_upsample(p), bool(p.picks.below(2))


def _softmax(p: _Program) -> Sequence[Any]:
    shape = [p.size() for _ in range(1 + p.picks.below(3))]
    return p.floats(*shape), p.picks.between(-len(shape), len(shape) - 1), False


def _permute(p: _Program) -> Sequence[Any]:
    shape = [p.size() for _ in range(1 + p.picks.below(4))]
    axes = list(range(len(shape)))
    order = [axes.pop(p.picks.below(len(axes))) for _ in shape]
    turned = [axis - len(shape) if p.picks.one_in(3) else axis for axis in order]
    return p.tensor(shape, p.picks.pick(_DTYPES)), turned


def _topk(p: _Program) -> Sequence[Any]:
    shape = [2 + p.size(), 2 + p.size()]
    axis = p.picks.pick((1, 0, -1))
    flags = bool(p.picks.below(2)), True
    return p.tensor(shape, "float32"), 1 + p.picks.below(3), axis, *flags


_ARGUMENTS: dict[str, Callable[[_Program], Sequence[Any]]] = {
    "mm": _mm, "matmul": _mm, "addmm": _addmm, "bmm": _bmm, "baddbmm": _baddbmm, "mv": _mv,
    "dot": _dot, "convolution": _convolution, "max_pool2d_with_indices": _max_pool(2),
    "max_pool3d_with_indices": _max_pool(3), "avg_pool1d": _avg_pool(1),
    "avg_pool2d": _avg_pool(2), "avg_pool3d": _avg_pool(3), "native_layer_norm": _layer_norm,
    "native_group_norm": _group_norm, "_native_batch_norm_legit_no_training": _batch_norm,
    "_native_batch_norm_legit.no_stats": _batch_statistics,
    "_native_batch_norm_legit.default": _refused,
    "adaptive_avg_pool1d": _adaptive(1),
    "_adaptive_avg_pool2d": _adaptive(2), "_adaptive_avg_pool3d": _adaptive(3),
    "embedding": _embedding, "gather": _gather, "scatter_add": _scatter_add,
    "scatter_reduce": _scatter_reduce, "index_select": _index_select, "index_put": _index_put,
    "_unsafe_index_put": _index_put, "view": _reshape, "reshape": _reshape, "expand": _expand,
    "_unsafe_view": _reshape, "split.Tensor": _split, "split.sizes": _split_sizes,
    "split_with_sizes": _split_sizes, "slice": _slice,
    "slice_scatter": _slice_scatter, "select_scatter": _select_scatter, "cat": _cat,
    "reflection_pad1d": _padded(1), "reflection_pad2d": _padded(2), "reflection_pad3d": _padded(3),
    "replication_pad1d": _padded(1), "replication_pad2d": _padded(2),
    "replication_pad3d": _padded(3), "constant_pad_nd": _constant_pad,
    "upsample_nearest2d": _upsample, "upsample_bilinear2d": _bilinear, "_softmax": _softmax,
    "_log_softmax": _softmax, "permute": _permute, "topk": _topk,
}  # fmt: skip
"""Arguments of operators whose shapes have to fit."""
