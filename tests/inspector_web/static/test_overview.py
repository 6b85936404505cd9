"""The overview of a model: its kernels, the matrix of passes by kernels, and the ways from there;
the palette, and how many controls a view shows."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from playwright.sync_api import Page, expect

from irkit.cli.verbs import irkit
from irkit.inspector_web.server.http_server import Server
from tests.draws import sampled
from tests.inspector_web.browser import Watch, served
from tests.inspector_web.jobs.verdicts_programs import wrong_trace
from tests.inspector_web.pages import conv_model, opened, opened_model
from tests.inspector_web.static.test_axe import serious

OnPage = Callable[..., Page]
MOST_CONTROLS = 8
# What is listed is no control: rows, cells, bars, links. Buttons of one choice are one control.
CONTROLS = """() => {
  const listed = "#pass-list, #view, #overview, #ribbon, #details, #check-state, #where";
  const groups = new Set();
  for (const each of document.querySelectorAll("button, input, select, a.button")) {
    if (!each.checkVisibility({ visibilityProperty: true }) || each.closest(listed)) continue;
    groups.add(each.closest("[role=group], #tabs") ?? each);
  }
  return [...groups].map((each) => each.id || each.textContent.trim());
}"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with served(opened_model(conv_model)) as made:
        yield made


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    file = folder / "report.html"
    done = CliRunner().invoke(irkit, ["report", conv_model(folder), "-o", str(file)])
    assert done.exit_code == 0, done.output
    return file


@pytest.fixture(params=["server", "report"])
def visit(request: pytest.FixtureRequest, watch: Watch, server: Server, report: Path) -> OnPage:
    """Open the page of a model: as a server gives it, and as a file of its own."""

    def go(width: int = 1280, theme: str = "light") -> Page:
        page = watch(width, theme=theme).page
        page.set_default_timeout(8_000)
        page.goto(server.address if request.param == "server" else report.as_uri())
        page.wait_for_selector(".kernels tbody tr")
        return page

    return go


def test_a_model_opens_on_its_kernels_and_what_passes_did_to_them(visit: OnPage) -> None:
    page = visit()
    rows = page.locator(".kernels tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("block/conv")
    expect(rows.first).to_contain_text("conv → relu · [1, 8, 6, 6]")
    expect(page.locator(".matrix tbody tr")).to_have_count(2)
    expect(page.locator(".matrix td.h0").first).to_have_attribute(
        "aria-label", re.compile("canonicalize-loops on block/conv: changed nothing")
    )
    changed = page.locator(".matrix td[aria-label*='flatten-buffers on block/conv']")
    expect(changed).to_have_attribute("aria-label", re.compile(r"\+\d+ \u2212\d+ lines"))
    expect(page.locator("#ribbon .phase-name").first).to_contain_text("Graph")
    expect(page.locator(".slowest")).to_contain_text("lower-to-loops")


def test_a_cell_leads_to_the_difference_and_the_title_back(visit: OnPage) -> None:
    page = visit()
    page.locator(".matrix td[aria-label*='flatten-buffers on block/conv'] i").click()
    expect(page.locator("#to")).to_have_text("flatten-buffers")
    expect(page.locator("#crumbs")).to_contain_text("block/conv")
    expect(page.locator(".row .come").first).to_be_visible()
    expect(page.locator("#overview")).to_be_hidden()
    page.click("#crumb-model")
    expect(page.locator(".matrix")).to_be_visible()
    page.go_back()
    expect(page.locator("#to")).to_have_text("flatten-buffers")
    page.keyboard.press("0")
    expect(page.locator(".matrix")).to_be_visible()


def test_a_line_tells_its_node_by_layer_and_shape_and_leads_to_the_graph(
    watch: Watch, server: Server
) -> None:
    page = watch().page
    page.goto(server.address)
    page.set_default_timeout(8_000)
    page.locator(".matrix td[aria-label*='flatten-buffers on block/conv'] i").click()
    expect(page.locator("#to")).to_have_text("flatten-buffers")
    page.locator(".row .code.come").last.click()
    way = page.locator(".origins button")
    expect(way).to_have_text("conv → relu block/conv [1, 8, 6, 6]")
    expect(page.locator(".origins")).to_contain_text("ONNX node block/")
    expect(page.locator(".origins")).not_to_contain_text(".py:")
    way.press("Enter")
    expect(page.locator(".box.chosen")).to_have_count(1)


def test_the_cells_are_gone_through_by_arrow_keys(visit: OnPage) -> None:
    page = visit()
    page.locator(".matrix td[tabindex='0']").focus()
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    expect(page.locator(".matrix-said")).to_contain_text("on block/conv")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".matrix-said")).to_contain_text("on softmax")
    name = page.locator(".matrix-said b").first.inner_text()
    page.keyboard.press("Enter")
    expect(page.locator("#to")).to_have_text(name)
    page.keyboard.press("0")
    assert page.locator("#ribbon .tick[tabindex='0']").count() == 1
    page.locator("#ribbon .tick").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator("#pass-list [aria-current=true]")).to_be_visible()


