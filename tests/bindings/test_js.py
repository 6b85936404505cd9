"""Models as WebAssembly, run by the JavaScript module: in Node, and on the example page."""

import functools
import http.server
import json
import shutil
import subprocess
import threading
from collections.abc import Iterator
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
from irkit.frontend.onnx import load_model
from irkit.fuzz.generators.reference.onnx_reference import with_random_weights
from irkit.graph import Dimension, GraphFunc, parse, with_dimensions
from irkit.runtime import write_wasm
from irkit.runtime.wasm_module import LINKERS
from tests.inspector_web.pages import chromium

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


def test_a_model_for_another_target_is_no_module() -> None:
    text = "def main(x: f32[2]):\n    y: f32[2] = abs(x)\n    return y\n"
    with pytest.raises(IRKitError, match="is made of code for wasm32"):
        write_wasm(compiled(text), "x.wasm")


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """Return a folder with the example page, and the address where it is served."""
    shutil.copytree(BINDINGS, tmp_path / "site")

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            pass

    handler = functools.partial(Quiet, directory=tmp_path / "site")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield tmp_path / "site" / "example", f"http://127.0.0.1:{server.server_port}/example/"
        server.shutdown()


@pytest.mark.long
@NEEDS_LINKER
@pytest.mark.skipif(chromium() is None, reason="there is no Chromium")
def test_the_page_runs_squeezenet_in_a_browser(served: tuple[Path, str]) -> None:
    from playwright.sync_api import sync_playwright

    place, address = served
    light = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
    model = with_random_weights(load_model(light / "light_squeezenet.onnx"))
    compiled = irkit.compile(model, target="wasm32", keep_trace=False)
    module, _, _ = write_wasm(compiled, place / "squeezenet.wasm")
    assert module.stat().st_size <= 300_000
    here = irkit.compile(model, keep_trace=False)
    (spec,) = here.plan.inputs
    state, drawn = 7, np.empty(spec.extents, np.float32)
    for at in range(drawn.size):  # As page.js draws them.
        state = (state * 1664525 + 1013904223) % 2**32
        drawn.flat[at] = (state >> 8) / 2**24
    (expected,) = here.run({spec.name: drawn}).values()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium())
        page = browser.new_page()
        page.goto(f"{address}?model=squeezenet.wasm")
        page.wait_for_function("document.getElementById('result').textContent", timeout=60_000)
        said = page.text_content("#status") or ""
        shown = page.text_content("#result") or ""
        browser.close()
    assert said.startswith("First result after"), said
    listed = shown.partition(": ")[2].split("   ")
    best = np.argsort(-expected.ravel())[:5]
    assert [int(each.partition(":")[0]) for each in listed] == best.tolist()
    values = [float(each.partition(":")[2]) for each in listed]
    np.testing.assert_allclose(values, expected.ravel()[best], 1e-4)


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
