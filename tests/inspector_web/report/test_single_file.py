"""A report is one file that shows everything without a server."""

import os
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings, strategies as st
from playwright.sync_api import Page, expect

from irkit.cli.verbs import irkit
from irkit.inspector_web import diff_lines
from irkit.inspector_web.page_files import bundle
from irkit.inspector_web.report.single_file import report
from irkit.inspector_web.runs.run import LoadedTrace
from irkit.inspector_web.runs.workspace import Workspace
from irkit.ir import LOOP_LEVEL, PrimFunc, parse
from irkit.transform import Step, Trace
from tests.inspector_web.browser import Watch
from tests.inspector_web.pages import hostile_trace, matmul_trace, opened


def written(folder: Path, file: str) -> Path:
    path = folder / "report.html"
    done = CliRunner().invoke(irkit, ["report", file, "-o", str(path)])
    assert done.exit_code == 0, done.output
    return path


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    return written(folder, matmul_trace(folder))


@pytest.fixture
def page(watch: Watch, file: Path) -> Page:
    page = watch().page
    page.goto(file.as_uri())
    page.wait_for_selector(".lines")
    return page


def test_it_shows_passes_differences_and_details_from_the_file_alone(page: Page) -> None:
    expect(page.locator(".pass")).to_have_count(25)
    expect(page.locator("#pass-list [aria-current=true]")).to_contain_text("lower-init-blocks")
    expect(page.locator(".gone")).to_contain_text("with init():")
    page.keyboard.press("j")
    expect(page.locator("#pass-details h2")).to_have_text("lower-blocks")
    page.keyboard.press("d")
    page.click("text=Source of the pass")
    expect(page.locator("#pass-details")).to_contain_text("def lower_blocks(")


def test_it_blames_searches_and_filters_without_a_server(page: Page) -> None:
    page.keyboard.press("b")
    expect(page.locator(".who").first).to_be_visible()
    page.locator(".row.same .code").last.click()
    expect(page.locator(".origins")).to_contain_text("matmul.irs:")
    page.keyboard.press("/")
    page.fill("#search", "vk == 0")
    expect(page.locator("#found button").first).to_contain_text("after 3 lower-init-blocks")
    page.keyboard.press("Escape")
    page.click("#menu-button")
    page.fill("#touches", "axis.reduce")
    expect(page.locator(".pass")).to_have_count(1)


def test_it_compares_any_two_stages(page: Page) -> None:
    page.click("#menu-button")
    page.select_option("#from", "0.0.b")
    page.keyboard.press("Escape")
    page.click(".pass >> text=eliminate-common")
    expect(page.locator(".gone", has_text="with init()").first).to_be_visible()
    expect(page.locator("#to")).to_contain_text("eliminate-common")


LINES = st.lists(st.integers(0, 4), max_size=12)


def test_its_own_comparison_is_as_short_as_that_of_the_server(watch: Watch) -> None:
    page = watch().page
    page.add_script_tag(content=bundle("report").split("class Page")[0])

    @settings(max_examples=60, derandomize=True, deadline=None, database=None)
    @given(LINES, LINES)
    def check(a: list[int], b: list[int]) -> None:
        found = page.evaluate("([a, b]) => compareTexts(a, b)", [a, b])
        exact = diff_lines(np.array(a, dtype=np.int32), np.array(b, dtype=np.int32))
        assert (found["removed"], found["added"]) == (exact.removed, exact.added)
        left, right = [], []
        for kind, i, j, count, _ in found["rows"]:
            for at in range(count if kind == "=" else 1):
                left += [i + at] if kind in "=~-" else []
                right += [j + at] if kind in "=~+" else []
                assert kind != "=" or a[i + at - 1] == b[j + at - 1]
        assert left == [*range(1, len(a) + 1)]
        assert right == [*range(1, len(b) + 1)]

    check()
    page.close()


def test_hostile_names_are_only_text_in_it(watch: Watch, tmp_path: Path) -> None:
    path = written(tmp_path, hostile_trace(tmp_path))
    text = path.read_text()
    assert len(re.findall("<script", text)) == 2
    assert "onerror" not in text
    watched = watch()
    watched.page.goto(path.as_uri())
    watched.page.wait_for_selector(".lines")
    watched.page.keyboard.press("x")
    expect(watched.page.locator(".row", has_text="alert(1)").first).to_be_visible()
    assert watched.page.locator("#view script, #view img").count() == 0


def test_it_holds_no_absolute_path_and_asks_for_nothing(file: Path) -> None:
    text = file.read_text()
    assert os.path.dirname(file) not in text
    assert not re.search(r"https?://|src=|@import", text.split('id="data"')[0])
    assert "default-src 'none'" in text


def test_the_same_trace_gives_the_same_file(tmp_path: Path) -> None:
    path = matmul_trace(tmp_path)
    made: list[str] = []
    for _ in range(2):
        inspection = opened(path)
        assert inspection.workspace is not None
        made.append(report(inspection.workspace, "x"))
        inspection.close()
    assert made[0] == made[1]


def long_function(lines: int, turn: int) -> PrimFunc:
    body = "".join(
        f"    C[{at}] = A[{at}] * f32({at % 97}.5) + f32({at * turn % 89 * (at % 9 == 0)}.0)\n"
        for at in range(lines)
    )
    return parse(f"def f(A: f32[{lines}], C: f32[{lines}]):\n{body}")


@pytest.mark.parametrize(
    ("passes", "most"), [(4, 800_000), pytest.param(20, 3_000_000, marks=pytest.mark.long)]
)
def test_passes_over_five_thousand_lines_take_at_most_three_megabytes_for_twenty(
    passes: int, most: int
) -> None:
    stages = [long_function(5_000, turn) for turn in range(passes + 1)]
    steps = [
        Step(at, LOOP_LEVEL, 1, "flat", f"pass-{at}", f"pass-{at}", {}, "f", before, after, 0.001)
        for at, (before, after) in enumerate(pairwise(stages))
    ]
    workspace = Workspace([LoadedTrace(Trace(steps), "large")])
    made = report(workspace, "large")
    assert len(made) <= most


def test_what_a_file_cannot_do_is_visible_and_names_the_command_that_does_it(
    watch: Watch, tmp_path: Path
) -> None:
    path = tmp_path / "playground.html"
    inspection = opened(matmul_trace(tmp_path, "a b.trace"))
    assert inspection.workspace is not None
    path.write_text(report(inspection.workspace, inspection.title))
    inspection.close()
    page = watch().page
    page.goto(path.as_uri())
    for name in ("check-button", "rerun-button", "llvm-tail"):
        button = page.locator(f"#{name}")
        expect(button).to_have_attribute("aria-disabled", "true")
        button.click(force=True)
        expect(page.locator("#unavailable code")).to_have_text("irkit inspect 'a b.trace'")
        page.keyboard.press("Escape")
    page.keyboard.press("E")
    expect(page.locator("#unavailable")).to_be_visible()
