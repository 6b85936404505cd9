"""Inside a pass, in a real browser: its rewrites, its wrong elements, its costs, its source."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from irkit.inspector_web.server.http_server import Server
from tests.inspector_web.browser import Watch, served
from tests.inspector_web.pages import opened
from tests.inspector_web.static.test_axe import serious
from tests.inspector_web.test_load import until

SCRIPT = '''
import irkit
from irkit.core import rewrite
from irkit.ir import PrimFunc, Store, parse
from irkit.phases import DEFAULT
from irkit.transform import define_pass

@define_pass
def negate(func: PrimFunc) -> PrimFunc:
    """Negate what is stored."""

    def negated(store: Store) -> Store:
        return store.replace(value=-store.value)

    return rewrite(func, negated)

TEXT = """
def f(A: f32[3, 4, 8], B: f32[3, 4, 8]):
    for i in serial(0, 3):
        for j in serial(0, 4):
            for k in serial(0, 8):
                B[i, j, k] = A[i, j, k] + f32(1.0)
    for i in serial(0, 3):
        B[i, 0, 0] = A[i, 0, 0]
"""
irkit.lower(parse(TEXT), pipeline=DEFAULT.insert(negate, phase=2))
'''


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    file = tmp_path_factory.mktemp("script") / "own.py"
    file.write_text(SCRIPT)
    with served(opened(str(file))) as made:
        yield made


@pytest.fixture(autouse=True)
def patience() -> Iterator[None]:
    """Work is done by children, which may have to wait for a processor."""
    expect.set_options(timeout=20_000)
    yield
    expect.set_options(timeout=5_000)


def chosen(watch: Watch, server: Server, **size: int) -> Page:
    page = watch(**size).page
    page.set_default_timeout(20_000)
    page.goto(server.address)
    page.wait_for_selector(".lines")
    if size:
        page.click("#tabs >> text=Passes")
    page.locator(".pass", has_text="negate").click()
    expect(page.locator("#to")).to_have_text("negate")
    return page


def test_rewrites_are_gone_through_and_lead_from_the_wrong_element_back(
    watch: Watch, server: Server
) -> None:
    page = chosen(watch, server)
    page.click("#shows >> text=Rewrites")
    expect(page.locator(".rewrite-count")).to_have_text("Rewrite 1 of 2")
    expect(page.locator(".rewrite-rule")).to_contain_text("negate.negated")
    expect(page.locator(".rewrite-rule code")).to_contain_text("def negated(store: Store)")
    first = page.locator(".llvm-diff .code.come").inner_text()
    page.keyboard.press(".")
    expect(page.locator(".rewrite-count")).to_have_text("Rewrite 2 of 2")
    expect(page.locator(".llvm-diff .code.come")).not_to_have_text(first)
    assert "rewrite=2" in page.url
    page.get_by_label("Rewrite", exact=True).press("ArrowLeft")
    expect(page.locator(".rewrite-count")).to_have_text("Rewrite 1 of 2")
    page.locator(".rule-table .link").click()
    expect(page.locator(".rule-table .link")).to_have_attribute("aria-pressed", "true")
    assert serious(page) == []

    page.keyboard.press("f")
    page.locator("#check-said", has_text="negate").wait_for()
    page.click("#shows >> text=Errors")
    expect(page.locator(".mismatch-head")).to_contain_text("of 96 elements of B")
    expect(page.locator(".slice-name")).to_contain_text("B[0, :, :]")
    expect(page.locator(".writer").first).to_contain_text("2 writes in all")
    page.locator(".error-map").press("ArrowRight")
    expect(page.locator(".error-said")).to_contain_text("B[0, 0, 1]")
    page.get_by_label("Slice").press("ArrowRight")
    expect(page.locator(".slice-name")).to_contain_text("B[1, :, :]")
    assert serious(page) == []
    page.locator(".writer .link", has_text="Rewrite").click()
    expect(page.locator(".llvm-diff .problem")).to_contain_text("changes what the program computes")
    page.go_back()
    page.locator(".writer .link", has_text="line").first.click()
    expect(page.locator(".row.chosen").first).to_be_visible()


def test_costs_and_the_source_of_a_pass(watch: Watch, server: Server) -> None:
    page = chosen(watch, server, width=390, height=800)
    page.click("#shows >> text=Cost")
    table = page.locator(".memory-table")
    expect(table.locator("tbody tr").first).to_contain_text("reads A_flat")
    expect(table.locator(".stride").first).to_contain_text("i +128 B")
    page.click("#ask-roofline")
    expect(page.locator(".roofline .dot")).to_have_attribute(
        "aria-label", re.compile("f: .*FLOP/s")
    )
    expect(page.locator("[aria-label=Loops]")).to_contain_text(
        "on one thread, median of", timeout=20_000
    )
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert serious(page) == []
    page.click("#tabs >> text=Details")
    page.locator("#details summary").click()
    expect(page.locator("#details .source")).to_contain_text("own.py, line 8")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.evaluate("document.getElementById('editor').value = 'copy'")
    page.locator(".open-editor").click()
    until(lambda: any("/api/editor?run=0" in url for url in asked))
    expect(page.locator(".open-editor")).to_have_text("Open in editor")
