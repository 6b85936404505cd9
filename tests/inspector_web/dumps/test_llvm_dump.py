"""LLVM's own passes, printed by LLVM itself: it also says which of them changed something."""

from pathlib import Path

import pytest

from irkit.inspector_web.dumps.dump_steps import STALE, UNKNOWN
from irkit.inspector_web.dumps.readers import read_dump
from irkit.transform import Step
from tests.inspector_web.dumps.samples import SAMPLES, changed, llvm_dump, steps_of


def _in_functions(steps: list[Step]) -> list[tuple[str, str]]:
    return [each for each in changed(steps) if each[1] and "loop" not in each[1]]


@pytest.fixture(scope="module")
def said_by_llvm(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str]]:
    """The passes of which LLVM says that they changed a function."""
    lines = llvm_dump(tmp_path_factory.mktemp("llvm"), "--print-changed").read_text().splitlines()
    banners = [line for line in lines if line.startswith("*** IR Dump After ")]
    told = [line[18:-4].rsplit(" on ", 1) for line in banners if line.endswith(" ***")]
    names = [(name, unit.strip("()")) for name, unit in told if " omitted" not in unit]
    return [(name, unit) for name, unit in names if unit != "[module]"]


@pytest.mark.parametrize("option", ["--print-after-all", "--print-before-all", "--print-changed"])
def test_what_changed_is_what_llvm_says(
    option: str, said_by_llvm: list[tuple[str, str]], tmp_path: Path
) -> None:
    assert len(said_by_llvm) > 10
    assert _in_functions(steps_of(llvm_dump(tmp_path, option))) == said_by_llvm


def test_passes_that_changed_nothing_are_listed_unless_the_dump_is_quiet(tmp_path: Path) -> None:
    every = steps_of(llvm_dump(tmp_path, "--print-changed"))
    quiet = steps_of(llvm_dump(tmp_path, "--print-changed=quiet"))
    assert len(every) > 150
    assert len(quiet) < 40
    # Nothing was printed before the first pass.
    assert quiet[0].remarks[0].text == UNKNOWN.format("square")
    assert _in_functions(quiet) == _in_functions(every)[1:]


def test_a_dump_of_a_loop_is_a_function_of_its_own_and_later_differences_say_so(
    tmp_path: Path,
) -> None:
    steps = steps_of(llvm_dump(tmp_path, "--print-after-all"))
    loops = [step for step in steps if step.function == "scale: loop %body"]
    assert loops
    assert "; Loop:" in loops[0].after.script()
    after = [step for step in steps[loops[0].index :] if step.function == "scale" and step.changed]
    assert after[0].remarks[0].text == STALE.format("scale")


OLD_LOOP = """\
*** IR Dump After InstCombinePass on scale ***
define void @scale() {
  ret void
}
*** IR Dump After LICMPass on Loop at depth 1 containing: %body<header><latch><exiting> ***

; Preheader:
entry:
  br label %body

; Loop:
body:
  br label %body
"""


def test_a_loop_of_llvm_14_belongs_to_the_function_before_it(tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_text(OLD_LOOP)
    steps = steps_of(tmp_path / "old.txt")
    assert [(step.name, step.function) for step in steps] == [
        ("InstCombinePass", "scale"),
        ("LICMPass", "scale: loop %body"),
    ]


def test_machine_passes_are_a_phase_of_their_own() -> None:
    steps = steps_of(SAMPLES / "llc.txt")
    assert [(step.phase, step.name) for step in steps if step.function == "square"] == [
        (0, "codegenprepare"), (1, "x86-isel"), (1, "twoaddressinstruction"), (1, "greedy"),
        (1, "greedy"), (1, "virtregrewriter"), (1, "prologepilog"),
    ]  # fmt: skip
    assert "MULSSrr" in next(step for step in steps if step.name == "x86-isel").after.script()


def test_a_difference_in_place_of_ir_is_refused_with_what_to_do(tmp_path: Path) -> None:
    read = read_dump(llvm_dump(tmp_path, "--print-changed=diff"))
    assert "run with -print-changed=quiet, not =diff" in read.damage
