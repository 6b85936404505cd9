"""How the two columns of a difference share the width of the window."""

from pathlib import Path

from irkit.inspector_web.load import Inspection
from irkit.ir import LOOP_LEVEL, parse
from irkit.transform import Step, Trace
from tests.inspector_web.browser import Watch, served
from tests.inspector_web.pages import opened

SHORT = "A[0] = f32(1.0)"
LONG = f"A[0] = {' + '.join(f'B[{at}]' for at in range(6))} + B[0] * B[1] * B[2] * B[3]"
VERY_LONG = LONG.replace("B[0]", "(B[0] * B[0] - B[1] * B[1] * B[2] * B[2])")
CASES = [(SHORT, LONG), (LONG, SHORT), (SHORT, "A[0] = f32(2.0)"), (VERY_LONG, f"{VERY_LONG} + 1")]


def _steps_of(folder: Path) -> Inspection:
    steps: list[Step] = []
    for number, lines in enumerate(CASES):
        before, after = (
            parse(f"def f{number}(A: f32[8], B: f32[8]):\n    {line}\n") for line in lines
        )
        name = f"f{number}"
        steps.append(Step(number, LOOP_LEVEL, 1, "flat", "p", "p", {}, name, before, after, 0.001))
    Trace(tuple(steps)).save(folder / "steps.trace")
    return opened(str(folder / "steps.trace"))


def test_a_column_of_short_lines_leaves_the_room_to_long_ones(watch: Watch, tmp_path: Path) -> None:
    widths: list[list[int]] = []
    cut: list[list[bool]] = []
    with served(_steps_of(tmp_path)) as at:
        page = watch().page
        for number in range(len(CASES)):
            page.goto(f"{at.address}#step={number}")
            page.wait_for_selector(f"#view:not([aria-busy]) .code:has-text('f{number}')")
            cells = page.locator(".row:is(.changed, .both)").last.locator(".code")
            widths.append(cells.evaluate_all("(all) => all.map((each) => each.offsetWidth)"))
            cut.append(cells.evaluate_all("(all) => all.map((e) => e.scrollWidth > e.clientWidth)"))
        page.goto("about:blank")
    assert cut == [[False, False], [False, False], [False, False], [True, True]]
    assert widths[0][0] < 0.6 * widths[0][1]
    assert widths[1][1] < 0.6 * widths[1][0]
    # Lines that fit, or that fit nowhere, have half of the width each.
    assert all(abs(left - right) <= 1 for left, right in widths[2:])
