"""The executor's program is shown: sizes, memory, calls, branches, loops, and state."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

import irkit
from irkit.codegen import plan_lines
from irkit.core import IRModule
from irkit.graph import Builder, parse_module
from irkit.inspector_web.load import Inspection
from irkit.runtime import Model
from tests.inspector_web.browser import Watch, served
from tests.inspector_web.pages import client_of, opened

TEXT = """\
def step(i: i64[()], a: f32[6, 4]):
    s: f32[6, 4] = add(a, a)
    g: bool[()] = constant([True])
    r: (bool[()], f32[6, 4]) = (g, s)
    return r

def main(past: f32[2, p, 3], q: f32[2, 1, 3], h: f32[2, 3], x: f32[6, 4], k: i64[()], c: bool[()]):
    present = concat(past, q, axis=1)
    t: f32[2, 3] = sum(present, axes=(1,), keepdims=False)
    g: f32[2, 3] = add(h, t)
    if c:
        e: f32[6, 4] = negative(x)
        y: f32[6, 4] = e
    else:
        f: f32[6, 4] = exp(x)
        y: f32[6, 4] = f
    z: (i64[()], f32[6, 4]) = loop("step", k, c, (y,), ())
    w: f32[6, 4] = z[1]
    v = concat(present, present, axis=1)
    r = (present, g, v, w)
    return r
"""
STATE = {"past": ("present", 1, 5), "h": "g"}


@pytest.fixture(scope="module")
def model() -> Model:
    return irkit.compile(parse_module(TEXT), state=STATE, memory_limit=1 << 20)


@pytest.fixture(scope="module")
def inspection(model: Model, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inspection]:
    path = tmp_path_factory.mktemp("executor") / "model.trace"
    model.trace.save(path)
    made = opened(str(path))
    yield made
    made.close()


def indented(lines: list[str]) -> list[str]:
    """Return the lines of the program, without comments and places in the arena."""
    found = [line.partition("  #")[0] for line in lines]
    return found[next(at for at, line in enumerate(found) if line.startswith("append")) :]


def test_the_program_has_sizes_state_branches_and_loops(model: Model) -> None:
    lines = [line.text for line in plan_lines(model.plan)]
    assert "output present: f32[2, n1, 3], written over past, with room for 5 along axis 1" in lines
    assert "output g: f32[2, 3], written over h" in lines
    assert "n0 = 1 + p  # dimension 1 of 'present'" in lines
    assert "n1 = n0, refused if negative  # dimension 1 of 'present'" in lines
    assert f"refuse unless {model.plan.memory} <= 1048576  # memory_limit" in lines
    program = indented(lines)
    at = program.index("if c:")
    names = [line.split("(")[0] for line in program[at : at + 4]]
    assert names == ["if c:", "    negative", "else:", "    exp"]
    loop = next(at for at, line in enumerate(program) if line.startswith("for "))
    assert " in 0..k while arena[" in program[loop]
    assert program[loop + 1].startswith("    add(z_1, ")
    assert program[0] == "append(past, q, present; p)"


def test_each_step_after_the_plan_of_memory_shows_it(inspection: Inspection, model: Model) -> None:
    client = client_of(inspection)
    names = [step.name for step in model.trace]
    last = max(at for at, name in enumerate(names) if name == "plan-memory")
    shown = client.get(f"/api/executor?state=0.{last}.a").get_json()["lines"]
    # What was fused is known to the compilation alone.
    assert [line["text"].partition("  #")[0] for line in shown] == [
        line.text.partition("  #")[0]
        for line in plan_lines(model.plan)
        if "memory_limit" not in line.text
    ]
    assert [line["kernel"] for line in shown if line.get("kernel")] == [
        call.kernel for call in model.plan.calls
    ]
    early = client.get("/api/executor?state=0.0.a")
    assert early.status_code == 404
    assert client.get(f"/api/executor?state=0.{last + 1}.a").status_code == 404


def test_the_data_of_large_weights_is_not_needed(tmp_path: Path) -> None:
    weight = np.ones((300, 300), np.float32)
    b = Builder("main")
    func = b.finish(b.op("matmul", b.param("x", (1, 300)), b.constant(weight)))
    model = irkit.compile(IRModule({"main": func}))
    model.trace.save(tmp_path / "large.trace")
    inspection = opened(str(tmp_path / "large.trace"))
    try:
        names = [step.name for step in model.trace]
        last = max(at for at, name in enumerate(names) if name == "plan-memory")
        answer = client_of(inspection).get(f"/api/executor?state=0.{last}.a")
        texts = [line["text"] for line in answer.get_json()["lines"]]
        assert f"parameters: {model.plan.param_bytes} bytes" in texts
    finally:
        inspection.close()


def test_the_page_shows_the_program_and_leads_to_its_kernels(
    watch: Watch, inspection: Inspection
) -> None:
    with served(inspection) as server:
        page = watch().page
        page.goto(server.address)
        page.wait_for_selector(".matrix")
        page.click("#ribbon .tick[aria-label^='plan-memory']")
        page.click("#shows >> text=Executor")
        program = page.locator(".executor")
        expect(program).to_contain_text("output g: f32[2, 3], written over h")
        expect(program).to_contain_text("if c:")
        program.get_by_role("button", name="negative").click()
        expect(page.locator(".crumbs, #crumbs")).to_contain_text("negative")
