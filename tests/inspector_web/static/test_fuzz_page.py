"""The page that `irkit fuzz --report` writes, in the browser that these tests share."""

from pathlib import Path

import pytest

from irkit.fuzz.campaign.page import as_page
from tests.fuzz.campaign.campaigns import campaign_with, page_in
from tests.inspector_web.browser import Watch
from tests.inspector_web.static.test_axe import MOSTLY_LIGHT, serious


@MOSTLY_LIGHT
def test_axe_finds_nothing_serious(watch: Watch, theme: str, tmp_path: Path) -> None:
    page = watch(theme=theme).page
    page.goto(page_in(tmp_path, as_page(campaign_with(findings=2))))
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert serious(page) == []


@pytest.mark.parametrize("width", [380, 1200])
def test_nothing_is_cut_off_at_the_side(watch: Watch, width: int, tmp_path: Path) -> None:
    page = watch(width=width).page
    page.goto(page_in(tmp_path, as_page(campaign_with(findings=2))))
    assert page.locator("strong").inner_text() == "Failed: 2 findings"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_in_print_what_is_folded_is_there(watch: Watch, tmp_path: Path) -> None:
    page = watch().page
    page.goto(page_in(tmp_path, as_page(campaign_with(findings=2))))
    last = page.locator("details pre").last
    assert not last.is_visible()
    page.emulate_media(media="print")
    assert last.is_visible()
