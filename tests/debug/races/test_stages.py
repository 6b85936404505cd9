"""``irkit check --races``: which iterations and threads meet, stage by stage."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from irkit.cli.verbs import irkit
from irkit.core import rewrite
from irkit.debug import races_of_steps
from irkit.ir import Evaluate, PrimFunc, Stmt, parse, seq
from irkit.ir.threads import is_barrier
from irkit.phases import DEFAULT
from irkit.transform import define_pass

pytest.importorskip("z3")

KERNEL = """\
def move(A: f32[n], C: f32[n]):
    for i in parallel(0, n):
        C[i] = A[i]
"""
THREADS = """\
def turn(A: f32[8], C: f32[8]):
    S = alloc(f32[8], scope="shared")
    for t in thread(0, 8, "threadIdx.x"):
        S[t] = A[t]
        C[t] = S[7 - t]
"""


def check(path: Path, text: str) -> Result:
    file = path / "move.irs"
    file.write_text(text)
    return CliRunner().invoke(irkit, ("check", "--races", str(file)))


def test_a_kernel_whose_iterations_never_meet_has_exit_code_0(tmp_path: Path) -> None:
    result = check(tmp_path, KERNEL)
    assert result.exit_code == 0
    assert "as given" in result.stdout
    assert result.stdout.endswith("1 independent\n")


def test_two_iterations_that_meet_are_named_and_the_exit_code_is_1(tmp_path: Path) -> None:
    result = check(tmp_path, KERNEL.replace("C[i]", "C[i % 100]"))
    assert result.exit_code == 1
    assert "move.irs:2: parallel 'i': carried: two iterations" in result.stdout
    assert "i = 100 writes C[0]" in result.stdout or "i = 200 writes C[0]" in result.stdout


def test_a_scatter_has_exit_code_0(tmp_path: Path) -> None:
    text = KERNEL.replace("A: f32[n]", "A: f32[n], P: i64[n]").replace("C[i]", "C[P[i]]")
    result = check(tmp_path, text)
    assert result.exit_code == 0
    assert "depends on data" in result.stdout


def test_threads_are_in_lockstep_until_a_pass_puts_barriers_in(tmp_path: Path) -> None:
    result = check(tmp_path, THREADS)
    assert result.exit_code == 0
    assert "(a later pass puts barriers in)" in result.stdout
    given, *others = races_of_steps(DEFAULT.steps(parse(THREADS)))
    assert [each.status for each in given.loops] == ["carried"]
    assert not any(each.others for each in others if each.barriers)


@define_pass
def drop_barriers(func: PrimFunc) -> PrimFunc:
    """Remove the barriers, as a wrong pass would."""

    def dropped(each: Evaluate) -> Stmt | None:
        return seq() if is_barrier(each) else None

    return rewrite(func, dropped, on=Evaluate)


def test_a_pass_that_drops_a_barrier_is_wrong() -> None:
    pipeline = DEFAULT.insert(drop_barriers, phase=2, after="thread-sync")
    found = list(races_of_steps(pipeline.steps(parse(THREADS))))
    wrong = [each for each in found if each.is_wrong]
    assert [each.stage for each in wrong] == ["2: drop-barriers"]
    assert "with no barrier between" in wrong[0].text_of(wrong[0].loops[0])
