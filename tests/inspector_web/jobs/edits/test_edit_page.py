"""Editing on the page: by mouse and by keyboard, to a new run that stands beside the old."""

from pathlib import Path

from playwright.sync_api import expect

from tests.inspector_web.browser import Watch, served
from tests.inspector_web.pages import matmul_trace, opened


def test_ir_is_edited_and_the_rest_runs_beside_the_old_run(watch: Watch, tmp_path: Path) -> None:
    with served(opened(matmul_trace(tmp_path))) as server:
        page = watch().page
        page.goto(f"{server.address}#step=3")
        page.locator("#menu-button").click()
        page.locator("#edit-button").click()
        area, said, go = page.locator(".edit-text"), page.locator("#edit-said"), "Run the rest"
        text = area.input_value()
        expect(page.get_by_role("button", name=go)).to_be_disabled()
        area.fill(text.replace("for k", "for 3k"))
        expect(said).to_contain_text("edited:4:", timeout=60_000)
        expect(page.get_by_role("button", name=go)).to_be_disabled()
        area.fill(text.replace("A[vi, vk]", "B[vi, vk]"))
        expect(said).to_have_text("✓ It parses and verifies", timeout=60_000)
        # What was typed stays while the page is open.
        page.keyboard.press("Escape")
        expect(page.locator(".edit-text")).to_have_count(0)
        page.locator("#view").focus()
        page.keyboard.press("E")
        expect(page.locator(".edit-text")).to_have_value(text.replace("A[vi, vk]", "B[vi, vk]"))
        page.locator(".edit-text").press("End")
        page.keyboard.type(" ")
        expect(page.locator("#edit-said")).to_have_text("✓ It parses and verifies", timeout=60_000)
        page.keyboard.press("Control+Enter")
        expect(page.locator("#to")).to_have_text("edited IR", timeout=60_000)
        expect(page.locator("#pair-note")).to_contain_text("First differs after")
        expect(page.locator("#step-verdict")).to_have_text("≠ other results", timeout=60_000)
        assert "beside=0" in page.url
