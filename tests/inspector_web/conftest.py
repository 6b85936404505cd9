"""Fixtures: one browser for all tests of the page, and the printed texts of two kernels."""

from collections.abc import Iterator
from typing import Literal

import pytest
from playwright.sync_api import Browser, Playwright, sync_playwright

from irkit.inspector_web import Texts
from irkit.phases import trace
from irkit.transform import Trace
from tests.inspector_web.browser import Watch, Watched, launched
from tests.passes.loop.kernels import kernel


@pytest.fixture(scope="package")
def driver() -> Iterator[Playwright]:
    """Start what steers browsers; there is one at a time."""
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="package")
def browser(driver: Playwright) -> Iterator[Browser]:
    """Start the browser once: it takes longer than most tests."""
    yield from launched(driver)


@pytest.fixture
def watch(browser: Browser) -> Iterator[Watch]:
    """Open pages; at the end none has complained, or asked for anything outside this machine."""
    opened: list[Watched] = []

    def open_page(
        width: int = 1280, height: int = 800, theme: Literal["light", "dark"] = "light"
    ) -> Watched:
        opened.append(Watched.of(browser, (width, height, theme)))
        return opened[-1]

    yield open_page
    for each in opened:
        each.rest()


@pytest.fixture(scope="module", params=["MATMUL", "SOFTMAX"])
def texts(request: pytest.FixtureRequest) -> Texts:
    """Return the texts of a lowered kernel."""
    return Texts(Trace(trace(kernel(request.param))))
