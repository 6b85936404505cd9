"""Editing on the page: by mouse and by keyboard, to a new run that stands beside the old."""

from pathlib import Path

from playwright.sync_api import expect

from irkit.core import TokenHtml
from irkit.inspector_web.page_files import address
from tests.inspector_web.browser import Watch, served
from tests.inspector_web.pages import matmul_trace, opened

COLOURED = f"""async (lines) => {{
  const {{ colouredLine }} = await import("{address("views/code_lexer.js")}");
  return lines.map((line) => {{
    const made = document.createElement("div");
    made.append(...colouredLine("ir", line));
    return made.innerHTML;
  }});
}}"""
AS_READ = """(html) => {
  const made = document.createElement("div");
  made.innerHTML = html;
  return made.innerHTML;
}"""
LINES = (
    "@attrs(outputs=(1,), name='it\\'s')",
    'def f(A: f32x4[8], b: bool, i32_2: i64):  # a "comment"',
    "    for i in vectorized(0, 8): x.y(A.data[i]) if not serial else in_1 + 1.5e-3",
    "    f32.max(A) != 0x1F // 2 -> 'open",
    '    C["a\\"b"] = select(thread(i) <= f16(2.0), u8(3), bf16x2("-inf"))',
)


def test_ir_is_edited_and_the_rest_runs_beside_the_old_run(watch: Watch, tmp_path: Path) -> None:
    with served(opened(matmul_trace(tmp_path))) as server:
        page = watch().page
        page.goto(f"{server.address}#step=3")
        page.locator("#menu-button").click()
        page.locator("#edit-button").click()
        area, said, go = page.locator(".edit-text"), page.locator("#edit-said"), "Run the rest"
        text = area.input_value()
        expect(page.get_by_role("button", name=go)).to_be_disabled()
        # It is coloured as it is elsewhere, wherever it was scrolled to.
        drawn = page.locator(".edit-drawn")
        lines = [*LINES, *text.splitlines()]
        wanted = [page.evaluate(AS_READ, TokenHtml().line(line)) for line in lines]
        assert page.evaluate(COLOURED, lines) == wanted
        assert drawn.inner_text() == text.removesuffix("\n")
        area.fill("\n" * 300 + text)
        area.evaluate("(it) => it.scrollTo(0, it.scrollHeight)")
        expect(drawn.locator(".t", has_text="f32").first).to_be_visible()
        assert drawn.locator("div").count() < 100
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
