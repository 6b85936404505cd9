"""At most eight controls are visible in a view.

A control is what changes the page or starts something: a button, a field, a choice. A group of
alternatives, such as the views of a step or smaller and larger, is one. What is shown is none: the
bars of the ribbon, rows of lists and tables, pictures, links in a text, and the names of where one
is; nor are the edges that panels are dragged by.
"""

from collections.abc import Iterator

import pytest

from irkit.inspector_web.server.http_server import Server
from tests.inspector_web.browser import Watch, served
from tests.inspector_web.pages import conv_model, opened_model

MOST = 8
CONTROLS = """() => {
  const shown = (each) => each.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && each.getBoundingClientRect().width > 0;
  const found = new Set();
  for (const each of document.querySelectorAll("button, input, select, textarea, summary, [role=slider]")) {
    if (!shown(each) || each.closest("nav, #ribbon, #pass-list, table, svg, .lines, .link, ol, ul, [popover]")) continue;
    const group = each.closest("[role=group], fieldset");
    found.add(group ? `group ${group.getAttribute("aria-label") ?? group.id}` : each.getAttribute("aria-label") || each.id || each.textContent.trim().slice(0, 30));
  }
  return [...found];
}"""  # noqa: E501
STEP_VIEWS = ("Difference", "Rewrites", "Loops", "Code", "Cost", "Time")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with served(opened_model(conv_model)) as made:
        yield made


def test_no_view_has_more_than_eight_controls(watch: Watch, server: Server) -> None:
    page = watch(width=1440, height=900).page
    page.goto(server.address)
    page.wait_for_selector(".matrix")
    found = {"Overview": page.evaluate(CONTROLS)}
    page.click("#ribbon .tick[aria-label^='fuse-ops']")
    page.wait_for_selector(".lines")
    page.click("#shows >> text=Graph")
    page.wait_for_selector(".graph-moved[style]")
    found["Graph"] = page.evaluate(CONTROLS)
    page.goto(f"{page.url.partition('#')[0]}#function=conv_relu&step=0")
    page.keyboard.press("0")
    page.locator(".kernels tbody .link").first.click()
    page.wait_for_selector(".lines")
    for name in STEP_VIEWS:
        page.click(f"#shows >> text={name}")
        page.wait_for_selector(".lines, .view-box")
        page.wait_for_timeout(100)
        found[name] = page.evaluate(CONTROLS)
    for name, key in (("Run again", "e"), ("Edit", "E")):
        page.keyboard.press(key)
        page.wait_for_timeout(300)
        found[name] = page.evaluate(CONTROLS)
        page.keyboard.press(key)
    assert all(len(each) >= 3 for each in found.values()), found
    assert {name: each for name, each in found.items() if len(each) > MOST} == {}
