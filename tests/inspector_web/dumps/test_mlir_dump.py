"""MLIR's ways to print one run of the same passes agree with each other."""

from pathlib import Path

import pytest

from irkit.inspector_web.dumps.dump_steps import UNKNOWN
from irkit.inspector_web.dumps.readers import read_dump
from tests.inspector_web.dumps.samples import SAMPLES, changed, steps_of, texts

PASSES = [
    ("affine-loop-invariant-code-motion", "scale"), ("canonicalize", "scale"),
    ("affine-loop-invariant-code-motion", "dot"), ("canonicalize", "dot"),
    ("lower-affine", ""), ("canonicalize", "scale"), ("canonicalize", "dot"),
    ("convert-scf-to-cf", ""), ("convert-func-to-llvm", ""),
]  # fmt: skip
# With --mlir-print-ir-after-change, MLIR itself says which these are.
CHANGED = [
    ("affine-loop-invariant-code-motion", "scale"), ("lower-affine", ""), ("canonicalize", "scale"),
    ("convert-scf-to-cf", ""), ("convert-func-to-llvm", ""),
]  # fmt: skip
ALL = ["mlir-after-all.txt", "mlir-before-all.txt", "mlir-after-change.txt",
       "mlir-module-scope.txt", "mlir-tree"]  # fmt: skip


@pytest.mark.parametrize("name", ALL)
def test_every_way_to_print_gives_the_same_passes(name: str) -> None:
    steps = steps_of(SAMPLES / name)
    expected = PASSES
    if name == "mlir-tree":  # Its files tell the order within a function only.
        assert sorted((step.name, step.function) for step in steps) == sorted(expected)
    else:
        assert [(step.name, step.function) for step in steps] == expected
    # Only a dump of the IR before passes tells what the first one did.
    first_known = "before" in name or "change" in name
    last_known = name != "mlir-before-all.txt"
    assert changed(steps) == CHANGED[0 if first_known else 1 : None if last_known else -1]


def test_the_text_is_the_same_however_it_was_printed() -> None:
    alone, scope = (steps_of(SAMPLES / name) for name in ("mlir-after-all.txt", ALL[3]))
    assert [texts(step)[1] for step in alone] == [texts(step)[1] for step in scope]
    before = steps_of(SAMPLES / "mlir-before-all.txt")
    assert [texts(step)[0] for step in before[1:]] == [
        texts(step)[0] for step in steps_of(SAMPLES / "mlir-after-change.txt")[1:]
    ]


def test_a_function_is_followed_from_its_own_dumps_into_those_of_the_module() -> None:
    steps = steps_of(SAMPLES / "mlir-after-all.txt")
    module = next(step for step in steps if step.name == "lower-affine")
    earlier = [step for step in steps[: module.index] if step.function == "scale"]
    assert module.before["scale"] is earlier[-1].after  # type: ignore[index]
    assert steps[0].remarks[0].text == UNKNOWN.format("scale")


def test_a_pass_that_failed_is_told_with_what_the_compiler_said() -> None:
    read = read_dump(SAMPLES / "mlir-failed.txt")
    assert read.found.failed is not None
    event, given = read.found.failed
    assert event.name == "one-shot-bufferize"
    assert "bad.mlir:2:8: error: op was not bufferized" in event.failed
    assert '"some.op"' in given.script()
    assert "error" not in read.found.steps[-1].after.script()


def test_files_with_other_names_in_a_folder_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.mlir").write_text("module {\n}\n")
    (tmp_path / "0_cse.mlir").write_text("module {\n}\n")
    (tmp_path / "1_cse.mlir").symlink_to("/etc/passwd")
    assert [step.name for step in steps_of(tmp_path)] == ["cse"]
