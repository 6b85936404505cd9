"""Panes of code in step, what instructions do, and what stands in a difference."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from irkit.codegen import assembly, emit
from irkit.core import Target
from irkit.inspector_web.page_files import address
from irkit.inspector_web.server.http_server import Server
from irkit.ir import LOOP_LEVEL, PrimFunc, parse
from irkit.phases import trace
from irkit.transform import Step, Trace
from tests.draws import part_of
from tests.inspector_web.browser import Watch, served
from tests.inspector_web.pages import conv_model, matmul_trace, opened, opened_model

SLOW = 30_000
DOES = f"""async (names) => {{
  const {{ whatItDoes }} = await import("{address("views/mnemonics.js")}");
  return names.filter((each) => !whatItDoes(each));
}}"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with served(opened(matmul_trace(tmp_path_factory.mktemp("trace")))) as made:
        yield made


@pytest.fixture
def page(watch: Watch, server: Server) -> Page:
    page = watch(1440).page
    page.goto(f"{server.address}#step=24&show=code")
    page.wait_for_selector(".pane", timeout=SLOW)
    return page


def test_pointing_at_a_line_lights_it_in_every_pane_and_names_the_instruction(page: Page) -> None:
    row = page.locator("[data-pane=assembly] .row[data-op]:not([data-from='0'])").first
    row.hover()
    number = row.get_attribute("data-from")
    for name in ("ir", "llvm", "assembly"):
        expect(page.locator(f"[data-pane={name}] .lit").first).to_have_attribute(
            "data-from", str(number)
        )
    bands = page.locator(f".row[data-from='{number}']").evaluate_all(
        "(all) => [...new Set(all.map((each) => /band-\\d/.exec(each.className)?.[0]))]"
    )
    assert len(bands) == 1
    assert bands[0]
    expect(page.locator(".pane-said b")).to_have_text(str(row.get_attribute("data-op")))


def test_any_subset_of_panes_is_shown_kept_in_the_address_and_resized(page: Page) -> None:
    page.click("[data-pane=optimised]")
    expect(page.locator(".pane")).to_have_count(4)
    page.click("button[data-pane=ir]")
    page.click("button[data-pane=llvm]")
    expect(page.locator(".pane h3")).to_have_count(2)
    assert "panes=optimised%2Cassembly" in page.url
    wide = "document.querySelector('.pane').offsetWidth"
    before = page.evaluate(wide)
    page.locator(".panes .splitter").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate(wide) == before + 16


def test_code_is_coloured_and_directives_are_left_out(page: Page) -> None:
    assert page.locator("[data-pane=llvm] .code .k").count() > 20
    assert page.locator("[data-pane=assembly] .code .t").count() > 10
    texts = page.locator("[data-pane=assembly] .code").all_inner_texts()
    assert not [text for text in texts if re.match(r"\s*\.(?:globl|p2align|type|size)", text)]


def test_the_constants_of_assembly_stand_behind_its_code(watch: Watch, tmp_path: Path) -> None:
    body = "    for i in vectorized(0, 16):\n        A[i] = A[i] * (i32(i) * 3 + 5)\n"
    Trace(trace(parse(f"def f(A: i32[16]):\n{body}"))).save(tmp_path / "f.trace")
    with served(opened(str(tmp_path / "f.trace"))) as at:
        page = watch().page
        page.goto(f"{at.address}#step=24&show=code&panes=assembly")
        expect(page.locator("[data-pane=assembly] .row").first).to_be_visible(timeout=SLOW)
        texts = page.locator("[data-pane=assembly] .code").all_inner_texts()
    data = [bool(re.match(r"\s*\.long\b", text)) for text in texts]
    first = data.index(True)
    assert texts[first - 1].startswith(".L")
    assert not [text for text in texts[first:] if re.match(r"\s+[a-z]", text)]
    assert any(re.match(r"\s+ret", text) for text in texts[:first])


def test_an_old_link_to_machine_code_still_leads_there(watch: Watch, server: Server) -> None:
    page = watch().page
    page.goto(f"{server.address}#step=24&show=assembly")
    expect(page.locator(".pane h3")).to_have_count(2, timeout=SLOW)


def test_it_is_known_what_every_instruction_does(page: Page, tmp_path: Path) -> None:
    inspection = opened_model(conv_model, matmul_trace(tmp_path))
    assert inspection.workspace is not None
    runs = inspection.workspace.runs
    last = {row.function: run.trace[row.index] for run in runs for row in run.steps.rows()}
    funcs = [step.after for step in last.values() if isinstance(step.after, PrimFunc)]
    found: set[str] = set()
    for cpu in part_of(("x86-64", "x86-64-v3", "x86-64-v4"), every=2):
        target = Target(triple="x86_64-unknown-linux-gnu", cpu=cpu)
        for func in funcs:
            text = assembly(emit([func], target), target)
            found |= set(re.findall(r"^\t([a-z]\w*)(?:\s|$)", text, re.M))
    inspection.close()
    assert len(found) > 60
    # Of blocks of eleven networks, and of no kernel above.
    found |= {"vpermq", "vpermt2q", "vpermi2d", "vpermb"}
    assert page.evaluate(DOES, sorted(found)) == []
    assert page.evaluate(DOES, ["frobnicate"]) == ["frobnicate"]


def test_a_line_that_moved_is_said_to_have_moved(watch: Watch, tmp_path: Path) -> None:
    head = "def f(A: f32[8], B: f32[8], C: f32[8]):\n"
    stores = [f"    {name}[{at}] = f32({at}.0)\n" for at, name in enumerate("ABCAB")]
    before, after = parse(head + "".join(stores)), parse(head + "".join([*stores[1:], stores[0]]))
    step = Step(0, LOOP_LEVEL, 1, "flat", "move", "move", {}, "f", before, after, 0.001)
    Trace((step,)).save(tmp_path / "move.trace")
    with served(opened(str(tmp_path / "move.trace"))) as at:
        page = watch().page
        page.goto(at.address)
        expect(page.locator(".code.moves")).to_have_count(2)
        expect(page.locator(".code.moves").first).to_contain_text("moved")
        page.goto("about:blank")


def test_digests_are_short_and_copied_whole(watch: Watch, tmp_path: Path) -> None:
    with served(opened_model(conv_model)) as at:
        watched = watch()
        watched.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page = watched.page
        page.goto(f"{at.address}#step=0")
        button = page.locator("#view .copy").first
        digest = str(button.get_attribute("data-copy"))
        assert re.fullmatch("[0-9a-f]{64}", digest)
        assert digest not in page.locator("#view").inner_text()
        button.click()
        expect(button).to_have_text("\u2713")
        assert page.evaluate("navigator.clipboard.readText()") == digest
        assert "line=" not in page.url
