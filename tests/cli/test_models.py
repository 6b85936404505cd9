"""check, bisect, reduce and opt on models: from an ONNX file to the rewrite and a pytest."""

import subprocess
import sys
from pathlib import Path

import onnx
import pytest

import irkit
from irkit.phases import compile
from irkit.transform import Trace
from tests.cli.command import cpu_time, shell
from tests.cli.shell import Shell
from tests.draws import sampled
from tests.frontend.onnx.models import floats, model_of

LIGHT = Path(onnx.__file__).parent / "backend/test/data/light/light_squeezenet.onnx"
PASSES = '''\
from irkit.core import IRModule, rewrite
from irkit.graph import GraphFunc, Op
from irkit.ir import For, PrimFunc, as_int, const
from irkit.transform import define_pass


@define_pass
def shorten(func: PrimFunc, *, name: str = "conv_relu_1", least: int = 2) -> PrimFunc:
    """Drop the last iteration of one loop, of one function only."""
    cut = []

    def last(loop: For) -> For | None:
        trips = as_int(loop.end)
        if cut or func.name != name or trips is None or trips < least:
            return None
        cut.append(loop)
        return loop.replace(end=const(trips - 1, loop.end.dtype))

    return rewrite(func, last, on=For)


@define_pass
def negate(func: GraphFunc) -> GraphFunc:
    """Turn tanh into negation."""

    def rule(op: Op) -> Op | None:
        return op.replace(name="negative") if op.name == "tanh" else None

    return rewrite(func, rule, on=Op)


@define_pass
def drop(mod: IRModule) -> IRModule:
    """Forget a function."""
    return mod.with_functions({"tanh": None}) if "tanh" in mod else mod
'''


def network(side: int) -> tuple[bytes, Trace]:
    """Return a model of four kernels on images of some size, and the trace of its compilation."""
    nodes = [
        onnx.helper.make_node("Conv", ["x", "w0"], ["a"]),
        onnx.helper.make_node("Relu", ["a"], ["b"]),
        onnx.helper.make_node("Conv", ["b", "w1"], ["c"]),
        onnx.helper.make_node("Relu", ["c"], ["d"]),
        onnx.helper.make_node("Softmax", ["d"], ["e"], axis=1),
        onnx.helper.make_node("Tanh", ["e"], ["y"]),
    ]
    constants = {"w0": floats(4, 2, 3, 3), "w1": floats(5, 4, 1, 1, seed=1)}
    model = model_of(nodes, {"x": (1, 2, side, side)}, ["y"], opset=13, constants=constants)
    trace = compile(model, verify=False).trace
    assert trace is not None
    return model.SerializeToString(), trace


@pytest.fixture(scope="module")
def net() -> tuple[bytes, Trace]:
    return network(5)


@pytest.fixture
def folder(shell: Shell, net: tuple[bytes, Trace]) -> Shell:
    return filled(shell, net)


def filled(shell: Shell, net: tuple[bytes, Trace]) -> Shell:
    shell.write("net_passes.py", PASSES)
    (shell.folder / "net.onnx").write_bytes(net[0])
    net[1].save(shell.folder / "net.trace")
    return shell


@pytest.mark.parametrize("file", sampled(["net.onnx", "net.trace"], every=2, first=1))
def test_every_pass_of_a_model_has_a_verdict(folder: Shell, file: str) -> None:
    done = folder("check", file)
    assert done.code == 0, done.out + done.err
    assert "not known" not in done.out.splitlines()[-1]
    assert "lower-to-loops" in done.out
    assert "conv_relu: " in done.err  # Progress, kernel by kernel.


@pytest.mark.long
@pytest.mark.parametrize("file", sampled(["net.onnx", "net.trace"], every=2))
def test_a_kernel_of_a_model_is_bisected_and_reduced(shell: Shell, file: str) -> None:
    folder = filled(shell, network(8))  # Smaller images have no loop to shorten.
    done = folder("bisect", file, "--pass", "2:net_passes:shorten", "--seconds", "1")
    assert done.code == 1, done.out + done.err
    assert "phase 2: 'shorten' on 'conv_relu_1': differs" in done.out
    assert "rewrite 1 of 1: shorten.<locals>.last" in done.out
    assert "Run it with: python -m pytest reduced/test_reduced.py" in done.out
    fails(folder, "'shorten' on 'conv_relu_1'")


