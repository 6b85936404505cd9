"""With PyTorch itself: networks through ``torch.export`` and ``torch.compile``, and gradients."""

import warnings
from typing import Any

import numpy as np
import pytest

import irkit
from irkit.core import IRKitError, IRModule
from irkit.frontend.torch import import_torch
from irkit.graph import Builder, GraphFunc, gradient, interpret

pytestmark = [
    pytest.mark.long,
    pytest.mark.filterwarnings(
        "ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning"
    ),
]
torch = pytest.importorskip("torch")


def models() -> Any:
    from tests.frontend.torch import torch_models

    return torch_models


def networks() -> dict[str, tuple[Any, Any]]:
    """Make networks of realistic layout with random weights, and their inputs."""
    made, torch_ = models(), torch
    torch_.manual_seed(0)
    found = {
        "vit": (made.ViT(64, 8, 96, 4, 4), torch_.randn(2, 3, 64, 64)),
        "gpt2": (made.GPT(500, 96, 4, 4, 64), torch_.randint(0, 500, (2, 48))),
        "mobilenet": (made.MobileNet(16, 5), torch_.randn(2, 3, 64, 64)),
    }
    return {name: (model.eval(), x) for name, (model, x) in found.items()}


def want_of(model: Any, x: Any) -> np.ndarray[Any, Any]:
    with torch.no_grad():
        return model(x).numpy()


@pytest.mark.parametrize("name", ["vit", "gpt2", "mobilenet"])
def test_a_network_through_export_agrees_with_torch(name: str) -> None:
    model, x = networks()[name]
    module = import_torch(torch.export.export(model, (x,)))
    (label,) = dict(module["main"].attrs)["inputs"]  # pyright: ignore
    (found,) = irkit.compile(module, keep_trace=False).run({label: x.numpy()}).values()
    np.testing.assert_allclose(found, want_of(model, x), 1e-3, 1e-4)


@pytest.mark.parametrize("name", ["vit", "gpt2", "mobilenet"])
def test_a_network_through_compile_agrees_with_torch(name: str) -> None:
    from irkit.torch_backend import irkit_backend

    torch.compiler.reset()
    model, x = networks()[name]
    with torch.no_grad():
        compiled = torch.compile(model, backend=irkit_backend)
        np.testing.assert_allclose(compiled(x).numpy(), want_of(model, x), 1e-3, 1e-4)
        for each in model.parameters():
            each.mul_(1.1)
        np.testing.assert_allclose(compiled(x).numpy(), want_of(model, x), 1e-3, 1e-4)
        for batch in (1, 3, 4):
            several = x[:1].expand(batch, *x.shape[1:]).contiguous()
            found = compiled(several).numpy()
            np.testing.assert_allclose(found, want_of(model, several), 1e-3, 1e-4)


def test_what_torch_cannot_capture_runs_in_torch() -> None:
    from irkit.torch_backend import irkit_backend

    def function(x: Any) -> Any:
        y = x * 2
        print("a graph break")  # noqa: T201 -- what PyTorch cannot capture
        return (y.sin() + 1).sort().values

    torch.compiler.reset()
    x = torch.randn(5)
    with torch.no_grad(), warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        assert torch.equal(torch.compile(function, backend=irkit_backend)(x), function(x))
    texts = [str(each.message) for each in found]
    assert any("runs in PyTorch, because of aten.sort" in text for text in texts)


def test_training_through_the_backend_is_refused() -> None:
    from irkit.torch_backend import irkit_backend

    torch.compiler.reset()
    model, x = networks()["mobilenet"]
    with pytest.raises(Exception, match='backend="irkit" is for inference'):
        torch.compile(model, backend=irkit_backend)(x)


@pytest.mark.parametrize("name", sorted(models().MODELS) if torch else [])
def test_the_stored_programs_are_what_torch_exports_now(name: str) -> None:
    from tests.frontend.torch.make_programs import flat
    from tests.frontend.torch.test_programs import agree, data, inputs_of

    exported, model, inputs = models().exported(name)
    main = import_torch(exported)["main"]
    assert isinstance(main, GraphFunc)
    program, given, _ = data(name)
    arrays = inputs_of(program, main, [each.numpy() for each in inputs])
    assert all((np.asarray(a) == b.numpy()).all() for a, b in zip(given, inputs, strict=True))
    found = interpret(main, list(arrays.values()))
    several = found if isinstance(found, tuple) else (found,)
    with torch.no_grad():
        for one, other in zip(several, flat(model(*inputs)), strict=False):
            agree(
                np.asarray(one),
                other.float().numpy() if other.is_floating_point() else other.numpy(),
            )


