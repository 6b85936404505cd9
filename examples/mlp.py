"""A two-layer network written as a module: build, export, show, optimise, compile, run.

Each step gives a value that the next one takes: the module, the graph function with the list of
its parameters, the trace of the graph passes, and native code.
"""

import numpy as np

import irkit
from irkit import nn


class MLP(nn.Module):
    """784 pixels to 10 classes, with 256 hidden features."""

    def __init__(self) -> None:
        super().__init__()
        self.fc1 = nn.Linear(784, 256)
        self.relu1 = nn.ReLU()
        self.fc2 = nn.Linear(256, 10)

    def forward(self, x: nn.Tensor) -> nn.Tensor:
        x = self.fc1(x)
        x = self.relu1(x)
        return self.fc2(x)


def main() -> None:
    """Take the network from Python to native code, and compare with NumPy."""
    model = MLP()
    mod, params = model.export(spec={"x": nn.spec.Tensor((1, 784), "float32")})
    mod.show()
    for step in irkit.GRAPH.steps(mod):
        print(f"{step.name:24} {'changed' if step.changed else ''}")
    executable = irkit.compile(mod)

    model.initialize(seed=0)
    x = np.random.default_rng(0).random((1, 784), dtype=np.float32)
    (scores,) = executable.run({"x": x, **{name: each.data for name, each in params}}).values()

    w = model.state_dict()
    hidden = np.maximum(x @ w["fc1.weight"].T + w["fc1.bias"], 0)
    want = hidden @ w["fc2.weight"].T + w["fc2.bias"]
    print("largest difference from NumPy:", float(np.abs(scores - want).max()))
    assert np.allclose(scores, want, 1e-4, 1e-5)


if __name__ == "__main__":
    main()
