"""Files that are opened on the page, and files that change while the page shows them."""

from pathlib import Path

from playwright.sync_api import Page, expect

from irkit.inspector_web.load import Inspection
from irkit.inspector_web.server.http_server import Server
from tests.inspector_web.browser import Watch, served
from tests.inspector_web.pages import MATMUL, matmul_trace, opened, relu_model
from tests.inspector_web.test_load import until

CHOSEN = "#pass-list [aria-current=true]"
RUN = "#run option:checked"
SLOW = 30_000

ASKED = """() => document.getElementById("upload-file").addEventListener("click", (event) => {
  event.preventDefault();
  event.target.dataset.asked = "1";
})"""
DROP = """([name, bytes]) => {
  const data = new DataTransfer();
  data.items.add(new File([new Uint8Array(bytes)], name));
  for (const type of ["dragenter", "dragover", "drop"])
    document.body.dispatchEvent(
      new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
}"""


def enter(watch: Watch, at: Server) -> Page:
    page = watch().page
    page.goto(at.address)
    page.wait_for_selector(".lines, .card")
    return page


def test_files_are_opened_by_the_button_and_by_dropping_them(watch: Watch, tmp_path: Path) -> None:
    model = relu_model(tmp_path)
    with served(opened(matmul_trace(tmp_path))) as at:
        page = enter(watch, at)
        page.evaluate(ASKED)
        page.click("#menu-button")
        page.get_by_role("button", name="Open…").focus()
        page.keyboard.press("Enter")
        expect(page.locator("#upload-file")).to_have_attribute("data-asked", "1")
        page.set_input_files("#upload-file", model)
        expect(page.locator(RUN)).to_have_text("relu.onnx", timeout=SLOW)
        expect(page.locator("#pass-list")).to_contain_text("fuse-ops")
        expect(page.locator("#upload-job")).to_be_hidden()
        page.evaluate(DROP, ["<b>k</b>.irs", list(MATMUL.encode())])
        expect(page.locator(RUN)).to_have_text("b>.irs", timeout=SLOW)
        page.evaluate(DROP, ["bad.irs", list(b"def f(:")])
        expect(page.locator("#upload-job [role=alert]")).to_contain_text("bad.irs:1", timeout=SLOW)
        page.keyboard.press("Enter")
        expect(page.locator("#upload-job")).to_be_hidden()
        page.evaluate(DROP, ["tool.exe", [1]])
        expect(page.locator("#upload-job [role=alert]")).to_contain_text(
            "expected a file with one of the suffixes .onnx"
        )
        page.reload()
        expect(page.locator("#run option")).to_have_count(3)
        page.goto("about:blank")  # What it still asks for would find nobody.


def test_a_change_of_the_file_keeps_the_place_by_pass_and_survives_mistakes(
    watch: Watch, tmp_path: Path
) -> None:
    path = tmp_path / "k.py"
    text = f"""\
import irkit
from irkit.ir import parse
from irkit.phases import DEFAULT
irkit.lower(parse({MATMUL!r}), pipeline=DEFAULT)
"""
    path.write_text(text)
    inspection = Inspection([str(path)], watch=True)
    inspection.start()
    until(lambda: inspection.status().state == "ready")
    with served(inspection) as at:
        page = enter(watch, at)
        page.locator(".folded summary").last.click()
        page.locator(".pass", has_text="simplify").last.click()
        page.click("#menu-button")
        page.select_option("#from", "0.4.a")
        page.keyboard.press("Escape")
        expect(page.locator("#from option:checked")).to_have_text("after 4 lower-blocks")
        page.wait_for_selector("#view:not([aria-busy]) .lines")
        path.write_text(text.replace("DEFAULT)", "DEFAULT.without('canonicalize-loops'))"))
        expect(page.locator(".pass")).to_have_count(24, timeout=SLOW)
        expect(page.locator(CHOSEN)).to_contain_text("simplify")
        expect(
            page.locator("section", has=page.locator("[aria-current=true]")).last
        ).to_contain_text("3 · cleanup")
        expect(page.locator("#from option:checked")).to_have_text("after 3 lower-blocks")
        path.write_text("1 / 0\n" + text)
        expect(page.locator("#problem")).to_contain_text("ZeroDivisionError", timeout=SLOW)
        expect(page.locator(".pass")).to_have_count(24)
        path.write_text(text + "1 / 0\n")  # What ran before it is shown.
        expect(page.locator(".pass")).to_have_count(25, timeout=SLOW)
        expect(page.locator("#problem")).to_contain_text("ZeroDivisionError")
        expect(page.locator(CHOSEN)).to_contain_text("simplify")
        page.goto("about:blank")  # Or it would ask on when nobody answers any more.
