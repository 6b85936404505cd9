import json
from pathlib import Path

import msgspec
import pytest

from irkit.core import IRKitError
from irkit.tune import as_autotvm, read_auto_scheduler, read_autotvm, read_records
from tests.tune.records.test_record_file import LINE, record

AUTOTVM = (
    '{"input": ["llvm -keys=cpu", "mine.matmul", [512, 512, 64], {}], "config": {"index": 7, '
    '"code_hash": null, "entity": [["tile_y", "sp", [-1, 8]], ["order", "re", [1, 0]], '
    '["how", "an", ["none", "vec"]], ["auto", "ot", 16]]}, '
    '"result": [[0.002, 0.003], 0, 1.5, 1700000000.0], "version": 0.2, "tvm_version": "0.16"}'
)
ANSOR = (
    '{"i": [["[\\"matmul\\", 512]", "llvm", [2, 64, 64, 0, 0, 0, 0, 0]], [[], [["SP", 2, 0, 512, '
    '[8, 4], 1], ["AN", 2, 0, 3]]]], "r": [[0.01], 0, 2.0, 1700000000], "v": "v0.6"}'
)


def test_a_line_of_autotvm_has_task_arguments_knobs_and_times(tmp_path: Path) -> None:
    (tmp_path / "log").write_text(f"{AUTOTVM}\nnot json\n{ANSOR}\n")
    (entry,) = read_autotvm(tmp_path / "log")
    assert (entry.task, entry.args, entry.seconds, entry.error) == (
        "mine.matmul", (512, 512, 64), (0.002, 0.003), 0,
    )  # fmt: skip
    assert entry.values == {
        "tile_y": [-1, 8], "order": [1, 0], "how": ["none", "vec"], "auto": 16,
    }  # fmt: skip


def test_a_line_of_auto_scheduler_has_a_workload_and_steps(tmp_path: Path) -> None:
    (tmp_path / "log").write_text(f"{AUTOTVM}\n{ANSOR}\n")
    (entry,) = read_auto_scheduler(tmp_path / "log")
    assert entry.workload == '["matmul", 512]'
    assert entry.steps == (("SP", 2, 0, 512, (8, 4), 1), ("AN", 2, 0, 3))
    assert (entry.seconds, entry.error) == ((0.01,), 0)


KNOBS = {"y": [[-1, 1, 1], [-1, 8, 4]], "how": ["none", "vec"]}


def test_steps_decide_the_splits_of_a_template_of_the_same_name_and_arguments(
    tmp_path: Path,
) -> None:
    (tmp_path / "log").write_text(ANSOR)
    (entry,) = read_auto_scheduler(tmp_path / "log")
    wanted = {"y": [-1, 8, 4], "how": "none"}
    assert entry.values_for("mine.matmul", [512], KNOBS) == wanted
    assert entry.values_for("matmul", (512,), KNOBS) == wanted
    assert entry.values_for("mine.conv", [512], KNOBS) is None
    assert entry.values_for("mine.matmul", [256], KNOBS) is None
    assert entry.values_for("mine.matmul", [512], KNOBS | {"x": [[-1, 8, 4]]}) is None
    assert entry.values_for("mine.matmul", [512], {"y": [[-1, 2, 2]]}) is None


@pytest.mark.parametrize("key", ["", "[", "[]", "7", '"matmul"', "[" * 5000])
@pytest.mark.parametrize("steps", ['[["SP"]]', '[["SP", 1, 2, 3, 4, 5]]', "[7]", '["SP"]', "7"])
def test_a_log_of_auto_scheduler_that_makes_no_sense_fits_nothing(
    tmp_path: Path, key: str, steps: str
) -> None:
    line = {"i": [[key], [[], json.loads(steps)]], "r": [[1.0], 0], "v": "v0.6"}
    (tmp_path / "log").write_text(json.dumps(line))
    for entry in read_auto_scheduler(tmp_path / "log"):
        assert entry.values_for("matmul", [], KNOBS) is None


def test_lines_of_other_tuners_are_no_records_and_are_named_so(tmp_path: Path) -> None:
    (tmp_path / "log").write_text(f"{AUTOTVM}\n{ANSOR}\n")
    found = read_records(tmp_path / "log")
    assert not found.candidates
    assert [what.split(":")[0] for _, what in found.damaged] == [
        "of an AutoTVM log", "of an auto_scheduler log",
    ]  # fmt: skip


def test_what_is_written_for_autotvm_is_read_as_it_was(tmp_path: Path) -> None:
    task = msgspec.structs.replace(LINE, template="mine.matmul", args=(512, 512, 64))
    values = {"tile_y": [-1, 8], "order": [1, 0], "how": ["none", "vec"], "auto": 16}
    text = as_autotvm(task, msgspec.structs.replace(record(1), values=values))
    assert json.loads(text)["config"]["entity"] == json.loads(AUTOTVM)["config"]["entity"]
    (tmp_path / "log").write_text(text)
    assert read_autotvm(tmp_path / "log")[0].values == values


def test_a_candidate_without_a_template_is_not_autotvms() -> None:
    with pytest.raises(IRKitError, match="templates"):
        as_autotvm(LINE, record(1))
