"""Two runs beside each other, aligned by phase and pass; and the time of every pass."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from playwright.sync_api import Page, expect

from irkit.cli.verbs import irkit
from irkit.debug import chrome_trace
from irkit.inspector_web.load import Inspection
from irkit.inspector_web.runs.align import beside
from irkit.inspector_web.server.http_server import Server
from irkit.ir import parse
from irkit.phases import DEFAULT
from irkit.transform import Trace
from tests.draws import sampled
from tests.inspector_web.browser import Watch, served
from tests.inspector_web.pages import MATMUL, matmul_trace, opened
from tests.inspector_web.static.test_axe import serious

CHOSEN = "#pass-list [aria-current=true]"
OnPage = Callable[[str], Page]


def two_traces(folder: Path) -> tuple[str, str]:
    """Write the traces of a lowering, and of one without a pass that changes something."""
    other = folder / "no-hoist.trace"
    steps = DEFAULT.without("hoist-first-iterations").steps(parse(MATMUL, file="matmul.irs"))
    Trace(tuple(steps), title="no-hoist").save(other)
    return matmul_trace(folder), str(other)


@pytest.fixture(scope="module")
def inspection(tmp_path_factory: pytest.TempPathFactory) -> Inspection:
    return opened(*two_traces(tmp_path_factory.mktemp("two")))


@pytest.fixture(scope="module")
def server(inspection: Inspection) -> Iterator[Server]:
    with served(inspection) as made:
        yield made


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    done = CliRunner().invoke(
        irkit, ["report", *two_traces(folder), "-o", str(folder / "report.html")]
    )
    assert done.exit_code == 0, done.output
    return folder / "report.html"


@pytest.fixture(params=sampled(["server", "report"], every=2))
def visit(request: pytest.FixtureRequest, watch: Watch, server: Server, report: Path) -> OnPage:
    """Open the page of two runs: as a server gives it, and as a file of its own."""

    def go(place: str) -> Page:
        page = watch().page
        page.set_default_timeout(8_000)
        here = server.address if request.param == "server" else report.as_uri()
        page.goto(f"{here}#{place}")
        page.wait_for_selector(".lines, .view-box, .comparison")
        return page

    return go


def test_runs_are_aligned_by_phase_and_pass(inspection: Inspection) -> None:
    workspace = inspection.workspace
    assert workspace is not None
    first, second = workspace.runs
    pairs = beside(workspace, first, second, "matmul")
    names = [row.name for row in first.steps.rows()]
    alone = names.index("hoist-first-iterations")
    assert [(pair.left, pair.right) for pair in pairs if pair.right is None] == [(alone, None)]
    assert [pair.same for pair in pairs] == [at < alone for at in range(len(names))]
    assert beside(workspace, first, second, "no such function") == []


def test_two_files_open_as_a_comparison_that_leads_to_the_first_difference(visit: OnPage) -> None:
    page = visit("")
    said = page.locator(".comparison-said")
    expect(said).to_have_text(
        "What differs first: 11 hoist-first-iterations runs in this run only;"
        " the IR after 12 inject-virtual-threads."
    )
    row = page.locator(".comparison tbody tr")
    expect(row).to_contain_text("1 pass: 11 hoist-first-iterations")
    expect(row).to_contain_text("≠ other")
    assert serious(page) == []
    said.locator("button").last.press("Enter")
    expect(page.locator(CHOSEN)).to_contain_text("inject-virtual-threads")
    assert "beside=1" in page.url


def test_a_pass_that_the_other_run_alone_has_is_named_and_shown_there(visit: OnPage) -> None:
    page = visit("run=1&beside=0&show=overview")
    said = page.locator(".comparison-said")
    expect(said).to_contain_text("first: 11 hoist-first-iterations runs in matmul.trace only; the")
    said.locator("button").first.click()
    expect(page.locator(CHOSEN)).to_contain_text("hoist-first-iterations")
    assert "run=0" in page.url or "run=" not in page.url
    assert "beside=1" in page.url


def test_a_file_beside_itself_is_equal(watch: Watch, tmp_path: Path) -> None:
    with served(opened(matmul_trace(tmp_path, "a.trace"), matmul_trace(tmp_path, "b.trace"))) as it:
        page = watch().page
        page.goto(it.address)
        expect(page.locator(".comparison-said")).to_contain_text("Everything is equal")
        expect(page.locator(".comparison table")).to_have_count(0)


def test_the_list_says_where_the_runs_differ_and_leads_there(visit: OnPage) -> None:
    page = visit("step=4")
    expect(page.locator("#pair-note")).to_be_hidden()
    page.click("#menu-button")
    page.select_option("#beside", label="no-hoist")
    page.keyboard.press("Escape")
    expect(page.locator(".pass", has_text="lower-blocks").locator(".pair")).to_contain_text("=")
    alone = page.locator(".pass", has_text="hoist-first-iterations")
    expect(alone.locator(".pair")).to_contain_text("not in no-hoist")
    expect(page.locator("#no-change")).to_contain_text("No difference from no-hoist: after 4")
    page.click("#pair-note button")
    expect(page.locator(CHOSEN)).to_contain_text("hoist-first-iterations")
    expect(page.locator(CHOSEN)).to_contain_text("not in no-hoist")
    page.click(".pass:has-text('inject-virtual-threads')")
    expect(page.locator(CHOSEN)).to_contain_text("other IR after it than in no-hoist")
    expect(page.locator(".gone", has_text="if k == ").first).to_be_visible()
    assert "beside=1" in page.url


def test_keys_put_a_run_beside_and_change_sides(visit: OnPage) -> None:
    page = visit("step=24")
    page.keyboard.press("a")
    expect(page.locator("#beside")).to_have_value("1")
    expect(page.locator(".gone", has_text="if k == ").first).to_be_visible()
    page.keyboard.press("o")
    expect(page.locator("#run")).to_have_value("1")
    expect(page.locator("#beside")).to_have_value("0")
    expect(page.locator(CHOSEN)).to_contain_text("eliminate-common-subexpressions")
    expect(page.locator(".come", has_text="if k == ").first).to_be_visible()
    page.click("#menu-button")
    page.click("#partner")
    page.keyboard.press("Escape")
    expect(page.locator("#run")).to_have_value("0")
    page.keyboard.press("a")
    expect(page.locator("#beside")).to_have_value("")
    expect(page.locator("#pair-note")).to_be_hidden()


def test_a_step_that_the_other_run_alone_has_stands_in_the_list(visit: OnPage) -> None:
    page = visit("run=1&beside=0&step=4")
    page.locator(".pass.other").click()
    expect(page.locator("#run")).to_have_value("0")
    expect(page.locator(CHOSEN)).to_contain_text("hoist-first-iterations")
    expect(page.locator("#from option:checked")).to_contain_text("no-hoist: after 10")


def test_any_stage_of_the_other_run_can_be_chosen(visit: OnPage) -> None:
    page = visit("step=24")
    page.click("#menu-button")
    page.select_option("#from", "1.3.a")
    expect(page.locator(".gone", has_text="if vk == 0").first).to_be_visible()
    page.locator("#from").focus()
    page.keyboard.press("Home")
    expect(page.locator("#from")).to_have_value("")


def test_the_time_of_every_pass_is_a_bar_with_its_share(visit: OnPage) -> None:
    page = visit("step=4")
    page.click("#shows >> text=Time")
    rows = page.locator(".times tbody tr")
    expect(rows).to_have_count(25)
    shares = [
        float(text.split("\u00a0")[0]) for text in rows.locator("td:nth-child(4)").all_inner_texts()
    ]
    assert abs(sum(shares) - 100) < 2
    page.click("#slowest")
    expect(page.locator("#slowest")).to_have_attribute("aria-pressed", "true")
    bars = page.locator(".long-bar")
    widths = bars.evaluate_all("(bars) => bars.map((each) => each.getBoundingClientRect().width)")
    assert widths == sorted(widths, reverse=True)
    page.keyboard.press("s")
    expect(rows.first).to_contain_text("canonicalize-loops")
    rows.locator("button", has_text="flatten-buffers").focus()
    page.keyboard.press("Enter")
    expect(page.locator(CHOSEN)).to_contain_text("flatten-buffers")
    expect(page.locator(".lines")).to_be_visible()


def test_a_chrome_trace_is_downloaded(visit: OnPage, inspection: Inspection) -> None:
    page = visit("step=4&show=time")
    with page.expect_download() as waiting:
        page.click("#chrome")
    path = waiting.value.path()
    assert waiting.value.suggested_filename == "passes.trace.json"
    assert inspection.workspace is not None
    made = json.loads(path.read_bytes())
    expected = json.loads(chrome_trace(inspection.workspace.runs[0].trace))
    told, wanted = (
        [(event["name"], event["args"]) for event in each["traceEvents"]]
        for each in (made, expected)
    )
    assert told == wanted
