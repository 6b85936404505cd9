"""PyTorch programs of a few operators, exported and compiled, against PyTorch itself.

A program is drawn while it runs: each step is taken by ``torch`` first, so shapes are known and
what PyTorch refuses is dropped. The steps are then replayed inside a module that is exported.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.nn import functional

import irkit
from irkit.core import IRKitError
from irkit.frontend.torch import import_torch
from tests.differential.outcome import Outcome, difference

LARGEST = 60.0
Tensor = Any
Step = tuple[Callable[..., Tensor], tuple[int, ...]]
torch.set_num_threads(1)


class Draw:
    """A program: inputs, weights, and steps that read values by number."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng((5, seed))
        self.whole = bool(self.rng.integers(2))
        self.inputs: list[Tensor] = []
        self.weights: list[Tensor] = []
        self.steps: list[Step] = []
        self.values: list[Tensor] = []
        self.smooth: list[bool] = []
        self.covers: list[str] = []
        for _ in range(self.integer(1, 3)):
            shape = tuple(self.choose(1, 2, 3, 4, 6) for _ in range(self.choose(2, 3, 4)))
            self.inputs.append(self.floats(shape))
        self.values += self.inputs
        self.exact = [True] * len(self.inputs)

    def choose(self, *options: Any) -> Any:
        return options[int(self.rng.integers(len(options)))]

    def integer(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high + 1))

    def floats(self, shape: tuple[int, ...]) -> Tensor:
        if self.whole:
            return torch.tensor(self.rng.integers(-3, 4, size=shape), dtype=torch.float32)
        return torch.tensor(self.rng.uniform(-2, 2, size=shape), dtype=torch.float32)

    def weight(self, *shape: int) -> int:
        """Add a weight and return its number, counted from the end."""
        self.weights.append(self.floats(shape))
        return -len(self.weights)

    def pick(self, test: Callable[[Tensor], Any] = lambda x: True, *, exact: bool = False) -> int:
        fitting = [
            number
            for number, value in enumerate(self.values)
            if value.dtype == torch.float32 and test(value) and (not exact or self.exact[number])
        ]
        if not fitting:
            raise _NoValue
        return fitting[int(len(fitting) * self.rng.random() ** 0.6)]

    def add(
        self, name: str, function: Callable[..., Tensor], *reads: int, exact: bool = False
    ) -> None:
        """Take a step if its value is tame."""
        given = [self.values[r] if r >= 0 else self.weights[-r - 1] for r in reads]
        try:
            value = function(*given)
        except (RuntimeError, IndexError, ValueError, NotImplementedError):
            return
        if value.numel() == 0 or value.numel() > 4000:
            return
        if value.is_floating_point() and not bool((value.abs() <= LARGEST).all()):
            return
        self.steps.append((function, reads))
        self.values.append(value)
        self.covers.append(name)
        own = all(r < 0 or self.exact[r] for r in reads)
        self.exact.append(not value.is_floating_point() or (exact and own))


class _NoValue(Exception):
    """Raised where no value fits an operator."""


