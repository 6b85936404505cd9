"""Models as WebAssembly, run by the JavaScript module in Node."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest
from click.testing import CliRunner

import irkit
from irkit.cli import verbs
from irkit.core import IRKitError, IRModule
from irkit.graph import Dimension, GraphFunc, parse, with_dimensions
from irkit.runtime import write_wasm
from irkit.runtime.wasm_module import LINKERS

BINDINGS = Path(irkit.__file__).parents[1] / "bindings" / "js"
NODE = shutil.which("node")
HAS_LINKER = any(map(shutil.which, LINKERS))
NEEDS_LINKER = pytest.mark.skipif(not HAS_LINKER, reason="there is no wasm-ld: apt install lld")
NEEDS_NODE = pytest.mark.skipif(NODE is None, reason="there is no Node: apt install nodejs")
DRIVER = """
import { readFileSync } from "node:fs";
import { Model } from "MODULE";

const kinds = { f32: Float32Array, f64: Float64Array, i64: BigInt64Array, i32: Int32Array };
const { calls } = JSON.parse(readFileSync(0, "utf8"));
const fetch = async (url) => new Response(readFileSync(url));
let progress = [];
const model = await Model.load(process.argv[2], { fetch, progress: (...at) => progress.push(at) });
const told = [];
for (const inputs of calls) {
  const given = {};
  for (const [name, [kind, shape, numbers]] of Object.entries(inputs)) {
    const data = kinds[kind].from(kind === "i64" ? numbers.map(BigInt) : numbers);
    given[name] = { data, shape };
  }
  try {
    const found = {};
    for (const [name, { data, shape }] of Object.entries(model.run(given))) {
      found[name] = [shape, [...data].map(Number)];
    }
    const state = Object.fromEntries(
      Object.entries(given).map(([name, { data }]) => [name, [...data].map(Number)]));
    told.push({ found, state });
  } catch (error) {
    told.push({ error: `${error.constructor.name}: ${error.message}` });
  }
}
console.log(JSON.stringify({ told, progress }));
"""
OPEN = """
def main(x: f32[n, 4], k: f64[n], i: i64[n], h: f32[3]):
    w: f32[4, 2] = constant([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
    one: f32[3] = constant([1.0, 1.0, 1.0])
    y: f32[n, 2] = matmul(x, w)
    s: f32[n, 2] = softmax(y)
    e: f64[n] = exp(k)
    j: i64[n] = multiply(i, i)
    g: f32[3] = add(h, one)
    r = (s, e, j, g)
    return r
"""


CACHED = """
def main(k: f32[2, n, 3], past: f32[2, m, 3], h: f32[2]):
    present = concat(past, k, axis=1)
    y: f32[2, 3] = sum(present, axes=(1,))
    one: f32[2] = constant([1.0, 2.0])
    g: f32[2] = add(h, one)
    r = (y, present, g)
    return r
"""
# It gives two rows a call: until the cache is full, then from its first row again, and one of the
# caller's rows.
CACHE_DRIVER = """
import { readFileSync } from "node:fs";
import { Model } from "MODULE";

const fetch = async (url) => new Response(readFileSync(url));
const model = await Model.load(process.argv[2], { fetch });
const past = model.state("past"), h = model.state("h"), places = [past.place, h.place];
const said = [], told = [];
const tried = (call) => {
  try {
    call();
    said.push("");
  } catch (error) {
    said.push(`${error.constructor.name}: ${error.message}`);
  }
};
const step = (first, count) => {
  const data = Float32Array.from({ length: 6 * count }, (_, at) => first + at);
  const { y, present, g } = model.run({ k: { data, shape: [2, count, 3] }, past, h });
  if (present !== past || g !== h) throw new Error("state is not its own output");
  told.push([y.data, present.shape, present.data, g.data].map((each) => [...each]));
};
step(0, 2);
step(100, 2);
tried(() => step(200, 2)); // Of five rows, four are in use.
told.push([past.shape, past.data, h.data].map((each) => [...each]));
step(300, 1);
past.length = 0;
step(400, 3);
past.set({ data: new Float32Array([1, 2, 3, 4, 5, 6]), shape: [2, 1, 3] });
step(500, 1);
const k = { data: new Float32Array(6), shape: [2, 1, 3] };
tried(() => model.run({ k, past: { data: new Float32Array(0), shape: [2, 0, 3] }, h }));
tried(() => model.run({ k, past: h, h }));
tried(() => (past.length = 6));
tried(() => past.set({ data: new Float32Array(36), shape: [2, 6, 3] }));
tried(() => model.state("k"));
if (past.place !== places[0] || h.place !== places[1]) throw new Error("state has moved");
console.log(JSON.stringify({ told, said }));
"""


def compiled(text: str, **options: Any) -> Any:
    func = parse(text)
    assert isinstance(func, GraphFunc)
    dims = {"n": Dimension("n", 1, 1000)} if "[n" in text else {}
    module = IRModule({"main": with_dimensions(func, dims) if dims else func})
    return irkit.compile(module, keep_trace=False, **options)


def run_in_node(module: Path, calls: list[dict[str, Any]], folder: Path) -> dict[str, Any]:
    """Run a model on inputs in Node: what it gave, or said, for each call."""
    driver = folder / "driver.mjs"
    driver.write_text(DRIVER.replace("MODULE", str(BINDINGS / "irkit.js")))
    given = [
        {
            name: (
                {"f": "f", "i": "i"}[a.dtype.kind] + str(a.itemsize * 8),
                a.shape,
                a.ravel().tolist(),
            )
            for name, a in call.items()
        }
        for call in calls
    ]
    done = subprocess.run(
        [str(NODE), str(driver), str(module)],
        input=json.dumps({"calls": given}),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def arguments(n: int) -> dict[str, Any]:
    draw = np.random.default_rng(n)
    return {
        "x": draw.standard_normal((n, 4)).astype("f4"),
        "k": draw.standard_normal(n),
        "i": draw.integers(-9, 9, n),
        "h": np.zeros(3, "f4"),
    }


@pytest.mark.long
@NEEDS_LINKER
@NEEDS_NODE
def test_node_runs_any_size_and_refuses_the_rest(tmp_path: Path) -> None:
    write_wasm(compiled(OPEN, target="wasm32", state={"h": "g"}), tmp_path / "open.wasm")
    here = compiled(OPEN, state={"h": "g"})
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"k": np.zeros(3)}, "axis 0 of input k is 3, but n is 5"),
        ({"x": np.zeros((5, 3), "f4")}, "input x: expected [5,4], found [5,3]"),
        ({"x": np.zeros((5, 4))}, "expected Float32Array, found Float64Array"),
        ({"z": np.zeros(1)}, "z is no input; the inputs are: x, k, i, h"),
    ]
    sizes = (1, 7, 1000, 3)
    calls = [arguments(n) for n in sizes]
    calls += [{**arguments(5), **change} for change, _ in wrong]
    calls.append({**arguments(1001)})
    answer = run_in_node(tmp_path / "open.wasm", calls, tmp_path)
    assert answer["progress"][-1] == [here.plan.param_bytes] * 2
    for call, told in zip(calls[: len(sizes)], answer["told"], strict=False):
        expected = here.run({**call, "h": call["h"].copy()})
        for name, (shape, numbers) in told["found"].items():
            assert tuple(shape) == expected[name].shape
            np.testing.assert_allclose(np.reshape(numbers, shape), expected[name], 2e-6, 1e-7)
        assert told["state"]["h"] == [1, 1, 1]
    refused = [told["error"] for told in answer["told"][len(sizes) :]]
    for said, (_, text) in zip(refused, wrong, strict=False):
        assert said.startswith("ModelError: ")
        assert text in said
    assert "n is 1001, but it must be from 1 to 1000" in refused[-1]


@NEEDS_LINKER
@NEEDS_NODE
def test_node_runs_a_small_model(tmp_path: Path) -> None:
    text = "def main(x: f32[2, 3]):\n    y: f32[2, 3] = tanh(x)\n    return y\n"
    made = write_wasm(compiled(text, target="wasm32"), tmp_path / "small.wasm")
    assert [path.name for path in made] == ["small.wasm", "small.json", "small_weights.bin"]
    x = np.linspace(-2, 2, 6, dtype=np.float32).reshape(2, 3)
    (told,) = run_in_node(tmp_path / "small.wasm", [{"x": x}], tmp_path)["told"]
    np.testing.assert_allclose(np.reshape(told["found"]["y"][1], (2, 3)), np.tanh(x), 1e-6)


@NEEDS_LINKER
@NEEDS_NODE
def test_a_cache_stays_in_the_memory_of_the_model(tmp_path: Path) -> None:
    func = parse(CACHED)
    assert isinstance(func, GraphFunc)
    dims = {"n": Dimension("n", 1, 5), "m": Dimension("m", 0, 5)}
    module = IRModule({"main": with_dimensions(func, dims)})
    state: Any = {"past": ("present", 1, 5), "h": "g"}
    made = irkit.compile(module, target="wasm32", state=state, keep_trace=False)
    write_wasm(made, tmp_path / "cached.wasm")
    driver = tmp_path / "driver.mjs"
    driver.write_text(CACHE_DRIVER.replace("MODULE", str(BINDINGS / "irkit.js")))
    command = [str(NODE), str(driver), str(tmp_path / "cached.wasm")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)

    def rows(first: int, count: int) -> Any:
        return first + np.arange(6.0 * count).reshape(2, count, 3)

    grown = [rows(0, 2)]
    grown += [np.concatenate([grown[0], rows(100, 2)], axis=1)]
    full = np.concatenate([grown[1], rows(300, 1)], axis=1)
    given = np.concatenate([np.arange(1.0, 7).reshape(2, 1, 3), rows(500, 1)], axis=1)
    before_full = answer["told"].pop(2)  # Nothing was written.
    assert before_full == [[2, 4, 3], grown[1].ravel().tolist(), [2.0, 4.0]]
    caches = [*grown, full, rows(400, 3), given]
    for calls, (cache, (y, shape, data, h)) in enumerate(
        zip(caches, answer["told"], strict=True), 1
    ):
        assert shape == list(cache.shape)
        np.testing.assert_array_equal(data, cache.ravel())
        np.testing.assert_allclose(y, cache.sum(axis=1).ravel(), 1e-6)
        assert h == [calls, 2 * calls]
    for said, text in zip(
        answer["said"],
        [
            "the cache past is full: output present has 6 rows along axis 1, and there is room "
            "for 5",
            'input past is a cache: give it model.state("past")',
            "input past was given the state of input h",
            "past has room for 5 rows, not for 6",
            "past holds Float32Array of at most [2,5,3], found Float32Array of [2,6,3]",
            "k is no input with state; those are: past, h",
        ],
        strict=True,
    ):
        assert said.startswith("ModelError: ")
        assert text in said


def test_a_model_for_another_target_is_no_module() -> None:
    text = "def main(x: f32[2]):\n    y: f32[2] = abs(x)\n    return y\n"
    with pytest.raises(IRKitError, match="is made of code for wasm32"):
        write_wasm(compiled(text), "x.wasm")


@NEEDS_LINKER
def test_the_command_links_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    graph = "g (float[3] x) => (float[3] y) { y = Relu(x) }"
    text = f'<ir_version: 8, opset_import: ["" : 17]>\n{graph}'
    onnx.save(onnx.parser.parse_model(text), "relu.onnx")
    args = ["compile", "relu.onnx", "--output-kind=wasm", "-o", "relu.wasm"]
    done = CliRunner().invoke(verbs.irkit, args, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert "wrote relu.wasm, relu.json, relu_weights.bin" in done.output
