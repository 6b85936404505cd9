"""The page about a network in a real browser.

``python -m benchmarks.inspector.network MODEL.onnx [graph]`` prints the time of the overview and of
switching to another pass, with ``graph`` the times of frames while a graph of 2,000 operators is
moved and zoomed. Chromium is searched on the path; IRKIT_CHROMIUM names another one.
"""

import os
import shutil
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from playwright.sync_api import Page, ViewportSize, sync_playwright

from benchmarks.inspector.load import serving
from irkit.graph import GRAPH_LEVEL, Builder
from irkit.transform import Step, Trace

SIZE: ViewportSize = {"width": 1440, "height": 900}
SWITCHES = 50
SWITCHED = """() => {
  const view = document.querySelector("#view");
  const shown = () => !view.hasAttribute("aria-busy") && view.querySelector(".lines");
  const again = window.spent;
  window.spent = { keydown: [], hashchange: [] };
  if (again) return;  // It listens already.
  const time = (event) => {
    const old = shown();
    const look = () => {
      const now = shown();
      if (!now || now === old) { setTimeout(look, 1); return; }
      requestAnimationFrame(() => setTimeout(() => {
        window.spent[event.type].push(performance.now() - event.timeStamp);
      }));
    };
    setTimeout(look);
  };
  addEventListener("keydown", time, true);
  addEventListener("hashchange", time, true);
}"""
FRAMES = """() => new Promise((done) => {
  const picture = document.querySelector('.graph-stage'), spent = [];
  let last = performance.now(), count = 0;
  const box = picture.getBoundingClientRect();
  const x = box.x + box.width / 2, y = box.y + box.height / 2;
  const send = (kind, more) => picture.dispatchEvent(new WheelEvent(kind, {
    bubbles: true, cancelable: true, clientX: x, clientY: y, ...more }));
  const frame = (now) => {
    spent.push(now - last); last = now;
    if (++count > 120) { done(spent.slice(1)); return; }
    if (count % 2) send('wheel', { deltaY: count % 40 < 20 ? 60 : -60 });
    else send('wheel', { deltaY: count % 40 < 20 ? -30 : 30, ctrlKey: true });
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
})"""


def overview(page: Page, address: str) -> None:
    """Time the overview, of a server that has read the file, and switching between passes."""
    began = time.perf_counter()
    page.goto(address)
    page.wait_for_selector(".matrix")
    print(f"overview: {(time.perf_counter() - began) * 1e3:.0f} ms (aim: 1000)")
    for how, among in (("next", 1), ("in another kernel", 11)):
        spent = switches(page, among)
        median, most = np.percentile(spent, [50, 95])
        print(f"a pass {how}: median {median:.0f} ms, 95 % within {most:.0f} ms (aim: 100)")


def switches(page: Page, among: int) -> list[float]:
    """Return the times to the next frame after another pass was chosen. Units: milliseconds.

    The next pass is chosen by its key, and one of another kernel by the address, unannounced.
    """
    page.evaluate("location.hash = 'step=15'")
    page.wait_for_selector(".lines:not(.pane-lines)")
    page.evaluate(SWITCHED)
    for turn in range(1, SWITCHES):
        page.wait_for_timeout(250)
        if among == 1 and turn % 14:
            page.keyboard.press("j")
        else:
            page.evaluate("at => { location.hash = `step=${at}` }", 15 + turn * among)
            page.wait_for_timeout(1_000 if among == 1 else 0)
    page.wait_for_timeout(1_000)
    spent: list[float] = page.evaluate(
        f"window.spent['{'keydown' if among == 1 else 'hashchange'}']"
    )
    return spent


def graph_trace(folder: Path, *, chains: bool = True) -> Path:
    """Write a trace of a graph of 2,000 operators in four strands that meet.

    With ``chains``, a box stands for a few operators in a row; without, each has its own.
    """
    b, rng = Builder(), np.random.default_rng(0)
    heads = [b.op("relu", b.param("x", (4, 4)))] * 4
    for at in range(499):
        if not chains:
            others: list[int] = rng.integers(1, 4, 4).tolist()
            heads = [b.op("add", heads[at], heads[(at + others[at]) % 4]) for at in range(4)]
            continue
        heads = [b.op("relu" if at % 2 else "exp", head) for head in heads]
        if at % 9 == 0:
            heads[at % 4] = b.op("add", heads[at % 4], heads[(at + 1) % 4])
    func = b.finish(heads[0])
    path = folder / f"graph-{chains}.trace"
    Trace([Step(0, GRAPH_LEVEL, 0, "", "p", "p", {}, "f", func, func, 0.0)]).save(path)
    return path


def frames(page: Page, address: str) -> None:
    """Time the frames while the picture of a graph is moved and zoomed."""
    page.goto(address)
    page.wait_for_selector("#overview:not([hidden])")
    page.goto(f"{address.split('?')[0]}#step=0&show=graph")
    page.wait_for_selector(".graph-picture")
    page.wait_for_timeout(1_000)
    boxes: int = page.evaluate("document.querySelectorAll('.graph-picture .box').length")
    for size in ("readable", "all of it"):
        if size == "all of it":
            page.click("text=Fit")
            page.wait_for_timeout(1_000)
        spent: list[float] = page.evaluate(FRAMES)
        median, most = np.percentile(spent, [50, 95])
        print(f"frames of {boxes} boxes, {size}: median {median:.1f}, ", end="")
        print(f"95 % within {most:.1f} ms (aim: 33)")


def main(model: str, *, with_graph: bool) -> None:
    """Print the figures."""
    found = os.environ.get("IRKIT_CHROMIUM") or shutil.which("chromium")
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE, bypass_csp=True)
        with serving(Path(model)) as address:
            overview(page, address)
        if with_graph:
            for chains in (True, False):
                with serving(graph_trace(Path(folder), chains=chains)) as address:
                    frames(browser.new_page(viewport=SIZE, bypass_csp=True), address)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1], with_graph="graph" in sys.argv[2:])
