"""Networks in a browser: irkit's WebAssembly against that of onnxruntime-web.

``python -m benchmarks.devices.browser squeezenet`` fetches onnxruntime-web by npm into a temporary
folder (``--onnxruntime`` names one that is there), and serves both from a local server. One page
holds both models and runs them in turn, each on one thread with 128-bit vectors; then each has a
fresh page for the time to its first result. It needs wasm-ld, Node's npm and Chromium
(``IRKIT_CHROMIUM`` names another one).
"""

import argparse
import functools
import http.server
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

import irkit
from benchmarks.native_code.networks import network
from irkit.runtime import write_wasm

BINDINGS = Path(irkit.__file__).parent.parent / "bindings" / "js"
PAGE = """<!doctype html><body><script type="module">
import { Model } from "./js/irkit.js";
import * as ort from "./ort/ort.wasm.min.mjs";
ort.env.wasm.numThreads = 1;
ort.env.wasm.wasmPaths = new URL("./ort/", location.href).href;
const asked = new URLSearchParams(location.search);
const name = asked.get("name"), only = asked.get("only"), rounds = Number(asked.get("rounds"));
const data = new Float32Array(Number(asked.get("count")));
for (let at = 0, state = 7; at < data.length; at++) {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  data[at] = (state >>> 8) / 2 ** 24;
}
const input = asked.get("input"), output = asked.get("output");
const shape = asked.get("shape").split(",").map(Number);
const makers = {
  async irkit() {
    const model = await Model.load(new URL(`${name}.wasm`, location.href).href);
    return async () => model.run({ [input]: { data, shape } })[output].data;
  },
  async onnxruntime() {
    const options = { executionProviders: ["wasm"], graphOptimizationLevel: "all" };
    const session = await ort.InferenceSession.create(`${name}.onnx`, options);
    return async () => {
      const found = await session.run({ [input]: new ort.Tensor("float32", data, shape) });
      return found[output].data;
    };
  },
};
const median = (numbers) => [...numbers].sort((a, b) => a - b)[numbers.length >> 1];
try {
  const told = { medians: {} }, runs = {}, results = {};
  for (const each of Object.keys(makers).filter((each) => !only || each === only)) {
    runs[each] = await makers[each]();
    results[each] = Float32Array.from(await runs[each]());
    told[each] = performance.now(); // Since the page began to load.
  }
  const times = Object.fromEntries(Object.keys(runs).map((each) => [each, []]));
  for (let round = 0; round < rounds; round++) {
    for (const each of Object.keys(runs)) {
      const begun = performance.now();
      await runs[each]();
      times[each].push(performance.now() - begun);
    }
  }
  for (const each of Object.keys(runs)) told.medians[each] = median(times[each]);
  if (!only) {
    const { irkit, onnxruntime } = results;
    told.apart = Math.max(...irkit.map((value, at) => Math.abs(value - onnxruntime[at])));
    told.largest = Math.max(...onnxruntime.map(Math.abs));
  }
  document.body.textContent = JSON.stringify(told);
} catch (error) {
  document.body.textContent = JSON.stringify({ failed: String(error) });
}
</script>"""


def onnxruntime_web(folder: Path) -> Path:
    """Fetch onnxruntime-web by npm, and return its folder of files."""
    command = ["npm", "pack", "onnxruntime-web", "--silent"]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    archive = folder / done.stdout.split()[-1]
    shutil.unpack_archive(archive, folder, filter="data")
    return folder / "package" / "dist"


@contextmanager
def served(folder: Path) -> Generator[str]:
    """Serve a folder, and yield its address."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            pass

    handler = functools.partial(Quiet, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def measure(name: str, site: Path, address: str, browser: Browser, rounds: int) -> str:
    """Run a network by both in a page, then alone in fresh pages, and return a line of results."""
    path = network(name, site)
    compiled = irkit.compile(path, target="wasm32", keep_trace=False)
    module, _, _ = write_wasm(compiled, site / f"{name}.wasm")
    (given,), (made, *_) = compiled.inputs, compiled.outputs
    count, shape = 1, ",".join(map(str, given.extents))
    for extent in given.extents:
        count *= extent
    asked = f"name={name}&input={given.name}&output={made.name}&shape={shape}&count={count}"

    def told(more: str) -> dict[str, Any]:
        page = browser.new_page()
        page.goto(f"{address}page.html?{asked}{more}")
        page.wait_for_function("document.body.textContent.startsWith('{')", timeout=300_000)
        found: dict[str, Any] = page.evaluate("JSON.parse(document.body.textContent)")
        page.close()
        if "failed" in found:
            raise SystemExit(f"{name}: {found['failed']}")
        return found

    both = told(f"&rounds={rounds}")
    first = {each: told(f"&rounds=0&only={each}")[each] for each in ("irkit", "onnxruntime")}
    ours, theirs = both["medians"]["irkit"], both["medians"]["onnxruntime"]
    return (
        f"{name}: irkit {ours:.1f} ms, onnxruntime-web {theirs:.1f} ms, ratio {ours / theirs:.2f}; "
        f"first result after {first['irkit'] / 1e3:.2f} and {first['onnxruntime'] / 1e3:.2f} s; "
        f"module of {module.stat().st_size} bytes; outputs differ by {both['apart']:.1e} of "
        f"{both['largest']:.1e}"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the networks, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("networks", nargs="*", default=["squeezenet"])
    parser.add_argument("--onnxruntime", type=Path, help="the folder dist of onnxruntime-web")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--site", type=Path, help="a folder for what is served, which is kept")
    given = parser.parse_args(arguments)
    chromium = os.environ.get("IRKIT_CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as folder:
        site = given.site or Path(folder) / "site"
        site.mkdir(parents=True, exist_ok=True)
        there = given.onnxruntime or onnxruntime_web(Path(folder))
        for source, name in ((BINDINGS, "js"), (there, "ort")):
            shutil.copytree(source, site / name, dirs_exist_ok=True)
        (site / "page.html").write_text(PAGE)
        with served(site) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            print(f"Chromium {browser.version}")
            for name in given.networks:
                print(measure(name, site, address, browser, given.rounds), flush=True)
            browser.close()


if __name__ == "__main__":
    main()
