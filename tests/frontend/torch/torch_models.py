"""Small PyTorch models, one for each group of operators. Only long tests and the script that makes
the programs import this file, because it needs PyTorch."""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch._higher_order_ops.map import map as map_rows
from torch._higher_order_ops.scan import scan
from torch.nn import functional as F

from tests.frontend.torch.torch_order import ordered, padded
from tests.frontend.torch.torch_slices import sliced


class Function(nn.Module):
    """A module of a function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: Any) -> Any:
        return self.function(*args)


class Residual(nn.Module):
    """An inverted residual, as in MobileNet."""

    def __init__(self, channels: int, wide: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels, wide, 1, bias=False), nn.BatchNorm2d(wide), nn.ReLU6(),
            nn.Conv2d(wide, wide, 3, padding=1, groups=wide, bias=False), nn.BatchNorm2d(wide),
            nn.Hardswish(), nn.Conv2d(wide, channels, 1, bias=False), nn.BatchNorm2d(channels),
        )  # fmt: skip

    def forward(self, x: Any) -> Any:
        return x + self.body(x)


class Block(nn.Module):
    """A block of a transformer, as in GPT-2 if it is causal, else as in ViT."""

    def __init__(self, size: int, heads: int, *, causal: bool) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(size), nn.LayerNorm(size)
        self.qkv, self.out = nn.Linear(size, 3 * size), nn.Linear(size, size)
        act = "tanh" if causal else "none"
        self.mlp = nn.Sequential(nn.Linear(size, 4 * size), nn.GELU(act), nn.Linear(4 * size, size))
        self.heads, self.causal = heads, causal

    def forward(self, x: Any) -> Any:
        n, rows, size = x.shape
        parts = self.qkv(self.norm1(x)).reshape(n, rows, 3, self.heads, size // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        found = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        x = x + self.out(found.transpose(1, 2).reshape(n, rows, size))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    """A language model with the layout of GPT-2."""

    def __init__(self, tokens: int, size: int, heads: int, layers: int, length: int) -> None:
        super().__init__()
        self.embed, self.place = nn.Embedding(tokens, size), nn.Embedding(length, size)
        self.blocks = nn.Sequential(*(Block(size, heads, causal=True) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(size), nn.Linear(size, tokens, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, ids: Any) -> Any:
        x = self.embed(ids) + self.place(torch.arange(ids.shape[1]))
        return self.head(self.norm(self.blocks(x)))


class ViT(nn.Module):
    """A vision transformer."""

    def __init__(self, image: int, patch: int, size: int, heads: int, layers: int) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, size, patch, patch)
        self.kind = nn.Parameter(torch.randn(1, 1, size))
        self.place = nn.Parameter(torch.randn(1, (image // patch) ** 2 + 1, size))
        self.blocks = nn.Sequential(*(Block(size, heads, causal=False) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(size), nn.Linear(size, 10)

    def forward(self, x: Any) -> Any:
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.kind.expand(x.shape[0], -1, -1), x], 1) + self.place
        return self.head(self.norm(self.blocks(x))[:, 0])


class MobileNet(nn.Module):
    """A network of inverted residuals."""

    def __init__(self, channels: int, blocks: int) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, channels, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(channels),
            nn.ReLU6(),
        )  # fmt: skip
        self.blocks = nn.Sequential(*(Residual(channels, 4 * channels) for _ in range(blocks)))
        self.head = nn.Linear(channels, 10)

    def forward(self, x: Any) -> Any:
        return self.head(self.blocks(self.stem(x)).mean((2, 3)))


class Cache(nn.Module):
    """A cache that each call writes a row to."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("rows", torch.zeros(4, 3))
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))

    def forward(self, x: Any) -> Any:
        self.rows[1] = x
        self.rows[2:4] = x * 2
        self.count.add_(1)
        return self.rows.sum(0) * self.count


def activations(x: Any) -> Any:
    return (
        F.gelu(x),
        F.silu(x),
        F.elu(x),
        F.leaky_relu(x),
        F.hardsigmoid(x),
        F.softplus(x),
        F.mish(x),
        F.relu6(x),
        F.selu(x),
        x.sigmoid(),
        x.tanh(),
    )


def functions(x: Any) -> Any:
    y = x.abs() + 0.5
    return (
        y.log(),
        y.sqrt(),
        y.rsqrt(),
        y.reciprocal(),
        x.exp(),
        x.sin(),
        x.cos(),
        x.erf(),
        y.pow(1.5),
        x.pow(2),
        x.floor(),
        x.ceil(),
        x.round(),
        x.trunc(),
        x.sign(),
        x.neg(),
        torch.atan2(x, y),
        x.clamp(-1, 0.5),
        x.frac(),
    )


