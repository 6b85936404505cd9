"""Dumps of other compilers on the page: what needs text works, the rest says why it does not."""

from playwright.sync_api import expect

from tests.inspector_web.browser import Watch, served
from tests.inspector_web.dumps.samples import SAMPLES
from tests.inspector_web.pages import opened


def test_a_dump_of_another_compiler_is_shown_and_what_needs_meaning_says_why_not(
    watch: Watch,
) -> None:
    files = [str(SAMPLES / name) for name in ("mlir-after-all.txt", "mlir-tree")]
    with served(opened(*files)) as server:
        page = watch().page
        page.goto(server.address)
        expect(page.locator("#overview .matrix tbody tr")).to_have_count(2)
        # The first pass on a function: nothing was printed before it.
        expect(page.locator("#check-said .unknown")).to_have_text("? 2 not known")
        page.locator(".matrix td.h3, .matrix td.h2").first.click()
        expect(page.locator("#to")).to_have_text("Canonicalizer (canonicalize)")
        expect(page.locator("#view .v, #view .t").first).to_be_visible()
        for id in ("check-button", "rerun-button"):
            button = page.locator(f"#{id}")
            expect(button).to_have_attribute("aria-disabled", "true")
            button.click(force=True)
            expect(page.locator("#unavailable")).to_contain_text("Another compiler made this run")
            page.keyboard.press("Escape")
        page.keyboard.press("M")
        expect(page.locator("#unavailable")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.locator("#shows")).to_be_hidden()
        # Two files open side by side: here the same run of the same passes, printed in another way.
        expect(page.locator("#pair-note")).to_contain_text("After every common pass the same")
        assert "beside=1" in page.url