def test_kernels_are_sorted_by_any_column(visit: OnPage) -> None:
    page = visit()
    first = page.locator(".kernels tbody tr").first
    page.click(".kernels [data-key=label]")
    expect(first).to_contain_text("block/conv")
    page.keyboard.press("Enter")
    expect(page.locator(".kernels th").first).to_have_attribute("aria-sort", "descending")
    expect(first).to_contain_text("softmax")
    page.click(".kernels tbody tr >> text=[1, 8, 6, 6] >> nth=0")
    expect(page.locator("#crumbs")).to_contain_text("softmax")


def test_the_palette_finds_kernels_passes_and_commands(visit: OnPage) -> None:
    page = visit()
    page.keyboard.press("Control+k")
    page.keyboard.type("softmax")
    found = page.locator("#found button")
    expect(found.first).to_contain_text("softmax")
    page.keyboard.press("Enter")
    expect(page.locator("#palette")).to_be_hidden()
    expect(page.locator("#crumbs")).to_contain_text("softmax")
    page.click("#palette-button")
    page.fill("#search", "overview")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(".matrix")).to_be_visible()
    page.keyboard.press("Control+k")
    page.keyboard.press("Escape")
    expect(page.locator("#palette")).to_be_hidden()


def test_no_view_shows_more_controls_than_eight(visit: OnPage) -> None:
    page = visit()
    shown = {"overview": page.evaluate(CONTROLS)}
    page.click(".kernels .link >> nth=0")
    expect(page.locator(".lines")).to_be_visible()
    for show in ("", "nest", "time"):
        page.locator(f"#shows [data-show='{show}']").click()
        shown[show or "difference"] = page.evaluate(CONTROLS)
    page.keyboard.press("d")
    shown["details"] = page.evaluate(CONTROLS)
    assert {name: each for name, each in shown.items() if len(each) > MOST_CONTROLS} == {}
    assert len(shown["difference"]) >= 4


@pytest.mark.parametrize("theme", sampled(["light", "dark"], every=2))
def test_axe_finds_nothing_serious(visit: OnPage, theme: str) -> None:
    page = visit(theme=theme)
    found = serious(page)
    page.keyboard.press("Control+k")
    assert [*found, *serious(page)] == []


@pytest.mark.parametrize("width", sampled([390, 1280, 1440, 1920], every=4))
def test_nothing_is_wider_than_the_window(visit: OnPage, width: int) -> None:
    page = visit(width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.getElementById('overview').scrollWidth") <= width


def test_panels_are_resized_by_mouse_and_keys_and_stay_so(watch: Watch, server: Server) -> None:
    page = watch().page
    page.goto(server.address)
    page.click(".kernels .link >> nth=0")
    bar = page.locator("#split-passes")
    box = bar.bounding_box()
    assert box is not None
    page.mouse.move(box["x"], box["y"] + 200)
    page.mouse.down()
    page.mouse.move(400, box["y"] + 200)
    page.mouse.up()
    expect(bar).to_have_attribute("aria-valuenow", "400")
    bar.focus()
    page.keyboard.press("ArrowLeft")
    expect(bar).to_have_attribute("aria-valuenow", "384")
    page.reload()
    page.wait_for_selector(".lines")
    assert page.evaluate("document.getElementById('passes').offsetWidth") == 384


def test_a_wrong_cell_cannot_be_missed(watch: Watch, tmp_path: Path) -> None:
    wrong_trace().save(tmp_path / "wrong.trace")
    with served(opened(str(tmp_path / "wrong.trace"))) as at:
        page = watch().page
        page.set_default_timeout(20_000)
        page.goto(at.address)
        page.wait_for_selector(".lines")
        page.keyboard.press("M")
        expect(page.locator("#check-said")).to_contain_text(
            "≠ 1 with other results", timeout=20_000
        )
        page.keyboard.press("0")
        wrong = page.locator(".matrix td.wrong")
        expect(wrong).to_have_count(1)
        expect(wrong).to_have_text("✕")
        expect(page.locator(".alarm")).to_contain_text(
            "spoil changes what f computes: C[0] is 99.5"
        )
        expect(page.locator(".kernels")).to_contain_text("≠ other results after spoil")
        expect(page.locator("#ribbon .tick.wrong")).to_have_count(1)
        assert serious(page) == []
        page.click(".alarm button")
        expect(page.locator("#to")).to_contain_text("spoil")
        page.goto("about:blank")  # Before the server is gone.
