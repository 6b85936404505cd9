"""A line of a PyTorch module leads to the kernels that compute it."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

import irkit
from irkit.frontend.torch import import_program
from irkit.inspector_web.load import Inspection
from tests.frontend.torch.test_programs import data
from tests.inspector_web.browser import Watch, served
from tests.inspector_web.pages import client_of, opened


@pytest.fixture(scope="module")
def inspection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inspection]:
    program, _, _ = data("cache")
    path = tmp_path_factory.mktemp("torch") / "cache.trace"
    irkit.compile(import_program(program)).trace.save(path)
    made = opened(str(path))
    yield made
    made.close()


def test_a_kernel_knows_the_lines_that_its_operators_were_written_on(
    inspection: Inspection,
) -> None:
    program, _, _ = data("cache")
    written = {f"{node.file.rpartition('/')[2]}:{node.line}" for node in program.nodes if node.file}
    infos = client_of(inspection).get("/api/kernels?run=0").get_json()
    found = {place for info in infos for place in info.get("sources", ())}
    assert found
    assert found <= written
    of_line = [info["name"] for info in infos if "torch_models.py:116" in info["sources"]]
    assert of_line == ["multiply_broadcast_to", "scatter"]


def test_one_click_leads_from_a_line_of_the_module_to_its_kernel(
    watch: Watch, inspection: Inspection
) -> None:
    with served(inspection) as server:
        page = watch().page
        page.goto(server.address)
        page.wait_for_selector(".matrix")
        page.click("#ribbon .tick[aria-label^='fuse-ops']")
        page.wait_for_selector(".lines .row")
        page.locator(".lines .row", has_text="scatter(").last.click()
        line = page.locator(".origins")
        expect(line).to_contain_text("torch_models.py:")
        expect(line).to_contain_text("in multiply_broadcast_to, scatter")
        line.get_by_role("button", name="scatter", exact=True).click()
        expect(page.locator("#crumbs")).to_contain_text("scatter")
