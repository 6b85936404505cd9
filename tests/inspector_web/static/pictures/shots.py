"""Take pictures of views, in small, and compare them."""

import base64
import struct
import zlib
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from playwright.sync_api import Browser, Page, expect

HERE = Path(__file__).parent
SMALLER = 4
"""By how much a picture is smaller than the page: how letters are drawn hardly matters then."""
FAR = 40
"""Difference of a colour that counts, of 255."""
MOST_APART = 0.002
"""Share of a picture that may differ so."""

Picture = NDArray[np.uint8]
FACES = {"sans": "Pinned Sans", "sans-bold": "Pinned Sans", "mono": "Pinned Mono"}
READY = ".matrix:visible, #view > :not(.empty):visible"

SMALL = """async ([shot, by]) => {
  const image = await createImageBitmap(await (await fetch(shot)).blob());
  const pen = new OffscreenCanvas(image.width, image.height).getContext("2d");
  pen.drawImage(image, 0, 0);
  const { data } = pen.getImageData(0, 0, image.width, image.height);
  const [wide, high] = [Math.floor(image.width / by), Math.floor(image.height / by)];
  const sums = new Uint32Array(wide * high * 3);
  for (let y = 0; y < high * by; y++) {
    const row = Math.floor(y / by) * wide;
    for (let x = 0; x < wide * by; x++) {
      const from = 4 * (y * image.width + x);
      const to = 3 * (row + Math.floor(x / by));
      sums[to] += data[from];
      sums[to + 1] += data[from + 1];
      sums[to + 2] += data[from + 2];
    }
  }
  const bytes = Uint8Array.from(sums, (sum) => Math.round(sum / by / by));
  let made = "";
  for (let at = 0; at < bytes.length; at += 8192) made += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return [wide, high, btoa(made)];
}"""  # noqa: E501 -- a script of the page


class View(NamedTuple):
    """A view of the page: which trace it is of, and where."""

    file: str
    place: str
    width: int = 1280
    height: int = 800
    theme: Literal["light", "dark"] = "light"


Pages = Callable[[View], Page]

VIEWS = {
    "overview": View("model", "show=overview"),
    "overview-dark": View("model", "show=overview", theme="dark"),
    "graph": View("model", "step=12&show=graph"),
    "difference": View("matmul", "step=7"),
    "difference-dark": View("matmul", "step=8&blame=1", theme="dark"),
    "difference-phone": View("matmul", "step=7", 390, 800),
    "difference-unified": View("matmul", "step=4&view=inline&whole=1&wrap=1"),
    "loops": View("matmul", "step=20&show=nest"),
    "times": View("matmul", "step=7&show=time"),
    "two-runs": View("matmul", "step=11&beside=1"),
}


def pinned_fonts() -> str:
    """Return a style sheet with the letters of this folder in place of those of the machine."""
    made: list[str] = []
    for file, family in FACES.items():
        data = base64.b64encode((HERE / "font" / f"{file}.woff2").read_bytes()).decode()
        weight = "600 900" if file.endswith("bold") else "100 500"
        made.append(
            f'@font-face {{ font-family: "{family}"; font-weight: {weight};'
            f' src: url("data:font/woff2;base64,{data}"); }}'
        )
    still = "*, ::before, ::after { transition: none !important; caret-color: transparent; }"
    return "\n".join([*made, ':root { --sans: "Pinned Sans"; --mono: "Pinned Mono"; }', still])


@contextmanager
def pages(browser: Browser) -> Generator[Pages]:
    """Open a page of each size and set of colours, which takes the pictures of several views."""
    kept: dict[tuple[int, int, str], Page] = {}

    def page_of(view: View) -> Page:
        look = view.width, view.height, view.theme
        if look not in kept:
            context = browser.new_context(
                viewport={"width": view.width, "height": view.height},
                color_scheme=view.theme,
                bypass_csp=True,
            )
            kept[look] = context.new_page()
        return kept[look]

    try:
        yield page_of
    finally:
        for page in kept.values():
            page.context.close()


def take(page: Page, address: str, view: View) -> Picture:
    """Take a picture of a view of a page that is served."""
    try:
        page.goto(f"{address}#{view.place}")
        page.add_style_tag(content=pinned_fonts())
        page.evaluate("document.fonts.ready")
        page.locator(READY).first.wait_for()
        expect(page.locator("#view[aria-busy]")).to_have_count(0)
        _wait_until_still(page)
        return small(page, page.screenshot(animations="disabled"))
    finally:
        # What somebody has chosen is remembered, and another server knows nothing of it.
        page.evaluate("localStorage.clear(), sessionStorage.clear()")
        page.goto("about:blank")


def _wait_until_still(page: Page) -> None:
    """Wait until nothing is asked for any more: counts of changed lines come one by one."""
    page.evaluate(
        """() => new Promise((done) => {
          let last = -1;
          const look = () => {
            const now = performance.getEntriesByType("resource").length;
            if (now === last) done(); else { last = now; setTimeout(look, 250); }
          };
          look();
        })"""
    )


def small(page: Page, shot: bytes) -> Picture:
    """Return a PNG file as a picture that is smaller; the browser reads it."""
    given = f"data:image/png;base64,{base64.b64encode(shot).decode()}"
    width, height, data = page.evaluate(SMALL, [given, SMALLER])
    picture = np.frombuffer(base64.b64decode(data), np.uint8).reshape(height, width, 3)
    return (picture // 16 * 17).astype(np.uint8)  # Few colours, so that the file is small.


def apart(one: Picture, other: Picture) -> float:
    """Return the share of two pictures that differs; 1 if their sizes do."""
    if one.shape != other.shape:
        return 1.0
    far = np.abs(one.astype(np.int16) - other.astype(np.int16)).max(axis=2) > FAR
    return float(far.mean())


def write_png(picture: Picture) -> bytes:
    """Return a picture as a PNG file."""
    height, width, _ = picture.shape
    rows = np.concatenate([np.zeros((height, 1), np.uint8), picture.reshape(height, -1)], axis=1)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = (b"IHDR", head), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*part) for part in parts)


def read_png(data: bytes) -> Picture:
    """Read a file of ``write_png``."""
    parts: dict[bytes, bytes] = {}
    at = 8
    while at < len(data):
        (size,) = struct.unpack(">I", data[at : at + 4])
        parts[data[at + 4 : at + 8]] = data[at + 8 : at + 8 + size]
        at += size + 12
    width, height = struct.unpack(">II", parts[b"IHDR"][:8])
    rows = np.frombuffer(zlib.decompress(parts[b"IDAT"]), np.uint8).reshape(height, -1)
    return rows[:, 1:].reshape(height, width, 3)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