def integers(i: Any, j: Any) -> Any:
    return (
        i + j,
        i * 3,
        i - j,
        i // 2,
        i % 3,
        torch.div(i, j, rounding_mode="trunc"),
        i / j,
        i & j,
        i | j,
        i ^ j,
        i == j,
        i.float() * 0.5 + j,
        7 - i,
    )


def choices(x: Any, y: Any) -> Any:
    return (
        torch.where(x > y, x, y * 2),
        (x > 0) & (y <= 0.1),
        torch.maximum(x, y),
        x.ne(y),
        (x > 0).logical_not(),
        x.masked_fill(x < 0, -1.0),
        torch.minimum(x, y),
        (x > 5).any(1),
        (x > -5).all(),
    )


def reductions(x: Any) -> Any:
    return (
        x.sum(),
        x.sum(1),
        x.mean((0, 2), keepdim=True),
        x.amax(1),
        x.max(2).values,
        x.max(2).indices,
        x.min(),
        x.argmax(1),
        x.argmin(),
        x.var(1),
        x.std(2, correction=0),
        x.prod(2),
        x.norm(dim=1),
        x.cumsum(1),
        x.logsumexp(2),
        x.softmax(1),
        x.log_softmax(2),
    )


def indices(x: Any, i: Any) -> Any:
    return (
        x[1:, ::2],
        x[0],
        x[-1, 2:],
        x[i],
        x[:, i, i],
        x.index_select(1, i),
        x.gather(2, i.view(2, 1, 1).expand(2, 3, 1)),
        x.select(2, -1),
        x[..., None, 1],
    )


def joins(x: Any, y: Any) -> Any:
    return (
        torch.cat([x, y], 1),
        torch.stack([x, x]),
        *x.split(2, 1),
        *x.chunk(2, 0),
        x.flip(1),
        F.pad(x, (1, 2, 0, 1), value=3.0),
        x.repeat(2, 1, 2),
        x.expand(3, *x.shape),
        x.roll(1, 1),
        x.tril(),
        x.unflatten(1, (3, 1)),
        torch.zeros_like(x) + torch.ones(2, 3, 1),
    )


def products(x: Any, y: Any) -> Any:
    return (
        x @ y,
        torch.einsum("bij,bjk->ik", x, y),
        x[0] @ y[0],
        x[0, 0] @ y[0],
        torch.addmm(x[0, :, :2], x[0], y[0, :, :2], alpha=0.5, beta=2),
        x[0, 0].dot(x[0, 1]),
    )


def promotions(x: Any, i: Any) -> Any:
    half = x.to(torch.float16)
    return (
        half + x,
        i + x,
        i * 0.5,
        half * 2,
        (i > 0) + i,
        x.double() - i,
        half.to(torch.bfloat16) + half,
        i.to(torch.int8) + i,
    )


def images(x: Any) -> Any:
    return (
        F.max_pool2d(x, 3, 2, 1),
        F.avg_pool2d(x, 2, 1, 1, count_include_pad=False),
        F.adaptive_avg_pool2d(x, (3, 4)),
        F.adaptive_avg_pool2d(x, 1),
        F.interpolate(x, scale_factor=2),
        F.max_pool2d(x, 2, return_indices=True)[1],
        F.interpolate(x, size=(5, 9), mode="bilinear"),
    )


def floats(*shape: int) -> Any:
    return torch.randn(*shape)


def whole(low: int, high: int, *shape: int) -> Any:
    return torch.randint(low, high, shape)


class Nested(nn.Module):
    """A choice inside of a loop whose number of iterations is an input."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x: Any, most: Any) -> Any:
        def going(number: Any, x: Any) -> Any:
            return (number < most) & (x.abs().sum() < 50)

        def body(number: Any, x: Any) -> Any:
            turned = torch.cond(
                x.sum() > 0, lambda x: self.linear(x).tanh() - 1, lambda x: 2 * x.cos(), (x,)
            )
            return number + 1, x + turned

        return torch.while_loop(going, body, (torch.zeros((), dtype=torch.int64), x))


class Scanned(nn.Module):
    """A recurrence over any number of rows, and a function of each row."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, rows: Any, state: Any) -> Any:
        def step(state: Any, row: Any) -> Any:
            after = torch.tanh(self.linear(state) + row)
            return after, after * 2

        last, made = scan(step, state, rows, dim=0)
        return last, map_rows(lambda row, last: torch.softmax(row * last, -1), made, last)


