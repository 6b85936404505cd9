"""``irkit check`` and ``irkit bisect``, as a user calls them."""

import json
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from click.testing import CliRunner, Result

from irkit.cli.verbs import irkit
from irkit.codegen.wrapping_loops import without_cure
from irkit.core import IRKitError
from irkit.ir import parse
from irkit.phases import trace as irkit_trace
from tests.draws import sampled

KERNEL = """\
def scale(A: f32[n, 4], C: f32[n, 4]):
    for i in serial(0, n):
        for j in serial(0, 4):
            C[i, j] = A[i, j] * f32(2.0)
"""
PASS = '''\
from irkit.core import rewrite
from irkit.ir import For, PrimFunc
from irkit.transform import define_pass


@define_pass
def shorten(func: PrimFunc) -> PrimFunc:
    """Drop the last iteration."""
    return rewrite(func, lambda loop: loop.replace(end=loop.end - 1), on=For)
'''


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "scale.irs").write_text(KERNEL)
    (tmp_path / "shorten_in_a_test.py").write_text(PASS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "shorten_in_a_test", raising=False)
    return tmp_path


def call(*args: str) -> Result:
    return CliRunner().invoke(irkit, args)


def test_a_right_pipeline_passes_with_exit_code_0(folder: Path) -> None:
    result = call("check", "scale.irs")
    assert result.exit_code == 0
    assert "3 same; native code: 1 same" in result.output
    assert "differs" not in result.output


def test_the_guilty_pass_is_in_the_table_and_the_exit_code_is_1(folder: Path) -> None:
    result = call("check", "scale.irs", "--pass", "2:shorten_in_a_test:shorten", "--dim", "n=4")
    assert result.exit_code == 1
    assert "phase 2: 'shorten' on 'scale': differs: C[0, 3] is" in result.output


def test_inputs_may_come_from_a_file(folder: Path) -> None:
    np.savez("x.npz", A=np.full((2, 4), 3, np.float32))
    result = call(
        "check", "scale.irs", "--pass", "2:shorten_in_a_test:shorten", "--inputs", "x.npz"
    )
    assert result.exit_code == 1
    assert "expected 6.0" in result.output


def test_bisect_prints_the_rewrite(folder: Path) -> None:
    result = call("bisect", "scale.irs", "--pass", "2:shorten_in_a_test:shorten")
    assert result.exit_code == 1
    assert "rewrite 1 of 2: shorten.<locals>.<lambda>" in result.output
    assert "shorten_in_a_test.py:9" in result.output
    assert "+        for j in serial(0, i32(4) - 1):" in result.output


def test_bisect_of_a_right_pipeline_finds_nothing(folder: Path) -> None:
    result = call("bisect", "scale.irs")
    assert (result.exit_code, result.output) == (0, "every step keeps the meaning\n")


def test_an_invalid_dimension_is_refused(folder: Path) -> None:
    assert "is not a dimension" in call("check", "scale.irs", "--dim", "n=few").output


def test_an_invalid_file_of_inputs_is_refused(folder: Path) -> None:
    np.save("x.npy", np.zeros(3))
    result = call("check", "scale.irs", "--inputs", "x.npy")
    assert isinstance(result.exception, IRKitError)
    assert "cannot read inputs from 'x.npy'" in str(result.exception)


BAD = "2:tests.debug.bad_passes:"
FAILING = {
    "sleeps": (("--isolate", "--pass-timeout", "0.5"), "did not end within 0.5 s"),
    "segfaults": (("--isolate",), "crashed its process with SIGSEGV"),
    "hoards": (("--pass-memory", "200"), "needed more than 200 MiB of memory"),
    "loops": (("--pass-timeout", "0.2"), "did not end within 0.2 s"),
}


@pytest.mark.parametrize(
    ("verb", "name"),
    sampled(
        [*(("check", name) for name in FAILING), ("bisect", "segfaults"), ("bisect", "loops")],
        every=3,
    ),
)
def test_a_pass_that_does_not_return_is_named_and_leaves_a_folder(
    verb: str, name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2]))
    options, said = FAILING[name]
    result = call(verb, "scale.irs", "--pass", BAD + name, *options)
    assert result.exit_code == 1, result.output
    assert f"phase 2: '{name}' on 'scale': failed" in result.output
    assert said in result.output
    (left,) = folder.glob("irkit-crash-*")
    assert f"irkit replay {left.name}" in result.output
    if verb == "bisect":
        assert f"the pass {said}, so its rewrites cannot be told apart" in result.output


def test_no_folder_is_left_with_no_crash_dir(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2]))
    result = call("check", "scale.irs", "--pass", BAD + "raises", "--no-crash-dir")
    assert result.exit_code == 1
    assert "no idea about" in result.output
    assert not list(folder.glob("irkit-crash-*"))


