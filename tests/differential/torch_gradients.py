"""Gradients of drawn PyTorch programs, against PyTorch's own.

The programs are those of ``torch_programs``, summed with weights to one number; only operators with
a derivative at the drawn values are used: no kinks, so no whole numbers.
"""

import numpy as np
import torch

import irkit
from irkit.core import IRKitError
from irkit.frontend.torch import import_torch
from irkit.graph import gradient
from tests.differential.outcome import Outcome, difference
from tests.differential.torch_programs import ROWS, Draw, Program, Tensor

KINKS = [
    "floor",
    "ceil",
    "round",
    "sign",
    "trunc",
    "frac",
    "where",
    "masked_fill",
    "index_of",
    "topk",
    "sort",
    "convert",
    "integers",
    "clamp",
    "hardtanh",
    "relu6",
    "hardswish",
    "hardsigmoid",
    "in_place",
]
SMOOTH = [(name, function) for name, function in ROWS if name not in KINKS]


class Summed(torch.nn.Module):
    """A program whose values are summed, each element with a weight of its own."""

    def __init__(self, program: Program, sizes: list[int]) -> None:
        super().__init__()
        self.program = program
        rng = np.random.default_rng(len(sizes))
        self.factors = [
            torch.tensor(rng.uniform(0.5, 1.5, size=n), dtype=torch.float32) for n in sizes
        ]
        for number, factor in enumerate(self.factors):
            self.register_buffer(f"factor_{number}", factor)

    def forward(self, *inputs: Tensor) -> Tensor:
        total: Tensor = 0.0
        for number, value in enumerate(self.program(*inputs)):
            total = total + (value.reshape(-1) * getattr(self, f"factor_{number}")).sum()
        return total


def judge(number: int) -> Outcome:
    """Compare the gradients with respect to all inputs."""
    d = Draw(1_000_000 + number)
    d.whole = False
    d.inputs = [d.floats(tuple(x.shape)) for x in d.inputs]
    d.values = list(d.inputs)
    wanted = d.integer(2, 6)
    for _ in range(60):
        if len(d.steps) >= wanted:
            break
        try:
            SMOOTH[d.integer(0, len(SMOOTH) - 1)][1](d)
        except Exception as error:
            if type(error).__name__ != "_NoValue":
                raise
    if not d.steps:
        return Outcome("no case")
    read = {r for _, reads in d.steps for r in reads}
    ends = [n for n in range(len(d.inputs), len(d.values)) if n not in read]
    program = Summed(Program(d, ends), [d.values[n].numel() for n in ends]).eval()
    leaves = [x.clone().requires_grad_() for x in d.inputs]
    value = program(*leaves)
    if not value.requires_grad:
        return Outcome("no case", "nothing depends on the inputs", d.covers)
    found = torch.autograd.grad(value, leaves, allow_unused=True)
    expected = {
        str(n): (torch.zeros_like(x) if g is None else g).numpy()
        for n, (x, g) in enumerate(zip(leaves, found, strict=True))
    }
    if not all(np.isfinite(a).all() and np.abs(a).max() < 1e4 for a in expected.values()):
        return Outcome("no case", "steep", d.covers)
    try:
        with torch.no_grad():
            exported = torch.export.export(program, tuple(d.inputs))
    except Exception as error:  # PyTorch's own refusals have no common base.
        return Outcome("no case", f"export: {type(error).__name__}", d.covers)
    try:
        module = import_torch(exported)
        names = [param.name for param in module.functions["main"].params]
        compiled = irkit.compile(gradient(module, names))
        given = dict(zip(names, (x.numpy() for x in d.inputs), strict=True))
        results = compiled.run(given)
        computed = {str(n): results[f"d_{name}"] for n, name in enumerate(names)}
    except IRKitError as error:
        return Outcome("refused", " ".join(str(error).split())[:300], d.covers)
    except Exception as error:  # A raw error is a finding.
        return Outcome("wrong", f"{type(error).__name__}: {error}", d.covers)
    wrong = difference(expected, computed, 1e-3)
    return Outcome("wrong" if wrong else "right", wrong, d.covers)