@pytest.mark.parametrize("name", ["mlp", "convolutions", "vit", "gpt", "mobilenet", "multihead"])
def test_gradients_agree_with_autograd(name: str) -> None:
    exported, model, inputs = models().exported(name)
    main = import_torch(exported, constants=False)["main"]
    assert isinstance(main, GraphFunc)
    results = main.body.result
    b = Builder.of(main)
    square = b.op("multiply", results, results)
    loss = b.finish(b.op("sum", square), **dict(main.attrs))
    state = {name: each.detach() for name, each in model.state_dict().items()}
    names = dict(main.attrs)["inputs"]
    assert isinstance(names, tuple)
    wanted = [str(each) for each in names if str(each) in dict(model.named_parameters())]
    arrays = [x.numpy() for x in inputs] + [
        state[str(each)].numpy() for each in names[len(inputs) :]
    ]
    found = interpret(gradient(loss, wanted), arrays)
    assert isinstance(found, tuple)
    (model(*inputs) ** 2).sum().backward()
    parameters = dict(model.named_parameters())
    for each, have in zip(wanted, found, strict=True):
        want = parameters[each].grad.numpy()
        scale = max(np.abs(want).max(), 1e-3)
        np.testing.assert_allclose(np.asarray(have) / scale, want / scale, 1e-3, 2e-4)


def test_an_operator_that_is_missing_is_named_with_its_line() -> None:
    class Sorted(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x.sort().values

    with pytest.raises(
        IRKitError, match=r"without a converter: aten\.sort\.\w+ \(.*test_torch\.py:\d+\)"
    ):
        import_torch(torch.export.export(Sorted(), (torch.randn(3),)))
    assert IRModule({})


def test_attention_whose_strides_its_decomposition_changes() -> None:
    class Attend(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            heads = x.view(2, 16, 4, 8).transpose(1, 2)
            made = torch.nn.functional.scaled_dot_product_attention(heads, heads, heads)
            return made.transpose(1, 2).reshape(2, 16, 32).view(-1, 32)

    x = torch.randn(2, 16, 32)
    exported = torch.export.export(Attend().eval(), (x,))
    targets = [str(node.target) for node in exported.graph.nodes]
    (found,) = irkit.compile(import_torch(exported)).run({"x": x.numpy()}).values()
    np.testing.assert_allclose(found, want_of(Attend(), x), 1e-4, 1e-5)
    assert [str(node.target) for node in exported.graph.nodes] == targets


def test_batch_and_sequence_stay_open() -> None:
    class Block(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.places = torch.nn.Embedding(32, 32)

        def forward(self, x: Any) -> Any:
            batch, length = x.shape[:2]
            x = x + self.places(torch.arange(length))
            heads = x.view(batch, length, 4, 8).transpose(1, 2)
            scores = heads @ heads.transpose(2, 3)
            mask = torch.full((length, length), -9.0)
            row = torch.arange(length)
            scores = scores + torch.where(row[:, None] < row[None, :], mask, 0.0)
            mixed = torch.softmax(scores, -1).expand(batch, 4, length, length) @ heads
            return mixed.transpose(1, 2).reshape(batch, length, 32)

    dim = torch.export.Dim
    model, x = Block().eval(), torch.randn(2, 5, 32)
    dims = {0: dim("batch", min=2, max=8), 1: dim("length", min=2, max=32)}
    module = import_torch(torch.export.export(model, (x,), dynamic_shapes=(dims,)))
    compiled = irkit.compile(module)
    for batch, length in ((2, 5), (3, 32), (8, 2)):
        x = torch.randn(batch, length, 32)
        (found,) = compiled.run({"x": x.numpy()}).values()
        np.testing.assert_allclose(found, want_of(model, x), 1e-4, 1e-5)