def test_bisect_in_another_process_finds_the_same_rewrite(folder: Path) -> None:
    given = ("bisect", "scale.irs", "--pass", "2:shorten_in_a_test:shorten", "--no-reduce")
    assert call(*given, "--isolate").output == call(*given).output


def test_a_pass_that_fails_while_a_model_is_checked_leaves_a_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2]))
    inputs = [onnx.helper.make_tensor_value_info("x", 1, [4])]
    outputs = [onnx.helper.make_tensor_value_info("y", 1, [4])]
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Relu", ["x"], ["y"])], "g", inputs, outputs
    )
    onnx.save(onnx.helper.make_model(graph), "relu.onnx")
    result = call("check", "relu.onnx", "--pass", BAD + "segfaults", "--isolate")
    assert result.exit_code == 1
    assert "phase 2: 'segfaults' on 'relu': failed" in result.output
    assert "crashed its process with SIGSEGV" in result.output
    assert len(list(folder.glob("irkit-crash-*"))) == 1


@pytest.mark.parametrize("verb", ["check", "bisect"])
def test_the_damage_of_a_trace_is_said(verb: str, folder: Path) -> None:
    irkit_trace(parse(KERNEL.replace("[n,", "[3,").replace("0, n)", "0, 3)"))).save("whole.trace")
    data = Path("whole.trace").read_bytes()
    Path("cut.trace").write_bytes(data[: len(data) * 2 // 3])
    done = call(verb, "cut.trace", "--json", "--schedule", "none")
    assert done.exit_code == 0
    assert "note: cut.trace is damaged at byte" in done.stderr
    assert json.loads(done.stdout)["damage"] in done.stderr


TWO = """\
def short(A: f32[4], C: f32[4]):
    for i in serial(0, 4):
        C[i] = A[i]

def endless(C: f32[4]):
    for i in serial(0, 100000000):
        C[i % 4] = f32(1.0)
"""


def test_what_is_not_known_has_an_exit_code_on_request(folder: Path) -> None:
    (folder / "two.irs").write_text(TWO)
    options = ("two.irs", "--no-native", "--schedule", "none")
    assert call("check", *options).exit_code == 0
    result = call("check", *options, "--require", "known")
    assert result.exit_code == 3, result.output
    result = call("check", *options, "--require", "known", "--json")
    assert (result.exit_code, json.loads(result.stdout)["ok"]) == (3, False)
    assert call("check", "scale.irs", "--require", "known").exit_code == 0


def test_what_is_wrong_counts_more_than_what_is_not_known(folder: Path) -> None:
    (folder / "two.irs").write_text(TWO)
    wrong = ("--pass", "2:shorten_in_a_test:shorten", "--no-native", "--schedule", "none")
    assert call("check", "two.irs", *wrong, "--require", "known").exit_code == 1


MUTATING = '''\
import msgspec
from irkit.core import walk
from irkit.ir import For, PrimFunc
from irkit.transform import define_pass


@define_pass
def mutate(func: PrimFunc) -> PrimFunc:
    """Drop the last iteration of each loop, in place."""
    for loop in walk(func, For):
        msgspec.structs.force_setattr(loop, "end", loop.end - 1)
    return func
'''


@pytest.mark.parametrize("isolate", ["--isolate", "--no-isolate"])
def test_a_pass_that_changes_its_input_in_place_is_named(folder: Path, isolate: str) -> None:
    (folder / "mutates_in_a_test.py").write_text(MUTATING)
    options = ("--pass", "1:mutates_in_a_test:mutate", isolate, "--no-crash-dir")
    result = call("check", "scale.irs", *options)
    assert result.exit_code == 1
    assert "'mutate' on 'scale': failed: it changed its input in place" in result.output


WRAPPING = """\
def f(A: f32[32, 32], C: f32[32, 32]):
    for i in serial(0, 32):
        for j in serial(0, 32):
            if j < 30:
                C[i, j] = A[i, j] + A[i, (j + 3) % 32]
"""


def test_code_generation_is_named_where_it_is_at_fault(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IRKIT_CACHE", "0")
    (folder / "wrapping.irs").write_text(WRAPPING)
    with without_cure():
        checked = call("check", "wrapping.irs", "--json")
        found = call("bisect", "wrapping.irs", "--json")
    assert (checked.exit_code, found.exit_code) == (1, 1)
    *passes, code = json.loads(checked.stdout)["forms"][0]["verdicts"]
    assert {each["status"] for each in passes} == {"same"}
    assert (code["status"], code["guilty"]) == ("differs", "code generation")
    assert "code generation (LLVM) is at fault, not a pass" in code["message"]
    result = json.loads(found.stdout)
    assert (result["verdict"]["guilty"], result["rewrites"]) == ("code generation", [])
    assert result["note"].startswith("every pass keeps the meaning")
