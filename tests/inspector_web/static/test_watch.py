"""Tests for the watch that the tests of the page keep."""

import pytest
from playwright.sync_api import Browser

from tests.inspector_web.browser import Watched


@pytest.mark.parametrize(
    "content",
    [
        "<img src='https://outside.example/x.png'>",
        "<script>fetch('https://outside.example/').catch(() => 0)</script>",
        "<link rel=stylesheet href='//outside.example/x.css'>",
    ],
)
def test_a_request_to_another_machine_fails_the_test(browser: Browser, content: str) -> None:
    watched = Watched(browser)
    with watched.page.expect_event("requestfailed"):
        watched.page.set_content(f"<base href='https://outside.example'>{content}")
    assert watched.outside
    with pytest.raises(AssertionError):
        watched.rest()


def test_a_complaint_of_the_page_fails_the_test(browser: Browser) -> None:
    watched = Watched(browser)
    with watched.page.expect_event("console"):
        watched.page.set_content("<script>console.warn('so')</script>")
    with pytest.raises(AssertionError, match="so"):
        watched.rest()
