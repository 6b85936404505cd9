"""Axe, the checker of accessibility that browsers' own tools use, finds nothing serious in any
view."""

from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files

import pytest
from click.testing import CliRunner
from playwright.sync_api import Page

from irkit.cli.verbs import irkit
from irkit.inspector_web.server.http_server import Server
from tests.draws import LONG, sampled
from tests.inspector_web.browser import Watch, served
from tests.inspector_web.pages import FAILING, matmul_trace, opened, opened_model, relu_model

THEMES = pytest.mark.parametrize("theme", sampled(["light", "dark"], every=2))
MOSTLY_LIGHT = pytest.mark.parametrize(
    "theme", ["light", pytest.param("dark", marks=pytest.mark.long)]
)
# The structure is the same in both sets of colours, so in the dark only colours are looked at.
RUN = """async ([parts, rules]) => {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const chosen = rules.length ? rules : dark ? ["color-contrast", "link-in-text-block"] : null;
  const options = { resultTypes: ["violations"], preload: false };
  if (chosen) options.runOnly = chosen;
  const context = parts.length ? { include: parts } : document;
  const { violations } = await axe.run(context, options);
  return violations.filter((each) => ["serious", "critical"].includes(each.impact))
    .flatMap((each) => each.nodes.map((node) => `${each.id}: ${node.html.slice(0, 160)}`));
}"""


@cache
def axe() -> str:
    """Read the checker, which a package carries."""
    return (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


def serious(page: Page, *parts: str, rules: Sequence[str] = ()) -> list[str]:
    """List what is serious or critical on a page, or in parts of it, by all rules or some."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(axe())
    found: list[str] = page.evaluate(RUN, [list(parts), list(rules)])
    return found


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("traces")
    both = matmul_trace(folder), matmul_trace(folder, "other.trace")
    with served(opened(*both)) as made:
        yield made


def entered(watch: Watch, server: Server, theme: str) -> Page:
    page = watch(theme=theme).page
    page.goto(server.address)
    page.wait_for_selector(".lines, .card")
    return page


def going(page: Page, server: Server, place: str) -> None:
    page.goto("about:blank")
    page.goto(f"http://127.0.0.1:{server.port}/#{place}")
    page.wait_for_selector(".lines, .card, .view-box, .plan, .error")


@THEMES
def test_every_view_of_a_kernel(watch: Watch, server: Server, theme: str) -> None:
    page = entered(watch, server, theme)
    places = {
        "side by side": "step=4&line=R3&blame=1&hide=1&details=1",
        "nest": "step=4&show=nest&hide=1",
    }
    if theme == "light" or LONG:
        places |= {
            "native": "step=24&show=llvm&hide=1",
            "two runs": "step=24&beside=1",
        }
    if LONG:
        places |= {
            "nothing changed": "step=0&filter=canon",
            "time": "step=4&show=time&hide=1",
            "inline": "step=4&view=inline&whole=1&hide=1",
            "two stages": "step=24&from=0.0.b&names=1&hide=1",
            "re-run": "step=4&show=rerun&hide=1",
        }
    found: dict[str, list[str]] = {}
    # What stands around the view is the same each time.
    parts: tuple[str, ...] = ()
    for name, place in places.items():
        going(page, server, place)
        found[name] = serious(page, *parts)
        parts = ("#diff",)
    if theme == "light" or LONG:
        found |= in_use(page, server)
    assert {name: each for name, each in found.items() if each} == {}


def in_use(page: Page, server: Server) -> dict[str, list[str]]:
    """Look at what only comes up while somebody uses the page."""
    found: dict[str, list[str]] = {}
    going(page, server, "step=24&show=rerun")
    page.locator(".plan summary").first.click()
    page.locator(".plan [role=switch]").first.uncheck()
    found["levers"] = serious(page, "#diff")
    going(page, server, "step=4")
    page.keyboard.press("Control+k")
    page.fill("#search", "vi")
    page.wait_for_selector("#found button")
    found["search"] = serious(page, "#palette")
    page.keyboard.press("Escape")
    page.fill("#filter", "no such pass")
    page.wait_for_selector("#pass-list .empty")
    found["empty list"] = serious(page, "#passes")
    page.click("#menu-button")
    found["menu"] = serious(page, "#menu")
    page.click("#help-button")
    found["help"] = serious(page, "#help")
    return found


@MOSTLY_LIGHT
def test_a_graph(watch: Watch, theme: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    with served(opened_model(relu_model)) as at:
        page = entered(watch, at, theme)
        going(page, at, "show=graph")
        page.wait_for_selector(".box")
        assert serious(page) == []


@MOSTLY_LIGHT
def test_a_failed_pass(
    watch: Watch,
    theme: str,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = tmp_path_factory.mktemp("script")
    monkeypatch.chdir(folder)  # A folder about the failure is written there.
    (folder / "s.py").write_text(FAILING)
    with served(opened("s.py")) as at:
        page = entered(watch, at, theme)
        going(page, at, "run=1")
        page.wait_for_selector(".failure")
        assert serious(page) == []


@MOSTLY_LIGHT
def test_waiting_and_an_error(watch: Watch, server: Server, theme: str) -> None:
    page = watch(theme=theme).page
    told = {"title": "a.onnx", "what": "passes", "done": 3, "total": 9, "seconds": 2.0}
    status = {**told, "state": "working", "revision": 0, "message": "", "watching": False}
    page.route("**/api/status?*", lambda route: route.fulfill(json=status))
    page.goto(server.address)
    page.wait_for_selector(".working")
    found = serious(page)
    status |= {"state": "failed", "message": "bad.irs:1: expected a name"}
    page.wait_for_selector(".error")
    assert [*found, *serious(page)] == []


@MOSTLY_LIGHT
def test_a_report(watch: Watch, theme: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("report")
    file = folder / "report.html"
    done = CliRunner().invoke(irkit, ["report", matmul_trace(folder), "-o", str(file)])
    assert done.exit_code == 0, done.output
    page = watch(theme=theme).page
    page.goto(file.as_uri())
    page.wait_for_selector(".lines")
    assert serious(page) == []


HARMS = {
    "color-contrast": "getElementById('pass-count').style.color = '#bbb'",
    "button-name": "getElementById('palette-button').replaceChildren()",
    "scrollable-region-focusable": "getElementById('view').removeAttribute('tabindex')",
}


def test_it_finds_harm_that_is_done(watch: Watch, server: Server) -> None:
    page = watch(theme="light", height=300).page
    page.goto(server.address)
    going(page, server, "run=0")
    page.wait_for_selector(".lines")
    page.keyboard.press("x")
    for rule, harm in HARMS.items():
        assert serious(page, rules=[rule]) == []
        page.evaluate(f"document.{harm}")
        assert any(each.startswith(rule) for each in serious(page, rules=[rule]))
