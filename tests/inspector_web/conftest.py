"""One browser for all tests of the page; every page in it is watched."""

from collections.abc import Iterator
from typing import Literal

import pytest
from playwright.sync_api import Browser

from tests.inspector_web.browser import Watch, Watched, launched


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Start the browser once: it takes longer than most tests."""
    yield from launched()


@pytest.fixture
def watch(browser: Browser) -> Iterator[Watch]:
    """Open pages; at the end none has complained, or asked for anything outside this machine."""
    opened: list[Watched] = []

    def open_page(
        width: int = 1280, height: int = 800, theme: Literal["light", "dark"] = "light"
    ) -> Watched:
        opened.append(Watched(browser, width, height, theme))
        return opened[-1]

    yield open_page
    for each in opened:
        each.close()
