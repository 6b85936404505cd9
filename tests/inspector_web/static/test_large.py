"""Texts so large that the page has only the lines near the visible part, and long lines."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from benchmarks.inspector.large_traces import large_trace
from irkit.inspector_web import Blame, Steps, Texts
from irkit.inspector_web.api.blame_page import blame_page, blamed
from irkit.inspector_web.api.step_detail import line_info
from irkit.inspector_web.runs.run import LoadedTrace
from irkit.inspector_web.runs.steps import Filter
from irkit.inspector_web.runs.workspace import Workspace
from irkit.transform import Trace
from tests.inspector_web.browser import Watch, served
from tests.inspector_web.pages import matmul_trace, opened

LINES = 24_000


@pytest.fixture(autouse=True)
def patience() -> Iterator[None]:
    """Rows come into view with the next frames, which take seconds where a processor is busy."""
    expect.set_options(timeout=60_000)
    yield
    expect.set_options(timeout=5_000)


@pytest.fixture(scope="module")
def trace() -> Trace:
    return large_trace(2, LINES, 3)


@pytest.fixture(scope="module")
def address(trace: Trace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    file: Path = tmp_path_factory.mktemp("large") / "large.trace"
    Trace(trace.steps, title="large").save(file)
    with served(opened(str(file))) as server:
        yield server.address


def test_lines_come_as_they_are_looked_at_and_are_found_by_number(
    watch: Watch, address: str, trace: Trace
) -> None:
    texts = Texts(trace)
    line = texts.lines(0)[11_999]
    page = watch().page
    page.goto(address)
    expect(page.locator(".row.changed").first).to_be_visible()
    page.keyboard.press("x")
    expect(page.locator('.row[data-right="3"]')).to_be_visible()
    assert page.locator(".row").count() < LINES // 4
    page.keyboard.press("l")
    page.keyboard.type("12,000")
    page.keyboard.press("Enter")
    chosen = page.locator(".row.chosen")
    expect(chosen).to_be_in_viewport()
    expect(chosen).to_contain_text("".join(line.split()[0]))
    assert chosen.get_attribute("data-right") == "12000"
    before = page.locator(".row.changed").count()
    page.keyboard.press("n")
    expect(page.locator(".row.current")).to_be_in_viewport()
    page.keyboard.press("n")
    expect(page.locator("#change")).to_have_text("2 of " + f"{_changes(texts)} changes")
    expect(page.locator(".row.current")).to_be_in_viewport()
    assert page.locator(".row.changed").count() >= before
    page.evaluate("document.querySelector('#view').scrollTop = 5e6")
    expect(page.locator(f'.row[data-right="{len(texts.of(0).ids)}"]')).to_be_visible()


def _changes(texts: Texts) -> int:
    return len(Steps(texts).diff(0).hunks)


def test_nodes_that_take_long_to_count_and_lines_are_counted_in_pieces(trace: Trace) -> None:
    steps = Steps(Texts(trace))
    assert [row.before for row in steps.rows(seconds=0.0)] == [None, None]
    first = steps.lines_changed("f", seconds=0.0)
    assert (len(first.counts), first.more) == (1, True)
    second = steps.lines_changed("f", seconds=0.0)
    assert (len(second.counts), second.more) == (2, False)
    assert (steps.counted(0).before or 0) > LINES


def test_what_needs_many_differences_is_found_in_pieces(trace: Trace) -> None:
    steps = Steps(Texts(trace))
    whole = [row.index for row in steps.rows(Filter(touches="for"))]
    steps = Steps(Texts(trace))
    first = steps.touching("f", "for", seconds=0.0)
    assert (first.steps, first.more) == ([0], True)
    second = steps.touching("f", "for", seconds=0.0)
    assert (second.steps, second.more) == (whole, False)


def test_blame_is_found_in_pieces(trace: Trace) -> None:
    last, texts = trace[1].after, Texts(trace)
    blame, states = Blame(texts), texts.states_of(last)
    assert blame.within(states, 0.0) is None
    assert blame.within(states, 0.0) is None
    found = blame.within(states, 0.0)
    assert found is not None
    assert (found == Blame(Texts(trace)).of(last)).all()


def test_a_line_is_asked_for_until_its_pass_is_known(
    trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("irkit.inspector_web.api.step_detail.COMPARING", 0.0)
    stage = Workspace([LoadedTrace(trace, "large")]).stage("0.1.a")
    told = [line_info(stage, 2).more for _ in range(4)]
    assert told == [True, True, False, False]
    page = blame_page(stage.run.blame, stage, seconds=0.0)
    assert page.runs == blamed(stage.run.blame, stage)
    assert sum(count for _, count in page.runs) == len(stage.text.ids)


def test_long_lines_are_scrolled_along_in_step_or_wrapped(watch: Watch, tmp_path: Path) -> None:
    with served(opened(matmul_trace(tmp_path))) as at:
        page = watch(900).page
        page.goto(f"{at.address}#step=7")
        page.wait_for_selector(".lines")
        code = page.locator(".row:not(.chosen) .code:not(.none)")
        shift = (
            "all => [...new Set(all.map((each) => parseFloat(getComputedStyle(each).textIndent)))]"
        )
        assert code.evaluate_all(shift) == [0]
        wide = code.evaluate_all(
            "all => Math.max(...all.map((e) => e.scrollWidth - e.clientWidth))"
        )
        assert wide > 160
        page.locator("#view").hover()
        page.keyboard.down("Shift")
        page.mouse.wheel(0, 90)
        page.keyboard.up("Shift")
        expect(page.locator(".lines.along")).to_be_visible()
        assert code.evaluate_all(shift) == [-90]
        page.keyboard.press("<")
        assert code.evaluate_all(shift) == [0]
        for _ in range(40):
            page.keyboard.press(">")
        assert code.evaluate_all(shift) == [-wide]  # It ends where the lines do.
        page.keyboard.press("z")
        expect(page.locator(".lines.wrapped")).to_be_visible()
        page.keyboard.press(">")
        expect(page.locator(".lines.along")).to_have_count(0)


def test_a_difference_is_asked_for_once_and_that_of_the_next_pass_ahead(
    watch: Watch, tmp_path: Path
) -> None:
    with served(opened(matmul_trace(tmp_path))) as at:
        page = watch().page
        asked: list[str] = []
        page.on("request", lambda sent: asked.append(sent.url))
        with page.expect_request(lambda sent: "left=0.8.b" in sent.url):
            page.goto(f"{at.address}#step=7")
        page.wait_for_selector(".lines")
        page.locator(".pass", has_text="narrow-indices").click()
        expect(page.locator("#view")).to_contain_text("i32(64)")
        page.keyboard.press("k")
        expect(page.locator("#to")).to_have_text("flatten-buffers")
        differences = [url for url in asked if "/api/diff" in url]
        assert any("left=0.8.b" in url for url in differences)
        assert len(set(differences)) == len(differences)
        assert not [url for url in asked if "/api/lines" in url]
