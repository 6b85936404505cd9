"""Programs that PyTorch decomposed, imported without PyTorch and compared with what it computed."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import irkit
from irkit.core import IRKitError, walk
from irkit.frontend.torch import TorchProgram, import_program, load_program, missing_operators
from irkit.graph import Bind, GraphFunc, Op, arrays_of, interpret, verify

FOLDER = Path(__file__).parent / "programs"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))
COMPILED = ("mlp", "convolutions", "cache", "nested", "scanned")
"""Those that are also run as native code; the long tests run all."""


def data(name: str) -> tuple[TorchProgram, list[Any], list[Any]]:
    """Return a program, its inputs and its results."""
    program = load_program(FOLDER / f"{name}.json")
    with np.load(FOLDER / f"{name}.npz") as stored:
        kinds = [[stored[f"{kind}_{at}"] for at in range(len(stored.files))
                  if f"{kind}_{at}" in stored.files] for kind in ("in", "out")]  # fmt: skip
    return program, *kinds


def inputs_of(program: TorchProgram, main: GraphFunc, given: list[Any]) -> dict[str, Any]:
    """Name the inputs; what the model changes is its own first data."""
    names = dict(main.attrs)["inputs"]
    assert isinstance(names, tuple)
    arrays: dict[str, Any] = dict(zip(map(str, names), given, strict=False))
    return {str(name): arrays.get(str(name), program.arrays.get(str(name))) for name in names}


def test_kept_programs_name_files_of_this_repository_only() -> None:
    waiting: list[Any] = [load_program(path) for path in sorted(FOLDER.rglob("*.json"))]
    files: set[str] = set()
    while waiting:
        graph = waiting.pop()
        waiting += graph.graphs.values()
        files |= {node.file for node in graph.nodes}
    assert len(files) > 1
    assert [file for file in files if file.startswith("/")] == []


def agree(found: Any, want: Any) -> None:
    narrow = found.dtype.itemsize == 2
    assert found.shape == want.shape
    tolerance = 1e-2 if narrow else 2e-5
    np.testing.assert_allclose(
        np.asarray(found, np.float64), np.asarray(want, np.float64), tolerance, tolerance
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_program_computes_what_pytorch_computed(name: str) -> None:
    program, given, want = data(name)
    module = import_program(program)
    assert verify(module) == []
    main = module["main"]
    assert isinstance(main, GraphFunc)
    inputs = inputs_of(program, main, given)
    found = list(arrays_of(interpret(module, list(inputs.values()))))
    assert len(found) == len(want) + len(dict(main.attrs).get("mutations", ()))  # pyright: ignore[reportArgumentType]
    for one, other in zip(found, want, strict=False):
        agree(one, other)


def run_natively(name: str) -> None:
    program, given, want = data(name)
    module = import_program(program, sizes={symbol: len(given[0]) for symbol in program.ranges})
    main = module["main"]
    assert isinstance(main, GraphFunc)
    compiled = irkit.compile(module, keep_trace=False)
    found = list(compiled.run(inputs_of(program, main, given)).values())
    for one, other in zip(found, want, strict=False):
        agree(np.asarray(one), other)


@pytest.mark.parametrize("name", COMPILED)
def test_a_program_runs_as_native_code(name: str) -> None:
    run_natively(name)


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_every_program_runs_as_native_code(name: str) -> None:
    run_natively(name)


def test_there_are_twenty_programs_and_they_are_small() -> None:
    assert len(NAMES) >= 20
    assert max(path.stat().st_size for path in FOLDER.iterdir()) < 50_000


def test_parameters_can_stay_inputs() -> None:
    program, given, want = data("mlp")
    main = import_program(program, constants=False)["main"]
    assert isinstance(main, GraphFunc)
    assert dict(main.attrs)["inputs"] == ("input", "0.weight", "0.bias", "2.weight", "2.bias")
    inputs = inputs_of(program, main, given)
    (found,) = arrays_of(interpret(main, list(inputs.values())))
    agree(found, want[0])
    inputs["2.bias"] = inputs["2.bias"] + 1
    (found,) = arrays_of(interpret(main, list(inputs.values())))
    agree(found, want[0] + 1)


def test_a_buffer_that_changes_is_an_input_and_an_output() -> None:
    program, given, _ = data("cache")
    main = import_program(program)["main"]
    assert isinstance(main, GraphFunc)
    attrs = dict(main.attrs)
    assert attrs["inputs"] == ("x", "rows", "count")
    assert sorted(map(str, attrs["mutations"])) == ["count", "rows"]  # pyright: ignore[reportArgumentType]
    names = list(map(str, attrs["outputs"]))  # pyright: ignore[reportArgumentType]
    state = {name: program.arrays[name] for name in ("rows", "count")}
    for call in (1, 2):
        found = interpret(main, [given[0], state["rows"], state["count"]])
        results = dict(zip(names, arrays_of(found), strict=True))
        state = {name: results[name] for name in state}
        assert state["count"] == call
    want = np.stack([np.zeros(3), given[0], 2 * given[0], 2 * given[0]])
    np.testing.assert_allclose(state["rows"], want, 1e-6)


def test_operators_carry_the_line_of_the_model() -> None:
    main = import_program(data("gpt")[0])["main"]
    spans = [bind.span for bind in walk(main, Bind) if isinstance(bind.step, Op)]
    assert all(span is not None and span.kind == "torch" for span in spans)
    files = {Path(span.file).name for span in spans if span is not None}
    assert files == {"torch_models.py"}
    assert len({span.line for span in spans if span is not None}) > 5


def sliced(x: Any) -> list[Any]:
    n = len(x)
    seen, stored = np.tri(n, dtype=bool), x.copy()
    stored[n - 2 :] = x[:2] * 2
    return [
        x[-3:], x[:-1] + x[1:], x[::2], x[1::3], x[-1], x[::-1],
        np.where(seen, x @ x.T, -1), stored,
        np.concatenate([x[n // 2 :], x[: n // 2]]), np.roll(x, 1, 0), x.cumsum(0),
        np.repeat(x[:1], n, 0), np.zeros((n + 1, 2)), x[np.arange(n), x.argmax(1)],
        np.take_along_axis(x, (x > 0).astype(int), 0), np.arange(1, n + 1) + n,
    ]  # fmt: skip


def test_slices_by_symbolic_bounds_are_those_of_numpy_at_every_size() -> None:
    module = import_program(data("sliced")[0])
    # A slice of 3 rows needs as many, and PyTorch says 64 for the table.
    attrs: dict[str, Any] = dict(module["main"].attrs)
    assert attrs["dims"][1:] == (3, 64)
    for n in (3, 4, 8):
        x = np.random.default_rng(n).standard_normal((n, 4)).astype("f4")
        found = list(arrays_of(interpret(module, [x])))
        for one, other in zip(found, sliced(x), strict=True):
            agree(one, other)


@pytest.mark.long
def test_slices_by_symbolic_bounds_are_one_program() -> None:
    compiled = irkit.compile(import_program(data("sliced")[0]), schedule="none", keep_trace=False)
    (name,) = (spec.name for spec in compiled.plan.inputs)
    for n in (3, 5, 64):
        x = np.random.default_rng(n).standard_normal((n, 4)).astype("f4")
        for one, other in zip(compiled.run({name: x}).values(), sliced(x), strict=True):
            agree(np.asarray(one), other)
    for n in (2, 65):
        with pytest.raises(IRKitError, match="must be from 3 to 64"):
            compiled.run({name: np.zeros((n, 4), "f4")})


def test_a_symbolic_batch_stays_symbolic_and_runs_at_any_size() -> None:
    program, given, want = data("symbolic")
    (symbol,) = program.ranges
    main = import_program(program)["main"]
    assert isinstance(main, GraphFunc)
    assert f"f32[{symbol}, 4]" in main.script()
    several = np.concatenate([given[0]] * 2)
    (found,) = arrays_of(interpret(main, [several]))
    agree(found, np.concatenate([want[0]] * 2))
    fixed = import_program(program, sizes={symbol: 1})["main"]
    assert isinstance(fixed, GraphFunc)
    assert "f32[1, 4]" in fixed.script()
    assert missing_operators(program) == {}
