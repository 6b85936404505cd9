"""Take the pictures of the inspector that the README shows: ``python -m docs.screenshots``.

A kernel and a small model are lowered, opened in Chromium and photographed; the pictures keep 256
colours, so that they stay small. Needs a browser, as the tests of the page do.
"""

import base64
import struct
import tempfile
import zlib
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from irkit.ir import parse
from irkit.phases import DEFAULT
from irkit.transform import Trace
from tests.inspector_web.browser import served
from tests.inspector_web.pages import MATMUL, chromium, opened

HERE = Path(__file__).parent
SIZE: ViewportSize = {"width": 1440, "height": 810}

# The colours used most stay; others become the nearest of those.
PALETTE = """async (shot) => {
  const image = await createImageBitmap(await (await fetch(shot)).blob());
  const pen = new OffscreenCanvas(image.width, image.height).getContext("2d");
  pen.drawImage(image, 0, 0);
  const { data, width, height } = pen.getImageData(0, 0, image.width, image.height);
  const seen = new Map();
  const at = (i) => (data[i] << 16) | (data[i + 1] << 8) | data[i + 2];
  for (let i = 0; i < data.length; i += 4) seen.set(at(i), (seen.get(at(i)) ?? 0) + 1);
  const kept = [...seen].sort((a, b) => b[1] - a[1]).slice(0, 256).map(([colour]) => colour);
  const far = (a, b) => [16, 8, 0].reduce((sum, by) => sum + (((a >> by) & 255) - ((b >> by) & 255)) ** 2, 0);
  const nearest = new Map(kept.map((colour, number) => [colour, number]));
  for (const colour of seen.keys()) {
    if (!nearest.has(colour)) {
      nearest.set(colour, kept.reduce((best, each, number) => far(colour, each) < far(colour, kept[best]) ? number : best, 0));
    }
  }
  let numbers = "";
  for (let i = 0; i < data.length; i += 4) numbers += String.fromCharCode(nearest.get(at(i)));
  return { width, height, kept, numbers: btoa(numbers) };
}"""  # noqa: E501


def main() -> None:
    """Take all pictures."""
    path = chromium()
    assert path is not None, "there is no Chromium here; IRKIT_CHROMIUM names one"
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        traces = kernel_traces(Path(folder))
        model = small_model(Path(folder))
        take(browser, (traces[0],), "step=7&line=R5", "light", "inspector-difference")
        take(browser, traces, "beside=1&step=24", "dark", "inspector-two-runs")
        take(browser, (model,), "show=graph&step=10", "light", "inspector-graph")
        take(browser, (model,), "show=overview", "light", "inspector-overview")
        take(browser, (traces[0],), "step=24&show=code", "dark", "inspector-code")
        take_cost(browser, traces[0])
        take_guilty(browser, wrong_script(Path(folder)))
        browser.close()


WRONG = """
import irkit
from irkit.core import Node, rewrite
from irkit.ir import For, PrimFunc, parse
from irkit.phases import DEFAULT
from irkit.transform import define_pass

@define_pass
def peel_last_iterations(func: PrimFunc) -> PrimFunc:
    \"\"\"Take the last iteration out of inner loops, and forget to do it.\"\"\"

    def peeled(loop: Node) -> Node | None:
        if isinstance(loop, For) and loop.kind == "serial" and not isinstance(loop.body, For):
            return loop.replace(end=loop.end - 1)
        return None

    return rewrite(func, peeled, on=For)

pipeline = DEFAULT.insert(peel_last_iterations, phase=2)
irkit.lower(parse(MATMUL, file="matmul.irs"), pipeline=pipeline)
"""


def wrong_script(folder: Path) -> str:
    """Write a script with a pass that has a mistake."""
    path = folder / "kernel.py"
    path.write_text(f"MATMUL = {MATMUL!r}\n{WRONG}")
    return str(path)


def take_guilty(browser: Browser, script: str) -> None:
    """Look for the guilty pass, go there, and take a picture."""
    with served(opened(script)) as server:
        page = browser.new_page(viewport=SIZE, bypass_csp=True)
        page.goto(server.address)
        page.wait_for_selector(".lines")
        page.click("#check-button")
        page.click("#find-guilty")
        page.click("#go-guilty")
        page.wait_for_selector(".rewrite")
        (HERE / "inspector-verdict.png").write_bytes(with_palette(page, page.screenshot()))
        page.click("#shows >> text=Errors")
        page.wait_for_selector(".error-map")
        (HERE / "inspector-errors.png").write_bytes(with_palette(page, page.screenshot()))
        page.close()


