"""Models as WebAssembly in a browser: the example page, and a page of the worker's."""

import functools
import http.server
import json
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import irkit
from irkit.core import IRModule
from irkit.frontend.onnx import load_model
from irkit.fuzz.generators.reference.onnx_reference import with_random_weights
from irkit.graph import Dimension, GraphFunc, parse, with_dimensions
from irkit.runtime import write_wasm
from tests.bindings.test_js import BINDINGS, CACHED, NEEDS_LINKER
from tests.inspector_web.pages import chromium


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


# What the page of the test below does; each entry of the answer is compared there.
WORKER_PAGE = """
<script type="module">
import { inWorker } from "../worker.js";
const told = [];
const said = (error) => `${error.constructor.name}: ${error.message}`;
const tried = (promise) => promise.then(() => "", said);
try {
  const model = await inWorker(new URL("cached.wasm", location.href).href);
  const past = await model.state("past"), h = await model.state("h");
  const step = async (first, count) => {
    const data = Float32Array.from({ length: 6 * count }, (_, at) => first + at);
    const k = { data, shape: [2, count, 3] };
    const { y, present, g } = await model.run({ k, past, h });
    if (present !== past || g !== h || k.data.length !== 6 * count) throw new Error("not its own");
    told.push([[...y.data], past.shape, [...await past.data()], [...await h.data()]]);
  };
  await step(0, 2);
  await step(100, 2);
  told.push(await tried(step(200, 2)));
  await past.shorten(0);
  await h.set({ data: new Float32Array([5, 5]), shape: [2] });
  await step(400, 3);
  const k = { data: new Float32Array(6), shape: [2, 1, 3] };
  const { g } = await model.run({ k, past, h: new Float32Array(2) });
  told.push([...g.data]);
  told.push(await tried(model.run({ k: new Float32Array(6), past, h })));
  told.push(await tried(model.state("k")));
  const late = tried(model.run({ k, past, h }));
  model.close();
  told.push(await late);
} catch (error) {
  told.push(`failed: ${error.message}`);
}
document.body.textContent = JSON.stringify(told);
</script>
"""


@pytest.mark.long
@NEEDS_LINKER
@pytest.mark.skipif(chromium() is None, reason="there is no Chromium")
def test_state_stays_in_a_worker(served: tuple[Path, str]) -> None:
    from playwright.sync_api import sync_playwright

    place, address = served
    func = parse(CACHED)
    assert isinstance(func, GraphFunc)
    dims = {"n": Dimension("n", 1, 5), "m": Dimension("m", 0, 5)}
    module = IRModule({"main": with_dimensions(func, dims)})
    state: Any = {"past": ("present", 1, 5), "h": "g"}
    made = irkit.compile(module, target="wasm32", state=state, keep_trace=False)
    write_wasm(made, place / "cached.wasm")
    (place / "worker.html").write_text(f"<!doctype html><body>{WORKER_PAGE}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium())
        page = browser.new_page()
        page.goto(f"{address}worker.html")
        page.wait_for_function("document.body.textContent.startsWith('[')", timeout=60_000)
        told = json.loads(page.text_content("body") or "")
        browser.close()

    def rows(first: int, count: int) -> Any:
        return first + np.arange(6.0 * count).reshape(2, count, 3)

    grown = np.concatenate([rows(0, 2), rows(100, 2)], axis=1)
    caches = [rows(0, 2), grown, rows(400, 3)]
    for cache, (y, shape, data, _) in zip(caches, [*told[:2], told[3]], strict=True):
        assert shape == list(cache.shape)
        np.testing.assert_array_equal(data, cache.ravel())
        np.testing.assert_allclose(y, cache.sum(axis=1).ravel(), 1e-6)
    assert [told[0][3], told[1][3], told[3][3], told[4]] == [[1, 2], [2, 4], [6, 7], [1, 2]]
    assert told[2].startswith("ModelError: the cache past is full")
    assert told[5].startswith("ModelError: input k: expected [2,n,3], found [2,n,3] with 6")
    assert told[6].startswith("ModelError: k is no input with state; those are: past, h")
    assert told[7] == "ModelError: the worker of the model is closed"
