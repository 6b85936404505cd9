"""``irkit compile``: its passes, tables and files."""

import json
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
from click.testing import CliRunner

import irkit
from irkit.cli import verbs
from tests.cli.command import compile_model, shell
from tests.cli.shell import Shell
from tests.cli.test_opt import PASSES
from tests.codegen.c.build import needs_compiler


def test_a_quiet_compilation_prints_nothing(folder: Path) -> None:
    assert compile_model("--quiet").output == ""


def test_a_table_in_a_file_is_not_cut_off(folder: Path) -> None:
    shape = ("--shape", "data_0=2,8")
    shown = ("--time-passes", *shape)
    done = shell("compile", "model.onnx", "-o", "m.irkit", *shown, env={"COLUMNS": "20"})
    assert "eliminate-common-subexpressions" in done.stdout
    assert "…" not in done.stdout
    assert "\x1b" not in done.stdout


def test_a_name_with_brackets_is_not_markup(folder: Path) -> None:
    args = ["compile", "model.onnx", "-o", "a[red]b.irkit", "--shape", "data_0=2,8"]
    result = CliRunner().invoke(verbs.irkit, args)
    assert "a[red]b.irkit: 2 kernels" in result.output


TEXT = """\
<ir_version: 10, opset_import: ["" : 21]>
mlp (float[2, 8] x, float[8, 4] w, float[4] b) => (float[2, 4] y) {
    h = MatMul(x, w)
    s = Add(h, b)
    y = Softmax<axis = -1>(s)
}
"""


@pytest.fixture
def model(shell: Shell) -> str:
    onnx.save(onnx.parser.parse_model(TEXT), str(shell.folder / "m.onnx"))
    shell.write("mine.py", PASSES)
    return "m.onnx"


def test_passes_go_to_any_place_and_unused_ones_are_noted(shell: Shell, model: str) -> None:
    done = shell(
        *("compile", model, "-o", "m.irkit", "--trace", "m.trace"),
        *("--pass", "graph:mine:idle_graph", "--pass", "legalize:mine:tag{times=7}"),
        *("--pass", "before=unroll-loops:mine:idle"),
    )
    assert done.code == 0, done.err
    assert "note: pass 'idle-graph' in phase 0 graph ran once and never changed" in done.err
    assert "note: pass 'idle' in phase 2 loops ran" in done.err
    assert "'tag" not in done.err
    listed = shell("trace", "m.trace").out
    assert "4     tag{times=7}" in listed
    assert shell("run", "m.irkit", "--random").code == 0


def test_options_print_and_write_the_ir(shell: Shell, model: str) -> None:
    done = shell(
        *("compile", model, "-o", "m.irkit", "--quiet", "--time-passes", "--no-verify-each"),
        *("--time-passes-json", "t.json", "--print-ir-tree-dir", "tree", "--remarks"),
        *("--print-ir-after=fuse-ops", "--disable-pass", "eliminate-common-subexpressions"),
    )
    assert done.code == 0, done.err
    assert done.err.count("# IR after fuse-ops") == 1
    assert "all passes" in done.err
    events = json.loads((shell.folder / "t.json").read_text())["traceEvents"]
    names = {event["name"] for event in events}
    assert "plan-memory" in names
    assert "eliminate-common-subexpressions" not in names
    folders = {path.name for path in (shell.folder / "tree").iterdir()}
    assert "main" in folders
    assert len(folders) > 2


def test_a_pass_that_does_not_run_cannot_be_printed(shell: Shell, model: str) -> None:
    done = shell("compile", model, "-o", "m.irkit", "--print-ir-after=fuze-ops")
    assert done.code == 2
    assert "cannot print the IR at pass 'fuze-ops': it does not run" in done.err
    assert not (shell.folder / "m.irkit").exists()


NEGATING = """\
from irkit.graph import hole, op
from irkit.phases import BackendClaim, ForeignCode, claim_rule, define_backend


@define_backend(rules=(claim_rule("relu", op("relu", hole("x"))),))
def negating(claim: BackendClaim) -> ForeignCode:
    *_, x, y = claim.names
    body = f"for (int i = 0; i < 3; i++) {y}[i] = -{x}[i];"
    return ForeignCode(c=f"{claim.declaration} {{ {body} return 0; }}")
"""


@needs_compiler
def test_a_backend_of_the_current_folder_computes_what_it_claims(folder: Path) -> None:
    Path("negating_backend.py").write_text(NEGATING)
    graph = "g (float[3] x) => (float[3] y) { y = Relu(x) }"
    model = f'<ir_version: 8, opset_import: ["" : 17]>\n{graph}'
    onnx.save(onnx.parser.parse_model(model), "relu.onnx")
    args = ["compile", "relu.onnx", "-o", "r.irkit", "--backend", "negating_backend:negating"]
    done = CliRunner().invoke(verbs.irkit, args, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert "partition-for-negating" in done.output
    (found,) = irkit.load("r.irkit").run({"x": np.array([1, 2, 3], np.float32)}).values()
    assert found.tolist() == [-1, -2, -3]
    wrong = CliRunner().invoke(verbs.irkit, [*args[:-1], "negating_backend:no"])
    assert "cannot load backend 'negating_backend:no'" in str(wrong.exception)
