"""The report in a frame of a notebook: it works there, and reaches nothing around it."""

from playwright.sync_api import expect

from irkit.inspector_web.report import notebook_report
from irkit.phases import trace
from irkit.transform import Trace
from tests.inspector_web.browser import Watch
from tests.inspector_web.pages import HOSTILE
from tests.passes.loop.kernels import kernel

CELL = "<!doctype html><title>notebook</title><p id=secret>42</p><div>{}</div>"
REACH = """() => {
  try {
    return parent.document.getElementById("secret").textContent;
  } catch (error) {
    return error.name;
  }
}"""


def html_of(trace: Trace) -> str:
    return notebook_report(trace)._repr_html_()


def test_passes_are_gone_through_in_a_cell_that_reaches_nothing_outside(watch: Watch) -> None:
    page = watch().page
    page.set_content(CELL.format(html_of(Trace(trace(kernel("MATMUL")), title="a cell"))))
    frame = page.frame_locator("iframe[title='a cell']")
    expect(frame.locator(".row.changed, .row.both").first).to_be_visible(timeout=20_000)
    frame.locator(".pass", has_text="flatten-buffers").click()
    expect(frame.locator("#to")).to_contain_text("flatten-buffers")
    expect(frame.locator("#view")).to_contain_text("_flat")
    inside = page.frames[1]
    assert inside.evaluate(REACH) == "SecurityError"
    assert inside.evaluate("origin") == "null"


def test_hostile_titles_end_no_attribute() -> None:
    made = [html_of(Trace(trace(kernel("MATMUL")), title=title)) for title in HOSTILE[:3]]
    for each in made:
        assert each.count("<") == 2  # The frame begins and ends, and nothing else does.
        assert each.count('"') == 10
