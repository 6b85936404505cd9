"""Text stands out from what is behind it: WCAG AA, in both sets of colours; and controls have
names."""

import pytest

from tests.inspector_web.browser import Watch, served
from tests.inspector_web.pages import matmul_trace, opened

# What WCAG 2.1 says of contrast, worked out on a canvas: the browser knows every form of colour.
FAINT = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = (colours) => {
    canvas.clearRect(0, 0, 1, 1);
    for (const colour of colours) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = (parts) => parts.map((part) => part / 255)
    .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
  const found = new Set();
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || !element.checkVisibility() || element.closest("[disabled], option")) continue;
    const behind = [];
    for (let at = element; at; at = at.parentElement) {
      behind.unshift(getComputedStyle(at).backgroundColor);
    }
    const back = ["white", ...behind];
    const style = getComputedStyle(element);
    const [a, b] = [light(rgb([...back, style.color])), light(rgb(back))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) found.add(`${element.tagName}.${element.className}: ${ratio.toFixed(2)}`);
  }
  return [...found];
}"""

NAMELESS = """() => [...document.querySelectorAll("button, select, input, a")]
  .filter((each) => each.checkVisibility())
  .filter((each) => !(each.textContent.trim() || each.ariaLabel || each.labels?.length))
  .map((each) => each.outerHTML.slice(0, 80))"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_stands_out_and_controls_have_names(
    watch: Watch, theme: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with served(opened(matmul_trace(tmp_path_factory.mktemp("trace")))) as server:
        page = watch().page
        page.goto(server.address)
        page.wait_for_selector(".lines")
        page.select_option("#theme", theme)
        for place in ("step=4&blame=1&line=R3", "step=8&view=inline&whole=1", "step=4&show=nest"):
            page.goto("about:blank")
            page.goto(f"http://127.0.0.1:{server.port}/#{place}")
            page.wait_for_selector(".lines, .nest")
            page.fill("#search", "vi")
            page.wait_for_selector("#found button")
            assert page.evaluate(FAINT) == []
            assert page.evaluate(NAMELESS) == []
        page.keyboard.press("Escape")
        page.click("#help-button")
        assert page.evaluate(FAINT) == []