class Program(torch.nn.Module):
    """The steps of a draw; it returns the values that are wanted."""

    def __init__(self, draw: Draw, wanted: list[int]) -> None:
        super().__init__()
        self.draw, self.wanted = draw, wanted
        self.weights = torch.nn.ParameterList(
            [torch.nn.Parameter(w, requires_grad=False) for w in draw.weights]
        )

    def forward(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        values = list(inputs)
        for function, reads in self.draw.steps:
            values.append(function(*(values[r] if r >= 0 else self.weights[-r - 1] for r in reads)))
        return tuple(values[number] for number in self.wanted)


Row = Callable[[Draw], None]
ROWS: list[tuple[str, Row]] = []


def row(function: Row) -> Row:
    ROWS.append((function.__name__, function))
    return function


def _each(test: Callable[[Tensor], Any]) -> Callable[[Tensor], Any]:
    return lambda x: bool(test(x).all())


ANY = _each(lambda x: x == x)
for _names, _test, _jumps in (
    ("sin cos tanh sigmoid erf atan neg abs relu square exp2 asinh", ANY, False),
    ("exp expm1 sinh cosh", _each(lambda x: x.abs() < 3.5), False),
    ("log sqrt rsqrt reciprocal log2 log1p", _each(lambda x: x > 0.05), False),
    ("acos asin atanh tan", _each(lambda x: x.abs() < 0.97), False),
    ("floor ceil round sign trunc frac", ANY, True),
):
    for _name in _names.split():

        def _unary(d: Draw, name: str = _name, test: Any = _test, jumps: bool = _jumps) -> None:
            d.add(name, getattr(torch, name), d.pick(test, exact=jumps), exact=jumps)

        ROWS.append((_name, _unary))
for _name in [
    "silu",
    "gelu",
    "elu",
    "selu",
    "softplus",
    "softsign",
    "hardswish",
    "hardsigmoid",
    "mish",
    "celu",
    "leaky_relu",
    "logsigmoid",
    "hardtanh",
    "relu6",
    "tanhshrink",
]:

    def _activation(d: Draw, name: str = _name) -> None:
        d.add(name, getattr(functional, name), d.pick())

    ROWS.append((_name, _activation))


def _pair(d: Draw) -> tuple[int, int]:
    x = d.pick()
    shape = tuple(d.values[x].shape)
    same = [n for n, v in enumerate(d.values) if v.shape == shape and v.dtype == torch.float32]
    if len(same) > 1 and d.rng.random() < 0.6:
        return x, d.choose(*same)
    cut = shape[d.integer(0, len(shape)) :]
    return x, d.weight(*(1 if d.rng.random() < 0.3 else n for n in cut))


for _name in ["add", "sub", "mul", "maximum", "minimum"]:

    def _binary(d: Draw, name: str = _name) -> None:
        d.add(name, getattr(torch, name), *_pair(d), exact=d.whole)

    ROWS.append((_name, _binary))


@row
def div(d: Draw) -> None:
    x, y = _pair(d)
    d.add("div", lambda a, b: a / (b.abs() + 0.5), x, y)


@row
def add_alpha(d: Draw) -> None:
    alpha = d.choose(2, -1, 3)
    d.add("add alpha", lambda a, b: torch.add(a, b, alpha=alpha), *_pair(d), exact=d.whole)


@row
def pow_scalar(d: Draw) -> None:
    power = d.choose(2, 3, 0.5, -1, 1.5)
    d.add("pow", lambda a: a.abs().add(0.1).pow(power), d.pick())


@row
def where(d: Draw) -> None:
    x, y = _pair(d)
    z = d.pick(exact=True)
    compare = d.choose(torch.gt, torch.le, torch.eq, torch.ne)
    limit = d.choose(0.0, 1.0)
    d.add("where", lambda a, b: torch.where(compare(a, limit), a, b), z, y if y >= 0 else x)


@row
def clamp(d: Draw) -> None:
    low, high = sorted(float(v) for v in d.rng.uniform(-2, 2, size=2))
    d.add("clamp", lambda a: a.clamp(low, high), d.pick())


@row
def reduction(d: Draw) -> None:
    x = d.pick()
    dims = [k for k in range(d.values[x].dim()) if d.integer(0, 1)] or [-1]
    keep = bool(d.integer(0, 1))
    name = d.choose("sum", "mean", "amax", "amin", "logsumexp")
    function = getattr(torch, name)
    d.add(name, lambda a: function(a, dim=dims, keepdim=keep), x, exact=name[:2] == "am")


@row
def statistics(d: Draw) -> None:
    x, correction = d.pick(lambda x: x.shape[-1] > 2), d.integer(0, 1)
    name = d.choose("var", "std")
    d.add(name, lambda a: getattr(torch, name)(a, dim=-1, correction=correction), x)


@row
def norm(d: Draw) -> None:
    order = d.choose(1, 2, float("inf"))
    d.add("norm", lambda a: torch.linalg.vector_norm(a, ord=order, dim=-1), d.pick())


@row
def index_of(d: Draw) -> None:
    name, dim = d.choose("argmax", "argmin"), d.integer(0, 1)
    x = d.pick(lambda v: torch.unique(v).numel() == v.numel(), exact=True)
    d.add(name, lambda a: getattr(torch, name)(a, dim=dim), x)


@row
def cumulative(d: Draw) -> None:
    name, dim = d.choose("cumsum", "cumprod"), d.integer(0, 1)
    d.add(name, lambda a: getattr(torch, name)(a, dim=dim), d.pick())


@row
def softmax(d: Draw) -> None:
    name, dim = d.choose("softmax", "log_softmax"), d.choose(0, 1, -1)
    d.add(name, lambda a: getattr(torch, name)(a, dim=dim), d.pick())


@row
def permute(d: Draw) -> None:
    x = d.pick()
    axes = [int(k) for k in d.rng.permutation(d.values[x].dim())]
    d.add("permute", lambda a: a.permute(axes), x, exact=True)


@row
def reshape(d: Draw) -> None:
    x = d.pick()
    size = d.values[x].numel()
    first = d.choose(*[k for k in range(1, size + 1) if size % k == 0])
    d.add("reshape", lambda a: a.reshape(first, -1), x, exact=True)


@row
def unsqueeze(d: Draw) -> None:
    dim = d.choose(0, 1, -1)
    d.add("unsqueeze", lambda a: a.unsqueeze(dim), d.pick(lambda x: x.dim() < 4), exact=True)


@row
def cat(d: Draw) -> None:
    x, y = _pair(d)
    dim = d.choose(0, -1)
    d.add("cat", lambda a, b: torch.cat([a, b, a], dim=dim), x, y, exact=True)


@row
def stack(d: Draw) -> None:
    dim = d.choose(0, 1, -1)
    x, y = _pair(d)
    d.add("stack", lambda a, b: torch.stack([a, b], dim=dim), x, y, exact=True)


@row
def narrow(d: Draw) -> None:
    x = d.pick()
    dim = d.integer(0, d.values[x].dim() - 1)
    n = d.values[x].shape[dim]
    begin = d.integer(0, n - 1)
    step = d.choose(1, 1, 2)
    index = (slice(None),) * dim + (slice(begin, d.integer(begin + 1, n), step),)
    d.add("slice", lambda a: a[index], x, exact=True)


@row
def select(d: Draw) -> None:
    at = d.choose(0, -1)
    d.add("select", lambda a: a.select(-1, at), d.pick(lambda x: x.dim() > 1), exact=True)


@row
def flip(d: Draw) -> None:
    dims = d.choose([0], [-1], [0, 1])
    d.add("flip", lambda a: a.flip(dims), d.pick(), exact=True)


@row
def roll(d: Draw) -> None:
    shift, dim = d.choose(1, -1, 2), d.choose(0, 1)
    d.add("roll", lambda a: a.roll(shift, dim), d.pick(), exact=True)


@row
def pad(d: Draw) -> None:
    pads = [d.integer(-1, 2), d.integer(0, 2)]
    value = d.choose(0.0, 1.5)
    d.add("pad", lambda a: functional.pad(a, pads, value=value), d.pick(), exact=True)


@row
def pad_mode(d: Draw) -> None:
    mode = d.choose("reflect", "replicate", "circular")
    x = d.pick(lambda v: v.dim() == 3 and v.shape[-1] > 2)
    d.add(f"pad {mode}", lambda a: functional.pad(a, (1, 2), mode=mode), x, exact=True)


@row
def expand(d: Draw) -> None:
    x = d.pick(lambda v: 1 in v.shape)
    shape = [n if n > 1 else 3 for n in d.values[x].shape]
    d.add("expand", lambda a: a.expand(shape), x, exact=True)


@row
def repeat(d: Draw) -> None:
    x = d.pick()
    times = [d.integer(1, 2) for _ in d.values[x].shape]
    d.add("repeat", lambda a: a.repeat(times), x, exact=True)


@row
def triangle(d: Draw) -> None:
    name, k = d.choose("tril", "triu"), d.integer(-1, 2)
    x = d.pick(lambda v: v.dim() > 1)
    d.add(name, lambda a: getattr(torch, name)(a, k), x, exact=True)


@row
def index_select(d: Draw) -> None:
    x = d.pick()
    dim = d.integer(0, d.values[x].dim() - 1)
    index = torch.tensor(d.rng.integers(0, d.values[x].shape[dim], size=3))
    d.add("index_select", lambda a: a.index_select(dim, index), x, exact=True)


@row
def gather(d: Draw) -> None:
    x = d.pick()
    dim = d.integer(0, d.values[x].dim() - 1)
    index = torch.tensor(d.rng.integers(0, d.values[x].shape[dim], size=tuple(d.values[x].shape)))
    d.add("gather", lambda a: a.gather(dim, index), x, exact=True)


@row
def scatter_add(d: Draw) -> None:
    x = d.pick()
    index = torch.tensor(d.rng.integers(0, d.values[x].shape[0], size=tuple(d.values[x].shape)))
    d.add("scatter_add", lambda a: a.scatter_add(0, index, a), x)


@row
def masked_fill(d: Draw) -> None:
    x = d.pick(exact=True)
    d.add("masked_fill", lambda a: a.masked_fill(a > 0.5, -1.0), x, exact=True)


@row
def topk(d: Draw) -> None:
    k = d.integer(1, 2)
    d.add("topk", lambda a: a.topk(k, dim=-1).values, d.pick(exact=True), exact=True)


@row
def sort(d: Draw) -> None:
    descending = bool(d.integer(0, 1))
    x = d.pick(exact=True)
    d.add("sort", lambda a: a.sort(dim=-1, descending=descending).values, x, exact=True)


@row
def linear(d: Draw) -> None:
    x = d.pick()
    out = d.choose(1, 3, 8)
    w, b = d.weight(out, d.values[x].shape[-1]), d.weight(out)
    d.add("linear", functional.linear, x, w, b, exact=d.whole)


@row
def matmul(d: Draw) -> None:
    x = d.pick(lambda v: v.dim() > 1)
    d.add("matmul", lambda a: a @ a.mT, x, exact=d.whole)


@row
def bilinear_product(d: Draw) -> None:
    x = d.pick(lambda v: v.dim() == 3)
    batch, _, k = d.values[x].shape
    d.add("bmm", torch.bmm, x, d.weight(batch, k, 4), exact=d.whole)


@row
def einsum(d: Draw) -> None:
    x = d.pick(lambda v: v.dim() == 3)
    equation = d.choose("abc,abc->ab", "abc,adc->abd", "abc,abd->cd")
    d.add("einsum", lambda a: torch.einsum(equation, a, a), x)


@row
def conv(d: Draw) -> None:
    x = d.pick(lambda v: v.dim() in (3, 4))
    rank, channels = d.values[x].dim() - 2, d.values[x].shape[1]
    groups = d.choose(1, channels)
    kernel = [d.integer(1, 3) for _ in range(rank)]
    w = d.weight(groups * d.choose(1, 2, 4), channels // groups, *kernel)
    function = functional.conv1d if rank == 1 else functional.conv2d
    attrs = {"stride": d.integer(1, 2), "padding": d.integer(0, 2), "dilation": d.integer(1, 2)}
    d.add("conv", lambda a, b: function(a, b, groups=groups, **attrs), x, w, exact=d.whole)


@row
def conv_transpose(d: Draw) -> None:
    x = d.pick(lambda v: v.dim() == 4)
    w = d.weight(d.values[x].shape[1], 2, 3, 2)
    attrs = {"stride": d.integer(1, 2), "padding": d.integer(0, 1)}
    d.add("conv_transpose", lambda a, b: functional.conv_transpose2d(a, b, **attrs), x, w)


@row
def pool(d: Draw) -> None:
    x = d.pick(lambda v: v.dim() == 4)
    kernel, stride, padding = d.integer(1, 3), d.integer(1, 2), d.integer(0, 1)
    name, ceil = d.choose("max_pool2d", "avg_pool2d"), bool(d.integer(0, 1))
    function = getattr(functional, name)
    d.add(
        name,
        lambda a: function(a, kernel, stride, padding, ceil_mode=ceil),
        x,
        exact=name[0] == "m",
    )


@row
def adaptive_pool(d: Draw) -> None:
    x, out = d.pick(lambda v: v.dim() == 4), d.integer(1, 3)
    d.add("adaptive_avg_pool2d", lambda a: functional.adaptive_avg_pool2d(a, out), x)


@row
def interpolate(d: Draw) -> None:
    x = d.pick(lambda v: v.dim() == 4)
    mode, size = d.choose("nearest", "bilinear", "bicubic"), (d.integer(1, 6), d.integer(1, 6))
    align = bool(d.integer(0, 1)) if mode != "nearest" else None
    attrs = {"size": size, "mode": mode, "align_corners": align}
    d.add(f"interpolate {mode}", lambda a: functional.interpolate(a, **attrs), x)


@row
def layer_norm(d: Draw) -> None:
    x = d.pick(lambda v: v.shape[-1] > 2)
    n = d.values[x].shape[-1]
    d.add(
        "layer_norm",
        lambda a, w, b: functional.layer_norm(a, (n,), w, b, 0.05),
        x,
        d.weight(n),
        d.weight(n),
    )


@row
def group_norm(d: Draw) -> None:
    x = d.pick(lambda v: v.dim() == 4 and v.shape[1] % 2 == 0 and v[0, 0].numel() > 2)
    n = d.values[x].shape[1]
    d.add(
        "group_norm",
        lambda a, w, b: functional.group_norm(a, 2, w, b, 0.05),
        x,
        d.weight(n),
        d.weight(n),
    )


@row
def batch_norm(d: Draw) -> None:
    x = d.pick(lambda v: v.dim() > 2)
    n = d.values[x].shape[1]
    parts = [d.weight(n) for _ in range(3)]
    d.add(
        "batch_norm", lambda a, m, w, b: functional.batch_norm(a, m, torch.ones(n), w, b), x, *parts
    )


@row
def attention(d: Draw) -> None:
    x = d.pick(lambda v: v.dim() in (3, 4))
    causal = bool(d.integer(0, 1))
    function = functional.scaled_dot_product_attention
    d.add("attention", lambda a: function(a, a, a, is_causal=causal), x)


@row
def convert(d: Draw) -> None:
    kind = d.choose(torch.float64, torch.int32, torch.bool, torch.float16)
    d.add("to", lambda a: a.to(kind).to(torch.float32), d.pick(exact=True), exact=True)


@row
def integers(d: Draw) -> None:
    divisor, name = d.choose(2, 3, -3), d.choose("floor_divide", "remainder", "bitwise_and")
    function = getattr(torch, name)
    d.add(name, lambda a: function(a.to(torch.int64), divisor), d.pick(exact=True))


@row
def in_place(d: Draw) -> None:
    at = d.choose(0, -1)

    def run(a: Tensor) -> Tensor:
        b = a.clone()
        b[:, at] = b[:, at] * 2
        b.add_(1.0)
        return b

    d.add("in place", run, d.pick(lambda v: v.dim() > 1), exact=d.whole)


@row
def split(d: Draw) -> None:
    x = d.pick(lambda v: v.shape[-1] > 1)
    at = d.integer(1, d.values[x].shape[-1] - 1)
    d.add("split", lambda a: a.split([at, a.shape[-1] - at], dim=-1)[1], x, exact=True)


def draw(number: int) -> Draw:
    """Return a program of 2 to 8 steps."""
    d = Draw(number)
    wanted = d.integer(2, 8)
    for _ in range(60):
        if len(d.steps) >= wanted:
            break
        try:
            ROWS[d.integer(0, len(ROWS) - 1)][1](d)
        except _NoValue:
            continue
    return d


def judge(number: int) -> Outcome:
    """Export and compile a drawn program; compare the values that nothing reads."""
    d = draw(number)
    if not d.steps:
        return Outcome("no case")
    read = {r for _, reads in d.steps for r in reads}
    first = len(d.inputs)
    wanted = [n for n in range(first, len(d.values)) if n not in read]
    program = Program(d, wanted).eval()
    with torch.no_grad():
        expected = {str(n): value.numpy() for n, value in enumerate(program(*d.inputs))}
        try:
            exported = torch.export.export(program, tuple(d.inputs))
        except Exception as error:  # PyTorch's own refusals have no common base.
            return Outcome("no case", f"export: {type(error).__name__}", d.covers)
    try:
        compiled = irkit.compile(import_torch(exported))
        names = [spec.name for spec in compiled.inputs]
        given = dict(zip(names, (x.numpy() for x in d.inputs), strict=True))
        computed = dict(zip(expected, compiled.run(given).values(), strict=True))
    except IRKitError as error:
        return Outcome("refused", " ".join(str(error).split())[:300], d.covers)
    except Exception as error:  # A raw error is a finding.
        return Outcome("wrong", f"{type(error).__name__}: {error}", d.covers)
    wrong = difference(expected, computed, 2e-4)
    return Outcome("wrong" if wrong else "right", wrong, d.covers)
