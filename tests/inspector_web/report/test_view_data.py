"""A report has the views of the page: loop nests, graphs, machine code, and names ignored."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from playwright.sync_api import Page, expect

from irkit.cli.verbs import irkit
from irkit.ir import LOOP_LEVEL, parse
from irkit.transform import Step, Trace
from tests.inspector_web.browser import Watch, served
from tests.inspector_web.pages import MATMUL, matmul_trace, opened, relu_model

Reported = Callable[..., Page]


@pytest.fixture
def reported(watch: Watch, tmp_path: Path) -> Reported:
    """Write a report of a file and open it."""

    def go(file: str, place: str, *flags: str) -> Page:
        path = tmp_path / "report.html"
        done = CliRunner().invoke(irkit, ["report", file, "-o", str(path), *flags])
        assert done.exit_code == 0, done.output
        page = watch().page
        page.set_default_timeout(8_000)
        page.goto(f"{path.as_uri()}#{place}")
        page.wait_for_selector(".lines, .view-box, .error")
        return page

    return go


def test_its_loop_nests_are_those_of_the_server(
    reported: Reported, watch: Watch, tmp_path: Path
) -> None:
    file = matmul_trace(tmp_path)
    told: list[list[str]] = []
    with served(opened(file)) as server:
        page = watch().page
        page.goto(server.address)
        page.wait_for_selector(".lines")
        for place in ("step=4&show=nest", "step=24&show=nest&from=0.0.b"):
            page.goto("about:blank")
            page.goto(f"http://127.0.0.1:{server.port}/#{place}")
            page.wait_for_selector(".nest")
            told.append(page.locator(".nest tr").all_inner_texts())
    for place, rows in zip(("step=4", "step=24&from=0.0.b"), told, strict=True):
        page = reported(file, place)
        page.click("#shows >> text=Loops")
        expect(page.locator(".nest")).to_be_visible()
        assert page.locator(".nest tr").all_inner_texts() == rows
        assert len(rows) > 5
    page.locator(".nest button", has_text="j").first.click()
    expect(page.locator("#line-details")).to_contain_text("matmul.irs:3")


def test_it_has_graphs_and_no_machine_code_unless_asked_for(
    reported: Reported, tmp_path: Path
) -> None:
    page = reported(relu_model(tmp_path), "show=graph")
    page.locator(".box", has_text="relu").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#line-details")).to_contain_text("ONNX node")
    page.click("#menu-button")
    page.select_option("#function", "relu")
    page.keyboard.press("Escape")
    expect(page.locator("#shows >> text=Loops")).to_be_visible()
    expect(page.locator("#shows >> text=Code")).to_be_hidden()


def test_machine_code_of_the_results_stands_in_it_if_asked_for(
    reported: Reported, tmp_path: Path
) -> None:
    page = reported(matmul_trace(tmp_path), "step=24", "--native")
    page.click("#shows >> text=Code")
    expect(page.locator("[data-pane=llvm] .native")).to_contain_text("define")
    page.keyboard.press("]")
    expect(page.locator("#line-details")).to_contain_text("matmul.irs:")
    page.locator(".pass", has_text="lower-blocks").click()
    expect(page.locator(".error")).to_contain_text("irkit inspect shows those of every stage")


def test_it_ignores_names(reported: Reported, tmp_path: Path) -> None:
    renamed = MATMUL.replace("for k in", "for other in").replace("64, k)", "64, other)")
    before, after = parse(MATMUL), parse(renamed)
    step = Step(0, LOOP_LEVEL, 1, "flat", "rename", "rename", {}, "matmul", before, after, 0.001)
    Trace((step,)).save(tmp_path / "renamed.trace")
    page = reported(str(tmp_path / "renamed.trace"), "")
    expect(page.locator("#counts")).to_be_visible()
    page.click("#menu-button")
    page.click("#names")
    expect(page.locator("#no-change")).to_have_text("Only names differ.")
    page.keyboard.press("r")
    expect(page.locator("#change")).to_contain_text("change")