def take_cost(browser: Browser, file: str) -> None:
    """Time a kernel, and take a picture of what it costs."""
    with served(opened(file)) as server:
        page = browser.new_page(viewport=SIZE, bypass_csp=True)
        page.goto(server.address)
        page.wait_for_selector(".lines")
        page.goto(f"http://127.0.0.1:{server.port}/#step=24&show=cost")
        page.click("#ask-roofline")
        page.wait_for_selector(".loop-table")
        (HERE / "inspector-cost.png").write_bytes(with_palette(page, page.screenshot()))
        page.close()


def take(browser: Browser, files: tuple[str, ...], place: str, theme: str, name: str) -> None:
    """Take one picture of a place of the page."""
    with served(opened(*files)) as server:
        page = browser.new_page(viewport=SIZE, bypass_csp=True)
        page.goto(server.address)
        page.wait_for_selector(".lines, .matrix")
        page.evaluate("theme => localStorage.setItem('irkit-theme', theme)", theme)
        page.goto("about:blank")
        page.goto(f"http://127.0.0.1:{server.port}/#{place}")
        page.wait_for_selector(".lines:not(.pane-lines), .graph-picture, .matrix, .pane")
        page.wait_for_selector("#view[aria-busy]", state="detached")
        page.wait_for_timeout(1_500)  # Counts of changed lines come one by one.
        (HERE / f"{name}.png").write_bytes(with_palette(page, page.screenshot()))
        page.close()


def with_palette(page: Page, shot: bytes) -> bytes:
    """Write a picture with 256 colours."""
    given = page.evaluate(PALETTE, f"data:image/png;base64,{base64.b64encode(shot).decode()}")
    width, height = given["width"], given["height"]
    numbers = np.frombuffer(base64.b64decode(given["numbers"]), np.uint8).reshape(height, width)
    rows = np.concatenate([np.zeros((height, 1), np.uint8), numbers], axis=1)
    colours = b"".join(int(colour).to_bytes(3, "big") for colour in given["kept"])
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    parts = (b"IHDR", head), (b"PLTE", colours), (b"IDAT", zlib.compress(rows.tobytes(), 9))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in (*parts, (b"IEND", b"")))


def chunk(kind: bytes, data: bytes) -> bytes:
    """Write one part of a PNG file."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def kernel_traces(folder: Path) -> tuple[str, str]:
    """Lower a matrix product, and once more without a pass that changes it."""
    made: list[str] = []
    without = DEFAULT.without("hoist-first-iterations")
    for name, pipeline in (("matmul", DEFAULT), ("no-hoist", without)):
        steps = tuple(pipeline.steps(parse(MATMUL, file="matmul.irs")))
        path = folder / f"{name}.trace"
        Trace(steps, title=name).save(path)
        made.append(str(path))
    return made[0], made[1]


def small_model(folder: Path) -> str:
    """Write a small network with a branch."""
    random = np.random.default_rng(0)
    weights: list[onnx.TensorProto] = []

    def weight(name: str, *shape: int) -> str:
        array = random.standard_normal(shape, dtype=np.float32)
        weights.append(numpy_helper.from_array(array, name))
        return name

    def conv(name: str, image: str, channels: int) -> onnx.NodeProto:
        inputs = [image, weight(f"{name}_w", 16, channels, 3, 3), weight(f"{name}_b", 16)]
        return helper.make_node("Conv", inputs, [name], name, pads=[1, 1, 1, 1])

    node = helper.make_node
    nodes = [
        conv("stem", "image", 3),
        node("Relu", ["stem"], ["first"], "first"),
        node("MaxPool", ["first"], ["pooled"], "pool", kernel_shape=[2, 2], strides=[2, 2]),
        conv("left", "pooled", 16),
        node("Relu", ["left"], ["left_on"], "left_relu"),
        conv("right", "pooled", 16),
        node("Add", ["left_on", "right"], ["joined"], "join"),
        node("GlobalAveragePool", ["joined"], ["mean"], "mean"),
        node("Flatten", ["mean"], ["flat"], "flatten"),
        node("Gemm", ["flat", weight("fc_w", 16, 10)], ["scores"], "classify"),
    ]
    image = helper.make_tensor_value_info("image", 1, [1, 3, 32, 32])
    scores = helper.make_tensor_value_info("scores", 1, [1, 10])
    graph = helper.make_graph(nodes, "small", [image], [scores], weights)
    path = folder / "small.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), str(path))
    return str(path)


if __name__ == "__main__":
    main()
