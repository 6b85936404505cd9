"""The two-layer network of TVM's tutorial, from the module to native code."""

from typing import Any

import numpy as np
import pytest

import irkit
from irkit import nn
from irkit.graph import GraphFunc, interpret, verify


class MLP(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc1 = nn.Linear(784, 256)
        self.relu1 = nn.ReLU()
        self.fc2 = nn.Linear(256, 10)

    def forward(self, x: nn.Tensor) -> nn.Tensor:
        x = self.fc1(x)
        x = self.relu1(x)
        return self.fc2(x)


def want(x: np.ndarray[Any, Any], state: dict[str, Any]) -> np.ndarray[Any, Any]:
    hidden = np.maximum(x @ state["fc1.weight"].T + state["fc1.bias"], 0)
    return hidden @ state["fc2.weight"].T + state["fc2.bias"]


def test_it_is_exported_shown_optimised_compiled_and_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    model = MLP()
    mod, params = model.export(spec={"x": nn.spec.Tensor((1, 784), "float32")})
    assert verify(mod) == []
    names = ["fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"]
    assert [name for name, _ in params] == names
    assert [each.shape for _, each in params] == [(256, 784), (256,), (10, 256), (10,)]
    mod.show()
    assert "matmul: f32[1, 256] = matmul(x, transpose)" in capsys.readouterr().out

    pipeline = irkit.GRAPH
    steps = list(pipeline.steps(mod))
    assert any(step.name == "fuse-ops" and step.changed for step in steps)

    executable = irkit.compile(mod, graph_pipeline=pipeline)
    random = np.random.default_rng(0)
    x = random.random((1, 784), dtype=np.float32)
    state = {name: random.random(each.shape, dtype=np.float32) for name, each in params}
    (found,) = executable.run({"x": x, **state}).values()
    np.testing.assert_allclose(found, want(x, state), 1e-5)


def test_a_trained_state_becomes_part_of_the_function() -> None:
    model = MLP()
    model.initialize(seed=3)
    mod, params = model.export({"x": nn.spec.Tensor((2, 784))}, constants=True)
    assert params == []
    main = mod["main"]
    assert isinstance(main, GraphFunc)
    assert [param.name for param in main.params] == ["x"]
    x = np.random.default_rng(1).random((2, 784), dtype=np.float32)
    np.testing.assert_allclose(interpret(main, [x]), want(x, model.state_dict()), 1e-4, 1e-5)


def test_a_batch_can_stay_symbolic() -> None:
    mod, _ = MLP().export({"x": nn.spec.Tensor(("n", 784))})
    assert "def main(\n    x: f32[n, 784]," in mod.script()
    assert "[n, 10] = add(" in mod.script()


def test_operators_know_the_line_they_come_from() -> None:
    mod, _ = MLP().export({"x": nn.spec.Tensor((1, 784))})
    main = mod["main"]
    assert isinstance(main, GraphFunc)
    lines = [bind.span.line for bind in main.body.bindings if bind.span is not None]
    first = MLP.forward.__code__.co_firstlineno
    assert lines == [first + 1] * 3 + [first + 2] + [first + 3] * 3
    assert {bind.span.file for bind in main.body.bindings if bind.span} == {__file__}
