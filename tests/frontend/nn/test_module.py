"""Modules as trees: names, state, export of several methods, mistakes."""

import numpy as np
import pytest

from irkit import nn
from irkit.core import DTypeError, IRKitError, ShapeError
from irkit.graph import GraphFunc, interpret, verify


class Tied(nn.Module):
    def __init__(self) -> None:
        self.embed = nn.Embedding(5, 3)
        self.blocks = nn.ModuleList([nn.Linear(3, 3), nn.BatchNorm1d(3)])
        self.parts = nn.ModuleDict({"head": nn.Linear(3, 5, bias=False)})
        head = self.parts["head"]
        assert isinstance(head, nn.Linear)
        head.weight = self.embed.weight

    def forward(self, ids: nn.Tensor) -> nn.Tensor:
        x = self.embed(ids)
        for each in self.blocks:
            x = each(x)
        return self.parts["head"](x)

    def embedded(self, ids: nn.Tensor) -> tuple[nn.Tensor, nn.Tensor]:
        return self.embed(ids), self.embed(ids) * 2


IDS = nn.spec.Tensor((4,), "i64")


def test_parameters_and_buffers_have_the_names_of_their_attributes() -> None:
    assert [name for name, _ in Tied().named_parameters()] == [
        "embed.weight", "blocks.0.weight", "blocks.0.bias", "blocks.1.weight", "blocks.1.bias",
    ]  # fmt: skip
    assert [name for name, _ in Tied().named_buffers()] == [
        "blocks.1.running_mean", "blocks.1.running_var",
    ]  # fmt: skip
    names = ["", "embed", "blocks", "blocks.0", "blocks.1", "parts", "parts.head"]
    assert [name for name, _ in Tied().named_modules()] == names


def test_a_parameter_that_is_shared_is_one_input() -> None:
    model = Tied()
    mod, params = model.export({"ids": IDS})
    assert len(params) == 7
    assert verify(mod) == []


def test_a_state_goes_from_one_module_to_another() -> None:
    first, second = Tied(), Tied()
    first.initialize(1)
    second.load_state_dict(first.state_dict())
    for name, array in first.state_dict().items():
        assert second.state_dict()[name] is array


def test_one_seed_draws_the_same_data() -> None:
    first, second = Tied(), Tied()
    first.initialize(1)
    second.initialize(1)
    assert (first.state_dict()["embed.weight"] == second.state_dict()["embed.weight"]).all()
    second.initialize(2)
    assert (first.state_dict()["embed.weight"] != second.state_dict()["embed.weight"]).any()


def test_several_methods_become_several_functions() -> None:
    model = Tied()
    model.initialize()
    mod, _ = model.export({"forward": {"ids": IDS}, "embedded": {"ids": IDS}}, constants=True)
    assert list(mod) == ["main", "embedded"]
    embedded = mod["embedded"]
    assert isinstance(embedded, GraphFunc)
    once, twice = interpret(embedded, [np.array([0, 1, 4, 0])])
    assert (np.asarray(once) * 2 == twice).all()


def test_a_state_that_does_not_fit_changes_nothing() -> None:
    model = Tied()
    model.initialize()
    before = model.state_dict()
    part = {"embed.weight": np.ones((5, 3), "f4")}
    with pytest.raises(IRKitError, match=r"missing: blocks\.0\.weight, .* not known: none"):
        model.load_state_dict(part)
    with pytest.raises(ShapeError, match=r"'blocks\.0\.bias' has shape \[3\], found \[4\]"):
        model.load_state_dict({**part, "blocks.0.bias": np.ones(4, "f4")}, strict=False)
    with pytest.raises(DTypeError, match=r"'embed\.weight' is float32, found float64"):
        model.load_state_dict({**before, "embed.weight": np.ones((5, 3))})
    assert model.state_dict()["embed.weight"] is before["embed.weight"]
    model.load_state_dict(part, strict=False)
    assert model.state_dict()["embed.weight"] is part["embed.weight"]


def test_data_that_nobody_set_is_an_error() -> None:
    with pytest.raises(IRKitError, match=r"parameter 'embed\.weight' has no data"):
        Tied().state_dict()
    with pytest.raises(IRKitError, match="has no data"):
        Tied().export({"ids": IDS}, constants=True)


def test_a_spec_that_does_not_fit_is_refused() -> None:
    model = Tied()
    with pytest.raises(IRKitError, match="the spec has x, but forward of Tied takes ids"):
        model.export({"x": IDS})
    with pytest.raises(IRKitError, match="has no method 'backward'"):
        model.export({"backward": {"ids": IDS}})
    with pytest.raises(IRKitError, match="mixes methods and inputs"):
        model.export({"forward": {"ids": IDS}, "ids": IDS})  # pyright: ignore[reportArgumentType]
    with pytest.raises(IRKitError, match="the spec of 'ids' is a tuple"):
        model.export({"ids": (4,)})  # pyright: ignore[reportArgumentType]


def test_what_forward_returns_must_be_tensors() -> None:
    class Constant(nn.Module):
        def forward(self, x: nn.Tensor) -> int:
            return x.rank

    with pytest.raises(ShapeError, match="forward of Constant must return tensors, found int"):
        Constant().export({"x": IDS})
    with pytest.raises(NotImplementedError, match="Module has no forward"):
        nn.Module().export({})


def test_dimensions_of_one_name_are_one() -> None:
    class Sum(nn.Module):
        def forward(self, x: nn.Tensor, y: nn.Tensor) -> nn.Tensor:
            return x + y

    one, other = nn.spec.Tensor(("n", 2)), nn.spec.Tensor(("n", 2))
    assert "[n, 2] = add(x, y)" in Sum().export({"x": one, "y": other})[0].script()
    with pytest.raises(ShapeError, match="does not broadcast"):
        Sum().export({"x": one, "y": nn.spec.Tensor(("m", 2))})


def test_a_list_holds_modules_only() -> None:
    with pytest.raises(IRKitError, match="ModuleList holds modules, found a int"):
        nn.ModuleList([3])  # pyright: ignore[reportArgumentType]
    assert len(nn.Sequential(nn.ReLU(), nn.Tanh())) == 2


def test_a_module_prints_as_a_tree() -> None:
    text = repr(nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.ReLU())))
    assert text.splitlines() == [
        "Sequential(", "  0: Linear(2, 3, bias=True)", "  1: Sequential(",
        "    0: ReLU()", "  )", ")",
    ]  # fmt: skip
