"""The graph on the page: zoom, moving, fitting, the map, search, and the way to a kernel."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from irkit.inspector_web.server.http_server import Server
from tests.inspector_web.browser import Watch, served
from tests.inspector_web.pages import blocks_model, conv_model, opened_model
from tests.inspector_web.static.test_axe import serious
from tests.inspector_web.test_load import until

VIEW = """(() => {
  const stage = document.querySelector(".graph-stage");
  const moved = getComputedStyle(stage.querySelector(".graph-moved"));
  const { a, e, f } = new DOMMatrix(moved.transform);
  return [-e / a, -f / a, stage.clientWidth / a];
})()"""
# The longest frames of two seconds of moving and zooming.
FRAMES = """async () => {
  const stage = document.querySelector(".graph-stage");
  const times = [];
  let last = performance.now();
  for (let at = 0; at < 60; at++) {
    stage.dispatchEvent(new WheelEvent("wheel", { deltaX: 9, deltaY: at % 2 ? 20 : -20, ctrlKey: at % 3 === 0, clientX: 500, clientY: 400, bubbles: true, cancelable: true }));
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    times.push(now - last);
    last = now;
  }
  return times.sort((a, b) => a - b)[56];
}"""  # noqa: E501


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with served(opened_model(conv_model)) as made:
        yield made


@pytest.fixture
def page(watch: Watch, server: Server) -> Page:
    page = watch().page
    page.goto(server.address)
    page.wait_for_selector(".matrix")
    page.click("#ribbon .tick[aria-label^='lower-to-loops']")
    page.wait_for_selector(".lines")
    page.click("#shows >> text=Graph")
    page.wait_for_selector(".graph-moved[style]")
    return page


def test_it_is_moved_zoomed_and_fitted_by_mouse_and_keys(page: Page) -> None:
    begun = page.evaluate(VIEW)
    page.click(".graph-tools [aria-label='Larger (+)']")
    until(lambda: page.evaluate(f"({VIEW})[2] < {begun[2]}"))
    page.click("text=Fit")
    until(lambda: page.evaluate(f"Math.abs(({VIEW})[2] - {begun[2]}) < 1"))
    page.locator(".graph-stage").focus()
    page.keyboard.press("ArrowRight")
    until(lambda: page.evaluate(f"({VIEW})[0] > {begun[0]}"))
    page.keyboard.press("-")
    page.keyboard.press("0")
    until(lambda: page.evaluate(f"Math.abs(({VIEW})[0] - {begun[0]}) < 1"))
    stage = page.locator(".graph-stage").bounding_box()
    assert stage is not None
    page.mouse.move(stage["x"] + 60, stage["y"] + 300)
    page.mouse.down()
    page.mouse.move(stage["x"] + 20, stage["y"] + 300)
    page.mouse.up()
    until(lambda: page.evaluate(f"({VIEW})[0] > {begun[0]}"))
    page.locator(".graph-map").click(position={"x": 5, "y": 5})
    until(lambda: page.evaluate(f"({VIEW})[0] < {begun[0]}"))


def test_an_operator_is_found_and_arrows_have_heads(page: Page) -> None:
    page.fill(".graph-tools input", "softmax")
    expect(page.locator(".found-count")).to_have_text("1 of 1")
    expect(page.locator(".box.hit")).to_have_count(1)
    assert page.locator(".arrow-line[marker-end]").count() >= 2
    assert serious(page) == []


def test_a_call_leads_to_its_kernel(page: Page) -> None:
    box = page.locator(".box.call", has_text="softmax")
    box.click()
    expect(box).to_have_class("box call chosen")
    page.keyboard.press("Escape")
    box.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#crumbs")).to_contain_text("softmax")
    expect(page.locator(".lines")).to_be_visible()


def test_frames_of_moving_are_short(page: Page) -> None:
    assert page.evaluate(FRAMES) < 100  # A loud machine: the picture must not stand still.


@pytest.fixture(scope="module")
def blocks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with served(opened_model(blocks_model)) as made:
        yield made


def graph_of(watch: Watch, server: Server, step: str) -> Page:
    page = watch().page
    page.goto(server.address)
    page.wait_for_selector(".matrix")
    page.click(f"#ribbon .tick[aria-label^='{step}']")
    page.wait_for_selector(".lines")
    page.click("#shows >> text=Graph")
    page.wait_for_selector(".graph-moved[style]")
    return page


def test_repeated_blocks_are_one_box_that_opens_and_closes(watch: Watch, blocks: Server) -> None:
    page = graph_of(watch, blocks, "fuse-ops")
    fold = page.locator(".box.fold")
    expect(fold).to_have_attribute("aria-label", re.compile("\u00d7 4"))
    folded = page.locator(".box").count()
    fold.press("Enter")
    expect(page.locator(".fold-frame")).to_have_count(1)
    assert page.locator(".box").count() > folded + 4
    assert "open=fold" in page.url
    assert serious(page) == []
    page.locator(".frame-name", has_text="▾").click()
    expect(page.locator(".box")).to_have_count(folded)
    page.click(".fold-all")
    expect(page.locator(".fold-frame")).to_have_count(1)
    page.fill(".graph-tools input", "maxpool")
    page.locator(".fold-all").press("Enter")
    expect(page.locator(".box.fold")).to_have_count(1)


def test_groups_lead_to_kernels_and_kernels_to_groups(watch: Watch, blocks: Server) -> None:
    page = graph_of(watch, blocks, "fuse-ops")
    page.click(".fold-all")
    name = page.locator(".frame-name", has_text="\u203a").nth(1)
    kernel = (name.get_attribute("aria-label") or "").rpartition(" ")[2]
    name.press("Enter")
    page.wait_for_selector(".lines")
    assert f"function={kernel}" in page.url
    page.keyboard.press("G")
    chosen = page.locator(".box.chosen").first
    expect(chosen.locator("title")).to_contain_text(f"kernel {kernel}")
    chosen.click()
    page.wait_for_selector(".lines")
    assert f"function={kernel}" in page.url
    page.locator(".in-graph").click()
    expect(page.locator(".box.chosen").first).to_be_visible()


def test_colours_are_by_kind_time_or_verdict_and_said_in_words(
    watch: Watch, blocks: Server
) -> None:
    page = graph_of(watch, blocks, "fuse-ops")
    expect(page.locator(".box.fold .band")).to_have_class("band band-product")
    page.select_option(".graph-tools select", "time")
    expect(page.locator(".box.fold .more").first).to_have_text(re.compile("m?s, "))
    page.get_by_label("Colours by").focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator(".graph-legend")).to_contain_text("not checked")
    expect(page.locator(".box.fold .band")).to_have_class("band band-none")
    page.keyboard.press("0")
    page.locator(".kernels tbody .link", has_text="pool").first.click()
    page.wait_for_selector(".lines")
    page.click("#check-button")
    page.click("#check-function")
    expect(page.locator("#check-said")).to_contain_text("same", timeout=60_000)
    page.keyboard.press("G")
    expect(page.locator(".box.chosen .more").first).to_contain_text("same")
    assert serious(page) == []