def fails(folder: Shell, message: str, name: str = "reduced") -> None:
    """Run the test of a reduced case in a process of its own, where it must fail."""
    call = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", name]
    done = subprocess.run(
        call,
        capture_output=True,
        env={"PYTHONPATH": str(Path(irkit.__file__).parent.parent)},
        text=True,
        check=False,
        cwd=folder.folder,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert message in done.stdout


def test_a_graph_pass_is_bisected_and_reduced_to_its_operator(folder: Shell) -> None:
    done = folder("bisect", "net.onnx", "--pass", "graph:net_passes:negate")
    assert done.code == 1, done.out + done.err
    assert "graph 0: 'negate' on 'main': differs: " in done.out
    text = (folder.folder / "reduced/reduced.irs").read_text()
    assert "tanh" in text
    assert "conv" not in text
    fails(folder, "'negate' on 'main'")


@pytest.mark.long
def test_a_pass_over_modules_is_reduced_to_the_functions_it_needs(folder: Shell) -> None:
    done = folder("reduce", "net.onnx", "--pass", "2:net_passes:drop", "-o", "small")
    assert done.code == 0, done.out + done.err
    assert "function 'tanh' is gone" in done.out
    text = (folder.folder / "small/reduced.irs").read_text()
    assert text.count("def ") == 1
    assert "def tanh(" in text
    fails(folder, "function 'tanh' is gone", "small")


def test_opt_takes_a_model_and_a_trace(folder: Shell) -> None:
    done = folder("opt", "net.onnx", "--stop-after", "graph")
    assert done.code == 0, done.err
    assert 'call("conv_relu' in done.out
    again = folder("opt", "net.trace", "--stop-after", "0")
    assert again.code == 0, again.err
    assert "def conv_relu(" in again.out


def test_a_right_model_has_nothing_to_reduce(shell: Shell) -> None:
    model = model_of([onnx.helper.make_node("Tanh", ["x"], ["y"])], {"x": (1, 5)}, ["y"], opset=13)
    (shell.folder / "net.onnx").write_bytes(model.SerializeToString())
    assert (shell("bisect", "net.onnx").code, shell("reduce", "net.onnx").code) == (0, 2)
    assert not (shell.folder / "reduced").exists()


def test_graph_passes_need_the_model_where_a_trace_lacks_its_weights(folder: Shell) -> None:
    weights = {"w": floats(64, 64)}
    nodes = [onnx.helper.make_node("MatMul", ["x", "w"], ["y"])]
    model = model_of(nodes, {"x": (2, 64)}, ["y"], opset=13, constants=weights)
    compile(model, verify=False).trace.save(folder.folder / "large.trace")
    done = folder("bisect", "large.trace", "--pass", "graph:net_passes:negate")
    assert done.code == 2
    assert "Give the model itself" in done.err


@pytest.mark.long
def test_squeezenet_is_checked_in_seconds_and_bisected_in_a_minute(tmp_path: Path) -> None:
    (tmp_path / "net_passes.py").write_text(PASSES)
    started = cpu_time()
    done = shell("check", str(LIGHT), cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "not known" not in done.stdout.splitlines()[-1]
    assert cpu_time() - started < 90  # Processes forked by a server may not count.
    started = cpu_time()
    placed = "2:net_passes:shorten{name=conv_relu_7,least=4}"
    done = shell("bisect", str(LIGHT), "--pass", placed, cwd=tmp_path)
    assert cpu_time() - started < 60
    assert "phase 2: 'shorten{" in done.stdout
    assert (tmp_path / "reduced/test_reduced.py").exists()
    assert len((tmp_path / "reduced/reduced.irs").read_text().splitlines()) <= 10


CONVERTERS = """\
from irkit.frontend.onnx import register


@register("com.example.verbs", "Mine")
def mine(node):
    return node.op("tanh", node.input(0))
"""


def test_a_registered_converter_serves_verbs_that_read_models(shell: Shell) -> None:
    shell.write("verb_converters.py", CONVERTERS)
    shell.write("net_passes.py", PASSES)
    node = onnx.helper.make_node("Mine", ["x"], ["y"], domain="com.example.verbs")
    model = model_of([node], {"x": (4,)}, ["y"], opset=17)
    model.opset_import.append(onnx.helper.make_opsetid("com.example.verbs", 1))
    (shell.folder / "own.onnx").write_bytes(model.SerializeToString())
    mine = ("--converter", "verb_converters:mine")
    refused = shell("opt", "own.onnx")
    assert refused.code == 2
    assert "--converter MODULE:FUNCTION" in refused.err
    assert "tanh" in shell("opt", "own.onnx", *mine).out
    # The worker that runs the user's pass gets the imported graph, and needs no converter.
    broken = ("--pass", "graph:net_passes:negate")
    found = shell("bisect", "own.onnx", *mine, *broken)
    assert found.code == 1
    assert "negate" in found.out
    # Models are imported in a process of their own, which needs the converter again.
    listed = shell("report", "own.onnx", "--json", "passes.json")
    assert listed.code == 2
    assert "--converter MODULE:FUNCTION" in listed.err
    assert shell("report", "own.onnx", *mine, "--json", "passes.json").code == 0
    assert "tanh" in (shell.folder / "passes.json").read_text()
