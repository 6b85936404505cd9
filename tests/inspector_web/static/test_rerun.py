"""Changing passes and running them again, by mouse and by keyboard."""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from irkit.inspector_web.server.http_server import Server
from tests.draws import sampled
from tests.inspector_web.browser import Watch, served
from tests.inspector_web.pages import matmul_trace, opened

Open = Callable[..., Page]
SLOW = 30_000
RUN = "#run option:checked"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with served(opened(matmul_trace(tmp_path_factory.mktemp("trace")))) as made:
        yield made


@pytest.fixture
def visit(watch: Watch, server: Server) -> Open:
    def go(width: int = 1280) -> Page:
        page = watch(width).page
        page.set_default_timeout(8_000)
        page.goto(server.address)
        page.wait_for_selector(".lines")
        return page

    return go


def row(page: Page, name: str) -> Locator:
    return page.locator(".plan li", has=page.get_by_label(name, exact=True))


def test_a_pass_is_switched_off_and_the_new_run_stands_beside_the_old(visit: Open) -> None:
    page = visit()
    page.click("#rerun-button")
    page.get_by_label("narrow-indices", exact=True).uncheck()
    expect(page.locator(".plan-said")).to_have_text("1 changed, 1 off")
    page.click(".rerun >> text=Run again")
    expect(page.locator(RUN)).to_contain_text("without narrow-indices", timeout=SLOW)
    expect(page.locator("#beside option:checked")).to_have_text("matmul.trace")
    expect(page.locator(".row .gone").first).to_contain_text("i32")
    expect(page.locator("#change")).to_have_text("2 changes")
    place = page.url
    page.reload()
    expect(page.locator(RUN)).to_contain_text("without narrow-indices")
    expect(page.locator("#change")).to_have_text("2 changes")
    assert page.url == place
    page.go_back()
    expect(page.locator(".rerun")).to_be_visible()


def test_everything_can_be_done_by_keyboard(visit: Open) -> None:
    page = visit()
    page.keyboard.press("e")
    name = page.get_by_label("remove-no-ops", exact=True)
    name.focus()
    page.keyboard.press("Alt+ArrowUp")
    page.keyboard.press("Alt+ArrowUp")
    expect(row(page, "remove-no-ops").locator("select option:checked")).to_have_text("2 loops")
    expect(name).to_be_focused()
    page.keyboard.press("Space")
    expect(name).not_to_be_checked()
    page.keyboard.press("Space")
    row(page, "loop-partition").locator("summary").focus()
    page.keyboard.press("Enter")
    option = row(page, "loop-partition").get_by_role("spinbutton", name="max_copies", exact=True)
    option.focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("3")
    page.keyboard.press("Tab")
    expect(row(page, "loop-partition")).to_contain_text("max_copies=3")
    expect(page.locator(".plan-said")).to_have_text("2 changed")
    page.get_by_role("button", name="Run again").last.focus()
    page.keyboard.press("Enter")
    expect(page.locator(RUN)).to_contain_text("loop-partition{max_copies=3}", timeout=SLOW)
    expect(page.locator(RUN)).to_contain_text("remove-no-ops in phase 2")


def test_a_pass_is_added_moved_and_put_back(visit: Open) -> None:
    page = visit()
    page.click("#rerun-button")
    page.get_by_label("Pass to add").select_option("convert-for-loops-to-serial")
    added = row(page, "convert-for-loops-to-serial")
    expect(added).to_contain_text("added")
    added.get_by_label("Move up").click()
    added.get_by_label("Phase of").select_option("1")
    expect(page.get_by_label("Phase 1 flat").locator("li", has_text="convert-for-")).to_have_count(
        1
    )
    page.click(".rerun >> text=Reset")
    expect(added).to_have_count(0)
    expect(page.locator(".plan-said")).to_have_text("Nothing changed yet")


def test_an_order_that_cannot_be_is_said_and_nothing_is_lost(visit: Open) -> None:
    page = visit()
    page.click("#rerun-button")
    row(page, "flatten-buffers").get_by_label("Phase of").select_option("3")
    page.click(".rerun >> text=Run again")
    said = page.locator(".plan-status [role=alert]")
    expect(said).to_contain_text("must come after 'flatten-buffers'", timeout=SLOW)
    expect(said).to_be_in_viewport(ratio=1)  # However far the list was scrolled.
    place, box = page.locator("#view").bounding_box(), said.bounding_box()
    assert place is not None
    assert box is not None
    assert place["y"] <= box["y"] < place["y"] + 150
    expect(row(page, "flatten-buffers")).to_contain_text("edited")
    page.get_by_label("simplify", exact=True).first.uncheck()
    option = row(page, "vectorize-loops").get_by_role("spinbutton", name="lanes", exact=True)
    row(page, "vectorize-loops").locator("summary").click()
    option.fill("1.5")
    page.keyboard.press("Tab")
    page.click(".rerun >> text=Run again")
    expect(said).to_contain_text(re.compile("option 'lanes'.*Expected `int`"), timeout=SLOW)


@pytest.mark.parametrize("width", sampled([390, 1280], every=2))
def test_the_levers_are_not_wider_than_the_window(visit: Open, width: int) -> None:
    page = visit(width)
    page.goto(page.url + "&show=rerun")
    expect(page.locator(".plan li").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.getElementById('view').scrollWidth") <= width
