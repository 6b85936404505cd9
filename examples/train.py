"""Train two networks on generated data, natively compiled: an MLP, and a small transformer.

``gradient`` makes of the loss a function of the same parameters that computes the loss and its
gradients; ``irkit.compile`` turns that into native code, which runs once a step. The optimiser is
NumPy. ``python examples/train.py mlp`` or ``transformer`` prints the loss; ``--json`` prints all
of it.
"""

import json
import sys
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

import irkit
from irkit import nn
from irkit.graph import gradient

F = nn.functional
Arrays = dict[str, NDArray[np.generic]]


class MLP(nn.Module):
    """The two-layer network of TVM's tutorial, and its loss."""

    def __init__(self) -> None:
        super().__init__()
        self.fc1 = nn.Linear(784, 256)
        self.relu1 = nn.ReLU()
        self.fc2 = nn.Linear(256, 10)

    def forward(self, x: nn.Tensor, labels: nn.Tensor) -> nn.Tensor:
        return F.cross_entropy(self.fc2(self.relu1(self.fc1(x))), labels)


class Block(nn.Module):
    """A block of a transformer that sees the past only."""

    def __init__(self, size: int, heads: int, length: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(size), nn.LayerNorm(size)
        self.attention = nn.MultiHeadAttention(size, heads)
        self.mlp = nn.Sequential(nn.Linear(size, 4 * size), nn.GELU(), nn.Linear(4 * size, size))
        self.past = nn.constant(np.tri(length, dtype=bool))

    def forward(self, x: nn.Tensor) -> nn.Tensor:
        x = x + self.attention(self.norm1(x), mask=self.past)
        return x + self.mlp(self.norm2(x))


class Transformer(nn.Module):
    """A language model of two blocks, and its loss on the next token."""

    def __init__(self, tokens: int = 16, size: int = 32, length: int = 24) -> None:
        super().__init__()
        self.embed = nn.Embedding(tokens, size)
        self.place = nn.Parameter((length, size), initial=nn.normal)
        self.blocks = nn.Sequential(*(Block(size, 4, length) for _ in range(2)))
        self.norm = nn.LayerNorm(size)
        self.head = nn.Linear(size, tokens)

    def forward(self, ids: nn.Tensor, following: nn.Tensor) -> nn.Tensor:
        x = self.blocks(self.embed(ids) + self.place)
        scores = self.head(self.norm(x))
        tokens = scores.shape[-1]
        return F.cross_entropy(scores.reshape(-1, tokens), following.reshape(-1))


def digits(random: np.random.Generator, batch: int = 64) -> Iterator[Arrays]:
    """Yield ten patterns of 784 pixels under noise, with their numbers."""
    patterns = random.standard_normal((10, 784))
    while True:
        labels = random.integers(0, 10, batch)
        pixels = patterns[labels] + 12 * random.standard_normal((batch, 784))
        yield {"x": pixels.astype(np.float32), "labels": labels}


def sequences(random: np.random.Generator, batch: int = 16, length: int = 24) -> Iterator[Arrays]:
    """Yield sequences that repeat a random word of eight tokens: from the ninth on, attention to
    the place eight before says what follows."""
    while True:
        words = random.integers(0, 16, (batch, 8))
        rows = np.tile(words, (1, length // 8 + 1))[:, : length + 1]
        yield {"ids": rows[:, :-1].copy(), "following": rows[:, 1:].copy()}


def train(model: nn.Module, data: Iterator[Arrays], steps: int, rate: float) -> list[float]:
    """Run so many steps of Adam; return the loss of each."""
    first = next(data)
    kinds = {"f": "f32", "i": "i64"}
    spec = {name: nn.spec.Tensor(x.shape, kinds[x.dtype.kind]) for name, x in first.items()}
    mod, params = model.export(spec)
    names = [name for name, _ in params]
    step = irkit.compile(gradient(mod, names, with_value=True), keep_trace=False)
    model.initialize(seed=1)
    means = {name: np.zeros(each.shape, np.float32) for name, each in params}
    squares = {name: np.zeros(each.shape, np.float32) for name, each in params}
    losses: list[float] = []
    for at in range(1, steps + 1):
        state = {name: each.data for name, each in params}
        found = step.run({**next(data), **state})
        losses.append(float(found["value"]))
        for name, parameter in params:
            slope = found[f"d_{name}"]
            means[name] = 0.9 * means[name] + 0.1 * slope
            squares[name] = 0.99 * squares[name] + 0.01 * slope**2
            root = np.sqrt(squares[name] / (1 - 0.99**at)) + 1e-8
            change = rate * (means[name] / (1 - 0.9**at)) / root
            parameter.data = (parameter.data - change).astype(np.float32)
    return losses


def losses_of(name: str, steps: int) -> list[float]:
    """Train the network of a name on data of one seed."""
    random = np.random.default_rng(0)
    if name == "mlp":
        return train(MLP(), digits(random), steps, 0.001)
    return train(Transformer(), sequences(random), steps, 0.003)


def main() -> None:
    """Print the loss of the network that the command line names."""
    names = [word for word in sys.argv[1:] if not word.startswith("-")]
    name = names[0] if names else "mlp"
    losses = losses_of(name, int(names[1]) if len(names) > 1 else 200)
    if "--json" in sys.argv:
        print(json.dumps([round(loss, 4) for loss in losses]))
        return
    for at in range(0, len(losses), max(len(losses) // 10, 1)):
        print(f"step {at:4}  loss {losses[at]:.4f}")
    print(f"last       loss {losses[-1]:.4f}")


if __name__ == "__main__":
    main()
