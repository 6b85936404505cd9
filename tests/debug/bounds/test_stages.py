"""``irkit check --bounds``: which accesses leave their buffers, stage by stage."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from irkit.cli.verbs import irkit
from irkit.debug import bounds_of_steps
from irkit.ir import parse
from irkit.phases import DEFAULT

pytest.importorskip("z3")

KERNEL = """\
def move(A: f32[n, 4], C: f32[n, 4]):
    for i in serial(0, n):
        for j in serial(0, 4):
            C[i, j] = A[i, j]
"""


def check(path: Path, text: str) -> Result:
    file = path / "move.irs"
    file.write_text(text)
    return CliRunner().invoke(irkit, ("check", "--bounds", str(file)))


def test_a_kernel_whose_accesses_are_inside_has_exit_code_0(tmp_path: Path) -> None:
    result = check(tmp_path, KERNEL)
    assert result.exit_code == 0
    assert "1: flatten-buffers" in result.stdout
    assert "out of bounds:" not in result.stdout


def test_the_access_that_leaves_is_named_with_sizes_and_the_exit_code_is_1(tmp_path: Path) -> None:
    result = check(tmp_path, KERNEL.replace("serial(0, n)", "serial(0, n + 1)"))
    assert result.exit_code == 1
    expected = "move.irs:4: load A[i, j]: out of bounds: A[1, 0] where n = 1, i = 1, j = 0"
    assert expected in result.stdout


def test_a_function_that_no_pass_changed_is_asked_once() -> None:
    steps = list(DEFAULT.steps(parse(KERNEL)))
    found = list(bounds_of_steps(steps))
    assert len(found) == 1 + sum([step.changed for step in steps])
    assert [each.stage for each in found][:2] == ["as given", "1: flatten-buffers"]
    assert all(each.inside == len(each.accesses) and not each.is_wrong for each in found)