Made = tuple[nn.Module, tuple[Any, ...]]
MODELS: dict[str, Callable[[], Made]] = {
    "activations": lambda: (Function(activations), (floats(3, 5),)),
    "cache": lambda: (Cache(), (floats(3),)),
    "choices": lambda: (Function(choices), (floats(3, 4), floats(3, 4))),
    "conv_transpose": lambda: (
        nn.Sequential(
            nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1, output_padding=1, groups=2),
            nn.ConvTranspose2d(6, 2, 2, dilation=2),
        ), (floats(1, 4, 4, 3),)),
    "convolutions": lambda: (
        nn.Sequential(nn.Conv2d(3, 4, 3, stride=2, padding=(1, 2)), nn.BatchNorm2d(4), nn.ReLU(),
                      nn.Conv2d(4, 4, 3, dilation=2, padding=2, groups=2), nn.Flatten(2),
                      nn.Conv1d(4, 2, 3)), (floats(2, 3, 7, 6),)),
    "functions": lambda: (Function(functions), (floats(4, 3),)),
    "gpt": lambda: (GPT(11, 8, 2, 1, 6), (whole(0, 11, 2, 5),)),
    "images": lambda: (Function(images), (floats(1, 2, 7, 8),)),
    "indices": lambda: (Function(indices), (floats(2, 3, 4), whole(0, 2, 2))),
    "integers": lambda: (Function(integers), (whole(-5, 6, 7), whole(1, 5, 7))),
    "joins": lambda: (Function(joins), (floats(2, 3, 4), floats(2, 1, 4))),
    "lstm": lambda: (nn.LSTM(3, 4, batch_first=True), (floats(2, 3, 3),)),
    "mlp": lambda: (nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 2)), (floats(3, 6),)),
    "mobilenet": lambda: (MobileNet(4, 1), (floats(1, 3, 8, 8),)),
    "multihead": lambda: (
        nn.TransformerEncoderLayer(8, 2, 12, batch_first=True, norm_first=True),
        (floats(2, 4, 8),)),
    "nested": lambda: (Nested(), (floats(2, 3), torch.tensor(6))),
    "norms": lambda: (
        nn.Sequential(nn.GroupNorm(2, 4), nn.InstanceNorm2d(4, affine=True), nn.LayerNorm((3, 5)),
                      nn.RMSNorm(5)), (floats(2, 4, 3, 5),)),
    "products": lambda: (Function(products), (floats(2, 3, 4), floats(2, 4, 3))),
    "promotions": lambda: (Function(promotions), (floats(3), whole(-3, 4, 3))),
    "reductions": lambda: (Function(reductions), (floats(2, 3, 4),)),
    "scanned": lambda: (Scanned(), (floats(20, 2, 3), floats(2, 3))),
    "ordered": lambda: (Function(ordered), (floats(5, 6),)),
    "padded": lambda: (Function(padded), (floats(3, 2, 4, 5),)),
    "sliced": lambda: (Function(sliced), (floats(7, 4),)),
    "symbolic": lambda: (nn.Sequential(nn.Linear(4, 6), nn.Unflatten(1, (2, 3)), nn.Softmax(-1),
                                       nn.Flatten(1)), (floats(3, 4),)),
    "vit": lambda: (ViT(8, 4, 8, 2, 1), (floats(2, 3, 8, 8),)),
}  # fmt: skip
DYNAMIC = {"ordered", "padded", "scanned", "sliced", "symbolic"}
"""Models whose first dimension, that of the first input, is exported as a symbol."""


def made(name: str) -> Made:
    """Make a model and its inputs from one seed; no statistic of a batch norm is its first."""
    torch.manual_seed(0)
    model, inputs = MODELS[name]()
    for each in model.modules():
        if isinstance(each, nn.modules.batchnorm._BatchNorm) and each.running_mean is not None:
            each.running_mean.normal_()
            each.running_var.uniform_(0.5, 2)
    return model.eval(), inputs


def exported(name: str) -> tuple[Any, nn.Module, tuple[Any, ...]]:
    """Export a model of that name."""
    model, inputs = made(name)
    dims = None
    if name in DYNAMIC:
        batch = torch.export.Dim("batch", min=1, max=64)
        first = torch.export.Dim.DYNAMIC if name == "sliced" else batch
        dims = ({0: first}, *({} for _ in inputs[1:]))
        dims = (dims,) if isinstance(model, Function) else dims  # Its inputs are ``*args``.
    with torch.no_grad():
        return torch.export.export(model, inputs, dynamic_shapes=dims), model, inputs
